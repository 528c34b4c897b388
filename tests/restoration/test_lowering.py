"""The graphs of a restorer compute what its Gluon network computes, in few bytes, and pass the check of foreign graphs."""

from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from nsmc_attention._runtime.mxnet_shim import import_mxnet

mxnet = import_mxnet()

from nsmc_attention.errors import BundleError  # noqa: E402
from nsmc_attention.inference.graphs import GluonGraph, OnnxGraph  # noqa: E402
from nsmc_attention.model.onnx.check import check_graph  # noqa: E402
from nsmc_attention.model.onnx.lowering import lower  # noqa: E402
from nsmc_attention.model.parameters import (  # noqa: E402
    TABLES,
    gluon_file,
    initialize_from,
    read_gluon_file,
    round_tables,
    snapshot,
    stored_forms,
)
from nsmc_attention.model.tracing import parts_of  # noqa: E402
from nsmc_attention.restoration.characters import Characters  # noqa: E402
from nsmc_attention.restoration.decoders import ALIGNMENTS, GRUDecoder, LSTMDecoder, TransformerDecoder  # noqa: E402
from nsmc_attention.restoration.engines import RestorerEngine, sizes_of  # noqa: E402
from nsmc_attention.restoration.interface import ROWS  # noqa: E402
from nsmc_attention.restoration.settings import EditorConfig, LSTMStack, RestoreConfig, Stack, WriterConfig  # noqa: E402

WIDTH = 7
CHARACTERS = Characters((" ", *"정말재미있는영화였어요"))
FOLDER = Path("bundle")
CELLS = {"gru": (Stack, GRUDecoder), "lstm": (LSTMStack, LSTMDecoder)}


def editor(cell="gru", layers=2):
    return EditorConfig(embedding_size=6, encoder=CELLS[cell][0](layers, 4), output_units=5)


def writer(kind="general", cell="gru", fed=1, first="projection"):
    stack, decoder = CELLS[cell]
    half = 4 if first == "projection" else 8
    size = 2 * half if kind == "dot" else 8
    return WriterConfig(
        embedding_size=6,
        encoder=stack(1, half),
        output_units=5,
        decoder=decoder(size),
        attention=ALIGNMENTS[kind](),
        input_feeding=fed,
        first_state=first,
    )


def transformer(norm="post", positions="learned"):
    return replace(writer(), decoder=TransformerDecoder(2, 2, 8, 10, norm=norm, positions=positions))


EDITORS = [editor(cell, layers) for cell in CELLS for layers in (1, 2)]
WRITERS = [writer(kind, cell, fed) for kind in ALIGNMENTS for cell in CELLS for fed in (0, 1)]
WRITERS += [writer("general", cell, 1, first) for cell in CELLS for first in ("mean", "maximum")]
WRITERS += [replace(writer("local-p"), attention=ALIGNMENTS["local-p"](window=1))]
WRITERS += [transformer(), transformer("pre", "sinusoidal")]


def title(settings):
    if settings.kind == "editor":
        return f"editor-{settings.encoder.kind}-{settings.encoder.layers}"
    parts = (settings.attention.kind, settings.decoder.kind, settings.first_state, settings.input_feeding)
    return "-".join(map(str, parts))


@cache
def network(settings):
    built = settings.network(CHARACTERS.rows, len(CHARACTERS), 10)
    draw = numpy.random.RandomState(1)
    shapes = {name: shape for name, (_, shape) in stored_forms(built).items() if not name.endswith(".scale")}
    initialize_from(built, {name: draw.normal(0, 0.5, shape) for name, shape in shapes.items()}, mxnet.cpu())
    round_tables(built)
    return built


@cache
def contents(settings):
    return lower(network(settings), settings.graphs)


def batch(reviews=4, width=WIDTH):
    draw = numpy.random.RandomState(0)
    lengths = numpy.array([width, *draw.randint(1, width + 1, reviews - 1)], "int32")
    return draw.randint(0, CHARACTERS.rows, (reviews, width, ROWS)).astype("int32"), lengths


