"""Attributions on a terminal: words on shaded backgrounds or, where there are no colours, with numbers."""

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, TextIO

import click

from .._runtime.messages import translated, word

if TYPE_CHECKING:
    from ..classification.attribution import Attribution

# Numbers of the 256-colour palette, from faint to strong; black is readable on each. The whole text is on white: on a
# dark background faint shades would stand out most
BLACK, WHITE = 16, 231
ATTENTION, POSITIVE, NEGATIVE = (195, 152, 109, 66), (189, 153, 111, 68), (230, 223, 216, 173)
# Share of the largest value below which a word is not shaded
FAINT = 0.1


def has_colors(stream: TextIO, variables: Mapping[str, str] = os.environ) -> bool:
    """Return True for a terminal that says it has 256 colours or more; never where NO_COLOR is set."""
    if variables.get("NO_COLOR") or not stream.isatty():
        return False
    # Windows Terminal sets neither TERM nor COLORTERM
    return "256color" in variables.get("TERM", "") or "COLORTERM" in variables or "WT_SESSION" in variables


def as_text(attribution: "Attribution", colors: bool, strongest: int = 5) -> str:
    """Return a review as lines: the prediction, the words, the strongest of them, and what the values mean."""
    from ..classification.display import METHODS
    from ..visualization.heatmap import caption

    order = sorted(range(len(attribution.tokens)), key=lambda index: -abs(attribution.values[index]))
    named = [f"{attribution.tokens[index]} {number(attribution, index)}" for index in order[:strongest]]
    meaning = [METHODS[attribution.method], *["+ for positive, - for negative"] * attribution.signed]
    lines = (caption(attribution), words(attribution, colors), f"{word('strongest')}: {', '.join(named)}")
    return "\n".join((*lines, "; ".join(map(translated, meaning))))


def words(attribution: "Attribution", colors: bool) -> str:
    """Return the text with each token shaded by its value, or followed by it."""
    text, done, position = attribution.text, "", 0
    largest = float(abs(attribution.values).max()) or 1.0
    for index, (start, end) in enumerate(attribution.offsets):
        # the morphemes of a contracted syllable have the same offsets
        between, word = text[position:start], text[max(start, position) : end]
        share = attribution.values[index] / largest
        if colors:
            done += on(WHITE, between) + on(shade(share, attribution.signed), word)
        else:
            done += f"{between}{word}({number(attribution, index)})"
        position = max(position, end)
    return done + (on(WHITE, text[position:]) if colors else text[position:])


def on(background: int, text: str) -> str:
    return click.style(text, fg=BLACK, bg=background) if text else ""


def shade(share: float, signed: bool) -> int:
    """Return the colour of a share of the largest value, -1 to 1: in a neutral hue, or one for each sign."""
    ramp = ATTENTION if not signed else POSITIVE if share > 0 else NEGATIVE
    return WHITE if abs(share) < FAINT else ramp[min(int(abs(share) * len(ramp)), len(ramp) - 1)]


def number(attribution: "Attribution", index: int) -> str:
    return format(attribution.values[index], "+.2f" if attribution.signed else ".2f")
