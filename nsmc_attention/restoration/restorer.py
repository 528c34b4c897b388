"""`restore`: texts in, the same with their spaces and spelling corrected out, in the order given.

An editor tags each character, a writer writes the text anew by attention and a search. What they make of a text is taken
only within an edit bound (`restoration.tags`): otherwise the source is returned as it is, with the reason.
"""

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain, islice
from os.path import commonprefix
from pathlib import Path
from typing import Any, Optional, Union

import numpy
from numpy.typing import NDArray

from ..bundle.format import load_bundle
from ..errors import ConfigError, DataError
from ..inference.notebook import shortened
from ..inference.reference import Predictor, Row, check_text, check_texts
from ..reviews.pieces import cut
from ..text.encoding import clean
from .characters import BEGIN, END, KEEP, PADDING, SPACE, Characters, padded, split_spaces
from .engines import EditorEngine, WriterEngine, load_restorer_engine, longest_read
from .layout import EDITOR, LAYOUT, WRITER, RestorerBundle
from .search import Hypothesis, search
from .settings import most_written
from .tags import most_changed, tagged, within_bound, written

Pair = tuple[str, str]
# Texts, or pieces of them, that are in memory at a time, and their characters
WINDOW, CHARACTERS = 4096, 2**17
# Hypotheses that a search may follow
BEAM = 64
# An editor changes what it is so sure of: most of what people type is as they meant it, other than in training. Chosen on
# the dev part of the packaged editor (docs/restore.md)
CERTAIN_TAG, CERTAIN_SPACE = 0.7, 0.6
SMALLEST = 1e-9
BLANK = "blank: nothing to restore"
REJECTED = "more than the edit bound would have changed: returned as it was"
TRUNCATED = "the search did not end: returned as it was"
# The output columns of tables: other names than those of a prediction, which may be in the same table
TYPES = {"restored": "string", "restore_error": "string"}


@dataclass(frozen=True, eq=False)
class Part:
    """A piece of the text that was read at once: its place in text and source, and what was attended to there.

    `places` (T,) are those of the largest weights; `weights` (T, S) are all of them, None where each row is a single 1.
    """

    row: int
    column: int
    places: NDArray[numpy.int64]
    weights: Optional[NDArray[numpy.float32]] = None


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
    parts: tuple[Part, ...] = ()
    error: Optional[str] = None

    @property
    def weights(self) -> NDArray[numpy.float32]:
        """(len(text), len(source)) float32: what each character of the text was made of.

        A writer's attention, whose rows sum to 1; of an editor, 1 for the one character that was tagged. Spaces of the
        source have no column of their own weight: the character before knows that one follows.
        """
        found = numpy.zeros((len(self.text), len(self.source)), dtype="float32")
        for part in self.parts:
            rows = slice(part.row, part.row + len(part.places))
            if part.weights is None:
                found[numpy.arange(rows.start, rows.stop), part.column + part.places] = 1
            else:
                found[rows, part.column : part.column + part.weights.shape[1]] = part.weights
        return found

    @property
    def alignment(self) -> list[int]:
        """For each character of the text the place of that in the source which it was mostly made of."""
        found = [0] * len(self.text)
        for part in self.parts:
            found[part.row : part.row + len(part.places)] = (part.column + part.places).tolist()
        return found

    @property
    def changed(self) -> bool:
        return self.text != self.source

    @property
    def segments(self) -> list[Pair]:
        """Source and text side by side, in pairs: of a pair that was changed the two differ.

        All first ones are the source, all second ones the text.
        """
        if not self.changed:
            return [(self.source, self.text)] * bool(self.text)
        # where attention is a letter late, only neighbours together have what they have in common
        return merged(trimmed(merged(trimmed(self.units()))))

    def units(self) -> Iterator[Pair]:
        """Yield each letter of the source, with the space behind it, and what was made of it in the text."""
        # attention may look back, text is written forwards
        places = numpy.maximum.accumulate(numpy.array(self.alignment, dtype="int64"))
        starts = [place for place, character in enumerate(self.source) if character != SPACE]
        stops = [*starts[1:], len(self.source)]
        ends = numpy.searchsorted(places, stops).tolist()
        for start, stop, first, last in zip(starts, stops, [0, *ends], ends):
            yield self.source[start:stop], self.text[first:last]

    def __repr__(self) -> str:
        note = f", error={self.error!r}" if self.error else ""
        return f"Restoration({shortened(self.source)} -> {shortened(self.text)}{note})"

    def to_dict(self, weights: bool = False) -> dict[str, Any]:
        """Return plain values for JSON; with weights, `weights` (len(text) x len(source)) too, `error` if there is one."""
        values: dict[str, Any] = {"source": self.source, "text": self.text, "score": self.score}
        values["alignment"] = self.alignment
        if weights:
            values["weights"] = self.weights.tolist()
        return {**values, "error": self.error} if self.error else values

    def _repr_html_(self) -> str:
        from .display import restoration_html

        return restoration_html(self)


