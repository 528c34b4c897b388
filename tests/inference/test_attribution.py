import numpy
import pytest

from nsmc_attention.errors import ConfigError, DataError
from nsmc_attention.inference.attribution import METHODS, Attribution

TEXT, TOKENS, OFFSETS = (
    "배우는 좋은데 별로",
    ("배우", "는", "좋", "은데", "별로"),
    ((0, 2), (2, 3), (4, 5), (5, 7), (8, 10)),
)
VALUES = numpy.array([0.1, 0.2, 0.3, -0.1, 0.5])
MATRIX = numpy.random.RandomState(0).dirichlet(numpy.ones(5), 5)


def attribution(**changes):
    return Attribution(
        **{
            "text": TEXT,
            "label": "negative",
            "probability": 0.2,
            "tokens": TOKENS,
            "offsets": OFFSETS,
            "values": VALUES,
            "method": "attention",
            "matrix": MATRIX,
            **changes,
        }
    )


def test_words_between_white_space_have_the_sum_of_their_tokens():
    words = attribution().by_word()
    assert words.tokens == ("배우는", "좋은데", "별로")
    assert [TEXT[start:end] for start, end in words.offsets] == list(words.tokens)
    assert words.values == pytest.approx([0.3, 0.2, 0.5])
    assert words.matrix.sum(axis=1) == pytest.approx(1)
    # every query counts alike where a word has as many tokens as the others
    assert words.matrix[2] == pytest.approx([MATRIX[4, :2].sum(), MATRIX[4, 2:4].sum(), MATRIX[4, 4]])


def test_words_of_one_token_each_are_the_tokens():
    one = attribution(
        text="가 나", tokens=("가", "나"), offsets=((0, 1), (2, 3)), values=VALUES[:2], matrix=numpy.eye(2)
    ).by_word()
    assert one.tokens == ("가", "나") and numpy.array_equal(one.matrix, numpy.eye(2))


def test_what_a_method_has_no_matrix_of_stays_without():
    words = attribution(method="erasure", matrix=None).by_word()
    assert words.matrix is None and words.signed


@pytest.mark.parametrize(
    "changes, error, message",
    [
        ({"values": VALUES[:3]}, DataError, "found 5 tokens, 5 offsets and 3 values"),
        ({"offsets": OFFSETS[:2]}, DataError, "found 5 tokens, 2 offsets"),
        ({"method": "atention"}, ConfigError, "unknown method 'atention'; did you mean 'attention'"),
    ],
)
def test_what_does_not_fit_is_refused(changes, error, message):
    with pytest.raises(error, match=message):
        attribution(**changes)


def test_every_method_says_what_it_is():
    assert all(name in text for name, text in METHODS.items() if name not in ("gradient", "integrated"))
