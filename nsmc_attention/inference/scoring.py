"""Reviews from lines or a table, scored piece by piece into text, csv, tsv, jsonl or parquet.

Every row keeps its place and its other columns; a row that cannot be scored has an empty label and the
reason in `error`. Memory does not grow with the number of rows (but parquet, which is written at the end), and an
output file appears whole or not at all.
"""
import csv
import io
import json
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import Callable, Protocol

from ..atomic import replaced_file
from ..errors import ConfigError, DataError, did_you_mean
from ..preprocessing.encoding import clean
from ..spreadsheets import as_cell
from .parallel import probability_stream
from .prediction import COLUMNS, verdict, verdicts

# Characters that are written at a time
PIECE = 1 << 16
STYLES = {".csv": "csv", ".tsv": "tsv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".parquet": "parquet", ".txt": "text",
          "": "text"}


def score_lines(classifier, lines, output="-", style=None, weights=False, verbatim=False):
    """Score an iterable of reviews; csv and jsonl have the column `text`, the clean text."""
    if style == "parquet" or style is None and Path(output).suffix.lower() == ".parquet":
        raise ConfigError("parquet output: expected a table, found lines; say what they are by --input-format")
    with opened(output, style, weights) as (file, style):
        write = WRITERS[style](file, ["text"], "", weights, verbatim)
        for prediction in classifier.predict_stream(lines):
            write({"text": prediction.text} if not write.needs_tokens else {}, prediction.text, prediction)


def score_table(classifier, source, output="-", style=None, weights=False, text_column="document", processes=None,
                kind=None, verbatim=False):
    """Score a table of any size, see `reviews.tables.chunks` for source and kind; its columns come first in the output.

    In csv and tsv a text that a spreadsheet would compute is marked (see `spreadsheets`), unless verbatim.

    A table of more than one piece is scored by `processes` workers (None: as many as cores), unless the output
    is jsonl, which has tokens and weights.
    """
    from tqdm import tqdm

    with opened(output, style, weights) as (file, style), \
            tqdm(unit=" reviews", file=sys.stderr, disable=None, mininterval=0.5) as bar:
        from ..reviews import tables

        pieces = tables.chunks(source, text_column, kind=kind)
        if style == "parquet":
            write_parquet(classifier, pieces, file, text_column, processes, bar.update)
            return
        for piece in table_pieces(classifier, pieces, style, weights, text_column, processes, verbatim,
                                  bar.update):
            file.write(piece)


def table_pieces(classifier, pieces, style, weights=False, text_column="document", processes=None,
                 verbatim=False, report=lambda: None):
    """Yield what `score_table` writes of the DataFrames of a table, as it becomes known; report() after each row."""
    from ..reviews import tables

    first = next(pieces, None)
    names = [text_column] if first is None else [str(name) for name in first.columns]
    prefix = prefix_beside(names)
    rows = rows_with_text(first, pieces, text_column)
    small = first is None or len(first) < tables.ROWS
    written = io.StringIO()
    write = WRITERS[style](written, names, prefix, weights, verbatim)
    if write.needs_tokens:
        scored = with_predictions(classifier, rows)
    else:
        scored = with_verdicts(classifier, rows, 1 if small else processes)
    for row, text, result in scored:
        write(row, text, result)
        report()
        if written.tell() > PIECE:
            yield written.getvalue()
            written.seek(0)
            written.truncate()
    yield written.getvalue()


def write_parquet(classifier, pieces, file, text_column="document", processes=None, report=lambda rows: None):
    """Write the DataFrames of a table with their columns, of the types that they had, and the answer's.

    Answers the number of rows; report(rows) is called after each DataFrame.
    """
    from ..reviews import tables

    parquet = tables.require_parquet()
    import pyarrow

    frames, scored = [], []

    def texts_only():
        for frame in pieces:
            frames.append(frame)
            yield [tables.as_text(value) for value in frame[text_column]]

    for _, probabilities in probability_stream(classifier, texts_only(), processes):
        frame = frames.pop(0)
        answers, prefix = verdicts(probabilities), prefix_beside(map(str, frame.columns))
        columns = {**{str(name): frame[name].tolist() for name in frame.columns},
                   **{prefix + name: values for name, values in answers.items()}}
        scored.append(pyarrow.table(columns))
        report(len(frame))
    # a column that is all missing in one piece has the type of the others
    whole = pyarrow.concat_tables(scored, promote_options="permissive")
    parquet.write_table(whole, file)
    return whole.num_rows


