"""`restore`: texts in, the same with their spaces and spelling corrected out, in the order given.

An editor tags each character, a writer writes the text anew by attention and a search. What they make of a text is taken
only within an edit bound (`systems.restore.correctors`): otherwise the source is returned as it is, with the reason.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Optional, Union

import numpy

from ...bundle import load_bundle
from ...engines.graphs import DeviceName, EngineName
from ...errors import ConfigError, DataError
from ...machine.aliases import Record
from ...machine.processes import in_threads
from ...scoring.reference import Predictor, Row, check_text, check_texts, or_packaged
from ...tables.parts import cut
from ...text.encoding import clean
from ..sequences.characters import BEGIN, END, KEEP, PADDING, SPACE
from ..sequences.search import Hypothesis, search
from .as_typed import KOREAN, decide, keep_conventions, keep_foreign, keep_right_text, keeps_foreign, read_as, scattered
from .correctors import Draft, corrected, most_changed, tagged, within_bound, written
from .engines import RestorerEngine, load_restorer_engine, longest_read
from .junctions import RestorerCharacters
from .restoration import FOREIGN, REJECTED, TRUNCATED, Chunk, Piece, Restoration, cleaned, joined, pieces_of, unchanged
from .settings import EDITOR, LAYOUT, WRITER, RestorerBundle, most_written

if TYPE_CHECKING:
    import pandas

    from ...scoring.columns import Texts

# Texts, or pieces of them, that are in memory at a time, and their characters
WINDOW, CHARACTERS = 4096, 2**17
# Of each option the kind of bundle that has it, what it may be, and whether a value is that
CHOICES: dict[str, tuple[str, str, Callable[[Any], bool]]] = {
    "beam": ("writer", "1 to 64", lambda x: isinstance(x, int) and 1 <= x <= 64),
    "alpha": ("writer", "a number of at least 0", lambda x: isinstance(x, (int, float)) and 0 <= x < math.inf),
    "min_probability": ("editor", "a number from 0.5 to 1", lambda x: isinstance(x, (int, float)) and 0.5 <= x <= 1),
    "only": ("editor", "spacing", lambda x: bool(x == "spacing")),
}
# The output columns of tables: other names than those of a prediction, which may be in the same table
TYPES = {"restored": "string", "restore_error": "string"}


class Restorer(Predictor):
    """A bundle of the task `restore` and the engine that runs it.

    Of its `options`, `beam` is the number of hypotheses that a writer follows (1: greedy), `alpha` the strength of the length
    penalty, `min_probability` the least probability of an editor's change (None: as in `as_typed`). With `only` "spacing" an
    editor changes spaces alone.
    """

    layout, types, load_engine = LAYOUT, TYPES, staticmethod(load_restorer_engine)
    options: Record = {"beam": 4, "alpha": 0.6, "min_probability": None, "only": None}

    def __init__(self, bundle: RestorerBundle, engine: RestorerEngine, **options: Any):
        super().__init__(bundle, engine)
        check_options(bundle.config.model.kind, dict(options.items() - self.options.items()))
        self.options = {**self.options, **options}
        self.characters: RestorerCharacters = bundle.codec
        self.longest = longest_read(bundle.config)
        # whether its Restorations have attention weights; an editor aligns only
        self.attends = bundle.config.model.kind == "writer"
        self.run: Callable[[Sequence[Piece]], Iterable[Restoration]] = self.write if self.attends else self.edit

    @classmethod
    def load(
        cls, bundle: Optional[Union[str, Path]] = None, engine: str = "auto", device: str = "auto", **options: Any
    ) -> "Restorer":
        """Load a restorer as `load_restorer` does, with `beam`, `alpha`, `min_probability` and `only`."""
        given = {name: value for name, value in options.items() if value is not None}
        verified = load_bundle(bundle or (EDITOR if given.keys() <= {"min_probability", "only"} else WRITER), LAYOUT)
        check_options(verified.config.model.kind, given)
        return cls.from_bundle(verified, engine, device, **given)

    def __call__(self, text: str) -> Restoration:
        """Return the Restoration of one text."""
        return self.restore_many([check_text(text, "restore_many()")])[0]

    def restore_many(self, texts: Iterable[str]) -> list[Restoration]:
        """Return the Restoration of each text, in order."""
        return list(self.restore_stream(texts))

    def restore_stream(self, texts: Iterable[str]) -> Iterator[Restoration]:
        """Yield Restorations in order while reading `texts` window by window."""
        given = check_texts(texts, "texts", "use restore() for one text")
        for window in cut(map(cleaned, given), WINDOW, len, CHARACTERS):
            pieces = [list(pieces_of(text, self.longest)) for text in window]
            parts = cut(chain.from_iterable(pieces), WINDOW, lambda piece: len(piece.text), CHARACTERS)
            restored = chain.from_iterable(map(self.in_batches, parts))
            for text, own in zip(window, pieces):
                yield joined(text, own, list(islice(restored, len(own))))

    def rows(self, texts: Iterable[str]) -> list[Row]:
        """Return (restored text, reason if it was returned unchanged or None) of each text."""
        return [(restored.text, restored.error) for restored in self.restore_stream(texts)]

    def objects(self, texts: Iterable[str], weights: bool = False) -> Iterator[Record]:
        """Yield `Restoration.to_dict()` of each text."""
        return (restored.to_dict(weights) for restored in self.restore_stream(texts))

    def n_best(self, text: str) -> list[Restoration]:
        """Return the hypotheses of a writer's search for one text, at most `beam`, the best first."""
        if not self.attends:
            raise ConfigError("n_best: expected a writer's bundle, found an editor's, which makes one text")
        text = clean(check_text(text))
        pieces = list(pieces_of(text, self.longest))
        if len(pieces) != 1:
            raise DataError(f"n_best: expected a text of 1 to {self.longest} characters, found {len(text)}")
        if not KOREAN.search(text):
            return self.restore_many([text])
        return [joined(text, pieces, [self.written(pieces[0], best)]) for best in self.hypotheses(pieces)[0]]

    def in_batches(self, pieces: Sequence[Piece]) -> list[Restoration]:
        """Return the Restoration of each piece, in order; pieces of similar length are read together, Korean ones alone."""
        order = [number for number, piece in enumerate(pieces) if KOREAN.search(piece.text)]
        order.sort(key=lambda number: len(pieces[number].letters))
        size = self.engine.size_of_batches(len(order))
        parts = [[pieces[number] for number in order[at : at + size]] for at in range(0, len(order), size)]
        made = in_threads(self.engine.threads, lambda part: [*self.run(part)], parts)
        restored = dict(zip(order, chain.from_iterable(made)))
        return [restored.get(number) or unchanged(piece.text) for number, piece in enumerate(pieces)]

    def edit(self, pieces: Sequence[Piece]) -> Iterator[Restoration]:
        """Yield the Restorations of a batch of pieces by an editor; the piece itself where too much would change."""
        draft = self.drafted([*map(read_as, typed := [piece.text for piece in pieces])])
        if self.options["only"]:
            draft = draft._replace(tags=numpy.full_like(draft.tags, KEEP))
        decided = decide(draft.had_space, draft.tags, draft.certainty, draft.spaces, self.options["min_probability"])
        decided = keep_foreign(keep_conventions(decided, typed, draft.texts), typed)
        changed = numpy.unique(numpy.searchsorted(draft.ends, numpy.flatnonzero(decided.changes), "right"))
        for number in changed.tolist():
            own = slice(draft.ends[number] - len(draft.letters[number]), draft.ends[number])
            kept = keep_right_text(typed[number], decided.part(own))
            decided.tags[own], decided.has_space[own] = kept.tags, kept.has_space
        certainties = decided.certainty.astype("float32")
        tags, follows = decided.tags.tolist(), decided.has_space.tolist()
        for piece, end in zip(pieces, draft.ends.tolist()):
            own, places = slice(end - len(piece.letters), end), piece.places
            text, made_of = tagged(piece.letters, tags[own], follows[own], self.characters)
            if not text or numpy.count_nonzero(decided.tags[own]) > most_changed(piece.letters):
                yield unchanged(piece.text, REJECTED)
                continue
            certainty = numpy.ones(len(piece.text), dtype="float32")
            certainty[places] = certainties[own]
            score = float(decided.log_probability[own].sum())
            yield Restoration(piece.text, text, score, (Chunk(0, 0, places[made_of], certainty=certainty),))

    def drafted(self, texts: list[str]) -> Draft:
        """Return what an editor and its correctors make of a batch of texts, those with spaces anywhere read without them."""
        ids, lengths = self.characters.batch(texts)
        inside = numpy.arange(ids.shape[1]) < lengths[:, None]
        tags, certainty, spaces = (array[inside] for array in self.engine.tag(ids, lengths))
        ends, letters = numpy.cumsum(lengths, dtype="int64"), [text.replace(SPACE, "") for text in texts]
        # the last of a character's rows marks the space that follows it
        had_space = ids[:, :, -1][inside] != PADDING
        draft = corrected(Draft(texts, letters, ends, had_space, tags, certainty, spaces, self.characters))
        if (again := scattered(letters, had_space, draft.spaces)).any():
            own, bare = numpy.repeat(again, lengths), self.drafted([letters[i] for i in numpy.flatnonzero(again)])
            draft.tags[own], draft.certainty[own], draft.spaces[own] = bare.tags, bare.certainty, bare.spaces
        return draft

    def write(self, pieces: Sequence[Piece]) -> list[Restoration]:
        """Return the best that a writer's search finds for a batch of pieces."""
        return [self.written(piece, best) for piece, (best, *_) in zip(pieces, self.hypotheses(pieces))]

    def hypotheses(self, pieces: Sequence[Piece]) -> list[list[Hypothesis]]:
        source, state = self.engine.begin(*self.characters.batch([piece.text for piece in pieces]))
        longest = [most_written(len(piece.text)) for piece in pieces]
        return search(self.engine.step, source, state, BEGIN, END, longest, self.options["beam"], self.options["alpha"])

    def written(self, piece: Piece, hypothesis: Hypothesis) -> Restoration:
        """Return the Restoration of a hypothesis; the source itself where it did not end or went too far."""
        size = len(piece.letters)
        places = [int(row[:size].argmax()) for row in hypothesis.weights]
        text, steps = written(hypothesis.ids, places, piece.letters, self.characters)
        if hypothesis.truncated:
            return unchanged(piece.text, TRUNCATED)
        if not text or not within_bound(piece.text, text):
            return unchanged(piece.text, REJECTED)
        if not keeps_foreign(piece.text, text):
            return unchanged(piece.text, FOREIGN)
        weights = numpy.zeros((len(text), len(piece.text)), dtype="float32")
        weights[:, piece.places] = hypothesis.weights[steps, :size]
        return Restoration(piece.text, text, hypothesis.score, (Chunk(0, 0, weights.argmax(axis=1), weights),))


