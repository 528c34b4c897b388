"""The runner of graphs: what they take and return is what their interface declares."""

import numpy
import pytest
from onnx import TensorProto, helper

from nsmc_attention.errors import BundleError
from nsmc_attention.inference.sessions import OnnxGraph
from nsmc_attention.model.graphs import Interface

INPUTS = {"token_ids": ("N", "T"), "valid_length": ("N",), "ngram_ids": ("rank",)}


def graph(axes, value=0.5, name="weights", threads=1):
    """A graph whose weights name these axes and are filled with a value, in the shape that is its third input."""
    names = ("token_ids", "valid_length", "ngram_ids")
    inputs = [helper.make_tensor_value_info(each, TensorProto.INT32, INPUTS[each]) for each in names]
    shapes = {"probability": ["N"], name: ["N", *axes]}
    outputs = [helper.make_tensor_value_info(each, TensorProto.FLOAT, shape) for each, shape in shapes.items()]
    nodes = [
        helper.make_node("Cast", ["valid_length"], ["lengths"], to=TensorProto.FLOAT),
        helper.make_node("Sigmoid", ["lengths"], ["probability"]),
        helper.make_node("Cast", ["ngram_ids"], ["shape"], to=TensorProto.INT64),
        helper.make_node("Expand", ["value", "shape"], [name]),
    ]
    constant = helper.make_tensor("value", TensorProto.FLOAT, [], [value])
    made = helper.make_graph(nodes, "axes", inputs, outputs, [constant])
    model = helper.make_model(made, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    interface = Interface(INPUTS, {"probability": ("N",), name: ("N", *axes)})
    return OnnxGraph(model.SerializeToString(), interface, {}, threads=threads)


def given(*shape):
    return numpy.zeros((2, 4), "int32"), numpy.ones(2, "int32"), numpy.array((2, *shape), "int32")


QUERIES, HEADS, HOPS, TWO = ["queries", "keys"], ["heads", "queries", "keys"], ["hops", "keys"], [2, "keys"]
FITTING = [(QUERIES, (4, 4)), (HEADS, (2, 4, 4)), (HOPS, (3, 4)), (["keys"], (4,)), (TWO, (2, 4))]
OTHERS = [(TWO, (3, 4)), (QUERIES, (3, 4)), (HOPS, (3, 5)), (HEADS, (2, 4, 5)), (HEADS, (4, 4)), (HOPS, (2, 4, 4))]
OTHERS += [(HOPS, (0, 4))]


@pytest.mark.parametrize(
    "axes, shape, fits", [*((*case, True) for case in FITTING), *((*case, False) for case in OTHERS)]
)
def test_results_have_the_shapes_that_are_declared(axes, shape, fits):
    if fits:
        assert graph(axes)(*given(*shape), outputs=("weights",))[0].shape == (2, *shape)
    else:
        with pytest.raises(BundleError, match="the bundle's model.onnx: expected weights of shape .* from 0 to 1"):
            graph(axes)(*given(*shape))


VALUES = [("weights", 1.0, True), *(("weights", value, False) for value in (-0.1, 1.1, numpy.nan))]
VALUES += [("scores", -9.0, True), ("scores", numpy.inf, False), ("memory", numpy.nan, True)]
VALUES += [("log_probability", -numpy.inf, True), ("log_probability", 1.0, False)]


@pytest.mark.parametrize("name, value, fits", VALUES)
def test_numbers_are_in_their_range(name, value, fits):
    if fits:
        graph(["keys"], value, name)(*given(4))
    else:
        with pytest.raises(BundleError, match=f"expected {name} .*; train again, or take another bundle"):
            graph(["keys"], value, name)(*given(4))


def test_a_graph_of_other_inputs_or_outputs_is_refused():
    made = graph(["keys"])
    with pytest.raises(BundleError, match="this film.onnx: expected inputs and outputs .*'pooled'.* is it another"):
        content = made.session._model_bytes
        OnnxGraph(content, Interface({"pooled": ("N", "P")}, {"quantiles": ("N", 3)}), file="film.onnx")


def test_a_batch_of_another_form_is_one_line():
    with pytest.raises(BundleError, match="the bundle's model.onnx cannot be run: .*token_ids"):
        graph(["keys"])(numpy.zeros((2, 4, 1), "int32"), *given(4)[1:])
