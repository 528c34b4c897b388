"""A HybridBlock as the graph of operators it computes: what its ONNX graph and its parameters' shapes are taken from.

`network.inputs` is {name: dimensions} in the order of the arguments; a dimension is a number or the name of one that
varies. A Block that is not one HybridBlock lists as `parts` those that it is made of.
"""

import json
from ast import literal_eval
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ..machine.aliases import Network
from ..machine.mxnet_shim import import_mxnet
from .graphs import AXES, unchanged

# Shapes are inferred for these sizes of the dimensions that vary: primes above every longest review, so that no
# size that is fixed by a setting is taken for one of them by chance
SIZES: dict[Any, int] = {"N": 257, "T": 1031, "S": 1033, "W": 1039, "W+1": 1040, **dict.fromkeys(AXES, 1031)}


class Value(NamedTuple):
    """One output of a node."""

    node: "Node"
    output: int = 0

    @property
    def shape(self) -> tuple[int, ...]:
        return self.node.shapes[self.output]


@dataclass(eq=False)
class Node:
    """An MXNet operator, or an input or parameter (operator "null"); its shapes are for a batch of `SIZES`."""

    operator: str
    name: str
    attributes: dict[str, Any]
    inputs: list[Value]
    shapes: dict[int, tuple[int, ...]] = field(default_factory=dict)


def parts_of(network: Network) -> Sequence[Any]:
    """Return the HybridBlocks of which each is a graph of a bundle, in the order of its graphs."""
    return getattr(network, "parts", [network])


def trace(network: Network, results: Callable[..., Sequence[Any]] = unchanged) -> tuple[list[Value], list[Node]]:
    """Return the `results` of the outputs of a network called with symbols, and all its nodes, inputs first."""
    mxnet = import_mxnet()
    # imports MXNet, in which a scheduler or server of a job stays
    from . import operators
    from .blocks import listed

    with operators.unused():
        made = listed(network(*map(mxnet.sym.var, network.inputs)))
        outputs = mxnet.sym.Group(list(results(mxnet.sym, *made)))
    internals = outputs.get_internals()
    sizes = {
        name: tuple(SIZES.get(size, size) for size in network.inputs[name])
        for name in outputs.list_inputs()
        if name in network.inputs
    }
    graph = json.loads(internals.tojson())
    nodes: list[Node] = []
    for item in graph["nodes"]:
        inputs = [Value(nodes[number], index) for number, index, *_ in item["inputs"]]
        attributes = {name: parsed(text) for name, text in item.get("attrs", {}).items()}
        nodes.append(Node(item["op"], item["name"], attributes, inputs))
    for (number, index, *_), shape in zip(graph["heads"], internals.infer_shape(**sizes)[1]):
        nodes[number].shapes[index] = shape
    # both graphs list their nodes in the same, topological order
    return [Value(nodes[number], index) for number, index, *_ in json.loads(outputs.tojson())["heads"]], nodes


def parsed(text: str) -> Any:
    """Return an attribute's value: a number, truth value or tuple, else the text itself."""
    try:
        return literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def parameter_shapes(network: Network) -> dict[str, tuple[int, ...]]:
    """Return {structural name: shape} of a network's parameters, initialized or not."""
    nodes = [node for block in parts_of(network) for node in trace(block)[1]]
    shapes = {node.name: node.shapes[0] for node in nodes if node.operator == "null"}
    return {name: shapes[item.name] for name, item in network._collect_params_with_prefix().items()}
