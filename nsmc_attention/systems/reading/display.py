"""A reading as HTML: each line as it is in the picture, below it its letters where they were read. No script."""

import base64
import io
from html import escape
from typing import TYPE_CHECKING, Any

import numpy
from numpy.typing import NDArray

from ...inference.notebook import in_frame
from .boxes import Gray, cut_out

if TYPE_CHECKING:
    from .reading import Line, Reading

# Height of a line on the page in pixels, and the most lines that are shown
HEIGHT, MOST_LINES = 40, 60
# Weights below this share of a letter's largest are not drawn
LEAST = 0.02
PAGE = {
    "en": (
        "What was read, and where",
        "Below each line its letters, where the decoder looked while it wrote them; point at one.",
    ),
    "ko": (
        "읽은 글자와 그 자리",
        "줄마다 아래에 읽은 글자가 있습니다. 글자를 가리키면 그 글자를 쓸 때 어디를 보았는지 나타납니다.",
    ),
}


def reading_html(reading: "Reading") -> str:
    """Return a reading as HTML; the strips that a letter was read from are shaded while it is pointed at."""
    count = len(reading.lines)
    more = f", the first {MOST_LINES} of them here" if count > MOST_LINES else ""
    head = f"{count} line{'s' * (count != 1)} read{more}" if count else "no line of text found"
    lines = "".join(line_html(line, reading) for line in reading.lines[:MOST_LINES])
    return in_frame(f'<div class="nsmc-head"><b>{head}</b></div>{lines}')


def line_html(line: "Line", reading: "Reading") -> str:
    """Return the picture of a line, with its letters below."""
    picture, left = cut_out(reading.pixels, line.box)
    scale = HEIGHT / len(picture)
    width = round(picture.shape[1] * scale)
    size = f"width:{width}px;height:{HEIGHT}px"
    letters = "".join(
        f'<span title="{escape(letter)}"><b style="left:{(place - left) * scale:.0f}px">{escape(letter)}</b>'
        f'<i style="{size};background:{shades(row, (line.edges - left) * scale)}"></i></span>'
        for letter, place, row in zip(line.text, line.places, line.weights)
    )
    image = f'<img alt="{escape(line.text)}" style="{size}" src="data:image/png;base64,{in_png(picture)}">'
    return f'<div class="nsmc-line" lang="ko" style="width:{width}px">{image}{letters}</div>'


def shades(weights: NDArray[Any], edges: NDArray[Any]) -> str:
    """Return the weights of strips (S,) between edges (S + 1,), in pixels, as a gradient; the largest is the darkest."""
    stops = ["transparent 0"]
    for number in numpy.flatnonzero(weights > LEAST * weights.max()):
        color = f"rgba(var(--neutral),{0.7 * weights[number] / weights.max():.2f})"
        first, last = edges[number], edges[number + 1]
        stops += [
            f"transparent {first:.0f}px",
            f"{color} {first:.0f}px",
            f"{color} {last:.0f}px",
            f"transparent {last:.0f}px",
        ]
    return f"linear-gradient(to right,{','.join(stops)})"


def in_png(pixels: Gray) -> str:
    """Return a picture as a PNG file in base64."""
    # an installation for prediction alone has none
    from PIL import Image

    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "PNG")
    return base64.b64encode(file.getvalue()).decode()
