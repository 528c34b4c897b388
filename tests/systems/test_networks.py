"""What every network of every system promises: masks, parameters in use, files that hold them, and graphs that are the same."""

import math
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, Callable, Optional

import numpy
import onnx
import pytest
from onnx import TensorProto
from safetensors.numpy import load

from nsmc_attention.classifier.settings import preset
from nsmc_attention.machine.mxnet_shim import import_mxnet
from nsmc_attention.systems.film.settings import FilmConfig
from nsmc_attention.systems.language.settings import LANGUAGE_PRESETS
from nsmc_attention.systems.read.settings import PICTURE, Location, ReaderConfig
from nsmc_attention.systems.restore.settings import Decoder, EditorConfig, Stack, WriterConfig
from nsmc_attention.systems.sequences import ROWS

mxnet = import_mxnet()

from nsmc_attention.engines.graphs import GluonGraph, OnnxGraph  # noqa: E402
from nsmc_attention.engines.onnx.graph import lower  # noqa: E402
from nsmc_attention.network.attention import ATTENTIONS  # noqa: E402
from nsmc_attention.network.blocks import listed  # noqa: E402
from nsmc_attention.network.graphs import LENGTHS, dtype, parameter_shapes, parts_of  # noqa: E402
from nsmc_attention.network.parameters import (  # noqa: E402
    NGRAM_TABLE,
    SCALE,
    TABLES,
    initialize_from,
    loaded,
    round_tables,
    snapshot,
)
from nsmc_attention.training.runs import network_files  # noqa: E402

WIDTH, VOCABULARY, BUCKETS, HOPS = 9, 20, 15, 4
SIZES = [9, 3, 1, 5]
# axes along which a batch is padded
PADDED = ("T", "S", "films")
EDITED = ("tags", "certainty", "spaces")


@dataclass(frozen=True)
class Case:
    """A network as its system builds it, what a training calls it with, and where among its outputs the weights are."""

    name: str
    settings: Any
    build: Callable[[], Any] = field(compare=False)
    inputs: Any = field(compare=False)
    fixed: Any = field(compare=False, default_factory=dict)
    weights: Optional[int] = 1
    reads_padding: bool = False

    def __str__(self):
        return self.name


def classifier(attention, encoder, buckets, **values):
    changes = {**values, **({"attention_hops": HOPS} if attention == "structured" else {})}
    if encoder == "gru":
        changes["hidden_size"] = 4
    if encoder == "transformer":
        changes |= {"model.encoder.units": 6, "model.encoder.heads": 2, "model.encoder.feed_forward": 10}
    config = preset("default").with_fields(
        embedding_size=8, max_length=WIDTH, attention=attention, encoder=encoder, ngram_buckets=buckets, **changes
    )
    name = "-".join(map(str, (attention, encoder, buckets, *values)))
    inputs, fixed = config.graphs["model.onnx"].inputs, {"hops": HOPS} if attention == "structured" else {}
    return Case(name, config, lambda: config.network(VOCABULARY), inputs, fixed)


def article():
    config = preset("post").with_fields(embedding_size=8, max_length=WIDTH)
    inputs = config.graphs["model.onnx"].inputs
    return Case("article", config, lambda: config.network(VOCABULARY), inputs, reads_padding=True)


def language(kind, **encoder):
    sizes = {"hidden_size": 4} if kind == "gru" else {"units": 6, "heads": 2, "feed_forward": 10, **encoder}
    changes = {f"model.encoder.{name}": value for name, value in sizes.items()}
    config = LANGUAGE_PRESETS[kind].with_fields(embedding_size=8, max_length=WIDTH, **changes)
    name, inputs = "-".join(["language", kind, *encoder.values()]), config.graphs["model.onnx"].inputs
    return Case(name, config, lambda: config.network(VOCABULARY), inputs, {"V": VOCABULARY}, weights=None)


def film(attention):
    config = FilmConfig().with_settings({"model.units": 6, "model.output_units": 4, "model.attention.kind": attention})
    inputs = {"vectors": ("N", "films", 7), "mask": ("N", "films")}
    return Case(f"film-{attention}", config, lambda: config.network(7), inputs, {"F": 7, "D": 6, "P": 12})


SOURCE = {"source_ids": ("N", "S", ROWS), "source_length": ("N",)}


def restorer(settings, name, **more):
    fixed = {"D": settings.width, "V": VOCABULARY}
    inputs = SOURCE if settings.kind == "editor" else {**SOURCE, "target": ("N", 5)}
    return Case(name, settings, lambda: settings.network(VOCABULARY, VOCABULARY, 10), inputs, fixed, **more)


SMALL = {"embedding_size": 6, "encoder": Stack(1, 4), "output_units": 5, "dropout": 0.0}
EDITOR, WRITER = EditorConfig(**SMALL), WriterConfig(**SMALL)


def editor(layers):
    return restorer(replace(EDITOR, encoder=Stack(layers, 4)), f"editor-{layers}", weights=None)


