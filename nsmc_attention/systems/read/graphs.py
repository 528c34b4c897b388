"""Inputs and outputs of a reader's graphs, by name.

Axes: N lines, S strips of a line's picture, D units of a strip's state, K units of a key, H units of the decoder, P parts of
letters (`systems.read.decoding`).
"""

from typing import Any

from ...machine.aliases import Array, Operators
from ...network.graphs import Axes, Interface
from ...text.hangul import FINALS, VOWELS

# Parts of a letter that are vowels, and finals, none among both; those before are initials and all else
VOWEL_PARTS, FINAL_PARTS = len(VOWELS) + 1, len(FINALS) + 1
# A line is HEIGHT pixels high and is read in strips of STRIP columns
HEIGHT, STRIP = 32, 4
# Of each strip, the decoder's last weight and the sum of all, which location features are of
LOOKED_AT = ("last", "total")
PICTURE: dict[str, Axes] = {"strips": ("N", "S", HEIGHT * STRIP), "source_length": ("N",)}
# What the encoder makes of a line, once for all steps
ENCODED: dict[str, Axes] = {"memory": ("N", "S", "D"), "keys": ("N", "S", "K"), "mask": ("N", "S")}


def encoded(F: Operators, memory: Array, keys: Array, mask: Array, logits: Array) -> tuple[Any, ...]:
    """CTC's logits of parts (N, S, P) -> their log-probabilities; the rest as it is."""
    return memory, keys, mask, spelt(F, logits)


def stepped(F: Operators, logits: Array, *others: Any) -> tuple[Any, ...]:
    """The decoder's logits of parts (N, P) -> their log-probabilities; the rest as it is."""
    return (spelt(F, logits), *others)


def divided(F: Operators, of_parts: Array) -> list[Any]:
    """(..., P) -> the first parts, the vowels and the finals."""
    vowels, finals = -VOWEL_PARTS - FINAL_PARTS, -FINAL_PARTS
    bounds = (0, vowels), (vowels, finals), (finals, None)
    return [F.slice_axis(of_parts, axis=-1, begin=begin, end=end) for begin, end in bounds]


def spelt(F: Operators, logits: Array) -> Any:
    """Logits of parts (..., P) -> their log-probabilities, each of the three kinds by itself."""
    return F.concat(*(F.log_softmax(part, axis=-1) for part in divided(F, logits)), dim=-1)


# The graphs of a reader: the encoder, which spells a part of a letter at each strip, and a step of the decoder, of which the
# next one's `state0` is `next_state0`, and so on
READER_GRAPHS = {
    "source.onnx": Interface(PICTURE, {**ENCODED, "parts": ("N", "S", "P")}, encoded),
    "step.onnx": Interface(
        {"ids": ("N",), **ENCODED, "state0": ("N", "H"), **dict.fromkeys(LOOKED_AT, ("N", "S"))},
        {
            "parts": ("N", "P"),
            "weights": ("N", "S"),
            "next_state0": ("N", "H"),
            **dict.fromkeys([f"next_{name}" for name in LOOKED_AT], ("N", "S")),
        },
        stepped,
    ),
}
