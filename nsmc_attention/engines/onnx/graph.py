"""A network as an ONNX graph: each MXNet operator of the traced HybridBlock is lowered by one table.

The graph is built backwards from its outputs, so operators whose result a rewrite does not need are never written. It
uses `onnx.helper`: MXNet's own exporter does not work with today's onnx package.
"""

import json
from collections.abc import Iterable, Mapping
from typing import Any, Optional, Union

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnx.external_data_helper import set_external_data

from ...machine.aliases import Network, Numbers
from ...network.graphs import SIZES, Axes, Graphs, Node, Value, dtype, parts_of, trace
from ...network.parameters import matrices_as, snapshot, stored
from .operators import FOLDED, OPERATORS, UNFOLDING

OPSET, IR_VERSION = 17, 9


class Graph:
    """The ONNX nodes and constants written so far, and the ONNX counterpart of each MXNet value.

    A counterpart is the name of a tensor, or a number that stands for a tensor filled with it.

    MXNet's batch_dot has one batch axis, so multi-head attention folds the heads into it; ONNX's MatMul has any number of
    batch axes. The ONNX counterpart of a value in `folded` has a separate axis of heads, so its axes count from the end.
    """

    def __init__(self, network: Network, block: Optional[Network] = None) -> None:
        """Begin the graph of a network, or of one of its HybridBlocks; constants are named as in the network."""
        self.inputs: Mapping[str, Axes] = (network if block is None else block).inputs
        self.arrays, self.matrices_as = snapshot(network), matrices_as(network)
        self.names = {item.name: name for name, item in network._collect_params_with_prefix().items()}
        self.nodes: list[onnx.NodeProto] = []
        self.constants: dict[str, onnx.TensorProto] = {}
        self.lowered: dict[Node, list[Any]] = {}
        self.folded: set[Node] = set()
        # query, key and value (N, K, T, D / K) of the projections that self-attention reads
        self.projected: dict[Node, list[str]] = {}

    def value(self, value: Value) -> Any:
        """Return the ONNX counterpart of a value, a tensor's name or a number."""
        if value.node not in self.lowered:
            outputs = self.lower_node(value.node)
            self.lowered[value.node] = outputs if isinstance(outputs, list) else [outputs]
        return self.lowered[value.node][value.output]

    def lower_node(self, node: Node) -> Any:
        self.require(node.operator in OPERATORS, node)
        written = OPERATORS[node.operator](self, node)
        if any(value.node in self.folded for value in node.inputs) and node.operator not in UNFOLDING:
            self.require(node.operator in FOLDED, node)
            self.folded.add(node)
        return written

    def require(self, condition: object, node: Node) -> None:
        """Raise NotImplementedError unless a node's attributes and inputs meet a condition of its lowering."""
        if not condition:
            operator = f"{node.operator} ({node.name}) with {node.attributes}"
            raise NotImplementedError(f"{operator}: extend engines/onnx/operators.py")

    def add(self, operator: str, *inputs: str, outputs: Optional[list[str]] = None, **attributes: Any) -> str:
        """Write an ONNX node and return the name of its first output."""
        names = outputs or [f"{operator.lower()}_{len(self.nodes)}"]
        self.nodes.append(helper.make_node(operator, inputs, names, **attributes))
        return names[0]

    def split(self, tensor: str, count: int, axis: int) -> list[str]:
        names = [f"split_{len(self.nodes)}_{number}" for number in range(count)]
        self.add("Split", tensor, outputs=names, axis=axis)
        return names

    def tensor(self, lowered: Union[str, float]) -> str:
        """Return the name of a tensor; a number becomes a constant, which operators broadcast."""
        if isinstance(lowered, str):
            return lowered
        return self.constant(f"float_{lowered!r}", numpy.array(lowered, "float32"))

    def constant(self, name: str, array: Numbers) -> str:
        if name not in self.constants:
            self.constants[name] = numpy_helper.from_array(numpy.ascontiguousarray(array).reshape(array.shape), name)
        return name

    def weights(self, name: str, array: Numbers) -> str:
        """Return the name of a parameter; it is stored as in `network.parameters`, and converted once, at loading."""
        floats = []
        for key, values in stored(name, array, self.matrices_as).items():
            constant = self.constant(key, values)
            floats.append(constant if values.dtype == "float32" else self.add("Cast", constant, to=TensorProto.FLOAT))
        return floats[0] if len(floats) == 1 else self.add("Mul", *floats)

    def integers(self, *values: int) -> str:
        return self.constant("int_" + "_".join(map(str, values)).replace("-", "m"), numpy.array(values, "int64"))

    def size(self, size: int) -> str:
        """Return an int64 scalar of a traced size; a varying size is read from an input at run time."""
        for name, dimensions in self.inputs.items():
            for axis, dimension in enumerate(dimensions):
                if SIZES.get(dimension) == size:
                    shape = self.add("Shape", name, start=axis, end=axis + 1)
                    return self.add("Squeeze", shape, self.integers(0))
        return self.constant(f"size_{size}", numpy.array(size, "int64"))

    def parameter(self, value: Value) -> tuple[str, Any]:
        """Return a parameter's structural name and array, looking through the reshaping that MXNet's RNN needs."""
        name = self.names[value.node.inputs[0].node.name if value.node.inputs else value.node.name]
        return name, self.arrays[name]

    def model(self, tensors: Iterable[str], outputs: Mapping[str, Axes]) -> onnx.ModelProto:
        """Return the checked model with these tensors as its outputs, {name: axes}."""
        names: dict[str, str] = {}
        for tensor, output in zip(tensors, outputs):
            # a tensor can have only one name: a second output of it is a copy
            names[self.add("Identity", tensor) if tensor in names else tensor] = output
        for node in self.nodes:
            for side in (node.input, node.output):
                side[:] = [names.get(name, name) for name in side]
        interface = value_infos(self.inputs), value_infos(outputs)
        graph = helper.make_graph(self.nodes, "nsmc_attention", *interface, list(self.constants.values()))
        options = {"opset_imports": [helper.make_opsetid("", OPSET)], "ir_version": IR_VERSION}
        model = helper.make_model(graph, producer_name="nsmc_attention", **options)
        onnx.checker.check_model(model)
        return model


