"""What the graphs take and return, by name: for the networks, their lowering, its check and the engines.

Read without MXNet and onnx. Axes: N reviews, T tokens, S source length in characters without spaces, D units of a source
state, K units of a key, H units of the decoder, V characters of the vocabulary.
"""

from collections.abc import Mapping
from typing import NamedTuple, Union

from ..text.characters import ROWS
from ..text.ngrams import NGRAMS

Axes = tuple[Union[str, int], ...]


class Interface(NamedTuple):
    """{name: axes} of a graph's inputs and of its outputs, each in their order."""

    inputs: Mapping[str, Axes]
    outputs: Mapping[str, Axes]


# Of any graph, the inputs and outputs that are int32
INTEGERS = ("token_ids", "valid_length", "ngram_ids", "places", "source_ids", "source_length", "ids", "tags")
# Of a classifier; one without a table of n-grams has no ngram_ids
REVIEWS: dict[str, Axes] = {"token_ids": ("N", "T"), "valid_length": ("N",), "ngram_ids": ("N", "T", NGRAMS)}
# A language model's, with one hidden token a review: that of token t of review n is t * N + n
MASKED: dict[str, Axes] = {"token_ids": ("N", "T"), "valid_length": ("N",), "places": ("N",)}
SOURCE: dict[str, Axes] = {"source_ids": ("N", "S", ROWS), "source_length": ("N",)}
# What a writer makes of a source, once for all steps
ENCODED: dict[str, Axes] = {"memory": ("N", "S", "D"), "keys": ("N", "S", "K"), "mask": ("N", "S")}

# The tag of each character (`text.restoring`), its probability, and the probability that a space follows
EDITOR = {"model.onnx": Interface(SOURCE, dict.fromkeys(("tags", "certainty", "spaces"), ("N", "S")))}


def writer(states: int) -> dict[str, Interface]:
    """Return the graphs of a writer with so many arrays in its decoder's state: the encoder, and one step.

    The next step's `before` is the step's `combined`, and its `state0` the step's `next_state0`; `before` begins as 0.
    """
    state: dict[str, Axes] = {f"state{number}": ("N", "H") for number in range(states)}
    written: dict[str, Axes] = {"log_probability": ("N", "V"), "weights": ("N", "S"), "combined": ("N", "H")}
    return {
        "source.onnx": Interface(SOURCE, {**ENCODED, **state}),
        "step.onnx": Interface(
            {"ids": ("N",), **ENCODED, "before": ("N", "H"), **state},
            {**written, **{f"next_{name}": axes for name, axes in state.items()}},
        ),
    }


def dtype(name: str) -> str:
    """Return the type of an input or output of any graph."""
    return "int32" if name in INTEGERS else "float32"
