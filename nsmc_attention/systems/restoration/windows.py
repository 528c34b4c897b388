"""Long texts in pieces that a network reads at once, and what it made of them as one Restoration."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy
from numpy.typing import NDArray

from ..sequences.characters import SPACE, codes_of
from .conventions import LINE
from .restoration import BLANK, Chunk, Restoration


class Piece(NamedTuple):
    """A part of a source that is read at once, its start there, and `letters`, its characters without spaces."""

    start: int
    text: str
    letters: str

    @property
    def places(self) -> NDArray[numpy.int64]:
        """The place in the text of each of the letters."""
        return numpy.flatnonzero(codes_of(self.text) != ord(SPACE))


def pieces_of(text: str, longest: int) -> Iterator[Piece]:
    """Yield the pieces of a text, at most `longest` characters each: up to the end of a sentence, else of a word."""
    start = 0
    while start < len(text):
        # a line ends a piece
        end = text.find(LINE, start) % (len(text) + 1)
        if end - start > longest:
            window = text[start : start + longest]
            ends = [mark.end() for mark in re.finditer("[.!?~] ", window)] or [window.rfind(SPACE) + 1]
            end = start + (ends[-1] or longest)
            # the space between two pieces begins neither
            end += text.startswith(SPACE, end)
        if part := text[start:end].rstrip():
            yield Piece(start, part, part.replace(SPACE, ""))
        start = end + text.startswith(LINE, end)


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