def engines(settings):
    """The engine of ONNX Runtime, which checks its results, and that of MXNet."""
    fixed, parts = {**settings.sizes, "V": len(CHARACTERS)}, parts_of(network(settings))
    pairs = list(zip(settings.graphs.items(), parts))
    by_onnx = {name: OnnxGraph(contents(settings)[name], interface, fixed, name) for (name, interface), _ in pairs}
    by_gluon = {name: GluonGraph(part, interface, mxnet.cpu()) for (name, interface), part in pairs}
    return RestorerEngine(by_onnx), RestorerEngine(by_gluon)


def close(found, expected):
    numpy.testing.assert_allclose(found, expected, atol=1e-5)


def all_close(found, expected):
    assert len(found) == len(expected)
    for one, other in zip(found, expected):
        close(one, other)


@pytest.mark.parametrize("settings", EDITORS, ids=title)
def test_an_editor_tags_every_character_as_gluon_does(settings):
    by_onnx, by_gluon = engines(settings)
    for ids, lengths in (batch(), batch(1, 1), batch(3, 1)):
        (tags, *others), (expected, *wanted) = by_onnx.tag(ids, lengths), by_gluon.tag(ids, lengths)
        inside = numpy.arange(ids.shape[1]) < lengths[:, None]
        assert tags.dtype == expected.dtype == numpy.int32 and (tags == expected)[inside].all()
        all_close([each[inside] for each in others], [each[inside] for each in wanted])


@pytest.mark.parametrize("settings", WRITERS, ids=title)
def test_a_writer_writes_step_by_step_as_gluon_does(settings):
    by_onnx, by_gluon = engines(settings)
    for ids, lengths in (batch(), batch(1, 1)):
        (source, state), (expected, other) = (each.begin(ids, lengths) for each in (by_onnx, by_gluon))
        all_close(source, expected)
        for chosen in (2, 9, 4):
            all_close(state, other)
            last = numpy.full(len(ids), chosen)
            *found, state = by_onnx.step(last, source, state)
            *wanted, other = by_gluon.step(last, expected, other)
            all_close(found, wanted)
        all_close(state, other)


@pytest.mark.parametrize(
    "settings", [*EDITORS, *map(writer, ALIGNMENTS), writer("general", "lstm"), transformer()], ids=title
)
def test_a_parameter_file_holds_each_parameter_of_a_restorer_once(settings):
    built = network(settings)
    arrays, content = snapshot(built), gluon_file(built)
    untouched = settings.network(CHARACTERS.rows, len(CHARACTERS), 10)
    again = read_gluon_file(content, untouched, "weights.params")
    assert again.keys() == arrays.keys() and all((again[name] == arrays[name]).all() for name in arrays)
    assert len(arrays) == len(list(built.collect_params()))


@pytest.mark.parametrize("settings", [editor(), writer("local-p", "lstm"), transformer()], ids=title)
def test_graphs_hold_tables_in_one_byte_a_number_and_matrices_in_two(settings):
    for content in contents(settings).values():
        for item in onnx.load_from_string(content).graph.initializer:
            if item.name in TABLES:
                assert item.data_type == TensorProto.INT8
            elif len(item.dims) > 1 and not item.name.endswith(".B"):
                assert item.data_type == TensorProto.FLOAT16


@pytest.mark.parametrize("settings", EDITORS, ids=title)
def test_each_layer_is_one_operator_and_nothing_is_copied_to_a_size(settings):
    nodes = onnx.load_from_string(contents(settings)["model.onnx"]).graph.node
    operators = [node.op_type for node in nodes]
    assert operators.count(settings.encoder.kind.upper()) == settings.encoder.layers
    assert not {"Loop", "Scan", "Expand", "Tile"} & set(operators)


def test_a_step_projects_its_keys_no_more():
    """Of general attention, the keys are a matrix product of the source: one that a step does not repeat."""
    source, step = (onnx.load_from_string(each).graph for each in contents(writer("general")).values())
    named = [{item.name for item in graph.initializer if ".key." in item.name} for graph in (source, step)]
    assert named == [{"source.key.weight.T"}, set()]


