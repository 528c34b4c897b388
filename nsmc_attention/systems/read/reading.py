"""The result of reading a picture: its lines with the place of each letter, also as HTML. No script."""

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

# Least probabilities: of letters; of a syllable alone, of a repeated letter and of another one alone, as icons are read; of no doubt
LEAST, SURE, SURER, SUREST, DOUBT = 0.05, 0.7, 0.8, 0.97, 0.6
# A line that goes on below another one begins less than so many heights from its left, and so many below it, and is of
# about the same height
ASIDE, BELOW, ALIKE = 1.0, 0.9, 0.6
# Height of a line on the page in pixels, the most lines that are shown, and the share of a letter's largest weight from
# which on weights are drawn
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
        Its letters, T of them.
    box : Box
        Where it is: left, top, right, bottom in pixels, the last two exclusive.
    score : float
        Probability of a letter, the geometric mean over the line, 0 to 1: the decoder's, and where CTC reads
        otherwise that of both.
    weights : (T, S) float32
        Where the decoder looked while it wrote each letter; rows sum to 1 over S strips.
    edges : (S + 1,) float32
        Where the strips begin, and the last ends: pixels of the picture, from its left.
    """

    text: str
    box: Box
    score: float
    weights: NDArray[numpy.float32]
    edges: NDArray[numpy.float32]

    @property
    def legible(self) -> bool:
        """False if the line is hardly text: an icon, a picture beside it, handwriting, noise."""
        if len(set(self.text)) != 1 or self.text.isdigit():
            return bool(self.text) and self.score >= LEAST
        # dashes and menus are read as ㅡ or ㅡㅡ
        sure = SURE if "가" <= self.text[0] <= "힣" else SURER if len(self.text) > 1 else SUREST
        return self.score >= sure and self.text != "ㅡ" and (len(self.text) > 1 or self.text.isalnum())

    @property
    def places(self) -> NDArray[numpy.float32]:
        """Places of the letters, (T,), in pixels from the left: the mean place under the letter's weights."""
        return self.weights @ (self.edges[:-1] + self.edges[1:]) / 2

    def to_dict(self, weights: bool = False) -> Record:
        """Return plain values for JSON; with weights, `weights` (T x S) and the `edges` of the strips (S + 1) too."""
        values = {"text": self.text, "box": list(self.box), "score": self.score, "places": rounded(self.places, 1)}
        return {**values, "weights": rounded(self.weights), "edges": rounded(self.edges, 1)} if weights else values


@dataclass(frozen=True, eq=False)
class Reading:
    """The legible lines of a picture, in reading order; `pixels` (height, width) uint8 is the picture in gray.

    `left_out` are the boxes of places that are icons or illegible text.
    """

    lines: tuple[Line, ...]
    pixels: NDArray[numpy.uint8]
    left_out: tuple[Box, ...] = ()

    @property
    def doubts(self) -> str:
        """A sentence if no line was found, or on how many are doubtful or were left out; empty if all is well."""
        low, count = sum(line.score < DOUBT for line in self.lines), len(self.left_out)
        doubtful = f"{low} of {len(self.lines)} lines may be read wrong (letter_probability below {DOUBT:g})"
        omitted = f"{count} place{'s' * (count != 1)} left out (icons or illegible text)"
        said = {"no line of text found": not self.lines, doubtful: low, omitted: count}
        return "; ".join(sentence for sentence, holds in said.items() if holds)

    @property
    def text(self) -> str:
        """The text of the lines, joined by line ends."""
        return "\n".join(line.text for line in self.lines)

    @property
    def paragraphs(self) -> list[list[Line]]:
        """The lines in groups; lines that follow each other closely, such as a wrapped review, share a group."""
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
    """Return whether a line goes on in another one, as wrapped text does."""
    low, high = sorted(box.bottom - box.top for box in (above, below))
    near = above.top < below.top <= above.bottom + BELOW * high and abs(above.left - below.left) < ASIDE * high
    return near and low >= ALIKE * high


def edges_of(strips: int, left: float, scale: float) -> NDArray[numpy.float32]:
    """Return where strips of a line begin in a picture, which was made `scale` times as large."""
    return numpy.asarray(left + numpy.arange(strips + 1) * STRIP / scale, "float32")


def reading_html(reading: Reading) -> str:
    """Return a reading as HTML; the strips that a letter was read from are shaded while it is pointed at."""
    count = len(reading.lines)
    more = f", the first {MOST_LINES} of them here" if count > MOST_LINES else ""
    head = "; ".join(filter(None, (f"{count} line{'s' * (count != 1)} read{more}" * (count > 0), reading.doubts)))
    lines = "".join(line_html(line, reading) for line in reading.lines[:MOST_LINES])
    return in_frame(f'<div class="nsmc-head"><b>{head}</b></div>{lines}')


def line_html(line: Line, reading: Reading) -> str:
    """Return the picture of a line, with its letters below."""
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
    """Return weights of strips (S,) between edges (S + 1,), in pixels, as a gradient; the largest is darkest."""
    stops = ["transparent 0"]
    for number in numpy.flatnonzero(weights > FAINTEST * weights.max()):
        color = f"rgba(var(--neutral),{0.7 * weights[number] / weights.max():.2f})"
        first, last = f"{edges[number]:.0f}px", f"{edges[number + 1]:.0f}px"
        stops += [f"transparent {first}", f"{color} {first}", f"{color} {last}", f"transparent {last}"]
    return f"linear-gradient(to right,{','.join(stops)})"


def in_png(pixels: Gray) -> str:
    """Return a picture as a PNG file in base64."""
    from PIL import Image  # an installation for prediction alone has none

    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "PNG")
    return in_base64(file.getvalue())


COLUMNS = ("picture", "line", "left", "top", "right", "bottom", "letter_probability", "text")
IN_COLUMNS = ("text", "box", "score")  # Of a line's values, those that are columns


def write_readings(
    readings: Iterable[tuple[str, Reading]],
    scorer: Optional[Scorer] = None,
    output: Union[str, Path] = "-",
    style: Optional[str] = None,
    weights: bool = False,
    paragraphs: bool = False,
) -> None:
    """Write a row for each line, or paragraph, of readings, each with the name of its picture.

    The columns are COLUMNS and then those of the scorer, of which the lines are the texts. The style (text, csv, tsv,
    jsonl, parquet, xlsx) is by default that of the output's suffix; text has the lines alone. Readings are taken one by
    one, so that their pictures need not be in memory together; nothing is written if one of them raises an error.
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
                {**one, **{name: value for name, value in other.items() if (name, value) != ("text", text)}}
                for text, one, other in scored
            ]
        write(ScoredRows(columns, texts, results))


def row_of(group: Sequence[Line]) -> tuple[Any, ...]:
    """Return the cells of a line, or of lines that belong together: the box around, the least probability, the text."""
    lefts, tops, rights, bottoms = zip(*(line.box for line in group))
    probability = round(min(line.score for line in group), 4)
    return min(lefts), min(tops), max(rights), max(bottoms), probability, " ".join(line.text for line in group)


def details(group: Sequence[Line], weights: bool, paragraphs: bool) -> dict[str, Any]:
    """Return the values of jsonl beside the columns: the places of the letters, or the lines of a paragraph."""
    lines = [line.to_dict(weights) for line in group]
    return {"lines": lines} if paragraphs else {name: lines[0][name] for name in lines[0] if name not in IN_COLUMNS}
