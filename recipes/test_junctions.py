"""Junctions are fitted to sentences, and replace those of an editor's bundle, also of an older version."""

import json
from pathlib import Path

import numpy
import pytest

from nsmc_attention.systems.restore.junctions import Junctions, RestorerCharacters, hash_of, keys_of
from nsmc_attention.systems.sequences.characters import split_spaces
from nsmc_attention.text.tokenizers import has_dictionary, morphemes
from recipes.junctions import fitted, hashed, with_junctions

pytestmark = pytest.mark.skipif(not has_dictionary(), reason="needs MeCab's dictionary")

SENTENCES = [
    f"{who} {what} 정말 {how}"
    for who in ("나는", "그는", "형은")
    for what in ("영화를", "밥을")
    for how in ("좋아한다", "본다")
]


def test_the_compiled_keys_are_those_of_python() -> None:
    texts = ["영화\U0001f600\u200d재밌다", "", "ᄒᆞᆫ글나랏말ᄊᆞ미", "뷁쒧꿹", "ㅋ" * 300, "1910년9월"]
    places = [keys for text in texts for keys in [*keys_of(text), *[list[str]()] * bool(text)]]
    assert hashed(texts).tolist() == [[len(keys), *map(hash_of, keys), *[0] * 12][:12] for keys in places]


def test_fitted_weights_tell_where_the_sentences_have_their_spaces() -> None:
    junctions = fitted(split_spaces(sentence) for sentence in SENTENCES * 20)
    for sentence in SENTENCES:
        text, follows = split_spaces(sentence)
        # after the last one is none
        assert ((junctions.log_odds([text]) > 0) == follows)[:-1].all(), sentence
    assert fitted(split_spaces(sentence) for sentence in SENTENCES * 20) == junctions


def test_spaces_that_mecab_does_not_see_are_found_inside_its_morphemes() -> None:
    (whole, _), *_ = morphemes("재미있다")
    assert len(whole) > 1
    junctions = fitted(split_spaces(f"{whole[0]} {whole[1:]} {end}") for end in ("좋다", "본다") for _ in range(30))
    text, _ = split_spaces(f"{whole} 좋다")
    assert junctions.log_odds([text])[0] > 0


def test_sentences_without_places_or_without_spaces_give_constants() -> None:
    for sentences in ([], ["가"], ["영화가"] * 30):
        junctions = fitted(map(split_spaces, sentences))
        assert not junctions.weights and numpy.isfinite(junctions.log_odds(["영화가좋다"])).all()


def test_junctions_of_an_older_version_are_replaced(tmp_path: Path) -> None:
    junctions = Junctions.of({7: 20}, 0.5, -2.0)
    old = {"characters": [" ", "가"], "junctions": {"hashes": "", "weights": "", "junction": 0.5, "inside": -2.0}}
    (tmp_path / "vocab.json").write_text(json.dumps(old, ensure_ascii=False), encoding="utf-8")
    assert RestorerCharacters.from_json(with_junctions(tmp_path, junctions)) == RestorerCharacters(
        (" ", "가"), junctions
    )
