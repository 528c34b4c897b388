"""Inputs and outputs of graphs, by name: for the networks, their lowering and the engines.

Read without MXNet and onnx. Each system lists those of its graphs (`config.graphs`). Axes: N reviews, T tokens, S source
length in characters without spaces, D units of a state, K units of a key, H units of the decoder, V entries of the
vocabulary, W places that a decoder attends to.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, Union

from ..machine.aliases import Array, Operators

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
# Axes of the weights after that of the reviews, both as long as the review. A network may have others before them, each of
# a fixed size: layers, heads, hops
AXES = ("queries", "keys")
# Of a classifier: the output of one whose encoder attends: its weights
HEADS = "heads"
# What a network above reads of a review: an output where values are near the token, else what its last layer reads, a further
# output that the graph can be given
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
