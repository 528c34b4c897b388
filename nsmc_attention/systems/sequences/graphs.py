"""Inputs and outputs of the graphs of networks that read and write characters, by name.

Axes: N texts, S source length in characters without spaces, V characters of the vocabulary, W places that a decoder
attends to.
"""

from typing import Any

from ..._runtime.aliases import Array, Operators
from ...model.graphs import Axes, Interface

# Of a source's character: itself, its initial, vowel and final, and whether a space follows
ROWS = 5
SOURCE: dict[str, Axes] = {"source_ids": ("N", "S", ROWS), "source_length": ("N",)}

# A writer's text has at most this many characters for each of its source, and more
LONGEST, MORE = 2, 10


def most_written(length: int) -> int:
    """Return the most characters that a writer may write for a source of `length`, its end counted."""
    return MORE + LONGEST * length


def written(F: Operators, logits: Array, *others: Any) -> tuple[Any, ...]:
    """Logits (N, V) -> log-probabilities (N, V); the rest as it is."""
    return (F.log_softmax(logits, axis=1), *others)


def writer_graphs(layers: int, heads: int, size: int) -> dict[str, Interface]:
    """Return the graphs of a writer whose decoder has heads of `size` units.

    `keys` and `memory` are the keys and values of the source for all heads of all layers, the state those of what was
    written for each layer in turn: a step adds a place. The first of the W places is of nothing and has no influence; it
    is there because no array of MXNet is empty.
    """
    encoded: dict[str, Axes] = {
        **dict.fromkeys(("memory", "keys"), ("N", layers * heads, "S", size)),
        "mask": ("N", "S"),
    }
    state, after = ([f"{name}{number}" for number in range(2 * layers)] for name in ("state", "next_state"))
    return {
        "source.onnx": Interface(SOURCE, {**encoded, **dict.fromkeys(state, ("N", heads, 1, size))}),
        "step.onnx": Interface(
            {"ids": ("N",), **encoded, **dict.fromkeys(state, ("N", heads, "W", size))},
            {"log_probability": ("N", "V"), "weights": ("N", "S"), **dict.fromkeys(after, ("N", heads, "W+1", size))},
            written,
        ),
    }