def writer(norm, positions):
    decoder = Decoder(2, 2, 8, 10, norm=norm, positions=positions, dropout=0.0)
    return restorer(replace(WRITER, decoder=decoder), f"writer-{norm}-{positions}")


def reader():
    """Its convolutions see the margin behind a line; see tests/systems/read/test_network.py."""
    sizes = {"hidden_size": 4, "decoder_size": 6, "embedding_size": 3, "output_units": 4}
    settings, count = ReaderConfig(attention=Location(units=5), **sizes), 80
    inputs = {**PICTURE, "target": ("N", 5)}
    fixed = {"D": settings.width, "H": settings.decoder_size, "P": count}
    more = {"weights": None, "reads_padding": True}
    return Case("reader", settings, lambda: settings.network(VOCABULARY, count), inputs, fixed, **more)


NEAR = {"values": "convolution", "window": 3, "signed": 1}
# each attention, and each encoder and value with and without n-grams
CASES = [
    *(classifier(kind, "gru", BUCKETS) for kind in ATTENTIONS),
    *(classifier(kind, "none", 0) for kind in ("structured", "multihead")),
    *(classifier("additive", encoder, buckets) for encoder, buckets in (("gru", 0), ("none", BUCKETS))),
    *(classifier(kind, "transformer", buckets) for kind, buckets in (("additive", BUCKETS), ("uniform", 0))),
    *(classifier(kind, "gru", buckets, **NEAR) for kind, buckets in (("additive", BUCKETS), ("structured", 0))),
    *(classifier("uniform", "gru", buckets, **NEAR) for buckets in (BUCKETS, 0)),
    article(),
    language("gru"),
    *(
        language("transformer", norm=norm, positions=positions)
        for norm in ("pre", "post")
        for positions in ("learned", "relative")
    ),
    *(film(kind) for kind in ("additive", "uniform")),
    *map(editor, (1, 2)),
    reader(),
    writer("post", "learned"),
    writer("pre", "learned"),
]
every_network = pytest.mark.parametrize("case", CASES, ids=str)


@cache
def network(case):
    """Build one whose parameters are drawn, and stored as a bundle stores them."""
    built, draw = case.build(), numpy.random.RandomState(1)
    shapes = parameter_shapes(built)
    # those of the standard deviation of a film's numbers, and of squared weights of n-grams, are positive
    # sums over a window and many channels stay as small as others
    arrays = {}
    for name, shape in shapes.items():
        wide = name.startswith("source.") and len(shape) > 2
        arrays[name] = draw.normal(0, 0.5 / (math.prod(shape[1:]) ** 0.5 if wide else 1), shape)
        if name.endswith(("unit", "running_var", NGRAM_TABLE)):
            arrays[name] = abs(arrays[name]) + 0.1
        if name.endswith(NGRAM_TABLE):
            # where there is no n-gram
            arrays[name][0] = 0
    initialize_from(built, arrays, mxnet.cpu())
    round_tables(built)
    return built


@cache
def contents(case):
    return lower(network(case), case.settings.graphs)


def drawn(name, shape, seed=0):
    """Ids that every table has, or numbers that a decoder's state may be."""
    draw = numpy.random.RandomState(seed)
    integers = dtype(name) == "int32" or name == "target"
    return draw.randint(2, BUCKETS, shape) if integers else draw.uniform(0.5, 2, shape).astype("float32")


def given(case, lengths=SIZES, width=WIDTH, rows=slice(None), filler=3):
    """Return the arrays that a training gives the network for some rows of a random batch, `filler` in the padding."""
    arrays, inside = [], numpy.arange(width) < numpy.array(lengths)[rows, None]
    for name, axes in case.inputs.items():
        if name in LENGTHS:
            array = numpy.array(lengths, dtype="float32")[rows]
        elif name == "mask":
            array = inside.astype("float32")
        elif name == "places":
            # the token in the middle of each row
            array = numpy.array(lengths)[rows] // 2 * len(inside) + numpy.arange(len(inside))
        else:
            array = drawn(name, [{"N": len(SIZES)}.get(size, WIDTH if size in PADDED else size) for size in axes])[rows]
            if axes[1] in PADDED:
                array = numpy.pad(array[:, :width], [(0, 0), (0, max(0, width - WIDTH)), *[(0, 0)] * (array.ndim - 2)])
                array[~inside] = 0 if name == "ngram_ids" else filler
        integers = dtype(name) == "int32" and name not in LENGTHS or name == "target"
        arrays.append(mxnet.nd.array(array, dtype="int32" if integers else "float32"))
    return arrays


def run(built, arrays):
    return [array.asnumpy() for array in listed(built(*arrays))]


def close(array, expected):
    numpy.testing.assert_allclose(array, expected, atol=1e-5)


