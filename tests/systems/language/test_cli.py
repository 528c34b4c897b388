"""The command `fill`."""

import json

from nsmc_attention.systems.language.model import load_language_model

TEXT = "주인공의 [MASK]에 소름이 돋았다"


def test_candidates_are_printed_one_a_line_or_as_json(command, tiny_language):
    expected = load_language_model(tiny_language)(TEXT, 3)
    printed = command("fill", TEXT, "--top", "3", "--bundle", tiny_language).stdout
    assert printed == "".join(f"{each.probability:.4g}\t{each.token}\t{each.text}\n" for each in expected.candidates)
    found = json.loads(command("fill", TEXT, "--json", "--bundle", tiny_language).stdout)
    assert found["tokens"] == list(expected.tokens) and len(found["candidates"]) == 5


def test_heads_are_drawn_beside_the_candidates(command, tiny_language, tmp_path):
    done = command("fill", TEXT, "--heads", tmp_path / "a.png", "--bundle", tiny_language)
    assert done.returncode == 0 and len(done.stdout.splitlines()) == 5
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
