"""A network as the ONNX graphs of its interfaces."""

from ..._runtime.mxnet_types import Network
from ..interfaces import Graphs
from ..tracing import SIZES, parts_of, trace
from .graph import Graph


def lower(network: Network, graphs: Graphs) -> dict[str, bytes]:
    """Return {file: serialized ONNX model} of the graphs of a network, one of each of its parts.

    They compute what the network does once its parameters are rounded to what files hold (`parameters.round_tables`).
    Axes that do not vary, such as hops, are written as their size.
    """
    contents = {}
    for part, (name, interface) in zip(parts_of(network), graphs.items()):
        values, _ = trace(part, interface.results)
        graph = Graph(network, part)
        tensors = [graph.tensor(graph.value(value)) for value in values]
        outputs = {
            output: tuple(axis if axis in SIZES else size for axis, size in zip(interface.outputs[output], value.shape))
            for output, value in zip(interface.outputs, values)
        }
        contents[name] = bytes(graph.model(tensors, outputs).SerializeToString())
    return contents
