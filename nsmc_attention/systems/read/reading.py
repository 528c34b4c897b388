"""The result of reading a picture: its lines with the position of each letter, also as HTML without scripts."""

import io
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any, Optional, Union

import numpy
from numpy.typing import NDArray

from ...drawing.html import in_frame, shortened
from ...drawing.matrices import rounded
from ...machine.aliases import Numbers, Record
from ...scoring.files import open_output, style_of
from ...scoring.reference import Scorer
from ...tables.writers import WRITERS, ScoredRows
from ...views.page import in_base64
from .settings import STRIP
from .strips import Box, Gray, cut_out

# Least probabilities: of any line; of a single syllable, a repeated letter and another single letter, because icons are
# read as these; of a line without doubt
LEAST, SURE, SURER, SUREST, DOUBT = 0.05, 0.7, 0.8, 0.97, 0.6
# Lines of a paragraph, in heights: largest distance of their left edges, largest gap, least ratio of their heights
ASIDE, BELOW, ALIKE = 1.0, 0.9, 0.6
# Height of a line on a page in pixels, most lines, and least weight, as a share of the letter's largest weight
LINE_HEIGHT, MOST_LINES, FAINTEST = 40, 60, 0.02
PAGE = {
    "en": ("What was read, and where", "Point at a letter below its line to see where the decoder read it."),
    "ko": ("읽은 글자와 위치", "줄 아래의 글자에 마우스를 올리면 그 글자를 읽은 위치가 표시됩니다."),
}


@dataclass(frozen=True, eq=False)
class Line:
    """A line of text in a picture.

    Attributes
    ----------
    text : str
        The T letters of the line.
    box : Box
        Left, top, right and bottom in pixels, the last two exclusive.
    score : float
        Geometric mean of the letters' probabilities, 0 to 1: by the decoder, or by decoder and CTC if their readings
        differ.
    weights : (T, S) float32
        Attention weights of each letter over S strips; rows sum to 1.
    edges : (S + 1,) float32
        Edges of the strips in pixels from the picture's left.
    """

    text: str
    box: Box
    score: float
    weights: NDArray[numpy.float32]
    edges: NDArray[numpy.float32]

    @property
    def legible(self) -> bool:
        """Whether the line is probably text, and not an icon, a picture, handwriting or noise."""
        if len(set(self.text)) != 1 or self.text.isdigit():
            return bool(self.text) and self.score >= LEAST
        # dashes and menu icons are read as ㅡ or ㅡㅡ
        sure = SURE if "가" <= self.text[0] <= "힣" else SURER if len(self.text) > 1 else SUREST
        return self.score >= sure and self.text != "ㅡ" and (len(self.text) > 1 or self.text.isalnum())

    @property
    def places(self) -> NDArray[numpy.float32]:
        """Positions of the letters (T,) in pixels from the left: mean centers of strips by the letter's weights."""
        return self.weights @ (self.edges[:-1] + self.edges[1:]) / 2

    def to_dict(self, weights: bool = False) -> Record:
        """Return plain values for JSON, with `weights` (T x S) and `edges` (S + 1) on request."""
        values = {"text": self.text, "box": list(self.box), "score": self.score, "places": rounded(self.places, 1)}
        return {**values, "weights": rounded(self.weights), "edges": rounded(self.edges, 1)} if weights else values


@dataclass(frozen=True, eq=False)
class Reading:
    """The legible lines of a picture, in reading order; `pixels` (height, width) uint8 is the picture in gray.

    `left_out` has the boxes of icons and illegible text.
    """

    lines: tuple[Line, ...]
    pixels: NDArray[numpy.uint8]
    left_out: tuple[Box, ...] = ()

    @property
    def doubts(self) -> str:
        """Warning that no line was found, or how many lines are doubtful or left out; empty if there is none."""
        low, count = sum(line.score < DOUBT for line in self.lines), len(self.left_out)
        doubtful = f"{low} of {len(self.lines)} lines may be read wrong (letter_probability below {DOUBT:g})"
        omitted = f"{count} place{'s' * (count != 1)} left out (icons or illegible text)"
        warnings = {"no line of text found": not self.lines, doubtful: low, omitted: count}
        return "; ".join(warning for warning, applies in warnings.items() if applies)

    @property
    def text(self) -> str:
        """Text of the lines, joined by newlines."""
        return "\n".join(line.text for line in self.lines)

    @property
    def paragraphs(self) -> list[list[Line]]:
        """Lines in groups: consecutive lines of the same paragraph, such as a wrapped review, share a group."""
        groups = list[list[Line]]()
        for line in self.lines:
            if groups and follows(groups[-1][-1].box, line.box):
                groups[-1].append(line)
            else:
                groups.append([line])
        return groups

    @property
    def weights(self) -> list[NDArray[numpy.float32]]:
        """Attention weights of each line, letters x strips; see `Line`."""
        return [line.weights for line in self.lines]

    def __repr__(self) -> str:
        count = f"{len(self.lines)} line{'s' * (len(self.lines) != 1)}"
        return f"Reading({count}: {shortened(self.text)})"

    def to_dict(self, weights: bool = False) -> Record:
        """Return plain values for JSON; see `Line.to_dict`."""
        height, width = self.pixels.shape
        lines = [line.to_dict(weights) for line in self.lines]
        return {"width": width, "height": height, "lines": lines, "left_out": list(map(list, self.left_out))}

    def _repr_html_(self) -> str:
        return reading_html(self)