def trimmed(pairs: Iterable[Pair]) -> Iterator[Pair]:
    """Yield of each pair what both begin with, what differs and what both end with, as pairs that are not empty."""
    for source, text in pairs:
        if source == text:
            yield source, text
            continue
        before = len(commonprefix([source, text]))
        one, other = source[before:], text[before:]
        after = len(commonprefix([one[::-1], other[::-1]]))
        middle = one[: len(one) - after], other[: len(other) - after]
        yield from (pair for pair in ((source[:before],) * 2, middle, (one[len(middle[0]) :],) * 2) if any(pair))


def merged(pairs: Iterable[Pair]) -> list[Pair]:
    """Join neighbours of which both sides are the same, and neighbours of which they differ."""
    found = list[Pair]()
    for pair in pairs:
        while found and (found[-1][0] == found[-1][1]) == (pair[0] == pair[1]):
            pair = (found[-1][0] + pair[0], found.pop()[1] + pair[1])
        found.append(pair)
    return found


@dataclass(frozen=True)
class Piece:
    """What is read at once of a source, where it starts there, and `letters`, its characters without spaces."""

    start: int
    text: str
    letters: str

    @property
    def places(self) -> NDArray[numpy.int64]:
        """The place in the text of each of the letters."""
        return numpy.array([place for place, each in enumerate(self.text) if each != SPACE], dtype="int64")