def prefix_beside(names):
    """Answer what stands before the names of the answer's columns, so that none is among a table's own."""
    names, prefix = set(names), ""
    while {prefix + name for name in COLUMNS} & names:
        prefix += "predicted_"
    return prefix


def rows_with_text(first, pieces, text_column):
    """Yield each piece of the table as (rows as dicts, texts)."""
    from ..reviews import tables

    piece = first
    while piece is not None:
        yield piece.to_dict("records"), [tables.as_text(value) for value in piece[text_column]]
        piece = next(pieces, None)


def with_predictions(classifier, pieces):
    for rows, texts in pieces:
        yield from zip(rows, texts, classifier.predict_stream(texts))


def with_verdicts(classifier, pieces, processes):
    waiting = []

    def texts_only():
        for rows, texts in pieces:
            waiting.append(rows)
            yield texts

    for texts, probabilities in probability_stream(classifier, texts_only(), processes):
        yield from zip(waiting.pop(0), texts, probabilities.tolist())


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
    if str(output) == "-":
        yield sys.stdout.buffer if binary else sys.stdout, style
        return
    with replaced_file(output) as temporary:
        file = open(temporary, "wb") if binary else \
            open(temporary, "w", encoding="utf-8", newline="", errors="replace")
        with file:
            yield file, style


def four(result):
    """Answer (label, score, probability, error) of a Prediction or of a bare probability."""
    if isinstance(result, float):
        return verdict(result)
    return result.label, result.score, result.probability, result.error


class Writer(Protocol):
    """Writes a row, its text and what was found: a Prediction where it needs tokens, else a bare probability."""

    needs_tokens: bool

    def __call__(self, row, text, result):
        ...


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


class ShortLineEnds:
    """A file for csv.writer that ends rows with a line feed alone; told so itself, it leaves a bare \\r unquoted."""

    def __init__(self, file):
        self.file = file

    def write(self, row):
        self.file.write(row[:-2] + "\n")


class CsvWriter:
    """The row's own columns, then label, score, probability and error; no text that a spreadsheet would compute.

    Probabilities have 6 digits, beyond which the sums of differently composed batches differ.
    """

    needs_tokens = False
    delimiter = ","

    def __init__(self, file, names, prefix, weights, verbatim=False):
        self.names, self.shown = names, (lambda cell: cell) if verbatim else as_cell
        self.table = csv.writer(ShortLineEnds(file), delimiter=self.delimiter, lineterminator="\r\n")
        self.table.writerow([*map(self.shown, names), *(prefix + name for name in COLUMNS)])

    def __call__(self, row, text, result):
        label, score, probability, error = four(result)
        figures = ("", "", "", error) if error else (label, f"{score:.6f}", f"{probability:.6f}", "")
        foreign = [name for name in row if name not in self.names]
        if foreign:
            raise DataError(f"csv: expected the columns of the first rows, found {foreign[0]!r} too; "
                            "use --format jsonl")
        cells = (row.get(name) for name in self.names)
        self.table.writerow([*("" if cell is None else self.shown(cell) for cell in cells), *figures])


class TsvWriter(CsvWriter):
    """As csv, with tabs."""

    delimiter = "\t"


class JsonlWriter:
    """One object a line: the row's own columns, then `Prediction.to_dict()`."""

    needs_tokens = True

    def __init__(self, file, names, prefix, weights, verbatim=False):
        self.file, self.prefix, self.weights = file, prefix, weights

    def __call__(self, row, text, result):
        values = {self.prefix + name if name in COLUMNS else name: value
                  for name, value in result.to_dict(self.weights).items()}
        values = {free(name, row): value for name, value in values.items()}
        print(json.dumps({**row, **values}, ensure_ascii=False, default=str), file=self.file)


def free(name, taken):
    """Answer name, with `predicted_` before it as often as it takes not to be among those taken."""
    while name in taken:
        name = f"predicted_{name}"
    return name


WRITERS: dict[str, Callable[..., Writer]] = {"text": TextWriter, "csv": CsvWriter, "tsv": TsvWriter,
                                             "jsonl": JsonlWriter}
