"""A restored text, and what each of its characters was made of; a long one is restored in pieces and joined."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from itertools import groupby
from math import isnan
from os.path import commonprefix
from pathlib import Path
from typing import NamedTuple, Optional, Union

import numpy
from numpy.typing import NDArray

from ...drawing.figure import check_suffix, save_figure
from ...drawing.html import in_frame, shortened
from ...drawing.matrices import Matrix
from ...errors import DataError, check_kind
from ...machine.aliases import Record
from ...text.encoding import clean
from ...views.heatmap import draw_matrices
from ..sequences.characters import SPACE, codes_of
from .as_typed import LINE

# A part of the source, what it is in the text, and the least probability of what was changed there: 1 where nothing was,
# NaN where none is known
Segment = tuple[str, str, float]
BREAK = re.compile(r"\r\n?|\n")
BLANK = "blank: nothing to restore"
FOREIGN = "what is not Korean would have changed: returned as it was"
REJECTED = "more than the edit bound would have changed: returned as it was"
TRUNCATED = "the search did not end: returned as it was"


class Chunk(NamedTuple):
    """A piece of the text that was written at once: its place in text and source, and what was attended to there.

    `places` (T,) are those of the largest weights; `weights` (T, S) are all of them, None where each row is a single 1.
    `certainty` (S,) is an editor's, of each character and the space behind it: the least probability of what it changed
    there, 1 where it changed nothing.
    """

    row: int
    column: int
    places: NDArray[numpy.int64]
    weights: Optional[NDArray[numpy.float32]] = None
    certainty: Optional[NDArray[numpy.float32]] = None


class Change(NamedTuple):
    """A part of a source that was changed.

    Attributes
    ----------
    start : int
        Its place in the source; where nothing but a space was put in, that of the character behind.
    source, text : str
        What stood there and what stands there now, which differ; one may be empty.
    probability : float or None
        The least of the characters and spaces that an editor changed here, 0.5 to 1. None of a writer's changes.
    """

    start: int
    source: str
    text: str
    probability: Optional[float]


@dataclass(frozen=True, eq=False)
class Restoration:
    """A restored text.

    Attributes
    ----------
    source, text : str
        The clean source, and what it was meant to be.
    score : float
        Log-probability of the text given the source (nats, at most 0); a writer's is divided by its length penalty.
    error : str or None
        Why the source was returned as it is, where it was not simply right.
    """

    source: str
    text: str
    score: float
    chunks: tuple[Chunk, ...] = ()
    error: Optional[str] = None

    @property
    def weights(self) -> NDArray[numpy.float32]:
        """(len(text), len(source)) float32: the source characters of each character of the text.

        A writer's attention, whose rows sum to 1; of an editor, 1 for the one character that was tagged. Spaces have no weight.
        """
        weights = numpy.zeros((len(self.text), len(self.source)), dtype="float32")
        for chunk in self.chunks:
            rows = slice(chunk.row, chunk.row + len(chunk.places))
            if chunk.weights is None:
                weights[numpy.arange(rows.start, rows.stop), chunk.column + chunk.places] = 1
            else:
                weights[rows, chunk.column : chunk.column + chunk.weights.shape[1]] = chunk.weights
        return weights

    @property
    def alignment(self) -> list[int]:
        """For each character of the text, the place in the source of its largest weight."""
        places = [0] * len(self.text)
        for chunk in self.chunks:
            places[chunk.row : chunk.row + len(chunk.places)] = (chunk.column + chunk.places).tolist()
        return places

    @property
    def changed(self) -> bool:
        return self.text != self.source

    @property
    def segments(self) -> list[tuple[str, str]]:
        """Pairs of source and text side by side, which together are both; the two differ if the pair was changed."""
        return [(source, text) for source, text, _ in self.segments_and_certainty]

    @property
    def changes(self) -> list[Change]:
        """The `segments` whose two sides differ, in order."""
        found, start = list[Change](), 0
        for source, text, probability in self.segments_and_certainty:
            if source != text:
                found.append(Change(start, source, text, None if isnan(probability) else probability))
            start += len(source)
        return found

    @property
    def segments_and_certainty(self) -> list[Segment]:
        """`segments`, each with its probability."""
        if not self.changed:
            return [(self.source, self.text, 1.0)] * bool(self.text)
        # where attention is a letter late, only neighbours together have what they have in common
        return [*merged(trimmed(merged(trimmed(self.units()))))]

    def units(self) -> Iterator[Segment]:
        """Yield each letter of the source, with the space behind it, and what was made of it in the text."""
        # attention may look back, text is written forwards
        places = numpy.maximum.accumulate(numpy.array(self.alignment, dtype="int64"))
        starts = [place for place, character in enumerate(self.source) if not character.isspace()]
        stops = [*starts[1:], len(self.source)]
        ends = numpy.searchsorted(places, stops).tolist()
        certainty = numpy.full(len(self.source), numpy.nan)
        for chunk in self.chunks:
            if chunk.certainty is not None:
                certainty[chunk.column : chunk.column + len(chunk.certainty)] = chunk.certainty
        for start, stop, first, last, own in zip(starts, stops, [0, *ends], ends, certainty[starts].tolist()):
            yield self.source[start:stop], self.text[first:last], own

    def __repr__(self) -> str:
        note = f", error={self.error!r}" if self.error else ""
        return f"Restoration({shortened(self.source)} -> {shortened(self.text)}{note})"

    def to_dict(self, weights: bool = False) -> Record:
        """Return plain values for JSON; with weights, `weights` (len(text) x len(source)) too, `error` if there is one."""
        values: Record = {"source": self.source, "text": self.text, "score": self.score}
        values["changes"] = [change._asdict() for change in self.changes]
        values["alignment"] = self.alignment
        if weights:
            values["weights"] = self.weights.tolist()
        return {**values, "error": self.error} if self.error else values

    def _repr_html_(self) -> str:
        """Return the source above, the text below, changes struck out and underlined."""
        changes = len(self.changes)
        said = self.error or (f"{changes} correction{'s' * (changes > 1)}" if changes else "nothing to correct")
        pairs = "".join(pair_html(*pair) for segment in self.segments for pair in words_of(*segment))
        return in_frame(f'<div class="nsmc-head"><b>{escape(said)}</b></div><div lang="ko">{pairs}</div>')


def trimmed(segments: Iterable[Segment]) -> Iterator[Segment]:
    """Yield of each what both sides begin with, what differs and what both end with, as segments that are not empty."""
    for source, text, probability in segments:
        before = len(commonprefix((source, text)))
        after = len(commonprefix((source[before:][::-1], text[before:][::-1])))
        middle, end = len(source) - after, len(text) - after
        changed = source[before:middle], text[before:end], probability
        for segment in ((source[:before], text[:before], 1.0), changed, (source[middle:], text[end:], 1.0)):
            if segment[0] or segment[1]:
                yield segment


def merged(segments: Iterable[Segment]) -> Iterator[Segment]:
    """Join neighbours of which both sides are the same, and neighbours of which they differ."""
    for _, group in groupby(segments, key=lambda segment: segment[0] == segment[1]):
        sources, texts, probabilities = zip(*group)
        yield "".join(sources), "".join(texts), min(probabilities)


def unchanged(text: str, error: Optional[str] = None) -> Restoration:
    """Return a source as it is: each of its characters is made of itself."""
    return Restoration(text, text, 0.0, (Chunk(0, 0, numpy.arange(len(text))),), error)


class Piece(NamedTuple):
    """A part of a source that is read at once, its start there, and `letters`, its characters without spaces."""

    start: int
    text: str
    letters: str

    @property
    def places(self) -> NDArray[numpy.int64]:
        """The place in the text of each of the letters."""
        return numpy.flatnonzero(codes_of(self.text) != ord(SPACE))


def cleaned(text: str) -> str:
    """Return a clean text whose line breaks stay."""
    return LINE.join(map(clean, BREAK.split(text))).strip(LINE) if BREAK.search(text) else clean(text)


def pieces_of(text: str, longest: int) -> Iterator[Piece]:
    """Yield the pieces of each line, at most `longest` characters each: up to the end of a sentence, else of a word."""
    start = 0
    for line in text.split(LINE):
        end_of_line = start + len(line)
        while start < end_of_line:
            end = end_of_line
            if end - start > longest:
                window = text[start : start + longest]
                ends = [mark.end() for mark in re.finditer("[.!?~] ", window)] or [window.rfind(SPACE) + 1]
                end = start + (ends[-1] or longest)
                # the space between two pieces begins neither
                end += text.startswith(SPACE, end)
            if part := text[start:end].rstrip():
                yield Piece(start, part, part.replace(SPACE, ""))
            start = end
        start += len(LINE)


def joined(source: str, pieces: Sequence[Piece], restored: Sequence[Restoration]) -> Restoration:
    """Return the Restoration of a text from those of its pieces."""
    if not pieces:
        return Restoration(source, source, 0.0, (), BLANK)
    if len(pieces) == 1:
        return restored[0]
    text, end, chunks = "", 0, list[Chunk]()
    for piece, own in zip(pieces, restored):
        # a space, or line breaks
        between = source[end : piece.start]
        chunks.append(Chunk(len(text), end, numpy.arange(len(between))))
        text, end = text + between, piece.start + len(piece.text)
        chunks += [chunk._replace(row=len(text), column=piece.start) for chunk in own.chunks]
        text += own.text
    error = next((own.error for own in restored if own.error), None)
    return Restoration(source, text, sum(own.score for own in restored), tuple(chunks), error)


def words_of(source: str, text: str) -> list[tuple[str, str]]:
    """Return a pair for each word of what is the same, so that lines can break there; a change stays whole."""
    return [(source, text)] if source != text else [(word, word) for word in re.findall(r"\s*\S+\s?|\s+", text)]


def pair_html(source: str, text: str) -> str:
    """Return a part of the source above its correction, as HTML; spaces that were changed are visible."""
    if source == text:
        return f'<span class="nsmc-pair"><span>{escape(source)}</span><span>{escape(text)}</span></span>'
    before, after = (escape(side.replace(" ", "␣")) for side in (source, text))
    return f'<span class="nsmc-pair"><del>{before}</del><ins>{after}</ins></span>'


# Characters on an axis: more cannot be read
LONGEST_AXIS = 140


def save_restoration(restoration: Restoration, path: Union[str, Path]) -> None:
    """Draw a Restoration's weights, text x source, into a .png, .svg or .pdf file; spaces are ␣.

    Of a writer these are its attention, of an editor its tags. DataError if there is no text, the source was returned as it
    was, or one of them has more than LONGEST_AXIS characters; ConfigError if the file has another suffix.
    """
    path = check_suffix(path)
    check_kind("restoration", restoration, Restoration, advice="; get one from restore()")
    source, text = restoration.source, restoration.text
    if not text or restoration.error:
        raise DataError(f"{path}: expected a restored text to draw, found none ({restoration.error or 'all left out'})")
    longest = max(len(source), len(text))
    if longest > LONGEST_AXIS:
        expected = f"expected at most {LONGEST_AXIS} characters, found {longest}"
        raise DataError(f"{path}: {expected}; restore one sentence of it")
    rows, columns = (list(line.replace(" ", "␣")) for line in (text, source))
    figure = draw_matrices([Matrix(restoration.weights, rows, columns, "")])
    figure.axes[0].set(xlabel="source", ylabel="restored text")
    if all(chunk.weights is None for chunk in restoration.chunks):
        figure.axes[-1].set(ylabel="tag (1: the character that was kept or replaced)", yticks=[0, 1])
    save_figure(figure, path)
