"""The film network: a set of reviews in, rising quantiles out, in Gluon and in ONNX."""

import numpy
import pytest

from nsmc_attention._runtime.mxnet_shim import import_mxnet
from nsmc_attention.films.settings import FilmConfig

mxnet = import_mxnet()

from nsmc_attention.films.interface import FILM  # noqa: E402
from nsmc_attention.inference.graphs import GluonGraph, OnnxGraph  # noqa: E402
from nsmc_attention.model.onnx.lowering import lower  # noqa: E402
from nsmc_attention.model.parameters import gluon_file, initialize_from, parameter_shapes, read_gluon_file, snapshot  # noqa: E402

INPUTS, FILMS, REVIEWS = 7, 5, 9
RANDOM = numpy.random.RandomState(0)
VECTORS = RANDOM.normal(0, 1, (FILMS, REVIEWS, INPUTS)).astype("float32")
MASK = (numpy.arange(REVIEWS) < numpy.array([9, 1, 4, 2, 8])[:, None]).astype("float32")


def network(attention="additive"):
    config = FilmConfig().with_settings({"model.units": 6, "model.output_units": 4, "model.attention.kind": attention})
    built = config.network(INPUTS)
    random = numpy.random.RandomState(1)
    arrays = {name: random.normal(0, 0.7, shape) for name, shape in parameter_shapes(built).items()}
    initialize_from(
        built, {name: abs(each) + 0.1 if name.endswith("unit") else each for name, each in arrays.items()}, mxnet.cpu()
    )
    return built


def run(built, vectors, mask):
    return [each.asnumpy() for each in built(mxnet.nd.array(vectors), mxnet.nd.array(mask))]


@pytest.mark.parametrize("attention", ["additive", "uniform"])
def test_weights_sum_to_1_over_the_reviews_and_quantiles_rise(attention):
    quantiles, weights = run(network(attention), VECTORS, MASK)
    numpy.testing.assert_allclose(weights.sum(axis=1), 1, atol=1e-6)
    assert (weights[MASK == 0] == 0).all() and (weights[MASK == 1] > 0).all()
    assert quantiles.shape == (FILMS, 3) and (numpy.diff(quantiles, axis=1) > 0).all()
    if attention == "uniform":
        numpy.testing.assert_allclose(weights, MASK / MASK.sum(axis=1, keepdims=True), atol=1e-6)


def test_neither_the_order_of_reviews_nor_padding_nor_other_films_matter():
    built = network()
    quantiles, weights = run(built, VECTORS, MASK)
    order = numpy.random.RandomState(2).permutation(REVIEWS)
    turned, moved = run(built, VECTORS[:, order], MASK[:, order])
    numpy.testing.assert_allclose(turned, quantiles, atol=1e-5)
    numpy.testing.assert_allclose(moved, weights[:, order], atol=1e-6)
    noise = numpy.where(MASK[:, :, None] == 1, VECTORS, 99)
    numpy.testing.assert_allclose(run(built, noise, MASK)[0], quantiles, atol=1e-5)
    numpy.testing.assert_allclose(run(built, VECTORS[2:3, :4], MASK[2:3, :4])[0], quantiles[2:3], atol=1e-5)


@pytest.mark.parametrize("attention", ["additive", "uniform"])
def test_its_parts_in_onnx_are_those_of_gluon(attention):
    built = network(attention)
    contents = lower(built, FILM)
    pooled, counts = RANDOM.normal(0, 1, (4, 12)).astype("float32"), numpy.array([[1], [2], [5], [64]], dtype="float32")
    given = [(VECTORS.reshape(-1, INPUTS),), (pooled, counts)]
    for part, (name, interface), arrays in zip(built.parts, FILM.items(), given):
        by_onnx, by_gluon = OnnxGraph(contents[name], interface, {}), GluonGraph(part, interface, mxnet.cpu())
        for one, other in zip(by_onnx(*arrays), by_gluon(*arrays)):
            numpy.testing.assert_allclose(one, other, atol=1e-5)


def test_a_parameter_file_holds_what_the_network_has():
    built = network()
    found = read_gluon_file(gluon_file(built), built, "weights.params")
    assert all((found[name] == each).all() for name, each in snapshot(built).items()) and len(found) == 13
