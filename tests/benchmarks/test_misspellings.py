"""The sentences in which most err, and that no restorer learns from them."""

from benchmarks.misspellings import read
from benchmarks.orthography import respelt
from benchmarks.other_words import EVERYDAY


def test_each_sentence_has_one_mistake_and_none_is_trained_on() -> None:
    pairs, trained = read(), EVERYDAY.read_text(encoding="utf-8").splitlines()
    assert len(pairs) == len(set(pairs)) == 100
    for right, wrong in pairs:
        assert right != wrong and not {"{", "}", "/"} & set(right + wrong)
        assert respelt(right) == right and not any(right in line or line in right for line in trained)