class Restorer(Predictor):
    """A bundle of the task `restore` and the engine that runs it.

    `beam` is the number of hypotheses that a writer follows (1: greedy), `alpha` the strength of the length penalty.
    """

    layout, types, load_engine = LAYOUT, TYPES, staticmethod(load_restorer_engine)

    def __init__(
        self, bundle: RestorerBundle, engine: Union[EditorEngine, WriterEngine], beam: int = 4, alpha: float = 0.6
    ):
        super().__init__(bundle, engine)
        self.beam, self.alpha = beam, alpha
        self.characters: Characters = bundle.codec
        is_editor = bundle.config.model.kind == "editor"
        self.longest = longest_read(bundle.config)
        self.run = self.edit if is_editor else self.write

    @property
    def options(self) -> dict[str, Any]:
        return {"beam": self.beam, "alpha": self.alpha}

    @property
    def attends(self) -> bool:
        """Whether its weights are attention: those of an editor are the places of its tags."""
        model = self.bundle.config.model
        return model.kind == "writer" and model.attention.kind != "none"

    def __call__(self, text: str) -> Restoration:
        """Return the Restoration of one text."""
        return self.restore_many([text])[0]

    def restore_many(self, texts: Iterable[str]) -> list[Restoration]:
        """Return the Restoration of each text, in order."""
        return list(self.restore_stream(texts))

    def restore_stream(self, texts: Iterable[str]) -> Iterator[Restoration]:
        """Yield Restorations in order while reading `texts` window by window."""
        given = check_texts(texts, "a list of texts, found one string; use restore() for one text")
        for window in cut(map(clean, given), WINDOW, len, CHARACTERS):
            pieces = [list(pieces_of(text, self.longest)) for text in window]
            parts = cut(chain.from_iterable(pieces), WINDOW, lambda piece: len(piece.text), CHARACTERS)
            found = chain.from_iterable(map(self.in_batches, parts))
            for text, own in zip(window, pieces):
                yield joined(text, own, list(islice(found, len(own))))

    def rows(self, texts: Iterable[str]) -> list[Row]:
        """Return (restored text, why it was returned as it was or None) of each text."""
        return [(each.text, each.error) for each in self.restore_stream(texts)]

    def objects(self, texts: Iterable[str], weights: bool = False) -> Iterator[dict[str, Any]]:
        """Yield `Restoration.to_dict()` of each text."""
        return (each.to_dict(weights) for each in self.restore_stream(texts))

    def n_best(self, text: str) -> list[Restoration]:
        """Return what a writer's search found for one text, at most `beam`, the best first."""
        if self.bundle.config.model.kind == "editor":
            raise ConfigError("n_best: expected a writer's bundle, found an editor's, which makes one text")
        text = clean(check_text(text))
        pieces = list(pieces_of(text, self.longest))
        if len(pieces) != 1:
            raise DataError(f"n_best: expected a text of 1 to {self.longest} characters, found {len(text)}")
        return [joined(text, pieces, [self.written(pieces[0], each)]) for each in self.hypotheses(pieces)[0]]

    def in_batches(self, pieces: Sequence[Piece]) -> list[Restoration]:
        """Return the Restoration of each piece, in order; pieces of similar length are read together."""
        found: list[Any] = [None] * len(pieces)
        order = sorted(range(len(pieces)), key=lambda place: len(pieces[place].letters))
        size = self.engine.batch_size
        batches = [order[start : start + size] for start in range(0, len(order), size)]
        results = self.engine.each(self.run, [[pieces[place] for place in batch] for batch in batches])
        for batch, restored in zip(batches, results):
            for place, each in zip(batch, restored):
                found[place] = each
        return found

    def inputs(self, pieces: Sequence[Piece]) -> tuple[NDArray[Any], NDArray[Any]]:
        return padded([self.characters.source(piece.text) for piece in pieces])

    def edit(self, pieces: Sequence[Piece]) -> list[Restoration]:
        """Return what an editor makes of a batch of pieces."""
        ids, lengths = self.inputs(pieces)
        tags, certainty, spaces = self.engine(ids, lengths)
        certain = (tags == KEEP) | (certainty >= CERTAIN_TAG)
        tags = numpy.where(certain, tags, KEEP)
        # the last of a character's rows marks the space that follows it
        follows = spaces > numpy.where(ids[:, :, -1] != PADDING, 1 - CERTAIN_SPACE, CERTAIN_SPACE)
        chosen = numpy.where(certain, certainty, 1 - certainty), numpy.where(follows, spaces, 1 - spaces)
        logs = sum(numpy.log(numpy.maximum(each, SMALLEST)) for each in chosen)
        found = []
        for row, piece in enumerate(pieces):
            size = len(piece.letters)
            text, origins = tagged(
                piece.letters, tags[row, :size].tolist(), follows[row, :size].tolist(), self.characters
            )
            score, part = float(logs[row, :size].sum()), Part(0, 0, piece.places[numpy.array(origins, dtype="int64")])
            possible = text and (tags[row, :size] != KEEP).sum() <= most_changed(piece.letters)
            found.append(Restoration(piece.text, text, score, (part,)) if possible else unchanged(piece.text, REJECTED))
        return found

    def write(self, pieces: Sequence[Piece]) -> list[Restoration]:
        """Return the best that a writer's search finds for a batch of pieces."""
        return [self.written(piece, found[0]) for piece, found in zip(pieces, self.hypotheses(pieces))]

    def hypotheses(self, pieces: Sequence[Piece]) -> list[list[Hypothesis]]:
        source, state = self.engine.begin(*self.inputs(pieces))
        longest = [most_written(len(piece.text)) for piece in pieces]
        return search(self.engine.step, source, state, BEGIN, END, longest, self.beam, self.alpha)

    def written(self, piece: Piece, found: Hypothesis) -> Restoration:
        """Return the Restoration of a hypothesis; the source itself where it did not end or went too far."""
        size = len(piece.letters)
        places = [int(row[:size].argmax()) for row in found.weights]
        text, steps = written(found.ids, places, piece.letters, self.characters)
        error = TRUNCATED if found.truncated else None if text and within_bound(piece.text, text) else REJECTED
        if error:
            return unchanged(piece.text, error)
        weights = numpy.zeros((len(text), len(piece.text)), dtype="float32")
        weights[:, piece.places] = found.weights[steps, :size]
        return Restoration(piece.text, text, found.score, (Part(0, 0, weights.argmax(axis=1), weights),))


