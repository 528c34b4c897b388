"""The runner of graphs: what they take and return is what their interface declares."""

import numpy
import pytest
from onnx import TensorProto, helper

from nsmc_attention.engines.graphs import OnnxGraph
from nsmc_attention.errors import BundleError
from nsmc_attention.network.graphs import Interface

INTERFACE = Interface({"token_ids": ("N", "T"), "valid_length": ("N",)}, {"probability": ("N",)})


def content():
    """A graph whose probability is the sigmoid of the lengths."""
    inputs = [helper.make_tensor_value_info(each, TensorProto.INT32, axes) for each, axes in INTERFACE.inputs.items()]
    outputs = [helper.make_tensor_value_info("probability", TensorProto.FLOAT, ["N"])]
    nodes = [
        helper.make_node("Cast", ["valid_length"], ["lengths"], to=TensorProto.FLOAT),
        helper.make_node("Sigmoid", ["lengths"], ["probability"]),
    ]
    graph = helper.make_graph(nodes, "lengths", inputs, outputs)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9).SerializeToString()


def test_a_batch_is_the_same_on_any_number_of_threads():
    ids, lengths = numpy.zeros((100, 4), "int64"), numpy.arange(100)
    one, several = (OnnxGraph(content(), INTERFACE, threads)(ids, lengths)[0] for threads in (1, 3))
    assert one.dtype == "float32" and (one == several).all() and one[0] == 0.5


def test_what_is_no_graph_and_a_batch_of_another_form_are_one_line():
    with pytest.raises(BundleError, match="this ONNX model: ONNX Runtime cannot load it"):
        OnnxGraph(b"none", INTERFACE)
    with pytest.raises(BundleError, match="this ONNX model: cannot be run: .*token_ids"):
        OnnxGraph(content(), INTERFACE)(numpy.zeros((2, 4, 1), "int32"), numpy.ones(2, "int32"))
