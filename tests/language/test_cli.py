"""The command `fill`, and `train --task language` on a person's own table."""

import json

import pytest

from nsmc_attention.language.model import load_language_model

TEXT = "주인공의 [MASK]에 소름이 돋았다"


def test_candidates_are_printed_one_a_line_or_as_json(command, tiny_language):
    expected = load_language_model(tiny_language)(TEXT, 3)
    printed = command("fill", TEXT, "--top", "3", "--bundle", tiny_language).stdout
    assert printed == "".join(f"{each.probability:.4f}\t{each.token}\t{each.text}\n" for each in expected.candidates)
    found = json.loads(command("fill", TEXT, "--json", "--bundle", tiny_language).stdout)
    assert found["tokens"] == list(expected.tokens) and len(found["candidates"]) == 5


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["좋다"], "fill: expected one [MASK] in the text, found 0"),
        (["[MASK]", "[MASK]"], "fill: expected one TEXT, found 2; put it in quotes"),
        (["리뷰.csv"], "expected the text of a review, found the name of a file"),
        ([TEXT, "--heads", "a.png", "--layer", "3"], "layer: expected 1 to 2, found 3"),
        ([TEXT, "--heads", "a.jpg"], "a.jpg: unknown suffix '.jpg'"),
        ([TEXT, "--head", "1"], "--layer, --head: expected --heads too, as --heads heads.png"),
    ],
)
def test_what_cannot_be_filled_is_one_line_that_says_what_to_do(command, tiny_language, arguments, message):
    done = command("fill", *arguments, "--bundle", tiny_language)
    assert (done.returncode, done.stdout) == (2, "") and message in done.stderr and done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "rows, options, message",
    [
        (3, [], "mine.csv: expected at least 100 different reviews, found 3"),
        (3, ["--set", "model.encoder.heads=3"], "model.encoder.heads: expected a divisor of 128"),
        (3, ["--label-column", "label"], "train --task language: expected no --label-column, found label"),
        (3, ["--kvstore", "dist_sync"], "train --task language: expected no --kvstore"),
    ],
)
def test_a_training_that_cannot_be_is_refused_before_anything_is_written(command, tmp_path, rows, options, message):
    table = tmp_path / "mine.csv"
    table.write_text("review\n" + "".join(f"정말 좋다 {row}\n" for row in range(rows)), encoding="utf-8")
    done = command("train", "--task", "language", "--data", table, "--out", tmp_path / "run", *options)
    assert (done.returncode, done.stdout) == (2, "") and message in done.stderr and done.stderr.count("\n") == 1
    assert not (tmp_path / "run").exists()


def test_heads_are_drawn_beside_the_candidates(command, tiny_language, tmp_path):
    done = command("fill", TEXT, "--heads", tmp_path / "a.png", "--bundle", tiny_language)
    assert done.returncode == 0 and len(done.stdout.splitlines()) == 5
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