def unchanged(text: str, error: str) -> Restoration:
    """Return a source as it is: each of its characters is made of itself."""
    return Restoration(text, text, 0.0, (Part(0, 0, numpy.arange(len(text))),), error)


def pieces_of(text: str, longest: int) -> Iterator[Piece]:
    """Yield the pieces of a text, at most `longest` characters each: up to the end of a sentence, else of a word."""
    start = 0
    while start < len(text):
        end = len(text)
        if end - start > longest:
            window = text[start : start + longest]
            ends = [found.end() for found in re.finditer(r"[.!?~]+ ", window)] or [window.rfind(SPACE) + 1]
            end = start + (ends[-1] or longest)
            # the space between two pieces begins neither
            end += text.startswith(SPACE, end)
        part = text[start:end].rstrip()
        yield Piece(start, part, split_spaces(part)[0])
        start = end


def joined(source: str, pieces: Sequence[Piece], restored: Sequence[Restoration]) -> Restoration:
    """Return the Restoration of a text from those of its pieces."""
    if not pieces:
        return Restoration(source, source, 0.0, (), BLANK)
    text, parts = "", list[Part]()
    for piece, each in zip(pieces, restored):
        if piece.start and source[piece.start - 1] == SPACE:
            parts.append(Part(len(text), piece.start - 1, numpy.zeros(1, dtype="int64")))
            text += SPACE
        parts += [replace(part, row=len(text), column=piece.start) for part in each.parts]
        text += each.text
    errors = [each.error for each in restored if each.error]
    return Restoration(source, text, sum(each.score for each in restored), tuple(parts), errors[0] if errors else None)


def load_restorer(
    bundle: Optional[Union[str, Path]] = None,
    beam: Optional[int] = None,
    engine: str = "auto",
    device: str = "auto",
    alpha: Optional[float] = None,
) -> Restorer:
    """Load a restorer from a bundle folder; None is one that ships with the package: the writer if `beam` is given.

    Engine and device are those of `load_classifier`, beam (4 where None) and alpha (0.6) those of a writer's search.
    BundleError if the bundle is missing, damaged or a classifier's; ConfigError if an editor is given a beam or alpha.
    """
    search: dict[str, Any] = {name: value for name, value in (("beam", beam), ("alpha", alpha)) if value is not None}
    verified = load_bundle(bundle or (WRITER if search else EDITOR), LAYOUT)
    for name, value in search.items():
        if verified.config.model.kind == "editor":
            expected = "expected a writer's bundle, found an editor's, which does not search"
            raise ConfigError(f"--{name} {value}: {expected}; leave --{name} out, or name another --bundle")
    if beam is not None and not 1 <= beam <= BEAM:
        raise ConfigError(f"--beam: expected 1 to {BEAM}, found {beam}")
    if alpha is not None and not 0 <= alpha < math.inf:
        raise ConfigError(f"--alpha: expected a number of at least 0, found {alpha}")
    return Restorer.from_bundle(verified, engine, device, **search)


packaged_restorer = lru_cache(maxsize=1)(load_restorer)


def restore(text: str) -> Restoration:
    """Return the Restoration of one text by the editor that ships with the package, loaded once."""
    return packaged_restorer()(text)
