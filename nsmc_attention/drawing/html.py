"""HTML for notebooks: the frame, shaded words, and a matrix to unfold; independent of the classes of results.

Static: no script, nothing loaded, no element ids. The style applies only below one class and has its own background, so
one notebook can have many outputs, readable in light and dark themes (`html.css`).
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
    """Colours as (red, green, blue), 0..255 each; `strongest` is the share of the hue in the darkest shade."""

    paper: RGB
    ink: RGB
    dim: RGB
    line: RGB
    attention: RGB
    positive: RGB
    negative: RGB
    strongest: float

    def hue(self, value: float, signed: bool) -> RGB:
        """Return the hue of a value: neutral, or the label's hue for a signed value."""
        if not signed:
            return self.attention
        return self.negative if value < 0 else self.positive

    def shade(self, value: float, largest: float, signed: bool) -> RGB:
        """Return the background of a word with this value, from paper for 0 to the strongest shade for `largest`."""
        share = self.strongest * strength(value, largest)
        red, green, blue = (round(low + (high - low) * share) for low, high in zip(self.paper, self.hue(value, signed)))
        return red, green, blue

    def variables(self) -> str:
        """Return the colours as declarations of a CSS rule; hues are numbers, for `rgba(var(--for), .5)`."""
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
    """Return the absolute value as a share of the largest, 0..1."""
    return min(1.0, abs(value) / largest) if largest else 0.0


def as_hex(color: RGB) -> str:
    return "#{:02x}{:02x}{:02x}".format(*color)


# Most cells of a matrix in one output; each takes about 100 bytes in the notebook's file
MOST_CELLS = 4096

# Most characters of a text in a repr
REPR_LETTERS = 40


def in_frame(content: str) -> str:
    """Wrap HTML with the style that it needs."""
    return f'<style>{style()}</style><div class="nsmc-attention">{content}</div>'


@lru_cache(maxsize=1)
def style() -> str:
    rules = Path(__file__).with_suffix(".css").read_text(encoding="utf-8")
    return rules.replace("LIGHT_COLORS", LIGHT.variables()).replace("DARK_COLORS", DARK.variables())


def color(value: float, largest: float, signed: bool) -> str:
    """Return the CSS colour of a value's background, the same as `Theme.shade`."""
    hue = ("against" if value < 0 else "for") if signed else "neutral"
    return f"rgba(var(--{hue}),calc(var(--strongest)*{strength(value, largest):.2f}))"


def number(value: float, signed: bool) -> str:
    return f"{value:+.3f}" if signed else f"{value:.3f}"


def legend(largest: float, signed: bool) -> str:
    """Return a ramp of the shades between the values of its ends."""
    steps = [color(value, 1, signed) for value in ((-1.0, 0.0, 1.0) if signed else (0.0, 1.0))]
    ramp = f'<span class="nsmc-ramp" style="background:linear-gradient(to right,{",".join(steps)})"></span>'
    if signed:
        return f"negative {number(-largest, True)} {ramp} {number(largest, True)} positive"
    return f"0 {ramp} {number(largest, False)}"


def cut_at(text: str, offsets: Sequence[tuple[int, int]]) -> tuple[list[tuple[str, str]], str]:
    """Return (text before the token, text of the token) for each token, and the rest of the text.

    The morphemes of a contracted syllable have the same offsets: the first one gets the syllable.
    """
    position, pieces = 0, []
    for start, end in offsets:
        pieces.append((text[position:start], text[max(start, position) : end]))
        position = max(position, end)
    return pieces, text[position:]


def shaded_words(
    text: str, tokens: Sequence[str], offsets: Sequence[tuple[int, int]], values: Numbers, signed: bool
) -> str:
    """Return a text with each token shaded by its value, of values (T,); a tooltip shows the value."""
    (pieces, rest), largest, parts = cut_at(text, offsets), float(abs(values).max()), []
    for token, (between, piece), value in zip(tokens, pieces, values.tolist()):
        against = ' class="nsmc-against"' if signed and value < 0 else ""
        title = escape(f"{token}: {number(value, signed)}")
        style = f"background:{color(value, largest, signed)}"
        parts.append(f'{escape(between)}<span{against} style="{style}" title="{title}">{escape(piece)}</span>')
    return f'<div class="nsmc-words" lang="ko">{"".join(parts)}{escape(rest)}</div>'


def matrix_html(matrix: Matrix) -> str:
    """Return a matrix to unfold, or a hint to `draw_heatmap` if it has too many cells."""
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
        pairs = zip(colors, titles)
        cells = (f'<td style="background:{shade}" title="{escape(title)}"></td>' for shade, title in pairs)
        rows += f"<tr><th>{escape(query)}</th>{''.join(cells)}</tr>"
    heads = "".join(f"<th>{escape(key)}</th>" for key in matrix.keys)
    return f"<table><thead><tr><th></th>{heads}</tr></thead><tbody>{rows}</tbody></table>"


def shortened(text: str) -> str:
    """Return the repr of a text, cut off after REPR_LETTERS characters."""
    return repr(text if len(text) <= REPR_LETTERS else text[: REPR_LETTERS - 1] + "…")