def follows(above: Box, below: Box) -> bool:
    """Return whether the line below continues the line above, as in wrapped text."""
    low, high = sorted(box.bottom - box.top for box in (above, below))
    near = above.top < below.top <= above.bottom + BELOW * high and abs(above.left - below.left) < ASIDE * high
    return near and low >= ALIKE * high


def edges_of(strips: int, left: float, scale: float) -> NDArray[numpy.float32]:
    """Return the edges (S + 1,) of a line's S strips in pixels of the picture; the line was resized by `scale`."""
    return numpy.asarray(left + numpy.arange(strips + 1) * STRIP / scale, "float32")


def reading_html(reading: Reading) -> str:
    """Return a reading as HTML; pointing at a letter shades its strips by their weights."""
    count = len(reading.lines)
    more = f", the first {MOST_LINES} of them here" if count > MOST_LINES else ""
    head = "; ".join(filter(None, (f"{count} line{'s' * (count != 1)} read{more}" * (count > 0), reading.doubts)))
    lines = "".join(line_html(line, reading) for line in reading.lines[:MOST_LINES])
    return in_frame(f'<div class="nsmc-head"><b>{head}</b></div>{lines}')


def line_html(line: Line, reading: Reading) -> str:
    """Return the picture of a line with its letters below as HTML."""
    picture, left = cut_out(reading.pixels, line.box)
    scale = LINE_HEIGHT / len(picture)
    width = round(picture.shape[1] * scale)
    size = f"width:{width}px;height:{LINE_HEIGHT}px"
    letters = "".join(
        f'<span title="{escape(letter)}"><b style="left:{(place - left) * scale:.0f}px">{escape(letter)}</b>'
        f'<i style="{size};background:{shades(row, (line.edges - left) * scale)}"></i></span>'
        for letter, place, row in zip(line.text, line.places, line.weights)
    )
    image = f'<img alt="{escape(line.text)}" style="{size}" src="data:image/png;base64,{in_png(picture)}">'
    return f'<div class="nsmc-line" lang="ko" style="width:{width}px">{image}{letters}</div>'


def shades(weights: Numbers, edges: Numbers) -> str:
    """Return a CSS gradient of weights (S,) between edges (S + 1,) in pixels; the largest weight is darkest."""
    stops = ["transparent 0"]
    for number in numpy.flatnonzero(weights > FAINTEST * weights.max()):
        color = f"rgba(var(--neutral),{0.7 * weights[number] / weights.max():.2f})"
        first, last = f"{edges[number]:.0f}px", f"{edges[number + 1]:.0f}px"
        stops += [f"transparent {first}", f"{color} {first}", f"{color} {last}", f"transparent {last}"]
    return f"linear-gradient(to right,{','.join(stops)})"


def in_png(pixels: Gray) -> str:
    """Return a picture as a PNG file in base64."""
    from PIL import Image  # absent from an installation for prediction alone

    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "PNG")
    return in_base64(file.getvalue())


COLUMNS = ("picture", "line", "left", "top", "right", "bottom", "letter_probability", "text")
IN_COLUMNS = ("text", "box", "score")  # Values of a line that columns already have


def write_readings(
    readings: Iterable[tuple[str, Reading]],
    scorer: Optional[Scorer] = None,
    output: Union[str, Path] = "-",
    style: Optional[str] = None,
    weights: bool = False,
    paragraphs: bool = False,
) -> None:
    """Write a row for each line, or paragraph, of readings, which are pairs of a picture's name and its Reading.

    The columns are COLUMNS and the scorer's results for the text. The style (text, csv, tsv, jsonl, parquet, xlsx) is
    by default that of the output's suffix; text has only the lines. Readings are consumed one by one, so that memory
    holds one picture at a time; nothing is written if one of them raises an error.
    """
    style = style_of(output, style, weights)
    rows, objects = list[tuple[Any, ...]](), list[dict[str, Any]]()
    for name, reading in readings:
        if reading.doubts:
            print(f"{name}: {reading.doubts}", file=sys.stderr)
        groups = reading.paragraphs if paragraphs else [[line] for line in reading.lines]
        rows += [(name, number, *row_of(group)) for number, group in enumerate(groups, 1)]
        if style == "jsonl":
            objects += [details(group, weights, paragraphs) for group in groups]
    texts = [row[-1] for row in rows]
    columns = dict(zip(COLUMNS, map(list, zip(*rows)))) if rows else {name: [] for name in COLUMNS}
    types = scorer.types if scorer else {}
    with open_output(output, style) as file, WRITERS[style](file, list(COLUMNS), types, False) as write:
        results: list[Any] = objects
        if style != "jsonl":
            results = scorer.rows(texts) if scorer else [()] * len(texts)
        elif scorer:
            scored = zip(texts, objects, scorer.objects(texts))
            results = [
                {**values, **{name: value for name, value in scores.items() if (name, value) != ("text", text)}}
                for text, values, scores in scored
            ]
        write(ScoredRows(columns, texts, results))


def row_of(group: Sequence[Line]) -> tuple[Any, ...]:
    """Return the cells of a group of lines: bounding box, lowest probability and text."""
    lefts, tops, rights, bottoms = zip(*(line.box for line in group))
    probability = round(min(line.score for line in group), 4)
    return min(lefts), min(tops), max(rights), max(bottoms), probability, " ".join(line.text for line in group)


def details(group: Sequence[Line], weights: bool, paragraphs: bool) -> dict[str, Any]:
    """Return the values of jsonl besides the columns: the letters' positions, or the lines of a paragraph."""
    lines = [line.to_dict(weights) for line in group]
    return {"lines": lines} if paragraphs else {name: lines[0][name] for name in lines[0] if name not in IN_COLUMNS}
