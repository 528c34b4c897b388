"""Reviews from lines or a table, scored piece by piece into text, csv, tsv, jsonl or parquet.

Every row keeps its place and its other columns; a row that cannot be scored has an empty label and the
reason in `error`. Memory does not grow with the number of rows, and an output file appears whole or not at all.
"""

import io
import json
import math
import sys
from concurrent.futures import BrokenExecutor
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Callable, Protocol

from .._io.atomic import NO_ROOM, replaced_file
from .._io.spreadsheets import as_cell, table_writer
from ..errors import ConfigError, DataError, NsmcError, did_you_mean
from ..reviews.pieces import cut
from ..text.encoding import clean
from .parallel import probability_stream
from .prediction import COLUMNS, prefix_beside, verdict, verdicts

# Characters that are written at a time, and lines that are read
PIECE, WINDOW = 1 << 16, 4096
# Opened by its name, what it is redirected to would begin anew
STDOUT = ("-", "/dev/stdout")
STYLES = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
    ".txt": "text",
    "": "text",
}


def score_lines(classifier, lines, output="-", style=None, weights=False, verbatim=False):
    """Score an iterable of reviews; csv and jsonl have the column `text`, the clean text."""
    if style == "parquet" or style is None and Path(output).suffix.lower() == ".parquet":
        raise ConfigError("parquet output: expected a table, found lines; say what they are by --input-format")
    with opened(output, style, weights) as (file, style):
        write = WRITERS[style](file, ["text"], "", weights, verbatim)
        for prediction in line_predictions(classifier, lines):
            write({"text": prediction.text} if not write.needs_tokens else {}, prediction.text, prediction)


def line_predictions(classifier, lines):
    """Yield the Prediction of each review; at most about `reviews.pieces.PIECE` characters are held at a time."""
    # of one string, and of what is none among the reviews, the classifier tells
    pieces = (
        [lines]
        if isinstance(lines, (str, bytes))
        else cut(lines, WINDOW, lambda line: len(line) if isinstance(line, str) else 1)
    )
    for piece in pieces:
        yield from classifier.predict_stream(piece)


def score_table(
    classifier,
    source,
    output="-",
    style=None,
    weights=False,
    text_column="document",
    processes=None,
    kind=None,
    verbatim=False,
):
    """Score a table of any size, see `reviews.tables.chunks` for source and kind; its columns come first in the output.

    In csv and tsv a text that a spreadsheet would compute is marked (see `spreadsheets`), unless verbatim.

    A table of more than one piece is scored by `processes` workers (None: as many as cores), unless the output
    is jsonl, which has tokens and weights.
    """
    from tqdm import tqdm

    from ..reviews import tables

    with (
        opened(output, style, weights) as (file, style),
        tqdm(unit=" reviews", file=sys.stderr, disable=None, mininterval=0.5) as bar,
    ):
        pieces = tables.chunks(source, text_column, kind=kind)
        if style == "parquet":
            write_parquet(classifier, pieces, file, text_column, processes, bar.update, folder_of(output))
            return
        for piece in table_pieces(classifier, pieces, style, weights, text_column, processes, verbatim, bar.update):
            file.write(piece)


def table_pieces(
    classifier,
    pieces,
    style,
    weights=False,
    text_column="document",
    processes=None,
    verbatim=False,
    report=lambda: None,
):
    """Yield what `score_table` writes of the DataFrames of a table, as it becomes known; report() after each row."""
    first = next(pieces, None)
    names = [text_column] if first is None else [str(name) for name in first.columns]
    pieces = chain([] if first is None else [first], pieces)
    written = io.StringIO()
    write = WRITERS[style](written, names, prefix_beside(names), weights, verbatim)
    if write.needs_tokens:
        scored = with_predictions(classifier, pieces, text_column)
    else:
        scored = with_verdicts(classifier, pieces, text_column, processes)
    for row, text, result in scored:
        write(row, text, result)
        report()
        if written.tell() > PIECE:
            yield written.getvalue()
            written.seek(0)
            written.truncate()
    yield written.getvalue()


def write_parquet(
    classifier, pieces, file, text_column="document", processes=None, report=lambda rows: None, folder=None
):
    """Write the DataFrames of a table with their columns, of the types that they had, and the answer's.

    Answers the number of rows; report(rows) is called after each DataFrame. In `folder` the rows wait until the
    types of all are known (None: the system's folder of temporary files).
    """
    from .parquet import Pieces

    with Pieces(folder) as waiting:
        for frame, _, probabilities in with_probabilities(classifier, pieces, text_column, processes):
            waiting.append(
                {str(name): frame[name].tolist() for name in frame.columns},
                verdicts(probabilities),
                frame.attrs.get("types"),
            )
            report(len(frame))
        if not waiting.sizes:
            # a table without rows still has columns
            waiting.append({text_column: []}, {name: [] for name in COLUMNS})
        waiting.write(file)
        return waiting.rows


def with_predictions(classifier, pieces, text_column):
    """Yield (row as a dict, text, Prediction) for each row of a table."""
    for piece in pieces:
        texts = texts_of(piece, text_column)
        yield from zip(piece.to_dict("records"), texts, classifier.predict_stream(texts))


def with_verdicts(classifier, pieces, text_column, processes):
    """Yield (row as a dict, text, probability) for each row of a table."""
    for piece, texts, probabilities in with_probabilities(classifier, pieces, text_column, processes):
        yield from zip(piece.to_dict("records"), texts, probabilities.tolist())


