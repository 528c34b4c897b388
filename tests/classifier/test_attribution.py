import numpy
import pytest

from nsmc_attention.classifier.attribution import Attribution
from nsmc_attention.classifier.prediction import Prediction

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
