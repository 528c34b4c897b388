"""A restorer's graphs, changed by a stranger; what they compute is in tests/test_networks.py."""

from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from nsmc_attention._runtime.mxnet_shim import import_mxnet
from nsmc_attention.errors import BundleError
from nsmc_attention.model.onnx.check import check_graph
from nsmc_attention.systems.restoration.engines import sizes_of
from nsmc_attention.systems.restoration.settings import EditorConfig, RestoreConfig
from nsmc_attention.systems.sequences.characters import Characters
from nsmc_attention.systems.sequences.decoders import GRUDecoder, TransformerDecoder
from nsmc_attention.systems.sequences.settings import Stack, WriterConfig

mxnet = import_mxnet()

from nsmc_attention.model.onnx.graph import lower  # noqa: E402
from nsmc_attention.model.parameters import initialize_from, parameter_shapes  # noqa: E402

CHARACTERS = Characters((" ", *"정말재미있는영화였어요"))
WRITER = WriterConfig(embedding_size=6, encoder=Stack(1, 4), output_units=5, decoder=GRUDecoder(8))
TRANSFORMER = replace(WRITER, decoder=TransformerDecoder(2, 2, 8, 10))


@cache
def contents(settings):
    built = settings.network(CHARACTERS.rows, len(CHARACTERS), 10)
    draw = numpy.random.RandomState(0)
    arrays = {name: draw.normal(0, 0.5, shape) for name, shape in parameter_shapes(built).items()}
    initialize_from(built, arrays, mxnet.cpu())
    return lower(built, settings.graphs)


def checked(settings, models, largest=3):
    sizes = sizes_of(RestoreConfig(model=settings), CHARACTERS)
    sizes = sizes._replace(batches=sizes.batches[:largest])
    return {name: check_graph(models[name], graph, sizes, Path(name)) for name, graph in settings.graphs.items()}


def test_a_step_projects_its_keys_no_more():
    """Of general attention, the keys are a matrix product of the source: one that a step does not repeat."""
    source, step = (onnx.load_from_string(each).graph for each in contents(WRITER).values())
    named = [{item.name for item in graph.initializer if ".key." in item.name} for graph in (source, step)]
    assert named == [{"source.key.weight.T"}, set()]


def test_matrices_of_any_size_that_a_file_holds_pass():
    """A layer has 1.5 times as many as a tensor of one review of one character may have."""
    large = EditorConfig(embedding_size=6, encoder=Stack(1, 512), output_units=5)
    assert checked(large, contents(large), largest=1)


def axis_of(name, axis, **size):
    """A change of what a graph says of one axis of an input or output."""

    def change(graph):
        item = next(item for item in [*graph.input, *graph.output] if item.name in name)
        sizes = item.type.tensor_type.shape.dim
        sizes[axis % len(sizes)].CopyFrom(onnx.TensorShapeProto.Dimension(**size))

    return change


def smaller_table(graph):
    table = next(item for item in graph.initializer if item.name.endswith("embedding.weight"))
    table.dims[0] -= 1
    table.raw_data = table.raw_data[: -table.dims[1]]


def one_constant_converted_many_times(graph):
    """Of 2**18 numbers each, so that no tensor is too large, but all together are."""
    graph.initializer.append(numpy_helper.from_array(numpy.zeros(2**18, "int8"), "zeros"))
    for number in range(70):
        graph.node.append(helper.make_node("Cast", ["zeros"], [f"floats{number}"], to=TensorProto.FLOAT))


def places_of_nothing(graph):
    """As many as a constant says, which no input has."""
    graph.initializer.append(numpy_helper.from_array(numpy.array(3, "int64"), "three"))
    graph.node.append(helper.make_node("Range", ["three", "three", "three"], ["places"]))


TABLE = r"a table '(source.reader|step)\.embedding.weight' of \d+ rows for \d+ (source_)?ids"


@pytest.mark.parametrize("name", ["source.onnx", "step.onnx"])
@pytest.mark.parametrize(
    "settings, change, message",
    [
        (WRITER, axis_of(("memory", "combined"), -1, dim_value=99), "of type 1 and shape"),
        (WRITER, axis_of("keys", 2, dim_param="K"), "keys of type 1 and shape"),
        (WRITER, smaller_table, TABLE),
        (WRITER, one_constant_converted_many_times, "Cast .floats"),
        (TRANSFORMER, smaller_table, TABLE),
        (TRANSFORMER, axis_of("state0", 3, dim_value=99), "state0 of type 1 and shape"),
        (TRANSFORMER, places_of_nothing, "a Range of anything but the positions"),
    ],
)
def test_a_changed_graph_is_refused_in_one_line(settings, change, message, name):
    """What no graph may have, of any system, is in tests/model/onnx/test_check.py."""
    model = onnx.load_from_string(contents(settings)[name])
    change(model.graph)
    with pytest.raises(BundleError, match=f"{name}: expected an ONNX graph that is safe .*{message}") as raised:
        checked(settings, {**contents(settings), name: model.SerializeToString()})
    assert str(raised.value).isprintable()
