"""A classifier's graph that also returns what its last layer reads."""

import numpy
import onnx
import pytest

from nsmc_attention._runtime.mxnet_shim import import_mxnet
from nsmc_attention.bundle import load_bundle
from nsmc_attention.classification.engines import embed_batch, gluon_graph, load_engine
from nsmc_attention.classification.system import LAYOUT
from nsmc_attention.errors import BundleError
from nsmc_attention.evaluation.calibration import log_odds
from nsmc_attention.inference.engines import parameters_of
from nsmc_attention.native import SWITCH
from nsmc_attention.systems.films.vectors import ReviewReader, cached_vectors, reading_engine, with_contexts

mxnet = import_mxnet()

TEXTS = ["정말 재미있는 영화였어요", "지루하다", "배우는 좋은데 이야기가 아쉽다 ㅋㅋㅋ", "최고"]


@pytest.fixture(params=["run_folder", "post_run_folder", "tiny_transformer"])
def bundle(request):
    return load_bundle(request.getfixturevalue(request.param), LAYOUT)


@pytest.fixture(params=["native", "onnx"], autouse=True)
def reads(request, monkeypatch):
    """Each test with the native engine, where it was built, and without it."""
    if request.param == "onnx":
        monkeypatch.setenv(SWITCH, "0")


def test_the_last_layer_makes_the_probability_of_them(bundle):
    batch = bundle.codec.batch([bundle.codec.encode(text) for text in TEXTS], bundle.config.fixed_length)
    contexts, probability = reading_engine(bundle, threads=1).contexts(*batch)
    assert probability == pytest.approx(load_engine(bundle, "onnx", threads=1)(*batch)[0], abs=1e-6)
    arrays = parameters_of(bundle)[1]
    name = "dense" if bundle.config.model.kind == "article" else "output"
    negative, positive = (contexts @ arrays[f"{name}.weight"].T + arrays[f"{name}.bias"]).T
    numpy.testing.assert_allclose(positive - negative, log_odds(probability.astype("float64")), atol=1e-3)


@pytest.mark.parametrize("name", ["tiny_convolution", "tiny_signed", "tiny_embedding"])
def test_near_the_token_they_are_the_means_of_values_and_states(request, name):
    bundle = load_bundle(request.getfixturevalue(name), LAYOUT)
    batch = bundle.codec.batch([bundle.codec.encode(text) for text in TEXTS])
    contexts, probability = reading_engine(bundle, threads=1).contexts(*batch)
    assert probability == pytest.approx(load_engine(bundle, "onnx", threads=1)(*batch)[0], abs=1e-6)
    graph = gluon_graph(bundle, "cpu")
    rows, mask, lengths = embed_batch(graph, batch)
    keys, states, values, *_ = graph.block.encode(mxnet.nd, rows, mask, lengths)
    weights = graph.block.pooling(mxnet.nd, keys, values, mask, lengths)[1].asnumpy()
    mean = weights.sum(axis=1) / batch[1][:, None]
    expected = [numpy.einsum("nt,ntd->nd", mean, each.asnumpy()) for each in (values, states)]
    numpy.testing.assert_allclose(contexts, numpy.concatenate(expected, axis=1), atol=1e-5)


@pytest.mark.parametrize("operator, found", [("Sigmoid", "Sigmoid"), ("Softmax", "nothing")])
def test_a_graph_without_a_dense_layer_at_its_end_is_refused(operator, found):
    float32 = onnx.TensorProto.FLOAT
    sides = [[onnx.helper.make_tensor_value_info(name, float32, ["N"])] for name in ("x", "probability")]
    graph = onnx.helper.make_graph([onnx.helper.make_node(operator, ["x"], ["probability"])], "g", *sides)
    with pytest.raises(BundleError, match=f"m.onnx: expected a dense layer before the probability, found {found}"):
        with_contexts(onnx.helper.make_model(graph).SerializeToString(), "m.onnx")


def test_vectors_are_those_of_single_reviews_in_any_batch(bundle_folder):
    reader = ReviewReader(load_bundle(bundle_folder, LAYOUT), threads=1)
    many = reader(TEXTS)
    assert many.shape == (len(TEXTS), reader.width) and reader([]).shape == (0, reader.width)
    numpy.testing.assert_allclose(many, numpy.concatenate([reader([text]) for text in TEXTS]), atol=1e-4)


def test_vectors_are_read_once_for_the_same_texts_and_classifier(bundle_folder, tmp_path):
    reader = ReviewReader(load_bundle(bundle_folder, LAYOUT), threads=1)
    first = cached_vectors(TEXTS, reader, tmp_path, quiet=True)
    (path,) = tmp_path.iterdir()
    (first + 1).tofile(path)
    assert (cached_vectors(TEXTS, reader, tmp_path) == first + 1).all()
    assert (cached_vectors(TEXTS[:2], reader, tmp_path, quiet=True) == first[:2]).all()
