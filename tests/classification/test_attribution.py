import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nsmc_attention import explain, load_classifier
from nsmc_attention.classification.attribution import DIFFERENT, LONGEST, Attribution, disputed, phrases
from nsmc_attention.classification.prediction import Prediction
from nsmc_attention.text.encoding import Encoded

TEXT = "배우는 좋은데 별로"
TOKENS = ("배우", "는", "좋", "은데", "별로")
OFFSETS = ((0, 2), (2, 3), (4, 5), (5, 7), (8, 10))
VALUES = numpy.array([0.1, 0.2, 0.3, -0.1, 0.5])
MATRIX = numpy.random.RandomState(0).dirichlet(numpy.ones(5), 5)


def attribution(method="attention", weights=MATRIX, **more):
    prediction = Prediction(TEXT, "negative", 0.8, 0.2, TOKENS, OFFSETS, weights, **more)
    return Attribution(prediction, VALUES, method)


def test_words_between_white_space_have_the_sum_of_their_tokens():
    words = attribution().by_word()
    assert words.tokens == ("배우는", "좋은데", "별로") and words.text == TEXT and words.label == "negative"
    assert [TEXT[start:end] for start, end in words.offsets] == list(words.tokens)
    assert words.values == pytest.approx([0.3, 0.2, 0.5])
    assert words.matrix.sum(axis=1) == pytest.approx(1)
    # every query counts alike where a word has as many tokens as the others
    assert words.matrix[2] == pytest.approx([MATRIX[4, :2].sum(), MATRIX[4, 2:4].sum(), MATRIX[4, 4]])


@pytest.mark.parametrize(
    "shape, axes, expected",
    [((5, 5), ("queries", "keys"), (3, 3)), ((4, 5), ("hops", "keys"), (4, 3)), ((5,), ("keys",), (3,))],
)
def test_words_keep_every_axis_and_merge_queries_but_not_hops(shape, axes, expected):
    weights = numpy.random.RandomState(0).dirichlet(numpy.ones(5), shape[:-1])
    each = attribution(weights=weights, axes=axes)
    assert each.prediction.token_weights == pytest.approx(weights.reshape(-1, 5).mean(axis=0))
    words = each.by_word().prediction
    assert words.weights.shape == expected and words.axes == axes
    assert words.weights.sum(axis=-1) == pytest.approx(1)


def test_only_attention_has_a_matrix_and_only_with_more_axes_than_the_keys():
    words = attribution(method="erasure").by_word()
    assert words.matrix is None and words.signed
    short = attribution().without_matrix()
    assert short.matrix is None and numpy.array_equal(short.prediction.token_weights, MATRIX.mean(axis=0))


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