def value_infos(interface: Mapping[str, Axes]) -> list[onnx.ValueInfoProto]:
    """Declare inputs or outputs, {name: axes}."""
    types = {name: helper.np_dtype_to_tensor_dtype(numpy.dtype(dtype(name))) for name in interface}
    return [helper.make_tensor_value_info(name, types[name], axes) for name, axes in interface.items()]


def lower(network: Network, graphs: Graphs) -> dict[str, bytes]:
    """Return {file: serialized ONNX model} of a network's graphs, one for each of its parts.

    They equal the network after its parameters are rounded to the values in files (`parameters.round_tables`). Axes that
    do not vary, such as hops, are written as their size.
    """
    contents = {}
    for block, (name, interface) in zip(parts_of(network), graphs.items()):
        values, _ = trace(block, interface.results)
        graph = Graph(network, block)
        tensors = [graph.tensor(graph.value(value)) for value in values]
        outputs = {
            output: tuple(axis if axis in SIZES else size for axis, size in zip(interface.outputs[output], value.shape))
            for output, value in zip(interface.outputs, values)
        }
        contents[name] = bytes(graph.model(tensors, outputs).SerializeToString())
    return contents


def with_parameters_in(file: str, content: bytes, parameters: bytes) -> bytes:
    """Return a graph with its parameters in a safetensors file beside it, as ONNX external data."""
    start = 8 + int.from_bytes(parameters[:8], "little")
    places = json.loads(parameters[8:start])
    model = onnx.load_from_string(content)
    for constant in model.graph.initializer:
        if constant.name in places:
            begin, end = places[constant.name]["data_offsets"]
            set_external_data(constant, file, start + begin, end - begin)
            constant.ClearField("raw_data")
    return bytes(model.SerializeToString())
