"""HTML for notebooks: the frame, shaded words, and a matrix to unfold; knows no results, which are written into it.

Static: no script, nothing loaded, no element ids. The style applies below one class only and brings its own paper, so
any number of outputs stand in one notebook, readable in light and dark themes (`html.css`).
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from html import escape
from pathlib import Path
from typing import Any

from ..machine.aliases import Numbers
from .matrices import Matrix

RGB = tuple[int, int, int]


@dataclass(frozen=True)
class Theme:
    """Colours as red, green and blue, 0..255 each; `strongest` is the share of the hue in the darkest shade."""

    paper: RGB
    ink: RGB
    dim: RGB
    line: RGB
    attention: RGB
    positive: RGB
    negative: RGB
    strongest: float

    def hue(self, value: float, signed: bool) -> RGB:
        """Return the hue of a value: neutral, or that of the label that a signed one speaks for."""
        if not signed:
            return self.attention
        return self.negative if value < 0 else self.positive

    def shade(self, value: float, largest: float, signed: bool) -> RGB:
        """Return the background of a word with this value, paper for 0 and the strongest shade for the largest."""
        share = self.strongest * strength(value, largest)
        red, green, blue = (round(low + (high - low) * share) for low, high in zip(self.paper, self.hue(value, signed)))
        return red, green, blue

    def variables(self) -> str:
        """Return the declarations of these colours for a CSS rule; hues are numbers, for `rgba(var(--for), .5)`."""
        solid = {name: as_hex(getattr(self, name)) for name in ("paper", "ink", "dim", "line")}
        hues = {"neutral": self.attention, "for": self.positive, "against": self.negative}
        numbers = {name: ", ".join(map(str, hue)) for name, hue in hues.items()}
        values = {**solid, **numbers, "strongest": self.strongest}
        return " ".join(f"--{name}: {value};" for name, value in values.items())


def theme(name: str) -> Theme:
    values = json.loads(Path(__file__).with_name("colors.json").read_text(encoding="utf-8"))[name].values()
    arguments: list[Any] = [tuple(value) if isinstance(value, list) else value for value in values]
    return Theme(*arguments)


LIGHT, DARK = theme("light"), theme("dark")


def strength(value: float, largest: float) -> float:
    """Return the share of a value in the largest, 0..1."""
    return min(1.0, abs(value) / largest) if largest else 0.0


def as_hex(color: RGB) -> str:
    return "#{:02x}{:02x}{:02x}".format(*color)


# Cells of the matrix in one output, each some 100 bytes of the notebook's file
MOST_CELLS = 4096

# Characters of a text in a repr
SHOWN = 40


def in_frame(content: str) -> str:
    """Return HTML with the style that it needs; also for what has no words."""
    return f'<style>{style()}</style><div class="nsmc-attention">{content}</div>'


@lru_cache(maxsize=1)
def style() -> str:
    rules = Path(__file__).with_suffix(".css").read_text(encoding="utf-8")
    return rules.replace("LIGHT_COLORS", LIGHT.variables()).replace("DARK_COLORS", DARK.variables())


def color(value: float, largest: float, signed: bool) -> str:
    """Return the declaration of a background in the shade of a value, as `Theme.shade` mixes it."""
    hue = ("against" if value < 0 else "for") if signed else "neutral"
    return f"rgba(var(--{hue}),calc(var(--strongest)*{strength(value, largest):.2f}))"


def number(value: float, signed: bool) -> str:
    return f"{value:+.3f}" if signed else f"{value:.3f}"


def legend(largest: float, signed: bool) -> str:
    """Return the shades between the names of their ends."""
    steps = [color(value, 1, signed) for value in ((-1.0, 0.0, 1.0) if signed else (0.0, 1.0))]
    ramp = f'<span class="nsmc-ramp" style="background:linear-gradient(to right,{",".join(steps)})"></span>'
    if signed:
        return f"negative {number(-largest, True)} {ramp} {number(largest, True)} positive"
    return f"0 {ramp} {number(largest, False)}"


def cut_at(text: str, offsets: Sequence[tuple[int, int]]) -> tuple[list[tuple[str, str]], str]:
    """Return (what is before it, what it is in the text) of each token, and the rest of the text.

    The morphemes of a contracted syllable have the same offsets: the first has the syllable.
    """
    done, pieces = 0, []
    for start, end in offsets:
        pieces.append((text[done:start], text[max(start, done) : end]))
        done = max(done, end)
    return pieces, text[done:]


def shaded_words(
    text: str, tokens: Sequence[str], offsets: Sequence[tuple[int, int]], values: Numbers, signed: bool
) -> str:
    """Return a text with each token shaded by its value, of values (T,); pointing at one shows its value."""
    (pieces, rest), largest, parts = cut_at(text, offsets), float(abs(values).max()), []
    for token, (between, piece), value in zip(tokens, pieces, values.tolist()):
        against = ' class="nsmc-against"' if signed and value < 0 else ""
        title = escape(f"{token}: {number(value, signed)}")
        style = f"background:{color(value, largest, signed)}"
        parts.append(f'{escape(between)}<span{against} style="{style}" title="{title}">{escape(piece)}</span>')
    return f'<div class="nsmc-words" lang="ko">{"".join(parts)}{escape(rest)}</div>'


def matrix_html(matrix: Matrix) -> str:
    """Return a matrix to unfold; of too many cells, what draws it."""
    rows, columns = matrix.weights.shape
    size = f"{rows} × {columns}"
    if rows * columns > MOST_CELLS:
        return f'<div class="nsmc-head">{size} weights: too many to unfold, draw them with draw_heatmap</div>'
    largest = float(matrix.weights.max())
    scale = f'<div class="nsmc-head">{legend(largest, False)}</div>'
    return f"<details><summary>{size} weights</summary>{scale}{table(matrix, largest)}</details>"


def table(matrix: Matrix, largest: float) -> str:
    """Return a matrix as a table, a row for each query."""
    rows = ""
    for query, values in zip(matrix.queries, matrix.weights.tolist()):
        titles = (f"{query} → {key}: {number(value, False)}" for key, value in zip(matrix.keys, values))
        colors = (color(value, largest, False) for value in values)
        cells = (f'<td style="background:{one}" title="{escape(title)}"></td>' for one, title in zip(colors, titles))
        rows += f"<tr><th>{escape(query)}</th>{''.join(cells)}</tr>"
    heads = "".join(f"<th>{escape(key)}</th>" for key in matrix.keys)
    return f"<table><thead><tr><th></th>{heads}</tr></thead><tbody>{rows}</tbody></table>"


def shortened(text: str) -> str:
    """Return the repr of a text, cut off after SHOWN characters."""
    return repr(text if len(text) <= SHOWN else text[: SHOWN - 1] + "…")
