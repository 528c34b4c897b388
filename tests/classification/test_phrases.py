"""Phrases whose contribution is not what erasing them changes: `classification.phrases`."""

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nsmc_attention import explain, load_classifier
from nsmc_attention.classification.phrases import DIFFERENT, LONGEST, disputed, phrases
from nsmc_attention.text.encoding import Encoded

WORDS = st.lists(st.sampled_from(["영화", "가", "좋", "다"]), min_size=1, max_size=4).map(tuple)
REVIEWS = st.lists(WORDS, min_size=1, max_size=7)


def encoded(words: list[tuple[str, ...]]) -> Encoded:
    tokens = tuple(token for word in words for token in word)
    return Encoded(" ".join(map("".join, words)), tokens, tuple(range(len(tokens))))


def by_sum(values):
    """Score by the sum of the values of the ids that are left: nothing is disputed."""
    return lambda reviews: 1 / (1 + numpy.exp(-numpy.array([sum(values[i] for i in one.ids) for one in reviews])))


@given(REVIEWS)
def test_phrases_are_whole_words_and_not_all_of_them(words):
    review = encoded(words)
    starts = {0, *numpy.cumsum([len(word) for word in words]).tolist()}
    found = phrases(review)
    assert all(first in starts and last in starts and 0 < last - first < len(review) for first, last in found)
    assert (
        len(found)
        == len(set(found))
        == sum(max(0, len(words) - size + 1) for size in range(1, LONGEST + 1)) - (len(words) <= LONGEST)
    )


@given(REVIEWS, st.integers(0, 99))
def test_where_words_add_up_nothing_is_disputed_and_a_wrong_word_is(words, seed):
    review = encoded(words)
    values = numpy.random.RandomState(seed).uniform(-0.4, 0.4, len(review))
    assert disputed(by_sum(values), review, values) == []
    if len(words) > 1:
        wrong = values.copy()
        wrong[0] += 2 * DIFFERENT
        (first, *_) = disputed(by_sum(values), review, wrong)
        assert review.text[first.start : first.end] == "".join(words[0])
        assert first.contribution - first.erasure == pytest.approx(2 * DIFFERENT, abs=1e-4)


def test_explain_lists_them_with_both_numbers():
    classifier = load_classifier()
    found = explain(classifier, "졸리지 않은 영화")
    for phrase in found.disputed:
        assert abs(phrase.contribution - phrase.erasure) > DIFFERENT
    assert explain(classifier, "졸리지 않은 영화", "attention").disputed == ()