def checked(settings, changed=None, largest=3):
    sizes = sizes_of(RestoreConfig(model=settings), CHARACTERS)
    sizes = sizes._replace(batches=sizes.batches[:largest])
    graphs, models = settings.graphs, changed or contents(settings)
    return {name: check_graph(models[name], graphs[name], sizes, FOLDER / name) for name in graphs}


@pytest.mark.parametrize("settings", [*EDITORS, *WRITERS], ids=title)
def test_graphs_of_the_package_pass_the_check_unchanged(settings):
    assert checked(settings, largest=2) == contents(settings)


def test_matrices_of_any_size_that_a_file_holds_pass():
    """A layer has 1.5 times as many as a tensor of one review of one character may have."""
    large = editor(layers=1)
    large = replace(large, encoder=replace(large.encoder, hidden_size=512))
    assert checked(large, largest=1)


def another_output_type(graph):
    graph.output[0].type.tensor_type.elem_type = TensorProto.DOUBLE


def another_width(graph):
    sizes = next(item for item in graph.output if item.name in ("memory", "combined")).type.tensor_type.shape.dim
    sizes[len(sizes) - 1].dim_value += 1


def undeclared_keys(graph):
    keys = next(item for item in [*graph.input, *graph.output] if item.name == "keys")
    keys.type.tensor_type.shape.dim[2].dim_param = "K"


def smaller_table(graph):
    table = next(item for item in graph.initializer if item.name.endswith("embedding.weight"))
    table.dims[0] -= 1
    table.raw_data = table.raw_data[: -table.dims[1]]


def one_constant_converted_many_times(graph):
    """Of 2**18 numbers each, so that no tensor is too large, but all together are."""
    graph.initializer.append(numpy_helper.from_array(numpy.zeros(2**18, "int8"), "zeros"))
    for number in range(70):
        graph.node.append(helper.make_node("Cast", ["zeros"], [f"floats{number}"], to=TensorProto.FLOAT))


CHANGES = [
    (another_output_type, "of type 11 and shape"),
    (another_width, "of type 1 and shape"),
    (undeclared_keys, "keys of type 1 and shape"),
    (smaller_table, r"a table '(source.reader|step)\.embedding.weight' of \d+ rows for \d+ (source_)?ids"),
    (one_constant_converted_many_times, "Cast .floats"),
]


def wider_state(graph):
    state = next(item for item in [*graph.input, *graph.output] if item.name == "state0")
    state.type.tensor_type.shape.dim[3].dim_value += 1


def places_of_nothing(graph):
    """As many as a constant says, which no input has."""
    graph.initializer.append(numpy_helper.from_array(numpy.array(3, "int64"), "three"))
    graph.node.append(helper.make_node("Range", ["three", "three", "three"], ["places"]))


OF_TRANSFORMERS = [
    *(each for each in CHANGES if each[0] is smaller_table),
    (wider_state, "state0 of type 1 and shape"),
    (places_of_nothing, "a Range of anything but the positions"),
]


@pytest.mark.parametrize("name", ["source.onnx", "step.onnx"])
@pytest.mark.parametrize(
    "settings, change, found",
    [*((writer(), *each) for each in CHANGES), *((transformer(), *each) for each in OF_TRANSFORMERS)],
    ids=lambda value: getattr(value, "__name__", getattr(value, "kind", "")),
)
def test_a_changed_graph_is_refused_in_one_line(settings, change, found, name):
    """What no graph may have, of any system, is in tests/model/onnx/test_check.py."""
    model = onnx.load_from_string(contents(settings)[name])
    change(model.graph)
    message = f"bundle/{name}: expected an ONNX graph that is safe to run, found .*{found}.*; train again"
    with pytest.raises(BundleError, match=message) as raised:
        checked(settings, {**contents(settings), name: model.SerializeToString()})
    assert str(raised.value).isprintable()
