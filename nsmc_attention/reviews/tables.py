"""The user's own table: csv, tsv, jsonl, parquet or plain lines, from a file or stdin, every column unchanged.

`chunks` yields DataFrames for prediction, `read_labelled` makes `Reviews` for training and evaluation. Every value of
csv and tsv stays text: no NA, no guessed numbers. Memory is bounded for any file.
"""

import csv
import io
import sys
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, Callable, Collection, Iterable, Iterator, Optional, TextIO, Union

import pandas

from .._io.bounded import read_json
from ..errors import ColumnError, ConfigError, DataError, listed, nearest
from . import nsmc
from .corpus import Reviews, check_utf8, read_bytes, sha256
from .parquet import LEVELS, parquet_file, parquet_rows
from .pieces import LINE, PIECE, STDIN, cut, lines

ROWS, COLUMNS = 8192, 2000
FORMATS = {".csv": "csv", ".tsv": "tsv", ".txt": "lines", ".jsonl": "jsonl", ".ndjson": "jsonl", ".parquet": "parquet"}
# What csv.reader needs to know of the formats with fields
DIALECTS: dict[str, Any] = {"csv": {"delimiter": ","}, "tsv": {"delimiter": "\t"}}
DIALECTS["nsmc"] = {"delimiter": "\t", "quoting": csv.QUOTE_NONE}
# What has a test file of its own
CORPORA = ("nsmc", "sample")


@dataclass(frozen=True)
class Span:
    """Whole rows of a file: bytes (of parquet, row groups), column names of csv and tsv, and the lines before."""

    start: int
    end: int
    header: tuple[str, ...] = ()
    line: int = 0


Reader = Callable[[Path, int, Optional[Span]], Iterator[pandas.DataFrame]]


def format_of(path: Union[str, Path]) -> str:
    """Return csv, tsv, lines, jsonl, parquet or nsmc, by the file's name and first line."""
    suffix = Path(path).suffix.lower()
    if suffix not in FORMATS:
        raise DataError(f"{path}: unknown kind of file {suffix!r}; expected one of {', '.join(FORMATS)}")
    if suffix in (".txt", ".tsv") and nsmc.is_nsmc(path):
        return "nsmc"
    if suffix == ".txt":
        with open(path, "rb") as file:
            if b"\t" in file.readline(10000):
                expected = "expected one review a line, or the header 'id<tab>document<tab>label'"
                raise DataError(f"{path} line 1: {expected}, found other columns; name a table .tsv")
    return FORMATS[suffix]


def chunks(
    path: Union[str, Path],
    text_column: str = "document",
    rows: int = ROWS,
    kind: Optional[str] = None,
    span: Optional[Span] = None,
) -> Iterator[pandas.DataFrame]:
    """Yield the table, or its `span`, as DataFrames of at most `rows` rows, in order.

    `path` "-" is stdin, which is streamed (parquet is read whole). `kind` is csv, tsv, jsonl, parquet, nsmc or lines (one
    review each, in a column called text_column); None chooses by the name, for stdin lines. DataError where the file is
    missing, empty, not UTF-8, malformed (with its line), or has no column text_column.
    """
    path = STDIN if str(path) == "-" else Path(path)
    if path is STDIN:
        kind = kind or "lines"
    else:
        if path.is_dir() or not path.exists():
            raise DataError(f"{path}: {'is a folder' if path.is_dir() else 'no such file'}")
        kind = kind or format_of(path)
        if path.is_file() and path.stat().st_size == 0:
            raise DataError(f"{path}: the file is empty; expected reviews")
    readers: dict[str, Reader] = {"jsonl": read_jsonl, "parquet": read_parquet}
    readers["lines"] = partial(read_lines, text_column)
    read = readers[kind] if kind in readers else partial(read_csv, kind)
    for frame in read(path, rows, span):
        require_column(frame, text_column, path)
        yield frame


@contextmanager
def opened(path: Path, newline: Optional[str] = None, span: Optional[Span] = None) -> Iterator[TextIO]:
    """Open the text of a table, or of its span; stdin stays open. DataError with the line of a byte that is not UTF-8."""
    if span:
        with open(path, "rb") as whole:
            whole.seek(span.start)
            content = io.BytesIO(whole.read(span.end - span.start))
        file: TextIO = io.TextIOWrapper(content, "utf-8", newline=newline)
    else:
        source = sys.stdin.fileno() if path is STDIN else path
        file = open(source, encoding="utf-8-sig", newline=newline, closefd=path is not STDIN)
    with file:
        try:
            yield file
        except UnicodeDecodeError:
            if path is not STDIN and path.is_file():
                check_utf8(path)
            raise


TEXT_HINT = "; name the one of the texts by text_column (--text-column)"


