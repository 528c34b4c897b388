"""Inputs of a language model's graph, by name; its outputs depend on the settings."""

from typing import Any

from ..._runtime.mxnet_types import Array, Operators
from ...model.graphs import Axes

# A language model's, with one hidden token a review: that of token t of review n is t * N + n
MASKED: dict[str, Axes] = {"token_ids": ("N", "T"), "valid_length": ("N",), "places": ("N",)}


def guessed(F: Operators, logits: Array, *heads: Any) -> tuple[Any, ...]:
    """Logits (N, V) of the hidden tokens -> their probabilities (N, V); the rest as it is."""
    return (F.softmax(logits, axis=1), *heads)
