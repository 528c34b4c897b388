"""A user's own table: csv, tsv, jsonl or parquet, a file or stdin, read piece by piece with every column kept as it is.

`chunks` yields DataFrames for prediction, whatever the size of the file; `read_labelled` makes `Reviews`
for training and evaluation. Every value of csv and tsv stays the text it is: no NA, no numbers guessed. What is
held at a time is bounded in characters too, whoever wrote the file.
"""

import csv
import json
import sys
from collections import Counter
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Any, Callable, Iterable, Iterator, Literal, Optional, Sized, TextIO, Union

import pandas

from ..errors import ConfigError, DataError, MissingPackage, listed, nearest
from . import nsmc
from .corpus import Reviews, check_utf8, read_bytes, sha256
from .pieces import LINE, PIECE, STDIN, cut, lines

ROWS = 8192
# Columns; lists and objects within each other
COLUMNS, LEVELS = 2000, 100
# Rows of parquet decoded at a time, and bytes of them: one value that all rows share is small in the file alone
DECODED, DENSE = 256, 2**27
FORMATS = {".csv": "csv", ".tsv": "tsv", ".txt": "lines", ".jsonl": "jsonl", ".ndjson": "jsonl", ".parquet": "parquet"}
# What comes with a test file of its own
CORPORA = ("nsmc", "sample")


def format_of(path: Union[str, Path]) -> str:
    """Answer csv, tsv, lines, jsonl, parquet or nsmc, by the file's name and its first line."""
    suffix = Path(path).suffix.lower()
    if suffix not in FORMATS:
        raise DataError(f"{path}: unknown kind of file {suffix!r}; expected one of {', '.join(FORMATS)}")
    if suffix in (".txt", ".tsv") and nsmc.is_nsmc(path):
        return "nsmc"
    if suffix == ".txt" and has_tab(path):
        raise DataError(
            f"{path} line 1: expected one review a line, or the header 'id<tab>document<tab>label', "
            "found other columns; name a table .tsv"
        )
    return FORMATS[suffix]


def has_tab(path: Union[str, Path]) -> bool:
    with open(path, "rb") as file:
        return b"\t" in file.readline(10000)


def chunks(
    path: Union[str, Path], text_column: str = "document", rows: int = ROWS, kind: Optional[str] = None
) -> Iterator[pandas.DataFrame]:
    """Yield the table as DataFrames of at most `rows` rows, in order.

    Lines (a plain .txt file) have one review each; their only column gets the name text_column.

    Parameters
    ----------
    path : path
        "-" is stdin, which is read as it comes (parquet whole).
    kind : "csv", "tsv", "jsonl", "lines", "parquet", "nsmc" or None
        None is told by the name; of stdin, lines.

    Raises
    ------
    DataError
        The file is missing, empty, not UTF-8, malformed (with its line), or has no column text_column.
    """
    path = STDIN if str(path) == "-" else Path(path)
    if path is STDIN:
        kind = kind or "lines"
    elif path.is_dir() or not path.exists():
        raise DataError(f"{path}: {'is a folder' if path.is_dir() else 'no such file'}")
    else:
        kind = kind or format_of(path)
        if path.is_file() and path.stat().st_size == 0:
            raise DataError(f"{path}: the file is empty; expected reviews")
    try:
        for frame in READERS[kind](path, text_column, rows):
            require_column(frame, text_column, path)
            yield frame
    except UnicodeDecodeError:
        if path.is_file() and path is not STDIN:
            check_utf8(path)
        raise


def opened(path: Path, newline: Optional[str] = None) -> TextIO:
    """Open the text of a table; stdin stays open for whoever reads it next."""
    if path is STDIN:
        return open(sys.stdin.fileno(), encoding="utf-8-sig", closefd=False, newline=newline)
    return open(path, encoding="utf-8-sig", newline=newline)


