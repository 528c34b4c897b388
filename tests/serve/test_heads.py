"""Which heads are sent, and how exactly."""

import re

import numpy
import pytest

pytest.importorskip("fastapi")

from nsmc_attention.errors import DataError
from nsmc_attention.serve.heads import LARGEST_MATRIX, MOST_WEIGHTS, head_values


@pytest.mark.parametrize("layers, heads", [(1, 1), (2, 4), (6, 8), (24, 16), (MOST_WEIGHTS, 1)])
def test_a_response_is_bounded_whatever_the_sizes_of_the_encoder(layers, heads):
    def of(tokens):
        return numpy.broadcast_to(numpy.float32(1 / tokens), (layers, heads, tokens, tokens))

    with pytest.raises(DataError, match="^heads: expected at most") as problem:
        head_values(of(LARGEST_MATRIX + 1))
    most = int(re.search(r"at most (\d+) tokens", str(problem.value)).group(1))
    assert numpy.shape(head_values(of(most))) == of(most).shape
    assert layers * heads * most**2 <= MOST_WEIGHTS and most <= LARGEST_MATRIX
    with pytest.raises(DataError, match=f"for {layers} layers of {heads} heads, found {most + 1}; send a part of"):
        head_values(of(most + 1))


def test_weights_have_four_digits():
    assert head_values(numpy.full((1, 1, 1, 1), 0.123456, "float32")) == [[[[0.1235]]]]


def test_an_encoder_without_heads_is_refused():
    with pytest.raises(DataError, match="^heads: expected the heads of an encoder that is a transformer, found"):
        head_values(None)