@pytest.mark.parametrize("case", [case for case in CASES if not case.reads_padding], ids=str)
def test_a_row_alone_is_what_it_is_beside_others_and_padding_of_any_width_and_content(case):
    built = network(case)
    together, wide = run(built, given(case)), run(built, given(case, width=WIDTH + 4, filler=13))
    for row, length in enumerate(SIZES):
        alone = run(built, given(case, width=length, rows=slice(row, row + 1)))
        for one, *others in zip(alone, together, wide):
            for many in others:
                close(many[row][tuple(map(slice, one.shape[1:]))], one[0])
        if case.weights is not None:
            weights = alone[case.weights]
            assert (weights >= 0).all() and (abs(weights.sum(-1) - 1) <= 1e-5).all()
            assert not wide[case.weights][row][..., length:].any()


@every_network
def test_hybridized_is_imperative_and_every_parameter_gets_a_gradient(case):
    built, arrays = network(case), given(case)
    plain = run(built, arrays)
    built.hybridize(static_alloc=True)
    with mxnet.autograd.record(train_mode=False):
        outputs = listed(built(*arrays))
        # the weights beside it are for show
        loss = sum((array**2).sum() for array in outputs[: None if case.weights is None else 1])
    loss.backward()
    for one, other in zip(outputs, plain):
        close(one.asnumpy(), other)
    parameters = built._collect_params_with_prefix().items()
    unused = [name for name, each in parameters if each.grad_req != "null" and not each.list_grad()[0].asnumpy().any()]
    assert not unused
    built.hybridize(False)


@every_network
def test_files_of_a_bundle_hold_each_parameter_once(case, tmp_path):
    built = network(case)
    files, arrays = network_files(built, case.settings), snapshot(built)
    again = loaded(load(files["model.safetensors"]))
    assert again.keys() == arrays.keys() and all((again[name] == arrays[name]).all() for name in arrays)
    assert len(arrays) == len(list(built.collect_params()))
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    for name, content in contents(case).items():
        whole, read = onnx.load_from_string(content), onnx.load(tmp_path / name)
        for one, other in zip(whole.graph.initializer, read.graph.initializer):
            assert (one.name, one.dims, one.raw_data) == (other.name, other.dims, other.raw_data)
        assert len(files[name]) < len(content) or len(content) < 20_000


@every_network
def test_onnx_is_gluon(case):
    """Each graph of random batches; a decoder's step on what the encoder returns, and then on its own state."""
    batches = [(6, WIDTH), (1, WIDTH)] + ([] if case.reads_padding else [(3, 1), (1, 1)])
    pairs = list(zip(case.settings.graphs.items(), parts_of(network(case))))
    for reviews, length in batches:
        sizes, known = {"N": reviews, "T": length, "S": length, **case.fixed}, {}
        for seed, ((file, interface), part) in enumerate([*pairs, pairs[-1], pairs[-1]]):
            arrays = []
            for name, axes in interface.inputs.items():
                shape = [sizes.get(size, size) for size in axes if size not in ("W",)]
                if name in LENGTHS:
                    shorter = numpy.random.RandomState(seed).randint(1, length + 1, reviews - 1)
                    known[name] = numpy.array([length, *shorter])
                if name == "places":
                    known[name] = numpy.arange(reviews)
                fresh = name in ("ids", "token_ids", "ngram_ids", "source_ids")
                arrays.append(drawn(name, shape, seed) if fresh or name not in known else known[name])
            runners = (OnnxGraph(contents(case)[file], interface), GluonGraph(part, interface, mxnet.cpu()))
            found, expected = (runner(*arrays) for runner in runners)
            assert len(found) == len(expected) == len(interface.outputs)
            for name, one, other in zip(interface.outputs, found, expected):
                # an editor's results of the padding are of nothing
                inside = numpy.arange(length) < known["source_length"][:, None] if name in EDITED else ...
                assert one.shape == other.shape and one.dtype == other.dtype
                close(one[inside], other[inside])
                known[name.replace("next_", "")] = other


LAYERS = {"additive-gru-0": ["GRU"], "article": ["GRU"], "editor-1": ["GRU"], "editor-2": ["GRU", "GRU"]}


@every_network
def test_graphs_hold_tables_in_one_byte_a_number_matrices_in_two_and_each_layer_as_one_operator(case):
    halves = getattr(network(case), "matrices_as", "float32") == "float16"
    for content in contents(case).values():
        graph = onnx.load_from_string(content).graph
        operators = [node.op_type for node in graph.node]
        assert not {"Loop", "Scan", "ScatterND", "Expand", "Tile"} & set(operators)
        if case.name in LAYERS:
            assert [operator for operator in operators if operator == "GRU"] == LAYERS[case.name]
        for item in graph.initializer:
            if item.name in TABLES:
                assert item.data_type == TensorProto.INT8
            elif item.name.endswith((NGRAM_TABLE, SCALE)) or halves and len(item.dims) > 1:
                assert item.data_type == TensorProto.FLOAT16, item.name