def require_column(
    frame: pandas.DataFrame,
    column: str,
    where: object,
    hint: str = "; name the one of the texts by text_column (--text-column)",
) -> None:
    """DataError, with what the frame has and the hint, where it lacks the column."""
    if column not in frame.columns:
        names = [str(name) for name in frame.columns]
        raise DataError(f"{where}: expected a column {column!r}, found {listed(names)}{nearest(column, names)}{hint}")


def read_csv(path: Path, separator: str, quoting: Literal[0, 3], rows: int) -> Iterator[pandas.DataFrame]:
    # the whole process's; csv's own is less than a row may have here
    csv.field_size_limit(LINE)
    with opened(path, newline="") as file:
        source = RowLines(file, path)
        reader = csv.reader(source, delimiter=separator, quoting=quoting, strict=True)
        try:
            found = source.each_row(reader)
            header = checked_header(next((row for row in found if row), None), path)
            body = (checked_row(row, header, path, reader.line_num) for row in found if row or len(header) == 1)
            pieces = cut(body, rows, lambda row: sum(map(len, row)))
            # a table without rows still has its columns
            for piece in chain([next(pieces, [])], pieces):
                yield pandas.DataFrame(piece, columns=header, dtype=object)
        except csv.Error as problem:
            raise DataError(f"{path} line {reader.line_num}: {problem}") from problem


class RowLines:
    """The lines of a csv file; DataError where those of one row, which may have many, are longer than LINE together."""

    def __init__(self, file: TextIO, path: Path):
        self.lines, self.path, self.number, self.held = lines(file, path), path, 0, 0

    def __iter__(self) -> Iterator[str]:
        for line in self.lines:
            self.number, self.held = self.number + 1, self.held + len(line)
            if self.held > LINE + 1:
                raise DataError(
                    f"{self.path} line {self.number}: expected at most {LINE:,} characters in a row, found "
                    "more; is a quote missing?"
                )
            yield line

    def each_row(self, reader: Iterable[list[str]]) -> Iterator[list[str]]:
        """Yield the rows that a csv.reader makes of these lines."""
        for row in reader:
            self.held = 0
            yield row


def checked_header(header: Optional[list[str]], path: Path) -> list[str]:
    if header is None:
        raise DataError(f"{path}: the file is empty; expected a header and reviews")
    check_columns(header, path)
    check_once(header, f"{path} line 1")
    return header


def check_once(names: Iterable[str], where: object) -> None:
    name, times = max(Counter(names).items(), key=lambda pair: pair[1], default=("", 0))
    if times > 1:
        raise DataError(f"{where}: expected each column once, found {name!r} twice")


def check_columns(names: Sized, path: Path) -> None:
    if len(names) > COLUMNS:
        raise DataError(f"{path}: expected at most {COLUMNS:,} columns, found {len(names):,}")


def checked_row(row: list[str], header: list[str], path: Path, line: int) -> list[str]:
    row = row or [""]
    if len(row) != len(header):
        raise DataError(f"{path} line {line}: expected {len(header)} fields as in the header, found {len(row)}")
    return row


def read_jsonl(path: Path, rows: int) -> Iterator[pandas.DataFrame]:
    with opened(path) as file:
        numbered = ((number, line) for number, line in enumerate(lines(file, path), start=1) if line.strip())
        for piece in cut(numbered, rows, lambda pair: len(pair[1])):
            yield from_rows([parse_object(line, path, number) for number, line in piece], path)


def from_rows(rows: list[dict[str, Any]], path: Path) -> pandas.DataFrame:
    """Make a DataFrame of dicts, every value as it is, None where a row lacks the key."""
    names: set[str] = set()
    for row in rows:
        names.update(row)
        check_columns(names, path)
    frame = pandas.DataFrame(rows, dtype=object)
    return frame.where(frame.notna(), None)


