"""The film network: a set of reviews in, rising quantiles out."""

import numpy
import pytest

from nsmc_attention.machine.mxnet_shim import import_mxnet
from nsmc_attention.systems.film.settings import FilmConfig

mxnet = import_mxnet()

INPUTS, FILMS, REVIEWS = 7, 5, 9
RANDOM = numpy.random.RandomState(0)
VECTORS = RANDOM.normal(0, 1, (FILMS, REVIEWS, INPUTS)).astype("float32")
MASK = (numpy.arange(REVIEWS) < numpy.array([9, 1, 4, 2, 8])[:, None]).astype("float32")


def network(attention="additive"):
    config = FilmConfig().with_settings({"model.units": 6, "model.output_units": 4, "model.attention.kind": attention})
    built = config.network(INPUTS)
    mxnet.random.seed(0)
    built.initialize(mxnet.init.Normal(0.7))
    return built


def run(built, vectors, mask):
    return [each.asnumpy() for each in built(mxnet.nd.array(vectors), mxnet.nd.array(mask))]


@pytest.mark.parametrize("attention", ["additive", "uniform"])
def test_quantiles_rise_and_the_order_of_reviews_does_not_matter(attention):
    built, order = network(attention), numpy.random.RandomState(2).permutation(REVIEWS)
    quantiles, weights = run(built, VECTORS, MASK)
    assert quantiles.shape == (FILMS, 3) and (numpy.diff(quantiles, axis=1) > 0).all()
    if attention == "uniform":
        numpy.testing.assert_allclose(weights, MASK / MASK.sum(axis=1, keepdims=True), atol=1e-6)
    turned, moved = run(built, VECTORS[:, order], MASK[:, order])
    numpy.testing.assert_allclose(turned, quantiles, atol=1e-5)
    numpy.testing.assert_allclose(moved, weights[:, order], atol=1e-6)
