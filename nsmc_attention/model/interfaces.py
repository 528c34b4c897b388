"""What the graphs take and return, by name: for the networks, their lowering, its check and the engines.

Read without MXNet and onnx. Each system lists those of its graphs in its settings. Axes: N reviews, T tokens, S
source length in characters without spaces, D units of a state, K units of a key, H units of the decoder, V entries of the
vocabulary, W places that a decoder attends to.
"""

from collections.abc import Mapping
from typing import NamedTuple, Union

Axes = tuple[Union[str, int], ...]


class Interface(NamedTuple):
    """{name: axes} of a graph's inputs and of its outputs, each in their order."""

    inputs: Mapping[str, Axes]
    outputs: Mapping[str, Axes]


# A network's, by the names of their files in a bundle
Graphs = dict[str, Interface]


# Of any graph, the inputs and outputs that are int32
INTEGERS = ("token_ids", "valid_length", "ngram_ids", "places", "source_ids", "source_length", "ids", "tags")


def dtype(name: str) -> str:
    """Return the type of an input or output of any graph."""
    return "int32" if name in INTEGERS else "float32"


# Axes of the weights after that of the reviews, both as long as the review. A network may have others before them, each of
# a fixed size: layers, heads, hops
AXES = ("queries", "keys")