class TableRestorer(Restorer):
    """A Restorer with the columns of the command: `restore_changes`, their number, and `restore_probability`, the least."""

    types = {"restored": "string", "restore_changes": "int64", "restore_probability": "double", **TYPES}

    def rows(self, texts: Iterable[str]) -> list[Row]:
        """Return the values of `types` of each text."""
        rows = list[Row]()
        for restored in self.restore_stream(texts):
            least = min((each.probability for each in restored.changes if each.probability is not None), default=None)
            rows.append((restored.text, len(restored.changes), least, restored.error))
        return rows


def check_options(kind: str, given: Record) -> None:
    """Raise ConfigError for an option that belongs to the other kind of bundle, or is out of range."""
    for name, value in given.items():
        if name not in CHOICES:
            raise ConfigError(f"{name}: expected one of {', '.join(CHOICES)}")
        wanted, expected, fits = CHOICES[name]
        if kind != wanted:
            advice = f"leave {name} out, or name another bundle"
            raise ConfigError(f"{name} {value}: expected a restorer of kind {wanted}, found {kind}; {advice}")
        if not fits(value):
            raise ConfigError(f"{name}: expected {expected}, found {value!r}")


def load_restorer(
    bundle: Optional[Union[str, Path]] = None,
    beam: Optional[int] = None,
    engine: EngineName = "auto",
    device: DeviceName = "auto",
    alpha: Optional[float] = None,
    min_probability: Optional[float] = None,
    only: Optional[str] = None,
) -> Restorer:
    """Load a restorer from a bundle folder; None is the packaged writer if `beam` or `alpha` is given, else the editor.

    Engine and device are those of `load_classifier`, beam (4 where None) and alpha (0.6) those of a writer's search.
    An editor leaves a change out whose probability is below `min_probability`, 0.5 to 1; where None, 0.5 of a character
    and 0.6 of a space. With `only` "spacing" it leaves all letters as they are. BundleError if the bundle is missing,
    damaged or a classifier's; ConfigError if an option is out of range, or one of the other kind of bundle.
    """
    return Restorer.load(bundle, engine, device, beam=beam, alpha=alpha, min_probability=min_probability, only=only)


packaged_restorer = lru_cache(maxsize=1)(load_restorer)


def restore(text: str, restorer: Optional[Restorer] = None) -> Restoration:
    """Return the Restoration of one text by a restorer, or by the packaged editor, loaded once."""
    return or_packaged(restorer, Restorer, packaged_restorer)(text)


def restore_column(
    column: "Texts", restorer: Union[Restorer, str, None] = None, text_column: Optional[str] = None
) -> "pandas.DataFrame":
    """Restore a column of texts, or a DataFrame, by a restorer, or by the packaged editor, loaded once per process.

    Returns a DataFrame of restored and restore_error (why a text was returned as it was, or None) with the column's index:
    `frame.join(restore_column(frame["review"]))`. Arguments and errors are those of `score_column`.
    """
    from ...scoring.columns import with_index

    if isinstance(restorer, str):
        restorer, text_column = None, restorer
    return with_index(or_packaged(restorer, Restorer, packaged_restorer), column, text_column)
