"""Inputs and outputs of graphs, by name, and a HybridBlock as the graph of operators that it computes (`trace`): for the
networks, their lowering and the engines.

Read without MXNet and onnx. Each system lists those of its graphs (`config.graphs`). Axes: N reviews, T tokens, S
source length in characters without spaces, D units of a state, K units of a key, H units of the decoder, V entries of
the vocabulary, W places that a decoder attends to. `network.inputs` is {name: axes} in the order of the arguments. A
Block that is not one HybridBlock lists as `parts` those that it is made of.
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
    """{name: axes} of a graph's inputs and of its outputs, each in their order.

    `results(F, *outputs)` makes the graph's outputs of those of the network, as a `hybrid_forward` does.
    """

    inputs: Mapping[str, Axes]
    outputs: Mapping[str, Axes]
    results: Callable[..., Sequence[Array]] = unchanged


# A network's, by the names of their files in a bundle
Graphs = dict[str, Interface]


# Of any graph, the inputs and outputs that are int32; of these, the ones that a network takes as float32, as MXNet's
# sequence operators do
INTEGERS = ("token_ids", "valid_length", "ngram_ids", "places", "source_ids", "source_length", "ids", "tags")
LENGTHS = ("valid_length", "source_length")
# Axes of the weights after that of the reviews, both as long as the review. A network may have others before them, each
# of a fixed size: layers, heads, hops
AXES = ("queries", "keys")
# Of a classifier: the output of one whose encoder attends: its weights
HEADS = "heads"
# What a network above reads of a review: an output where values are near the token, else what its last layer reads, a
# further output that the graph can be given
CONTEXTS = "contexts"
# What each token adds to the log-odds, of a classifier whose values are near the token (`model.values`)
CONTRIBUTIONS = "contributions"


def dtype(name: str) -> str:
    """Return the type of an input or output of any graph."""
    return "int32" if name in INTEGERS else "float32"


def second_of_two(F: Operators, logits: Array, axis: int) -> Array:
    """Return the probability of the second of two classes, of logits whose last axis, `axis`, has these."""
    return F.squeeze(F.slice_axis(F.softmax(logits, axis=axis), axis=axis, begin=1, end=2), axis=axis)


def classified(F: Operators, logits: Array, weights: Array, *others: Array) -> tuple[Array, ...]:
    """Logits (N, 2) -> the probability of positive (N,); the rest as it is."""
    return (second_of_two(F, logits, 1), weights, *others)


def review_inputs(with_ngrams: bool) -> dict[str, Axes]:
    """Return the inputs of a classifier's graph."""
    # imports numpy, which `--help` does without
    from ..text.ngrams import NGRAMS

    inputs: dict[str, Axes] = {"token_ids": ("N", "T"), "valid_length": ("N",)}
    return {**inputs, "ngram_ids": ("N", "T", NGRAMS)} if with_ngrams else inputs


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
