"""Inputs and outputs of graphs by name, for the networks, their lowering and the engines; and `trace`, which returns a
HybridBlock as a graph of operators.

Read without MXNet and onnx. Each system declares its graphs (`config.graphs`). Axes: N reviews, T tokens, S source
length in characters without spaces, D units of a state, K units of a key, H units of the decoder, V entries of the
vocabulary, W positions that a decoder attends to. `network.inputs` is {name: axes} in the order of the arguments. A Block
that consists of several HybridBlocks lists them as `parts`.
"""

import json
from ast import literal_eval
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Union

from ..machine.aliases import Array, Network, Operators
from ..machine.mxnet_shim import import_mxnet

Axes = tuple[Union[str, int], ...]


def unchanged(F: Operators, *outputs: Array) -> Sequence[Array]:
    return outputs


class Interface(NamedTuple):
    """The inputs and outputs of a graph, {name: axes} in order.

    `results(F, *outputs)` computes the graph's outputs from the network's, like a `hybrid_forward`.
    """

    inputs: Mapping[str, Axes]
    outputs: Mapping[str, Axes]
    results: Callable[..., Sequence[Array]] = unchanged


# Interfaces of a network's graphs, by their file in a bundle
Graphs = dict[str, Interface]


# Inputs and outputs of any graph that are int32, and those of them that a network takes as float32, as MXNet's sequence
# operators do
INTEGERS = ("token_ids", "valid_length", "ngram_ids", "places", "source_ids", "source_length", "ids", "tags")
LENGTHS = ("valid_length", "source_length")
# Axes of the weights after the axis of reviews, both as long as the review. Axes of a fixed size may precede them: layers,
# heads, hops
AXES = ("queries", "keys")
# A classifier's output: the attention weights of its encoder
HEADS = "heads"
# A classifier's output: features of a review that other networks read. Without values near the token it is the last layer's
# input, and has to be added to the graph
CONTEXTS = "contexts"
# A classifier's output: contributions of the tokens to the log-odds, with values near the token (`model.values`)
CONTRIBUTIONS = "contributions"


def dtype(name: str) -> str:
    """Return the dtype of an input or output of any graph, by its name."""
    return "int32" if name in INTEGERS else "float32"


def second_of_two(F: Operators, logits: Array, axis: int) -> Array:
    """Return the probability of the second class from logits whose last axis, `axis`, has two classes."""
    return F.squeeze(F.slice_axis(F.softmax(logits, axis=axis), axis=axis, begin=1, end=2), axis=axis)


def classified(F: Operators, logits: Array, weights: Array, *others: Array) -> tuple[Array, ...]:
    """Replace logits (N, 2) by the probability of positive (N,)."""
    return (second_of_two(F, logits, 1), weights, *others)


def review_inputs(with_ngrams: bool) -> dict[str, Axes]:
    """Return the inputs of a classifier's graph."""
    # imports numpy, which `--help` does not need
    from ..text.ngrams import NGRAMS

    inputs: dict[str, Axes] = {"token_ids": ("N", "T"), "valid_length": ("N",)}
    return {**inputs, "ngram_ids": ("N", "T", NGRAMS)} if with_ngrams else inputs


# Sizes of the varying dimensions for shape inference: primes above the longest review, so that no size fixed by a setting
# equals one of them by chance
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
    """An MXNet operator, or an input or parameter (operator "null"); shapes are those of a batch of `SIZES`."""

    operator: str
    name: str
    attributes: dict[str, Any]
    inputs: list[Value]
    shapes: dict[int, tuple[int, ...]] = field(default_factory=dict)


def parts_of(network: Network) -> Sequence[Any]:
    """Return the HybridBlocks of a network, one for each graph of its bundle, in their order."""
    return getattr(network, "parts", [network])


def trace(network: Network, results: Callable[..., Sequence[Any]] = unchanged) -> tuple[list[Value], list[Node]]:
    """Return the `results` of a network called with symbols, and all its nodes, inputs first."""
    mxnet = import_mxnet()
    # imports MXNet, which never returns in the scheduler or server of a distributed job
    from . import operators
    from .blocks import listed

    with operators.unused():
        symbols = listed(network(*map(mxnet.sym.var, network.inputs)))
        outputs = mxnet.sym.Group(list(results(mxnet.sym, *symbols)))
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
    """Parse an attribute: a number, bool or tuple, else the text itself."""
    try:
        return literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def parameter_shapes(network: Network) -> dict[str, tuple[int, ...]]:
    """Return {structural name: shape} of a network's parameters, initialized or not."""
    nodes = [node for block in parts_of(network) for node in trace(block)[1]]
    shapes = {node.name: node.shapes[0] for node in nodes if node.operator == "null"}
    return {name: shapes[item.name] for name, item in network._collect_params_with_prefix().items()}
