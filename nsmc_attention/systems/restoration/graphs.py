"""Inputs and outputs of the graph of an editor, by name; the axes are those of `sequences.graphs`."""

from typing import Any

from ..._runtime.mxnet_types import Array, Operators
from ...model.graphs import Interface, second_of_two
from ..sequences.graphs import SOURCE


def tagged(F: Operators, tags: Array, spaces: Array) -> tuple[Any, ...]:
    """Logits (N, S, V) and (N, S, 2) -> the likeliest tags, their probability, and that of a space, (N, S) each."""
    certainty = F.max(F.softmax(tags, axis=2), axis=2)
    return F.cast(F.argmax(tags, axis=2), dtype="int32"), certainty, second_of_two(F, spaces, 2)


# The tag of each character (`systems.restoration.tags`), its probability, and the probability that a space follows
EDITOR = {"model.onnx": Interface(SOURCE, dict.fromkeys(("tags", "certainty", "spaces"), ("N", "S")), tagged)}