def parse_object(line: str, path: Path, number: int) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError) as problem:
        raise DataError(f"{path} line {number}: expected a JSON object, found {line.strip()[:40]!r}") from problem
    if not isinstance(value, dict):
        raise DataError(f"{path} line {number}: expected a JSON object, found {type(value).__name__}")
    if line.count("{") + line.count("[") > LEVELS and deeper(value, LEVELS):
        raise DataError(f"{path} line {number}: expected at most {LEVELS} lists and objects within each other")
    return value


def deeper(value: object, levels: int) -> bool:
    """Tell whether lists and objects stand within each other more than so many levels deep."""
    if not isinstance(value, (dict, list)):
        return False
    inside = value.values() if isinstance(value, dict) else value
    return not levels or any(deeper(each, levels - 1) for each in inside)


def read_lines(path: Path, text_column: str, rows: int) -> Iterator[pandas.DataFrame]:
    with opened(path) as file:
        for piece in cut(lines(file, path), rows, len):
            yield pandas.DataFrame({text_column: [line.rstrip("\r\n") for line in piece]})


class Types(dict[str, Any]):
    """Types by column; pandas, which copies what a frame carries for each column it answers, copies none of it."""

    def __deepcopy__(self, memo: dict[int, Any]) -> "Types":
        return self


def read_parquet(path: Path, rows: int) -> Iterator[pandas.DataFrame]:
    with parquet_files(path) as (file, shared):
        schema = file.schema_arrow
        types = Types(zip(schema.names, schema.types))
        pieces = cut(parquet_rows(file, shared), rows, characters)
        # a table without rows still has its columns
        for piece in chain([next(pieces, [])], pieces):
            frame = from_rows(piece, path) if piece else pandas.DataFrame(columns=schema.names, dtype=object)
            frame.attrs["types"] = types
            yield frame


@contextmanager
def parquet_file(path: Path) -> Iterator[Any]:
    """Open a pyarrow.parquet.ParquetFile; DataError, also within the `with`, where it cannot be read."""
    with parquet_files(path) as (file, _):
        yield file


@contextmanager
def parquet_files(path: Path) -> Iterator[tuple[Any, Any]]:
    """Give what `parquet_file` does, twice: as it is, and with texts and bytes in dictionaries.

    A value that all rows share is small in the file; in a dictionary it is so in memory too.
    """
    parquet = require_parquet()
    from pyarrow import ArrowException, BufferReader

    try:
        if path is STDIN or not path.is_file():
            source: Any = BufferReader(sys.stdin.buffer.read() if path is STDIN else path.read_bytes())
        else:
            source = path
        with parquet.ParquetFile(source) as file:
            check_schema(file.schema_arrow, path)
            with parquet.ParquetFile(source, metadata=file.metadata, read_dictionary=text_paths(file)) as shared:
                yield file, shared
    # an unknown time zone is a KeyError
    except (ArrowException, OSError, ValueError, OverflowError, LookupError, RecursionError) as problem:
        reason = (str(problem).splitlines() or [type(problem).__name__])[0]
        raise DataError(f"{path}: not a readable parquet file: {reason}") from problem


def check_schema(schema: Any, path: Path) -> None:
    """DataError where the columns of a parquet file are too many or too deep, or one is there twice.

    As in jsonl, a row itself is one of the LEVELS.
    """
    check_columns(schema.names, path)
    check_once(schema.names, path)
    kinds = list(schema.types)
    for _ in range(LEVELS):
        kinds = [each for kind in kinds for each in inner_types(kind)]
    if kinds:
        raise DataError(f"{path}: expected at most {LEVELS} lists and structs within each other")


def inner_types(kind: Any) -> list[Any]:
    """Answer the types of what stands within a value of a type of pyarrow's."""
    from pyarrow import types

    if types.is_map(kind):
        return [kind.key_type, kind.item_type]
    if types.is_struct(kind):
        return [field.type for field in kind]
    return [kind.value_type] if types.is_nested(kind) and hasattr(kind, "value_type") else []


