"""Sentences written to be learnt beside the reviews: a table in, encoded sentences and the gates of their tokens out.

    document,label,signs        재미있지 않다,0,0:2:-1        characters 0 and 1 are negated
                                호불호가 갈릴 영화,0.5,       half positive, no gate is known

A label is 0, 1 or a probability of positive. A mark is start:end:sign, of characters of the document; there may be several,
with spaces between, or none.
"""

import re
from collections.abc import Sequence
from pathlib import Path

import numpy
import pandas
from numpy.typing import NDArray

from ..corpora.corpus import Reviews, read_bytes, sha256
from ..errors import DataError
from ..tables.table import columns_of
from ..text.encoding import Encoded, ReviewEncoder, clean
from .batches import EncodedPart, TrainingPart

COLUMNS = ("document", "label", "signs")
# So often a sentence without marks counts in the table of n-grams, however often the file has it
TIMES = 3
MARK = re.compile(r"(\d{1,9}):(\d{1,9}):(-?\d+(?:\.\d+)?)")
Marks = Sequence[tuple[int, int, float]]


def read_sentences(path: Path) -> Reviews:
    """Read a table of sentences; `signs` of its frame are (start, end, sign) of characters of the clean text.

    DataError, with the row, where a column is missing, a sentence has no text or a mark is none.
    """
    rows, documents, labels, cells = columns_of(path, COLUMNS)
    if not documents:
        raise DataError(f"{path}: the file has no sentences")
    signs = [marks_of(text, cell, f"{path} row {row}") for row, text, cell in zip(rows, documents, cells)]
    frame = pandas.DataFrame({"document": documents, "label": label_probabilities(labels, rows, path), "signs": signs})
    return Reviews(frame, path.name, sha256(read_bytes(path)))


def label_probabilities(labels: Sequence[str], rows: Sequence[int], path: Path) -> NDArray[numpy.float64]:
    """Return labels, which are numbers from 0 to 1, as probabilities of positive."""
    numbers = pandas.to_numeric(pandas.Series(labels), errors="coerce").to_numpy(dtype="float64")
    for place in numpy.flatnonzero(~((numbers >= 0) & (numbers <= 1)))[:1]:
        expected = f"expected a label from 0 to 1, found {labels[place][:30]!r}"
        raise DataError(f"{path} row {rows[place]}: {expected}")
    return numbers


def marks_of(document: str, cell: str, where: str) -> Marks:
    """Return the marks of `start:end:sign ...`; DataError, which begins with `where`, for any other."""
    length, marks = len(clean(document)), []
    if not length:
        raise DataError(f"{where}: expected a sentence, found none")
    for word in cell.split():
        match = MARK.fullmatch(word)
        start, end, sign = (int(match[1]), int(match[2]), float(match[3])) if match else (0, 0, 0.0)
        if not start < end <= length or abs(sign) > 1:
            expected = f"start:end:sign of some of the {length} characters of its document, a sign from -1 to 1"
            raise DataError(f"{where}: expected {expected}, found {word[:30]!r}")
        marks.append((start, end, sign))
    return marks


def with_gates(
    examples: EncodedPart, written: Reviews, encoder: ReviewEncoder
) -> tuple[EncodedPart, list[NDArray[numpy.float32]]]:
    """Return a part with the sentences behind its reviews, and the gate of each token (T,), NaN where none is marked."""
    sentences = encoder.encode_many(written.documents)
    gates = [numpy.full(len(review), numpy.nan, dtype="float32") for review in (*examples.reviews, *sentences)]
    for unmarked, review, marks in zip(gates[len(examples.reviews) :], sentences, written.frame["signs"]):
        mark_tokens(unmarked, review, marks)
    frame = pandas.concat([examples.frame, written.frame], ignore_index=True)
    labels = numpy.concatenate([examples.targets, written.labels])
    return TrainingPart([*examples.reviews, *sentences], labels, frame), gates


def with_unmarked(examples: EncodedPart, written: Reviews, encoder: ReviewEncoder) -> EncodedPart:
    """Return a part with the sentences that have a clear label and no mark: those from templates would only repeat n-grams."""
    clear = [not marks and label in (0, 1) for marks, label in zip(written.frame["signs"], written.labels.tolist())]
    once = written.frame[clear].drop_duplicates("document")
    frame = pandas.concat([once] * TIMES, ignore_index=True)
    sentences = encoder.encode_many(frame["document"].tolist())
    labels = numpy.concatenate([examples.labels, frame["label"].to_numpy(dtype="float64")])
    return TrainingPart(
        [*examples.reviews, *sentences], labels, pandas.concat([examples.frame, frame], ignore_index=True)
    )


def mark_tokens(gates: NDArray[numpy.float32], review: Encoded, marks: Marks) -> None:
    """Set the gates (T,) of the tokens that share a character with a mark, of several with the last."""
    for place, (first, last) in enumerate(review.offsets if marks else ()):
        for start, end, sign in marks:
            if first < end and last > start:
                gates[place] = sign
