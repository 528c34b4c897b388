"""Reviews from lines or a table, scored in parts into text, csv, tsv, jsonl or parquet.

Every row keeps its place and its other columns; a row that cannot be scored has an empty label and the reason in
`error`. Memory does not grow with the number of rows, and an output file appears whole or not at all.
"""

import io
import json
import math
import sys
from concurrent.futures import BrokenExecutor
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Callable, Collection, Iterable, Iterator, Optional, Union

from .._io.atomic import NO_ROOM, replaced_file
from .._io.spreadsheets import as_cell, table_writer
from ..errors import ConfigError, DataError, NsmcError, did_you_mean
from ..reviews.pieces import cut
from ..text.encoding import clean
from .parallel import Scores, probability_stream
from .prediction import COLUMNS, Prediction, output_columns, output_prefix, output_row
from .predictor import Classifier

if TYPE_CHECKING:
    import pandas

PathLike = Union[str, Path]
# Characters that are written at a time, and lines that are read
PIECE, WINDOW = 1 << 16, 4096
# Opening /dev/stdout by its name would truncate the file that it is redirected to
STDOUT = ("-", "/dev/stdout")
STYLES = {".ndjson": "jsonl", ".txt": "text", "": "text"}
STYLES.update({f".{style}": style for style in ("csv", "tsv", "jsonl", "parquet")})


def score_lines(
    classifier: Classifier,
    lines: Iterable[str],
    output: PathLike = "-",
    style: Optional[str] = None,
    weights: bool = False,
    verbatim: bool = False,
) -> None:
    """Score an iterable of reviews; csv has the column `text`, the clean text."""
    if style == "parquet" or style is None and Path(output).suffix.lower() == ".parquet":
        raise ConfigError("parquet output: expected a table, found lines; say what they are by --input-format")
    with opened(output, style, weights) as (file, style):
        writer = WRITERS[style](file, ["text"], "", weights, verbatim)
        for each in line_predictions(classifier, lines):
            writer.write({} if writer.needs_tokens else {"text": each.text}, each.text, each)


def line_predictions(classifier: Classifier, lines: Iterable[str]) -> Iterator[Prediction]:
    """Yield the Prediction of each review; about `reviews.pieces.PIECE` characters are held at a time."""
    # a bare string or an item that is no string is passed on; the classifier raises
    parts: Iterable[Iterable[str]] = [lines]
    if not isinstance(lines, (str, bytes)):
        parts = cut(lines, WINDOW, lambda line: len(line) if isinstance(line, str) else 1)
    for part in parts:
        yield from classifier.predict_stream(part)


def score_table(
    classifier: Classifier,
    source: PathLike,
    output: PathLike = "-",
    style: Optional[str] = None,
    weights: bool = False,
    text_column: str = "document",
    processes: Optional[int] = None,
    kind: Optional[str] = None,
    verbatim: bool = False,
) -> None:
    """Score a table of any size; its columns come first in the output.

    Parameters
    ----------
    source, kind
        See `reviews.tables.chunks`.
    style : "text", "csv", "tsv", "jsonl", "parquet" or None
        None is given by the output's suffix.
    processes : int or None
        Workers that share a table of more than one chunk (None: one a core), unless the output is jsonl, which has
        tokens and weights.
    verbatim : bool
        Do not mark csv and tsv cells that a spreadsheet would compute (see `spreadsheets`).
    """
    from tqdm import tqdm

    from ..reviews import tables

    bar = tqdm(unit=" reviews", file=sys.stderr, disable=None, mininterval=0.5)
    with opened(output, style, weights) as (file, style), bar:
        frames = tables.chunks(source, text_column, kind=kind)
        if style == "parquet":
            write_parquet(classifier, frames, file, text_column, processes, bar.update, folder_of(output))
            return
        for text in table_pieces(classifier, frames, style, weights, text_column, processes, verbatim, bar.update):
            file.write(text)


def table_pieces(
    classifier: Classifier,
    frames: Iterator["pandas.DataFrame"],
    style: str,
    weights: bool = False,
    text_column: str = "document",
    processes: Optional[int] = None,
    verbatim: bool = False,
    report: Callable[[], object] = lambda: None,
) -> Iterator[str]:
    """Yield the output of `score_table` for the DataFrames of a table, as it is computed; report() after each row."""
    first = next(frames, None)
    names = [text_column] if first is None else [str(name) for name in first.columns]
    frames = chain([] if first is None else [first], frames)
    written = io.StringIO()
    writer = WRITERS[style](written, names, output_prefix(names), weights, verbatim)
    rows = with_predictions if writer.needs_tokens else with_probabilities
    for frame, texts, results in rows(classifier, frames, text_column, processes):
        for row, text, result in zip(frame.to_dict("records"), texts, results):
            writer.write(row, text, result)
            report()
            if written.tell() > PIECE:
                yield written.getvalue()
                written.seek(0)
                written.truncate()
    yield written.getvalue()


def write_parquet(
    classifier: Classifier,
    frames: Iterator["pandas.DataFrame"],
    file: IO[bytes],
    text_column: str = "document",
    processes: Optional[int] = None,
    report: Callable[[int], object] = lambda rows: None,
    folder: Optional[Path] = None,
) -> int:
    """Write the DataFrames of a table with their columns and types, and the output columns; return the number of rows.

    report(rows) is called after each DataFrame. `folder` is for the temporary file of `ParquetSpool`.
    """
    from .parquet import ParquetSpool

    with ParquetSpool(folder) as spool:
        for frame, _, scores in with_probabilities(classifier, frames, text_column, processes):
            columns = {str(name): frame[name].tolist() for name in frame.columns}
            spool.append(columns, output_columns(scores), frame.attrs.get("types"))
            report(len(frame))
        if not spool.sizes:
            # a table without rows still has columns
            spool.append({text_column: []}, {name: [] for name in COLUMNS})
        spool.write(file)
        return spool.rows