def text_paths(file: Any) -> list[str]:
    """Answer the paths of the columns of text and bytes, those within others too."""
    columns = [file.schema.column(place) for place in range(len(file.schema))]
    return [column.path for column in columns if column.physical_type == "BYTE_ARRAY"]


def parquet_rows(file: Any, shared: Any) -> Iterator[dict[str, Any]]:
    """Yield the rows of a parquet file, given twice as by `parquet_files`, of which few bytes are decoded at a time."""
    for group in range(file.num_row_groups):
        first = next(shared.iter_batches(batch_size=1, row_groups=[group]), None)
        # with its dictionaries whole: no later row can have larger values of them
        largest = 1 if first is None else first.nbytes + 1
        for batch in file.iter_batches(batch_size=within(DENSE // largest), row_groups=[group]):
            step = within(PIECE // (largest + batch.nbytes // (batch.num_rows or 1)))
            for start in range(0, batch.num_rows, step):
                # not to_pandas(), which makes floats of integers beside a null and hides an index
                yield from batch.slice(start, step).to_pylist()


def within(rows: int) -> int:
    return max(1, min(DECODED, rows))


def characters(value: Any) -> int:
    """Count the characters, or bytes, of a cell or a row and of what stands within it; 1 for what has none."""
    if isinstance(value, (str, bytes)):
        return len(value)
    if isinstance(value, dict):
        return sum(map(characters, value.values()))
    return 1 + sum(map(characters, value)) if isinstance(value, (list, tuple)) else 1


def require_parquet() -> Any:
    """Import pyarrow.parquet, or say which extra brings it."""
    try:
        import pyarrow.parquet
    except ImportError as problem:
        raise MissingPackage("parquet needs pyarrow: pip install 'nsmc_attention[parquet]'") from problem
    return pyarrow.parquet


READERS: dict[str, Callable[[Path, str, int], Iterator[pandas.DataFrame]]] = {
    "csv": lambda path, column, rows: read_csv(path, ",", csv.QUOTE_MINIMAL, rows),
    "tsv": lambda path, column, rows: read_csv(path, "\t", csv.QUOTE_MINIMAL, rows),
    "nsmc": lambda path, column, rows: read_csv(path, "\t", csv.QUOTE_NONE, rows),
    "jsonl": lambda path, column, rows: read_jsonl(path, rows),
    "lines": read_lines,
    "parquet": lambda path, column, rows: read_parquet(path, rows),
}


def as_text(value: Any) -> str:
    """Answer a cell as text; a missing value (None, NaN, NA, NaT) is the empty text, bytes are UTF-8 or a DataError."""
    if value is None or value is pandas.NA or value is pandas.NaT or isinstance(value, float) and value != value:
        return ""
    if not isinstance(value, bytes):
        return str(value)
    try:
        return value.decode()
    except UnicodeDecodeError:
        raise DataError(f"expected UTF-8 text in a column of bytes, found {value[:20]!r}") from None


def read_labelled(path: Union[str, Path], text_column: str = "document", label_column: str = "label") -> Reviews:
    """Read a labelled table as Reviews; labels are 0 and 1, and a bad one is named with its row.

    A file with the NSMC header is read by the strict reader of `nsmc`; ConfigError where other columns are asked of it.
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
    """Load what `--data` names: "nsmc", "sample" (their `part`, "train" or "test") or a labelled file."""
    if data in CORPORA:
        refuse_columns(data, text_column, label_column)
        return nsmc.load(data, part, data_dir)
    return read_labelled(data, text_column, label_column)


def refuse_columns(where: object, text_column: str, label_column: str) -> None:
    """ConfigError where columns of the NSMC files are named otherwise: naming them would do nothing."""
    for option, name, own in (("--text-column", text_column, "document"), ("--label-column", label_column, "label")):
        if name != own:
            raise ConfigError(f"{where}: has the columns of the NSMC files; expected {option} {own}, found {name!r}")
