"""The sentences with common misspellings."""

from benchmarks.restoration.misspellings import read
from recipes.orthography import respelt


def test_each_sentence_has_one_mistake() -> None:
    pairs = read()
    assert len(pairs) == len(set(pairs)) == 100
    for right, wrong in pairs:
        assert right != wrong and not {"{", "}", "/"} & set(right + wrong)
        assert respelt(right) == right
