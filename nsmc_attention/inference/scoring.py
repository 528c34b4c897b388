"""Reviews from lines or a table, scored in parts into text, csv, tsv, jsonl, parquet or xlsx.

Every row keeps its place and its other columns; a row that cannot be scored has an empty label and the reason in
`error`. Memory does not grow with the number of rows; an output file appears whole or not at all.
"""

import io
import json
import sys
from concurrent.futures import BrokenExecutor
from contextlib import contextmanager
from functools import partial
from itertools import chain, islice, tee
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Callable, Collection, Iterable, Iterator, Optional, Union

from .._io.atomic import NO_ROOM, replaced_file
from .._io.spreadsheets import as_cell, table_writer
from .._runtime.progress import progress_bar
from ..errors import ConfigError, DataError, NsmcError, did_you_mean
from ..reviews.pieces import cut
from ..text.encoding import clean
from .parallel import probability_stream
from .prediction import COLUMNS, Prediction, output_columns, output_prefix, output_row
from .predictor import Classifier

if TYPE_CHECKING:
    import pandas

    from ..reviews.tables import Table

PathLike = Union[str, Path]
Frames = Iterator["pandas.DataFrame"]
Write = Callable[[Any, str, Any], None]
# Takes the numbers of rows and of rows without a result since the last call
Report = Callable[[int, int], object]
# Characters that are written at a time, and lines that are read
PIECE, WINDOW = 1 << 16, 4096
# By which Excel knows UTF-8
MARK = "\ufeff"
# Opening /dev/stdout by its name would truncate the file that it is redirected to
STDOUT = ("-", "/dev/stdout")
STYLES = {f".{style}": style for style in ("csv", "tsv", "jsonl", "parquet")}
STYLES.update({".ndjson": "jsonl", ".xlsx": "xlsx", ".txt": "text", "": "text"})
# No text
BINARY = ("parquet", "xlsx")


class Scored:
    """How many rows were scored, and how many of them with an error; a bar on stderr where it takes seconds."""

    def __init__(self, output: PathLike):
        # a bar would break the lines on a terminal
        shown = False if str(output) in STDOUT and sys.stdout.isatty() else None
        self.rows, self.errors = 0, 0
        self.bar = progress_bar(shown=shown, unit=" reviews", delay=2)

    def __str__(self) -> str:
        return f"{self.rows:,} review{'s' * (self.rows != 1)}, {self.errors:,} with an error"

    def add(self, rows: int, errors: int) -> None:
        self.rows, self.errors = self.rows + rows, self.errors + errors
        self.bar.update(rows)


def score_lines(
    classifier: Classifier,
    lines: Iterable[str],
    output: PathLike = "-",
    style: Optional[str] = None,
    weights: bool = False,
    verbatim: bool = False,
) -> Scored:
    """Score an iterable of reviews; csv has the column `text`, the clean text."""
    wanted = style or STYLES.get(Path(output).suffix.lower())
    if wanted in BINARY:
        raise ConfigError(f"{wanted} output: expected a table, found lines; say what they are by --input-format")
    scored = Scored(output)
    with opened(output, style, weights) as (file, style), scored.bar:
        write = WRITERS[style](file, ["text"], "", weights, verbatim)
        for each in line_predictions(classifier, lines):
            if style == "jsonl":
                write({}, each.text, each)
            else:
                write({"text": each.text}, each.text, each.probability)
            scored.add(1, each.label is None)
    return scored


def line_predictions(classifier: Classifier, lines: Iterable[str]) -> Iterator[Prediction]:
    """Yield the Prediction of each review; about `reviews.pieces.PIECE` characters are held at a time."""
    for part in cut(lines, WINDOW, len):
        yield from classifier.predict_stream(part)


def score_table(
    classifier: Classifier,
    source: PathLike,
    output: PathLike = "-",
    style: Optional[str] = None,
    weights: bool = False,
    text_column: Optional[str] = None,
    processes: Optional[int] = None,
    kind: Optional[str] = None,
    verbatim: bool = False,
    encoding: Optional[str] = None,
    excel: bool = False,
) -> Scored:
    """Score a table of any size, see `reviews.tables.open_table` for the input; its columns come first in the output.

    The style (text, csv, tsv, jsonl, parquet, xlsx) is by default that of the output's suffix. `processes` workers (None:
    one a core) share a table of more than one chunk, unless the output is jsonl. Csv, tsv and xlsx cells that a
    spreadsheet would compute are marked (see `spreadsheets`), unless verbatim. Csv and tsv begin with a byte-order mark,
    without which Excel shows no Hangul, if `excel`, or in a file where the input came from a spreadsheet program.
    """
    from ..reviews import tables

    scored = Scored(output)
    with opened(output, style, weights) as (file, style), scored.bar:
        table = tables.open_table(source, text_column, kind=kind, encoding=encoding)
        if style == "parquet":
            write_parquet(classifier, table, file, processes, scored.add, folder_of(output))
        elif style == "xlsx":
            write_xlsx(classifier, table, file, processes, scored.add, verbatim)
        else:
            if style in ("csv", "tsv") and (excel or table.source.from_office and str(output) not in STDOUT):
                file.write(MARK)
            file.writelines(table_pieces(classifier, table, style, weights, processes, verbatim, scored.add))
    return scored


