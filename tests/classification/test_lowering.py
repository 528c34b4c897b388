"""A network's ONNX graph computes what its HybridBlock computes."""

import numpy
import onnx
import pytest

from nsmc_attention._runtime.mxnet_shim import import_mxnet
from nsmc_attention.classification.settings import preset
from nsmc_attention.language.settings import LANGUAGE_PRESETS

mxnet = import_mxnet()

from mxnet.gluon import HybridBlock, nn  # noqa: E402

from nsmc_attention.classification.lowering import lower  # noqa: E402
from nsmc_attention.language.engines import check_language  # noqa: E402
from nsmc_attention.language.lowering import lower_language  # noqa: E402
from nsmc_attention.model.attention import ATTENTIONS  # noqa: E402
from nsmc_attention.model.parameters import fill, gluon_file, read_gluon_file, round_tables, snapshot, stored_forms  # noqa: E402

VOCABULARY, LENGTH = 50, 9
POSITIONS = ("learned", "sinusoidal", "relative")
SIZES = {
    "gru": {"hidden_size": 4},
    "transformer": {"model.encoder.units": 6, "model.encoder.heads": 2, "model.encoder.feed_forward": 10},
}
NETWORKS = [
    *((kind, encoder, buckets) for kind in ATTENTIONS for encoder in ("gru", "none") for buckets in (40, 0)),
    *((kind, "transformer", buckets) for kind in ("additive", "uniform") for buckets in (40, 0)),
    ("article", "gru", 0),
]


def network(kind="additive", encoder="gru", buckets=40):
    config = preset("post" if kind == "article" else "default").with_fields(embedding_size=8, max_length=LENGTH)
    if kind != "article":
        config = config.with_fields(attention=kind, encoder=encoder, ngram_buckets=buckets)
    config = config.with_fields(**SIZES.get(encoder, {}))
    mxnet.random.seed(1)
    built = config.network(VOCABULARY)
    shapes = {name: shape for name, (_, shape) in stored_forms(built).items() if not name.endswith(".scale")}
    fill(
        built, {name: numpy.random.RandomState(1).normal(0, 0.5, shape) for name, shape in shapes.items()}, mxnet.cpu()
    )
    if buckets:
        built.ngram_table.weight.set_data(mxnet.nd.random.uniform(shape=(buckets, 2)))
    round_tables(built)
    return built


def batch(built, reviews, length):
    random = numpy.random.RandomState(0)
    sizes = {"N": reviews, "T": length}
    arrays = {
        name: random.randint(0, 40, [sizes.get(size, size) for size in dimensions]).astype("int32")
        for name, dimensions in built.inputs.items()
    }
    arrays["valid_length"] = random.randint(1, length + 1, reviews).astype("int32")
    arrays["valid_length"][0] = length
    return arrays


def by_gluon(built, arrays):
    typed = (mxnet.nd.array(array, dtype="float32" if array.ndim == 1 else "int32") for array in arrays.values())
    logits, *weights = built(*typed)
    return [logits.softmax()[:, 1].asnumpy(), *(each.asnumpy() for each in weights)]


def by_onnx(model, arrays):
    import onnxruntime

    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(None, arrays)


@pytest.mark.parametrize("kind, encoder, buckets", NETWORKS)
def test_onnx_is_gluon_for_every_network(kind, encoder, buckets):
    built = network(kind, encoder, buckets)
    model = lower(built)
    for reviews, length in ((6, 9), (1, 9), (3, 1), (1, 1), (2, 5)):
        arrays = batch(built, reviews, LENGTH if kind == "article" else length)
        outputs, by_block = by_onnx(model, arrays), by_gluon(built, arrays)
        assert len(outputs) == len(by_block)
        for found, expected in zip(outputs, by_block):
            assert found.shape == expected.shape
            numpy.testing.assert_allclose(found, expected, atol=1e-5)


@pytest.mark.parametrize("kind, encoder, buckets", NETWORKS)
def test_a_parameter_file_holds_what_the_block_has(kind, encoder, buckets):
    built = network(kind, encoder, buckets)
    arrays = snapshot(built)
    again = read_gluon_file(gluon_file(built), built, "weights.params")
    assert again.keys() == arrays.keys() and all((again[name] == arrays[name]).all() for name in arrays)


def test_the_graph_has_one_gru_and_no_other_operator_than_it_needs():
    for kind in ("additive", "article"):
        operators = [node.op_type for node in lower(network(kind, buckets=0)).graph.node]
        assert operators.count("GRU") == 1 and not {"ScatterND", "Loop", "Scan", "Expand", "Tile"} & set(operators)