def with_probabilities(classifier, pieces, text_column, processes):
    """Yield (DataFrame, texts, probabilities) for each piece of a table; for one piece no processes are started."""
    from ..reviews import tables

    waiting: list = []

    def texts_only():
        for piece in chain([first], pieces):
            waiting.append(piece)
            yield texts_of(piece, text_column)

    first = next(pieces, None)
    if first is None:
        return
    processes = 1 if len(first) < tables.ROWS else processes
    try:
        for texts, probabilities in probability_stream(classifier, texts_only(), processes):
            yield waiting.pop(0), texts, probabilities
    except BrokenExecutor as problem:
        raise NsmcError(
            "a worker process was ended from outside, as the system does where memory runs out; "
            "begin again, with more of it or on fewer cores"
        ) from problem


def texts_of(piece, text_column):
    from ..reviews import tables

    return [tables.as_text(value) for value in piece[text_column]]


@contextmanager
def opened(output, style, weights):
    """Give (file, style) for an output path, or stdout for "-"."""
    output = Path(output)
    if style is None and output.suffix.lower() not in STYLES:
        hint = did_you_mean(output.suffix, filter(None, STYLES))
        raise ConfigError(f"{output}: unknown suffix {output.suffix!r}{hint}; or choose a --format")
    style = style or STYLES[output.suffix.lower()]
    if weights and style != "jsonl":
        raise ConfigError(f"--weights needs --format jsonl, found {style}")
    binary = style == "parquet"
    if str(output) in STDOUT:
        yield sys.stdout.buffer if binary else sys.stdout, style
        return
    with replaced_file(output) as temporary:
        file = open(temporary, "wb") if binary else open(temporary, "w", encoding="utf-8", newline="", errors="replace")
        try:
            with file:
                yield file, style
        except OSError as problem:
            # a device names nobody; of other files `replaced_file` tells
            if problem.errno in NO_ROOM and problem.filename is None:
                problem.filename = str(output)
            raise


def folder_of(output):
    """Answer the folder that an output file is in; None of stdout, a pipe or a device."""
    path = Path(output)
    return None if str(output) in STDOUT or path.exists() and not path.is_file() else path.parent


def four(result):
    """Answer (label, score, probability, error) of a Prediction or of a bare probability."""
    if isinstance(result, float):
        return verdict(result)
    return result.label, result.score, result.probability, result.error


class Writer(Protocol):
    """Writes a row, its text and what was found: a Prediction where it needs tokens, else a bare probability."""

    needs_tokens: bool

    def __call__(self, row, text, result): ...


class TextWriter:
    """One line a review: label, score, text."""

    needs_tokens = False

    def __init__(self, file, names, prefix, weights, verbatim=False):
        self.file = file

    def __call__(self, row, text, result):
        label, score, _, error = four(result)
        folded = clean(text)
        line = f"-\t-\t{folded}\t{error}" if error else f"{label}\t{score:.4f}\t{folded}"
        print(line, file=self.file)


class CsvWriter:
    """The row's own columns, then label, score, probability and error; no text that a spreadsheet would compute.

    Probabilities have 6 digits, beyond which the sums of differently composed batches differ.
    """

    needs_tokens = False
    delimiter = ","

    def __init__(self, file, names, prefix, weights, verbatim=False):
        self.names, self.shown = names, (lambda cell: cell) if verbatim else as_cell
        self.table = table_writer(file, self.delimiter)
        self.table.writerow([*map(self.shown, names), *(prefix + name for name in COLUMNS)])

    def __call__(self, row, text, result):
        label, score, probability, error = four(result)
        figures = ("", "", "", error) if error else (label, f"{score:.6f}", f"{probability:.6f}", "")
        foreign = [name for name in row if name not in self.names]
        if foreign:
            raise DataError(
                f"csv: expected the columns of the first rows, found {foreign[0]!r} too; use --format jsonl"
            )
        cells = (row.get(name) for name in self.names)
        self.table.writerow([*("" if cell is None else self.shown(readable(cell)) for cell in cells), *figures])


class TsvWriter(CsvWriter):
    """As csv, with tabs."""

    delimiter = "\t"


class JsonlWriter:
    """One object a line: the row's own columns, then `Prediction.to_dict()`."""

    needs_tokens = True

    def __init__(self, file, names, prefix, weights, verbatim=False):
        self.file, self.prefix, self.weights = file, prefix, weights

    def __call__(self, row, text, result):
        values = {
            self.prefix + name if name in COLUMNS else name: value
            for name, value in result.to_dict(self.weights).items()
        }
        values = {free(name, row): value for name, value in values.items()}
        print(as_json({**row, **values}), file=self.file)


def as_json(values):
    """Answer a dict as one line of JSON, which has no infinite numbers and no NaN: they are null, as in JavaScript."""
    try:
        return json.dumps(values, ensure_ascii=False, default=readable, allow_nan=False)
    except ValueError:
        return json.dumps(finite(values), ensure_ascii=False, default=readable, allow_nan=False)


def finite(value):
    """Answer lists and dicts with None for each number in them that is not finite."""
    if isinstance(value, dict):
        return {name: finite(each) for name, each in value.items()}
    if isinstance(value, (list, tuple)):
        return list(map(finite, value))
    return None if isinstance(value, float) and not math.isfinite(value) else value


def readable(value):
    """Answer a cell as csv and JSON have it: bytes as their text where they are UTF-8, else its str."""
    if isinstance(value, bytes):
        try:
            return value.decode()
        except UnicodeDecodeError:
            return str(value)
    return value if isinstance(value, (str, int, float, bool)) else str(value)


def free(name, taken):
    """Answer name, with `predicted_` before it as often as it takes not to be among those taken."""
    while name in taken:
        name = f"predicted_{name}"
    return name


WRITERS: dict[str, Callable[..., Writer]] = {
    "text": TextWriter,
    "csv": CsvWriter,
    "tsv": TsvWriter,
    "jsonl": JsonlWriter,
}