def require_column(frame: pandas.DataFrame, column: str, where: object, hint: str = TEXT_HINT) -> None:
    """Raise DataError, with the frame's columns and the hint, where it lacks the column."""
    if column not in frame.columns:
        names = [str(name) for name in frame.columns]
        line = f"{where}: expected a column {column!r}, found {listed(names)}{nearest(column, names)}{hint}"
        raise ColumnError(line, names)


class RowLines:
    """Lines of a table for a parser of rows, with the `number` of lines and the `position` in bytes so far.

    A row may have many lines, of LINE characters together; whoever takes a row sets `length` to 0.
    """

    def __init__(self, file: TextIO, path: Path, number: int = 0, position: int = 0):
        self.lines, self.path, self.number, self.position = lines(file, path, number), path, number, position
        self.length = 0

    def __iter__(self) -> Iterator[str]:
        for line in self.lines:
            self.number += 1
            self.position += len(line) if line.isascii() else len(line.encode())
            self.length += len(line)
            if self.length > LINE + 1:
                expected = f"expected at most {LINE:,} characters in a row"
                raise DataError(f"{self.path} line {self.number}: {expected}, found more; is a quote missing?")
            yield line


def csv_rows(source: RowLines, kind: str, header: Iterable[str] = ()) -> Iterator[list[str]]:
    """Yield the header of csv, tsv or nsmc, unless it is given, and the rows, each with as many fields."""
    # of the whole process; csv's own limit is lower than a row's here
    csv.field_size_limit(LINE)
    names = list(header)
    try:
        for row in csv.reader(source, strict=True, **DIALECTS[kind]):
            source.length = 0
            if not names:
                if row:
                    check_columns(row, f"{source.path} line 1")
                    names = row
                    yield row
            # a blank line is a row of a table with one column, and nothing in others
            elif len(row) == len(names) or not row and len(names) == 1:
                yield row or [""]
            elif row:
                where = f"{source.path} line {source.number}"
                raise DataError(f"{where}: expected {len(names)} fields as in the header, found {len(row)}")
    except csv.Error as problem:
        raise DataError(f"{source.path} line {source.number}: {problem}") from problem
    if not names:
        raise DataError(f"{source.path}: the file is empty; expected a header and reviews")


def spans(path: Path, kind: str, rows: int) -> Iterator[Span]:
    """Cut a text file between its rows into Spans of at most `rows` rows and about PIECE bytes; at least one."""
    with open(path, "rb") as file:
        start = 3 if file.read(3) == b"\xef\xbb\xbf" else 0
    with opened(path, newline="") as text:
        source = RowLines(text, path, position=start)
        found: Iterator[Any] = csv_rows(source, kind) if kind in DIALECTS else iter(source)
        header, count, cuts = tuple(next(found)) if kind in DIALECTS else (), 0, 0
        start, line = source.position, source.number
        for _ in found:
            source.length = 0
            count += 1
            if count == rows or source.position - start >= PIECE:
                yield Span(start, source.position, header, line)
                start, line, count, cuts = source.position, source.number, 0, cuts + 1
        # a table without rows is one Span too
        if count or not cuts:
            yield Span(start, source.position, header, line)


def check_columns(names: Collection[str], where: object) -> None:
    """Raise DataError for too many columns, or for one that is there twice."""
    if len(names) > COLUMNS:
        raise DataError(f"{where}: expected at most {COLUMNS:,} columns, found {len(names):,}")
    if len(set(names)) < len(names):
        raise DataError(f"{where}: expected each column once, found {Counter(names).most_common(1)[0][0]!r} twice")


def read_csv(kind: str, path: Path, rows: int, span: Optional[Span]) -> Iterator[pandas.DataFrame]:
    with opened(path, "", span) as file:
        found = csv_rows(RowLines(file, path, span.line if span else 0), kind, span.header if span else ())
        header = list(span.header) if span else next(found)
        pieces = cut(found, rows, lambda row: sum(map(len, row)))
        # a table without rows still has its columns
        for piece in chain([next(pieces, [])], pieces):
            yield pandas.DataFrame(piece, columns=header, dtype=object)


def read_jsonl(path: Path, rows: int, span: Optional[Span]) -> Iterator[pandas.DataFrame]:
    with opened(path, span=span) as file:
        before = span.line if span else 0
        numbered = enumerate(lines(file, path, before), before + 1)
        filled = ((number, line) for number, line in numbered if line.strip())
        for piece in cut(filled, rows, lambda pair: len(pair[1])):
            yield from_rows([parse_object(line, f"{path} line {number}") for number, line in piece], path)


def from_rows(rows: list[dict[str, Any]], path: Path) -> pandas.DataFrame:
    """Make a DataFrame of dicts, values unchanged, None where a row lacks the key."""
    check_columns(set[str]().union(*rows), path)
    frame = pandas.DataFrame(rows, dtype=object)
    return frame.where(frame.notna(), None)


