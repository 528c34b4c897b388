"""A language model's candidates for a hidden word, and the command `fill`."""

import json

import numpy
import pytest

from nsmc_attention.systems.language.model import MASK, load_language_model

TEXT = f"주인공의 {MASK}에 소름이 돋았다"


@pytest.fixture(scope="module")
def model(tiny_language):
    return load_language_model(tiny_language)


def test_candidates_are_words_by_falling_probability(model):
    filling = model(TEXT, top=7)
    assert [filling.tokens[place] for place in filling.places] == [MASK] and filling.text == TEXT
    probabilities = [each.probability for each in filling.candidates]
    assert len(probabilities) == 7 and probabilities == sorted(probabilities, reverse=True) and 0 < probabilities[0] < 1
    for each in filling.candidates:
        assert each.token not in ("<unk>", "<pad>", MASK) and each.text == TEXT.replace(MASK, each.token)
    assert filling.candidates[:2] == model(TEXT, top=2).candidates


def test_all_candidates_are_the_vocabulary(model):
    filling = model(TEXT, top=10**6)
    assert len(filling.candidates) == len(model.encoder) - 3
    assert sum(each.probability for each in filling.candidates) <= 1 + 1e-5


def test_heads_are_distributions_over_the_tokens(model):
    filling = model(TEXT)
    layers, heads = model.bundle.config.model.encoder.layers, model.bundle.config.model.encoder.heads
    assert filling.heads.shape == (layers, heads, len(filling.tokens), len(filling.tokens))
    numpy.testing.assert_allclose(filling.heads.sum(axis=-1), 1, atol=1e-5)
    numpy.testing.assert_allclose(sum(filling.to_dict()["attended"]), 1, atol=1e-5)


@pytest.mark.parametrize("before, after", [(0, 900), (900, 0), (900, 900), (3, 500), (500, 3)])
def test_of_a_long_text_what_is_around_the_mask_is_read(model, before, after):
    filling = model("가 " * before + MASK + " 나" * after)
    ((place,), length) = filling.places, len(filling.tokens)
    assert length == model.encoder.max_length and filling.tokens[place] == MASK
    assert place >= min(before, 1) and place < length - min(after, 1)


@pytest.mark.parametrize("text", [f"{MASK}의 {MASK}에 소름이 {MASK}", MASK * 5, f"영화 {MASK} {MASK}"])
def test_of_several_masks_the_most_certain_is_filled_first_then_the_next(model, text):
    candidates = model(text, top=3).candidates
    assert [each.probability for each in candidates] == sorted((each.probability for each in candidates), reverse=True)
    ids, places, _ = model.window(text.split(MASK))
    for each in candidates:
        words = dict(zip(places, map(model.encoder.token_to_idx.get, each.token.split(" "))))
        shown, left, chances = list(ids), list(places), []
        while left:
            (probability, _) = model.guess(shown, left)
            mask = probability.max(axis=1).argmax()
            place = left.pop(mask)
            # of the first, three words are tried
            assert (-probability[mask]).argsort().tolist().index(words[place]) < (1 if chances else 3)
            shown[place] = words[place]
            chances.append(probability[mask, words[place]])
        assert each.probability == pytest.approx(numpy.prod(chances, dtype="float64"), rel=1e-5)
        assert each.text == text.replace(MASK, "{}").format(*each.token.split(" "))


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
