"""A network's ONNX graph computes what its HybridBlock computes."""

import numpy
import onnx
import pytest

from nsmc_attention._runtime.mxnet_shim import import_mxnet
from nsmc_attention.classification.settings import preset
from nsmc_attention.language.settings import LANGUAGE_PRESETS

mxnet = import_mxnet()

from mxnet.gluon import HybridBlock, nn  # noqa: E402

from nsmc_attention.inference.graphs import GluonGraph, OnnxGraph  # noqa: E402
from nsmc_attention.language.engines import sizes_of  # noqa: E402
from nsmc_attention.model.attention import ATTENTIONS  # noqa: E402
from nsmc_attention.model.interfaces import Interface  # noqa: E402
from nsmc_attention.model.onnx.check import check_graph  # noqa: E402
from nsmc_attention.model.onnx.lowering import lower  # noqa: E402
from nsmc_attention.model.parameters import (  # noqa: E402
    gluon_file,
    initialize_from,
    read_gluon_file,
    round_tables,
    snapshot,
    stored_forms,
)

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


def config_of(kind="additive", encoder="gru", buckets=40):
    config = preset("post" if kind == "article" else "default").with_fields(embedding_size=8, max_length=LENGTH)
    if kind != "article":
        config = config.with_fields(attention=kind, encoder=encoder, ngram_buckets=buckets)
    return config.with_fields(**SIZES.get(encoder, {}))


def network(kind="additive", encoder="gru", buckets=40):
    mxnet.random.seed(1)
    built = config_of(kind, encoder, buckets).network(VOCABULARY)
    draw = numpy.random.RandomState(1)
    shapes = {name: shape for name, (_, shape) in stored_forms(built).items() if not name.endswith(".scale")}
    initialize_from(built, {name: draw.normal(0, 0.5, shape) for name, shape in shapes.items()}, mxnet.cpu())
    if buckets:
        built.ngram_table.weight.set_data(mxnet.nd.random.uniform(shape=(buckets, 2)))
    round_tables(built)
    return built


def lowered(built, *kind):
    return lower(built, config_of(*kind).graphs)["model.onnx"]


def batch(interface, reviews, length):
    random, sizes = numpy.random.RandomState(0), {"N": reviews, "T": length}
    shapes = {name: [sizes.get(size, size) for size in axes] for name, axes in interface.inputs.items()}
    arrays = {name: random.randint(0, 40, shape).astype("int32") for name, shape in shapes.items()}
    lengths = [length, *random.randint(1, length + 1, reviews - 1)]
    return [*{**arrays, "valid_length": numpy.int32(lengths), "places": numpy.arange(reviews, dtype="int32")}.values()]


def assert_same(built, content, interface, batches):
    """ONNX Runtime computes of random batches (N, T) what the block does."""
    by_onnx, by_gluon = OnnxGraph(content, interface), GluonGraph(built, interface, mxnet.cpu())
    for reviews, length in batches:
        arrays = batch(interface, reviews, length)[: len(interface.inputs)]
        outputs, expected = by_onnx(*arrays), by_gluon(*arrays)
        assert len(outputs) == len(interface.outputs)
        for one, other in zip(outputs, expected):
            assert one.shape == other.shape
            numpy.testing.assert_allclose(one, other, atol=1e-5)


@pytest.mark.parametrize("kind, encoder, buckets", NETWORKS)
def test_onnx_is_gluon_for_every_network(kind, encoder, buckets):
    built, interface = network(kind, encoder, buckets), config_of(kind, encoder, buckets).graphs["model.onnx"]
    batches = [
        (reviews, LENGTH if kind == "article" else length) for reviews, length in ((6, 9), (1, 9), (3, 1), (1, 1))
    ]
    assert_same(built, lowered(built, kind, encoder, buckets), interface, batches)


@pytest.mark.parametrize("kind, encoder, buckets", NETWORKS)
def test_a_parameter_file_holds_what_the_block_has(kind, encoder, buckets):
    built = network(kind, encoder, buckets)
    arrays = snapshot(built)
    again = read_gluon_file(gluon_file(built), built, "weights.params")
    assert again.keys() == arrays.keys() and all((again[name] == arrays[name]).all() for name in arrays)


def graph_of(*kind):
    return onnx.load_from_string(lowered(network(*kind), *kind)).graph


def test_the_graph_has_one_gru_and_no_other_operator_than_it_needs():
    for kind in ("additive", "article"):
        operators = [node.op_type for node in graph_of(kind, "gru", 0).node]
        assert operators.count("GRU") == 1 and not {"ScatterND", "Loop", "Scan", "Expand", "Tile"} & set(operators)


def test_tables_are_stored_small_and_weights_named_after_their_axes():
    graph = graph_of()
    kinds = {item.name: item.data_type for item in graph.initializer}
    types = onnx.TensorProto
    assert kinds["embedding.weight"] == types.INT8 and kinds["embedding.weight.scale"] == types.FLOAT16
    assert kinds["ngram_table.weight"] == types.FLOAT16
    assert [size.dim_param for size in graph.output[1].type.tensor_type.shape.dim] == ["N", "queries", "keys"]


def test_the_number_of_hops_is_written_as_a_number():
    sizes = graph_of("structured").output[1].type.tensor_type.shape.dim
    assert [size.dim_param or size.dim_value for size in sizes] == ["N", 4, "keys"]


def test_the_same_parameters_give_the_same_bytes_whatever_was_built_before():
    assert lowered(network()) == lowered(network())


class Unlowerable(HybridBlock):
    inputs = {"token_ids": ("N", "T")}

    def hybrid_forward(self, F, token_ids):
        return F.erfinv(token_ids), F.zeros_like(token_ids)


def test_an_operator_without_a_rule_is_named():
    with pytest.raises(NotImplementedError, match="erfinv .* extend model.onnx.operators"):
        lower(Unlowerable(), {"model.onnx": Interface(Unlowerable.inputs, {"one": ("N", "T"), "other": ("N", "T")})})


class OneDirection(HybridBlock):
    """Another network than the classifiers: a GRU in one direction, of which the last layer reads every state."""

    inputs = {"token_ids": ("N", 4)}

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
    interface = Interface(built.inputs, {"logits": ("N", 2), "weights": ("N", "queries", "keys")})
    assert_same(built, lower(built, {"model.onnx": interface})["model.onnx"], interface, [(3, 4)])


@pytest.mark.parametrize(
    "kind, places", [("gru", {}), *(("transformer", {"model.encoder.positions": each}) for each in POSITIONS)]
)
def test_onnx_is_gluon_for_every_language_model(kind, places):
    sizes = {f"model.encoder.{name.split('.')[-1]}": size for name, size in SIZES[kind].items()}
    config = LANGUAGE_PRESETS[kind].with_fields(embedding_size=8, max_length=LENGTH, **sizes, **places)
    built = config.network(VOCABULARY)
    built.initialize(mxnet.init.Normal(0.5))
    for parameter in built.collect_params(".*distances").values():
        parameter.set_data(mxnet.nd.random.normal(shape=parameter.shape))
    built(*(mxnet.nd.ones(shape, dtype=dtype) for shape, dtype in (((1, 1), "int32"), (1, "float32"), (1, "int32"))))
    round_tables(built)
    interface, sizes = config.graphs["model.onnx"], sizes_of(VOCABULARY, LENGTH)
    content = lower(built, config.graphs)["model.onnx"]
    assert check_graph(content, interface, sizes, "model.onnx") == content
    assert_same(built, content, interface, [(6, 9), (1, 9), (3, 1), (1, 1)])