def parse_object(line: str, where: str) -> dict[str, Any]:
    value = read_json(line, where, DataError, "a JSON object")
    if not isinstance(value, dict):
        raise DataError(f"{where}: expected a JSON object, found {type(value).__name__}")
    if line.count("{") + line.count("[") > LEVELS and deeper(value, LEVELS):
        raise DataError(f"{where}: expected at most {LEVELS} nested lists and objects")
    return value


def deeper(value: object, levels: int) -> bool:
    if not isinstance(value, (dict, list)):
        return False
    inside = value.values() if isinstance(value, dict) else value
    return not levels or any(deeper(each, levels - 1) for each in inside)


def read_lines(text_column: str, path: Path, rows: int, span: Optional[Span]) -> Iterator[pandas.DataFrame]:
    with opened(path, span=span) as file:
        for piece in cut(lines(file, path), rows, len):
            yield pandas.DataFrame({text_column: [line.rstrip("\r\n") for line in piece]})


class Types(dict[str, Any]):
    """Types by column, never copied: pandas copies a frame's attributes for each column it returns."""

    def __deepcopy__(self, memo: dict[int, Any]) -> "Types":
        return self


def read_parquet(path: Path, rows: int, span: Optional[Span]) -> Iterator[pandas.DataFrame]:
    with parquet_file(path) as (file, shared):
        schema = file.schema_arrow
        check_columns(schema.names, path)
        types = Types(zip(schema.names, schema.types))
        groups = range(span.start, span.end) if span else range(file.num_row_groups)
        pieces = cut(parquet_rows(file, shared, groups), rows, characters)
        for piece in chain([next(pieces, [])], pieces):
            frame = from_rows(piece, path) if piece else pandas.DataFrame(columns=schema.names, dtype=object)
            frame.attrs["types"] = types
            yield frame


def characters(value: Any) -> int:
    """Count the characters or bytes of a value and everything inside it; 1 for a value without any."""
    if isinstance(value, (str, bytes)):
        return len(value)
    if isinstance(value, dict):
        return sum(map(characters, value.values()))
    return 1 + sum(map(characters, value)) if isinstance(value, (list, tuple)) else 1


def as_text(value: Any) -> str:
    """Return a cell as text, empty for a missing value (None, NaN, NA, NaT); DataError for bytes that are not UTF-8."""
    if value is None or value is pandas.NA or value is pandas.NaT or isinstance(value, float) and value != value:
        return ""
    if not isinstance(value, bytes):
        return str(value)
    try:
        return value.decode()
    except UnicodeDecodeError:
        raise DataError(f"expected UTF-8 text in a column of bytes, found {value[:20]!r}") from None


def read_labelled(path: Union[str, Path], text_column: str = "document", label_column: str = "label") -> Reviews:
    """Read a labelled table as Reviews, a file with the NSMC header by the strict reader of `nsmc`.

    DataError as `chunks`, and for a label that is not 0 or 1, with its row; ConfigError for other columns of NSMC's.
    """
    path = Path(path)
    if not path.is_file():
        raise DataError(f"{path}: {'is a folder' if path.is_dir() else 'no such file'}")
    if format_of(path) == "nsmc":
        refuse_columns(path, text_column, label_column)
        return nsmc.read(path)
    frame = pandas.concat(list(chunks(path, text_column)) or [pandas.DataFrame()], ignore_index=True)
    require_column(frame, text_column, path)
    require_column(frame, label_column, path, hint="; name the one of the labels by label_column (--label-column)")
    labels = [parse_label(value, path, row) for row, value in enumerate(frame[label_column], start=1)]
    documents = [as_text(value) for value in frame[text_column]]
    if not documents:
        raise DataError(f"{path}: the file has no reviews")
    frame = pandas.DataFrame({"document": documents, "label": labels})
    return Reviews(frame, path.name, sha256(read_bytes(path)))


def parse_label(value: Any, path: Path, row: int) -> int:
    text = as_text(value).strip()
    if text not in ("0", "1", "0.0", "1.0"):
        raise DataError(f"{path} row {row}: expected label 0 or 1, found {text[:20]!r}")
    return int(float(text))


def load(
    data: Union[str, Path],
    part: str,
    data_dir: Optional[Union[str, Path]] = None,
    text_column: str = "document",
    label_column: str = "label",
) -> Reviews:
    """Load the reviews named by `--data`: "nsmc" or "sample" (their `part`, "train" or "test"), or a labelled file."""
    if data in CORPORA:
        refuse_columns(data, text_column, label_column)
        return nsmc.load(data, part, data_dir)
    if not Path(data).exists() and (hint := nearest(data, CORPORA)):
        raise DataError(f"{data}: no such file{hint}")
    return read_labelled(data, text_column, label_column)


def refuse_columns(where: object, text_column: str, label_column: str) -> None:
    """Raise ConfigError where other names are given for the columns of the NSMC files."""
    for option, name, own in (("--text-column", text_column, "document"), ("--label-column", label_column, "label")):
        if name != own:
            raise ConfigError(f"{where}: has the columns of the NSMC files; expected {option} {own}, found {name!r}")
