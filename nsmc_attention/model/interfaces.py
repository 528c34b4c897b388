"""What the graphs take and return, by name: for the networks, their lowering, its check and the engines.

Read without MXNet and onnx. Axes: N reviews, T tokens, S source length in characters without spaces, D units of a source
state, K units of a key, H units of the decoder, V characters of the vocabulary, W places that a decoder attends to.
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
# A further output that a classifier's graph can be given (`onnx.contexts`): what its last layer reads, (N, F)
CONTEXTS = "contexts"
# A language model's, with one hidden token a review: that of token t of review n is t * N + n
MASKED: dict[str, Axes] = {"token_ids": ("N", "T"), "valid_length": ("N",), "places": ("N",)}
SOURCE: dict[str, Axes] = {"source_ids": ("N", "S", ROWS), "source_length": ("N",)}
# What a writer makes of a source, once for all steps
ENCODED: dict[str, Axes] = {"memory": ("N", "S", "D"), "keys": ("N", "S", "K"), "mask": ("N", "S")}

# The tag of each character (`text.restoring`), its probability, and the probability that a space follows
EDITOR = {"model.onnx": Interface(SOURCE, dict.fromkeys(("tags", "certainty", "spaces"), ("N", "S")))}


# Of a film network: what each review is worth, and what reviews worth so much say of their film. F numbers of a review,
# D of its value, P of what is pooled
FILM = {
    "reviews.onnx": Interface({"vectors": ("N", "F")}, {"scores": ("N",), "values": ("N", "D")}),
    "film.onnx": Interface({"pooled": ("N", "P"), "counts": ("N", 1)}, {"quantiles": ("N", 3)}),
}

WRITTEN: dict[str, Axes] = {"log_probability": ("N", "V"), "weights": ("N", "S")}


def recurrent_writer(states: int) -> dict[str, Interface]:
    """Return the graphs of a writer with so many arrays in its decoder's state: the encoder, and one step.

    The next step's `before` is the step's `combined`, and its `state0` the step's `next_state0`; `before` begins as 0.
    """
    state = dict.fromkeys(numbered("state", states), ("N", "H"))
    after = dict.fromkeys(("combined", *numbered("next_state", states)), ("N", "H"))
    return {
        "source.onnx": Interface(SOURCE, {**ENCODED, **state}),
        "step.onnx": Interface({"ids": ("N",), **ENCODED, "before": ("N", "H"), **state}, {**WRITTEN, **after}),
    }


def transformer_writer(layers: int, heads: int, size: int) -> dict[str, Interface]:
    """Return the graphs of a writer whose decoder has heads of `size` units.

    `keys` and `memory` are the keys and values of the source for all heads of all layers, the state those of what was
    written for each layer in turn: a step adds a place. The first of the W places is of nothing and has no influence; it
    is there because no array of MXNet is empty.
    """
    encoded: dict[str, Axes] = {
        **dict.fromkeys(("memory", "keys"), ("N", layers * heads, "S", size)),
        "mask": ("N", "S"),
    }
    state, after = numbered("state", 2 * layers), numbered("next_state", 2 * layers)
    return {
        "source.onnx": Interface(SOURCE, {**encoded, **dict.fromkeys(state, ("N", heads, 1, size))}),
        "step.onnx": Interface(
            {"ids": ("N",), **encoded, **dict.fromkeys(state, ("N", heads, "W", size))},
            {**WRITTEN, **dict.fromkeys(after, ("N", heads, "W+1", size))},
        ),
    }


def numbered(name: str, count: int) -> list[str]:
    return [f"{name}{number}" for number in range(count)]


def dtype(name: str) -> str:
    """Return the type of an input or output of any graph."""
    return "int32" if name in INTEGERS else "float32"
