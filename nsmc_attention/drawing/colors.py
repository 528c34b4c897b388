"""The colours of pictures and pages, defined once, as a light and a dark theme.

Attention has no sign and a neutral hue; values with a sign are blue for positive and orange for negative. The three
stay apart for the colour-blind, to whom purple would be blue. Shades are mixed from paper and hue and end at
`strongest`, so that words remain readable in ink on every shade (contrast of at least 4.5, WCAG 2.1).
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

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
    values = json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8"))[name].values()
    arguments: list[Any] = [tuple(value) if isinstance(value, list) else value for value in values]
    return Theme(*arguments)


LIGHT, DARK = theme("light"), theme("dark")


def strength(value: float, largest: float) -> float:
    """Return the share of a value in the largest, 0..1."""
    return min(1.0, abs(value) / largest) if largest else 0.0


def as_hex(color: RGB) -> str:
    return "#{:02x}{:02x}{:02x}".format(*color)