def with_predictions(
    classifier: Classifier, frames: Iterator["pandas.DataFrame"], text_column: str, processes: Optional[int]
) -> Iterator[tuple["pandas.DataFrame", list[str], Iterator[Prediction]]]:
    """Yield (DataFrame, texts, Predictions), computed in this process."""
    for frame in frames:
        texts = texts_of(frame, text_column)
        yield frame, texts, classifier.predict_stream(texts)


def with_probabilities(
    classifier: Classifier, frames: Iterator["pandas.DataFrame"], text_column: str, processes: Optional[int]
) -> Iterator[tuple["pandas.DataFrame", list[str], Scores]]:
    """Yield (DataFrame, texts, probabilities); a table of one DataFrame starts no processes."""
    from ..reviews import tables

    waiting: list["pandas.DataFrame"] = []

    def texts_only() -> Iterator[list[str]]:
        for frame in chain([first], frames):
            waiting.append(frame)
            yield texts_of(frame, text_column)

    first = next(frames, None)
    if first is None:
        return
    processes = 1 if len(first) < tables.ROWS else processes
    try:
        for texts, scores in probability_stream(classifier, texts_only(), processes):
            yield waiting.pop(0), texts, scores
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
    binary = style == "parquet"
    if str(output) in STDOUT:
        yield sys.stdout.buffer if binary else sys.stdout, style
        return
    as_utf8: dict[str, Any] = {"mode": "w", "encoding": "utf-8", "newline": "", "errors": "replace"}
    with replaced_file(output) as temporary:
        file = open(temporary, **({"mode": "wb"} if binary else as_utf8))
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


Result = Union[Prediction, float]


def answer_columns(result: Result) -> tuple[Optional[str], Optional[float], Optional[float], Optional[str]]:
    """Return (label, score, probability, error) of a Prediction or of a probability."""
    if isinstance(result, Prediction):
        return result.label, result.score, result.probability, result.error
    return output_row(float(result))


class Writer:
    """Writes rows, each with its text and result: a Prediction where `needs_tokens`, else a probability.

    Parameters
    ----------
    file : text file
    names : list of str
        The table's columns.
    prefix : str
        See `prediction.output_prefix`.
    weights : bool
        With weights, in jsonl.
    verbatim : bool
        See `score_table`.
    """

    needs_tokens = False

    def __init__(self, file: IO[str], names: list[str], prefix: str, weights: bool = False, verbatim: bool = False):
        self.file, self.names, self.prefix, self.weights = file, names, prefix, weights
        self.as_cell = (lambda cell: cell) if verbatim else as_cell
        self.begin()

    def begin(self) -> None:
        """Write what comes before the rows."""

    def write(self, row: dict[str, Any], text: str, result: Result) -> None:
        raise NotImplementedError


class TextWriter(Writer):
    """One line a review: label, score, text."""

    def write(self, row: dict[str, Any], text: str, result: Result) -> None:
        label, score, _, error = answer_columns(result)
        folded = clean(text)
        print(f"-\t-\t{folded}\t{error}" if error else f"{label}\t{score:.4f}\t{folded}", file=self.file)


class CsvWriter(Writer):
    """The row's own columns, then label, score, probability and error.

    Probabilities have 6 digits; further ones depend on the other reviews of a batch.
    """

    delimiter = ","

    def begin(self) -> None:
        self.table = table_writer(self.file, self.delimiter)
        self.table.writerow([*map(self.as_cell, self.names), *(self.prefix + name for name in COLUMNS)])

    def write(self, row: dict[str, Any], text: str, result: Result) -> None:
        label, score, probability, error = answer_columns(result)
        figures = ("", "", "", error) if error else (label, f"{score:.6f}", f"{probability:.6f}", "")
        new = [name for name in row if name not in self.names]
        if new:
            raise DataError(f"csv: expected the columns of the first rows, found {new[0]!r} too; use --format jsonl")
        cells = (row.get(name) for name in self.names)
        self.table.writerow([*("" if cell is None else self.as_cell(plain(cell)) for cell in cells), *figures])


class TsvWriter(CsvWriter):
    delimiter = "\t"


class JsonlWriter(Writer):
    """One object a line: the row's own columns, then `Prediction.to_dict()`."""

    needs_tokens = True

    def write(self, row: dict[str, Any], text: str, result: Result) -> None:
        assert isinstance(result, Prediction)
        values = dict(row)
        for name, value in result.to_dict(self.weights).items():
            values[unique_name(self.prefix + name if name in COLUMNS else name, row)] = value
        print(as_json(values), file=self.file)


WRITERS: dict[str, Callable[..., Writer]] = {
    "text": TextWriter,
    "csv": CsvWriter,
    "tsv": TsvWriter,
    "jsonl": JsonlWriter,
}


def as_json(values: dict[str, Any]) -> str:
    """Return a dict as one line of JSON; NaN and infinite numbers, which JSON lacks, become null."""
    try:
        return json.dumps(values, ensure_ascii=False, default=plain, allow_nan=False)
    except ValueError:
        return json.dumps(finite(values), ensure_ascii=False, default=plain, allow_nan=False)


def finite(value: Any) -> Any:
    """Replace every number in lists and dicts that is not finite by None."""
    if isinstance(value, dict):
        return {name: finite(each) for name, each in value.items()}
    if isinstance(value, (list, tuple)):
        return list(map(finite, value))
    return None if isinstance(value, float) and not math.isfinite(value) else value


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