def table_pieces(
    classifier: Classifier,
    table: "Table",
    style: str,
    weights: bool = False,
    processes: Optional[int] = None,
    verbatim: bool = False,
    report: Report = lambda rows, errors: None,
) -> Iterator[str]:
    """Yield the output of `score_table` for a table, as it is computed; report(1, errors) after each row."""
    names, frames = columns_of(table)
    written = io.StringIO()
    write = WRITERS[style](written, names, output_prefix(names), weights, verbatim)
    rows = with_predictions if style == "jsonl" else with_probabilities
    for frame, texts, results in rows(classifier, frames, table.text_column, processes):
        for row, text, result in zip(frame.to_dict("records"), texts, results):
            write(row, text, result)
            report(1, result.label is None if isinstance(result, Prediction) else result != result)
            if written.tell() > PIECE:
                yield written.getvalue()
                written.seek(0)
                written.truncate()
    yield written.getvalue()


def columns_of(table: "Table") -> tuple[list[str], Frames]:
    """Return the columns of a table's first rows, and all its DataFrames."""
    begun = list(islice(table.frames, 1))
    names = [str(name) for name in begun[0].columns] if begun else [table.text_column]
    return names, chain(begun, table.frames)


def write_xlsx(
    classifier: Classifier,
    table: "Table",
    file: IO[bytes],
    processes: Optional[int] = None,
    report: Report = lambda rows, errors: None,
    verbatim: bool = False,
) -> None:
    """Write a table and the output columns as a workbook; report(rows, errors) is called after each DataFrame."""
    from ..reviews.xlsx import write_rows

    names, frames = columns_of(table)

    def rows() -> Iterator[list[Any]]:
        yield [*names, *(output_prefix(names) + name for name in COLUMNS)]
        for frame, _, scores in with_probabilities(classifier, frames, table.text_column, processes):
            for row, score in zip(frame.to_dict("records"), scores):
                check_names(row, names, "xlsx")
                label, *figures, error = output_row(score)
                shown = [None if figure is None else round(figure, 6) for figure in figures]
                yield [*map(row.get, names), label, *shown, error]
            report(len(frame), int((scores != scores).sum()))

    write_rows(file, rows(), verbatim)


def check_names(row: dict[str, Any], names: list[str], style: str) -> None:
    """Raise DataError for a row with another column than the first ones."""
    new = [name for name in row if name not in names]
    if new:
        raise DataError(f"{style}: expected the columns of the first rows, found {new[0]!r} too; use --format jsonl")


def write_parquet(
    classifier: Classifier,
    table: "Table",
    file: IO[bytes],
    processes: Optional[int] = None,
    report: Report = lambda rows, errors: None,
    folder: Optional[Path] = None,
) -> int:
    """Write a table, with its types, and the output columns; return the number of rows.

    report(rows, errors) is called after each DataFrame; `folder` is for `ParquetSpool`.
    """
    from .parquet import ParquetSpool

    with ParquetSpool(folder) as spool:
        for frame, _, scores in with_probabilities(classifier, table.frames, table.text_column, processes):
            columns = {str(name): frame[name].tolist() for name in frame.columns}
            spool.append(columns, output_columns(scores), frame.attrs.get("types"))
            report(len(frame), int((scores != scores).sum()))
        if not spool.schemas:
            # a table without rows still has columns
            spool.append({table.text_column: []}, {name: [] for name in COLUMNS})
        spool.write(file)
        return spool.rows


def with_predictions(classifier: Classifier, frames: Frames, text_column: str, _: object) -> Iterator[Any]:
    """Yield (DataFrame, texts, Predictions), computed in this process."""
    for frame in frames:
        texts = texts_of(frame, text_column)
        yield frame, texts, classifier.predict_stream(texts)


def with_probabilities(
    classifier: Classifier, frames: Frames, text_column: str, processes: Optional[int]
) -> Iterator[Any]:
    """Yield (DataFrame, texts, probabilities); a table of one DataFrame starts no processes."""
    from ..reviews import tables

    begun = list(islice(frames, 1))
    frames, ahead = tee(chain(begun, frames))
    windows = (texts_of(frame, text_column) for frame in ahead)
    try:
        stream = probability_stream(classifier, windows, processes if begun and len(begun[0]) >= tables.ROWS else 1)
        for (texts, scores), frame in zip(stream, frames):
            yield frame, texts, scores
    except BrokenExecutor as problem:
        raise NsmcError(
            "a worker process was killed, as the system does when memory runs out; begin again with more memory or "
            "on fewer cores"
        ) from problem


