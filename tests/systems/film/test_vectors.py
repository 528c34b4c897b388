"""Reviews as vectors: what the last layer of a classifier reads, and the log-odds."""

import numpy
import pytest

from nsmc_attention.bundle import load_bundle
from nsmc_attention.classifier.engines import embed_batch, gluon_graph, load_engine
from nsmc_attention.classifier.settings import LAYOUT
from nsmc_attention.engines.graphs import parameters_of
from nsmc_attention.errors import BundleError
from nsmc_attention.machine.mxnet_shim import import_mxnet
from nsmc_attention.measure.metrics import log_odds
from nsmc_attention.native import SWITCH
from nsmc_attention.native.kernels import VARIABLE, is_built
from nsmc_attention.systems.film.rater import ReviewReader, reading_engine

mxnet = import_mxnet()

TEXTS = ["정말 재미있는 영화였어요", "지루하다", "배우는 좋은데 이야기가 아쉽다 ㅋㅋㅋ", "최고"]


@pytest.fixture(params=["native", "onnx"])
def reads(request, monkeypatch):
    """Each test with the native engine, where it was built, and without it."""
    if request.param == "onnx":
        monkeypatch.setenv(SWITCH, "0")
    # in floats: other kernels round to 8 bits
    monkeypatch.setenv(VARIABLE, "baseline")


@pytest.mark.skipif(not is_built(), reason="was installed without a C++ compiler")
def test_the_last_layer_makes_the_probability_of_them(run_folder, monkeypatch):
    monkeypatch.setenv(VARIABLE, "baseline")
    bundle = load_bundle(run_folder, LAYOUT)
    batch = bundle.codec.batch([bundle.codec.encode(text) for text in TEXTS])
    probability, _, contexts = reading_engine(bundle, threads=1).read(*batch)
    assert probability == pytest.approx(load_engine(bundle, "onnx", threads=1)(*batch)[0], abs=1e-6)
    arrays = parameters_of(bundle)[1]
    negative, positive = (contexts @ arrays["output.weight"].T + arrays["output.bias"]).T
    numpy.testing.assert_allclose(positive - negative, log_odds(probability.astype("float64")), atol=1e-3)


@pytest.mark.parametrize("name", ["run_folder", "post_run_folder", "tiny_transformer"])
def test_values_that_are_states_need_the_compiled_code(request, monkeypatch, name):
    monkeypatch.setenv(SWITCH, "0")
    with pytest.raises(BundleError, match="film: expected a classifier with values near the token"):
        ReviewReader(load_bundle(request.getfixturevalue(name), LAYOUT))


@pytest.mark.parametrize("name", ["tiny_convolution", "tiny_signed"])
def test_near_the_token_they_are_the_means_of_values_and_states(reads, request, name):
    bundle = load_bundle(request.getfixturevalue(name), LAYOUT)
    batch = bundle.codec.batch([bundle.codec.encode(text) for text in TEXTS])
    probability, _, contexts = reading_engine(bundle, threads=1).read(*batch)
    assert probability == pytest.approx(load_engine(bundle, "onnx", threads=1)(*batch)[0], abs=1e-6)
    graph = gluon_graph(bundle, "cpu")
    rows, mask, lengths = embed_batch(graph, batch)
    keys, states, values, *_ = graph.block.encode(mxnet.nd, rows, mask, lengths)
    weights = graph.block.pooling(mxnet.nd, keys, values, mask, lengths)[1].asnumpy()
    mean = weights.sum(axis=1) / batch[1][:, None]
    expected = [numpy.einsum("nt,ntd->nd", mean, each.asnumpy()) for each in (values, states)]
    numpy.testing.assert_allclose(contexts, numpy.concatenate(expected, axis=1), atol=1e-5)


def test_vectors_are_those_of_single_reviews_in_any_batch(reads, tiny_convolution):
    reader = ReviewReader(load_bundle(tiny_convolution, LAYOUT), threads=1)
    many = reader(TEXTS)
    assert many.shape == (len(TEXTS), reader.width) and reader([]).shape == (0, reader.width)
    numpy.testing.assert_allclose(many, numpy.concatenate([reader([text]) for text in TEXTS]), atol=1e-4)
