"""Results on a terminal: words on shaded backgrounds or, without colours, with numbers; a table of figures."""

import os
from collections.abc import Mapping
from typing import Optional, TextIO

import click

from ..classifier.attribution import Attribution
from ..classifier.prediction import METHODS
from ..drawing.html import cut_at
from ..machine.aliases import Record
from ..machine.messages import translated, word
from .heatmap import caption

# Indices of the 256-colour palette, from faint to strong; black is readable on each. All text is on white: on a dark
# background, faint shades would stand out most
BLACK, WHITE = 16, 231
ATTENTION, POSITIVE, NEGATIVE = (195, 152, 109, 66), (189, 153, 111, 68), (230, 223, 216, 173)
# Share of the largest value below which a word is not shaded
FAINT_SHARE = 0.1
# Rows of the table of faithfulness, and widths of its columns
ORDERS = ("contribution", "attention", "gradient", "erasure", "random")
WIDTHS = (18, 18, 18, 19, 18, 0)


def has_colors(stream: TextIO, variables: Mapping[str, str] = os.environ) -> bool:
    """Return whether a stream is a terminal with 256 colours or more; NO_COLOR disables colours."""
    if variables.get("NO_COLOR") or not stream.isatty():
        return False
    # Windows Terminal sets neither TERM nor COLORTERM
    return "256color" in variables.get("TERM", "") or "COLORTERM" in variables or "WT_SESSION" in variables


def as_text(attribution: Attribution, colors: bool, strongest: int = 5) -> str:
    """Return a review as lines: the prediction, the words, the strongest words, and the meaning of the values."""
    order = sorted(range(len(attribution.tokens)), key=lambda index: -abs(attribution.values[index]))
    largest = [f"{attribution.tokens[index]} {number(attribution, index)}" for index in order[:strongest]]
    meaning = [METHODS[attribution.method], *["+ for positive, - for negative"] * attribution.signed]
    lines = (caption(attribution), words(attribution, colors), f"{word('strongest')}: {', '.join(largest)}")
    return "\n".join((*lines, "; ".join(map(translated, meaning))))


def words(attribution: Attribution, colors: bool) -> str:
    """Return the text with each token shaded by its value, or followed by the value without colours."""
    (pieces, rest), line = cut_at(attribution.text, attribution.offsets), ""
    largest = float(abs(attribution.values).max()) or 1.0
    for index, (between, piece) in enumerate(pieces):
        if colors:
            share = attribution.values[index] / largest
            line += on(WHITE, between) + on(shade(share, attribution.signed), piece)
        else:
            line += f"{between}{piece}({number(attribution, index)})"
    return line + (on(WHITE, rest) if colors else rest)


def on(background: int, text: str) -> str:
    return click.style(text, fg=BLACK, bg=background) if text else ""


def shade(share: float, signed: bool) -> int:
    """Return the colour of a share of the largest value, -1..1, in a neutral hue, or one hue for each sign."""
    ramp = ATTENTION if not signed else POSITIVE if share > 0 else NEGATIVE
    return WHITE if abs(share) < FAINT_SHARE else ramp[min(int(abs(share) * len(ramp)), len(ramp) - 1)]


def number(attribution: Attribution, index: int) -> str:
    return format(attribution.values[index], "+.2f" if attribution.signed else ".2f")


def faithfulness_table(result: Record) -> str:
    """Return a result of `measure.faithfulness.faithfulness` as a table."""
    correlations = result.get("correlation", {})
    head = ("tau, erasure", "tau, gradient", "comprehensiveness", "sufficiency", *["correlation"] * bool(correlations))
    rows = [("words ordered by", *head)]
    for name in (order for order in ORDERS if order in result["orders"]):
        tau, aopc = result["tau"].get(name, {}), result["orders"][name]
        means = (tau.get("erasure"), tau.get("gradient"), aopc["comprehensiveness"], aopc["sufficiency"])
        linear = correlations.get(name)
        rows.append((name, *map(interval, means), "" if linear is None else format(linear, ".3f")))
    about = f"{result['reviews']} reviews of 3 tokens or more; mean and half its 95 % interval; tau: Kendall's tau-b"
    lines = [about, *("".join(f"{cell:{width}}" for cell, width in zip(row, WIDTHS)).rstrip() for row in rows)]
    if correlations:
        lines.append("correlation: with the change of the log-odds by erasing a word; of attention with its size")
    if "gap" in result:
        lines.append(f"the log-odds are a bias and the sum of the contributions, to {result['gap']:.1g}")
    return "\n".join([*lines, f"{result['data']}, {result['bundle']}, {result['seconds']} s"])


def interval(mean: Optional[Record]) -> str:
    """Return a mean and half its interval, as `0.380 ±0.012`; "" if it was not measured or is undefined."""
    if not mean or mean["mean"] is None:
        return ""
    return f"{mean['mean']:.3f} ±{mean['high'] - mean['mean']:.3f}"