def test_tables_are_stored_small_and_weights_named_after_their_axes():
    model = lower(network())
    kinds = {item.name: item.data_type for item in model.graph.initializer}
    types = onnx.TensorProto
    assert kinds["embedding.weight"] == types.INT8 and kinds["embedding.weight.scale"] == types.FLOAT16
    assert kinds["ngram_table.weight"] == types.FLOAT16
    weights = model.graph.output[1]
    assert [size.dim_param for size in weights.type.tensor_type.shape.dim] == ["N", "queries", "keys"]


def test_the_number_of_hops_is_written_as_a_number():
    model = lower(network("structured"))
    sizes = model.graph.output[1].type.tensor_type.shape.dim
    assert [size.dim_param or size.dim_value for size in sizes] == ["N", 4, "keys"]


def test_the_same_parameters_give_the_same_bytes_whatever_was_built_before():
    assert lower(network()).SerializeToString() == lower(network()).SerializeToString()


class Unlowerable(HybridBlock):
    inputs, axes = {"token_ids": ("N", "T")}, ("queries", "keys")

    def hybrid_forward(self, F, token_ids):
        return F.erfinv(token_ids), F.zeros_like(token_ids)


def test_an_operator_without_a_rule_is_named():
    with pytest.raises(NotImplementedError, match="erfinv .* extend model.onnx.operators"):
        lower(Unlowerable())


class OneDirection(HybridBlock):
    """Another network than the classifiers: a GRU in one direction, of which the last layer reads every state."""

    inputs, axes = {"token_ids": ("N", 4)}, ("queries", "keys")

    def __init__(self):
        super().__init__()
        with self.name_scope():
            self.table = nn.Embedding(VOCABULARY, 3)
            self.gru = mxnet.gluon.rnn.GRU(5, layout="NTC", input_size=3)
            self.output = nn.Dense(2, in_units=20)

    def hybrid_forward(self, F, token_ids):
        states = self.gru(self.table(token_ids))
        scores = F.batch_dot(states, states, transpose_b=True)
        return self.output(F.Activation(states, act_type="relu") + 1), F.softmax(F.contrib.div_sqrt_dim(scores))


def test_a_network_that_is_no_classifier_of_the_package_is_lowered():
    built = OneDirection()
    built.initialize(mxnet.init.Normal(0.5))
    arrays = {"token_ids": numpy.arange(12).reshape(3, 4).astype("int32")}
    for found, expected in zip(by_onnx(lower(built), arrays), by_gluon(built, arrays)):
        numpy.testing.assert_allclose(found, expected, atol=1e-5)


@pytest.mark.parametrize(
    "kind, places", [("gru", {}), *(("transformer", {"model.encoder.positions": each}) for each in POSITIONS)]
)
def test_onnx_is_gluon_for_every_language_model(kind, places):
    import onnxruntime

    sizes = {f"model.encoder.{name.split('.')[-1]}": size for name, size in SIZES[kind].items()}
    config = LANGUAGE_PRESETS[kind].with_fields(embedding_size=8, max_length=LENGTH, **sizes, **places)
    built = config.network(VOCABULARY)
    built.initialize(mxnet.init.Normal(0.5))
    for parameter in built.collect_params(".*distances").values():
        parameter.set_data(mxnet.nd.random.normal(shape=parameter.shape))
    built(*(mxnet.nd.ones(shape, dtype=dtype) for shape, dtype in (((1, 1), "int32"), (1, "float32"), (1, "int32"))))
    round_tables(built)
    content = lower_language(built).SerializeToString()
    assert check_language(content, config.model, VOCABULARY, [(1, 2), (3, 7)], "model.onnx") == content
    session = onnxruntime.InferenceSession(content)
    for reviews, length in ((6, 9), (1, 9), (3, 1), (1, 1)):
        arrays = batch(built, reviews, length)
        arrays["places"] = numpy.arange(reviews, dtype="int32")
        types = ("int32", "float32", "int32")
        logits, *heads = built(*(mxnet.nd.array(*each) for each in zip(arrays.values(), [mxnet.cpu()] * 3, types)))
        outputs = session.run(None, arrays)
        assert len(outputs) == 1 + len(heads)
        for found, expected in zip(outputs, [logits.softmax(), *heads]):
            numpy.testing.assert_allclose(found, expected.asnumpy(), atol=1e-5)