def texts_of(frame: "pandas.DataFrame", text_column: str) -> list[str]:
    from ..reviews import tables

    return [tables.as_text(value) for value in frame[text_column]]


@contextmanager
def opened(output: PathLike, style: Optional[str], weights: bool) -> Iterator[tuple[Any, str]]:
    """Give (file, style) for an output path, or stdout for "-"."""
    output = Path(output)
    if style is None and output.suffix.lower() not in STYLES:
        hint = did_you_mean(output.suffix, filter(None, STYLES))
        raise ConfigError(f"{output}: unknown suffix {output.suffix!r}{hint}; or choose a --format")
    style = style or STYLES[output.suffix.lower()]
    if weights and style != "jsonl":
        raise ConfigError(f"--weights needs --format jsonl, found {style}")
    binary = style in BINARY
    if str(output) in STDOUT:
        yield sys.stdout.buffer if binary else sys.stdout, style
        return
    with replaced_file(output) as temporary:
        file = open(temporary, "wb") if binary else open(temporary, "w", encoding="utf-8", newline="", errors="replace")
        try:
            with file:
                yield file, style
        except OSError as problem:
            # an error of a device has no file name; `replaced_file` reports those of other files
            if problem.errno in NO_ROOM and problem.filename is None:
                problem.filename = str(output)
            raise


def folder_of(output: PathLike) -> Optional[Path]:
    """Return the folder of an output file; None for stdout, a pipe or a device."""
    path = Path(output)
    return None if str(output) in STDOUT or path.exists() and not path.is_file() else path.parent


def text_writer(file: IO[str], *_: Any) -> Write:
    """One line a review: label, score, text."""

    def write(row: Any, text: str, probability: Any) -> None:
        label, score, _, error = output_row(probability)
        folded = clean(text)
        print(f"-\t-\t{folded}\t{error}" if error else f"{label}\t{score:.4f}\t{folded}", file=file)

    return write


def csv_writer(delimiter: str, file: IO[str], names: list[str], prefix: str, weights: bool, verbatim: bool) -> Write:
    """The table's columns, then label, score, probability and error.

    Probabilities have 6 digits; further ones depend on the other reviews of a batch.
    """
    shown: Callable[[Any], Any] = (lambda cell: cell) if verbatim else as_cell
    table = table_writer(file, delimiter)
    table.writerow([*map(shown, names), *(prefix + name for name in COLUMNS)])

    def write(row: Any, text: str, result: Any) -> None:
        label, score, probability, error = output_row(result)
        figures = ("", "", "", error) if error else (label, f"{score:.6f}", f"{probability:.6f}", "")
        check_names(row, names, "csv")
        cells = (row.get(name) for name in names)
        table.writerow([*("" if cell is None else shown(plain(cell)) for cell in cells), *figures])

    return write


def jsonl_writer(file: IO[str], names: list[str], prefix: str, weights: bool, verbatim: bool) -> Write:
    """One object a line: the table's columns, then `Prediction.to_dict()`."""

    def write(row: Any, text: str, result: Any) -> None:
        values = {**row}
        for name, value in result.to_dict(weights).items():
            values[unique_name(prefix + name if name in COLUMNS else name, row)] = value
        print(as_json(values), file=file)

    return write


# (file, names of the table's columns, `output_prefix` of them, weights, verbatim) -> write(row, text, result): a
# Prediction for jsonl, else the probability of positive
WRITERS: dict[str, Callable[..., Write]] = {
    "text": text_writer,
    "csv": partial(csv_writer, ","),
    "tsv": partial(csv_writer, "\t"),
    "jsonl": jsonl_writer,
}


def as_json(values: dict[str, Any]) -> str:
    """Return a dict as one line of JSON; NaN and infinite numbers, which JSON lacks, become null."""
    try:
        return json.dumps(values, ensure_ascii=False, default=plain, allow_nan=False)
    except ValueError:
        finite = json.loads(json.dumps(values, default=plain), parse_constant=lambda _: None)
        return json.dumps(finite, ensure_ascii=False)


def plain(value: Any) -> Any:
    """Return a cell as csv and JSON hold it: bytes as their text if they are UTF-8, other objects as their str."""
    if isinstance(value, bytes):
        try:
            return value.decode()
        except UnicodeDecodeError:
            return str(value)
    return value if isinstance(value, (str, int, float, bool)) else str(value)


def unique_name(name: str, taken: Collection[str]) -> str:
    """Prefix a name with `predicted_` until it is not taken."""
    while name in taken:
        name = f"predicted_{name}"
    return name
