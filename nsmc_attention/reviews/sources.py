"""Sources of reviews: a file's kind, encoding and delimiter, found once, and its text, opened accordingly.

    path -> Source (kind, encoding, delimiter) -> text, or a span of it

Imports no pandas, which is slow.
"""

import csv
import functools
import io
import sys
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Iterator, Optional, TextIO, Union

from ..errors import ConfigError, DataError, list_names
from .encodings import NAMES, detect
from .pieces import LINE, STDIN, lines

SUFFIXES = {".csv": "csv", ".tsv": "tsv", ".txt": "lines", ".jsonl": "jsonl", ".ndjson": "jsonl", ".parquet": "parquet"}
SUFFIXES.update({".xlsx": "xlsx", ".xlsm": "xlsx"})
# No text files
BINARY = ("parquet", "xlsx")
# Other spreadsheets, which Excel can save as .xlsx
SPREADSHEETS = (".xls", ".xlsb", ".ods")
NSMC_HEADER = ["id", "document", "label"]
# What may separate the fields of a csv, first the one that its name promises
DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab"}
# Bytes by which kind and delimiter are found, rows that must agree, and bytes of ASCII after which a stream is UTF-8
HEAD, AGREEING, ASCII = 2**16, 20, 2**20
# Bytes of a parquet or xlsx file from a stream, which is kept whole
STREAM = 2**30


@dataclass(frozen=True)
class Source:
    """A file or stream of reviews and how to read it.

    Attributes
    ----------
    kind : csv, tsv, jsonl, lines, parquet, xlsx, or nsmc (tsv without quoting)
    encoding : a codec: utf-8, cp949, utf-16-le or utf-16-be
    mark : bytes of the byte-order mark
    delimiter : of csv, tsv and nsmc
    stream : what is read where the path cannot be opened again: stdin or a pipe
    guessed : whether the encoding, or the sheet, was not given
    sheet, other_sheets : of xlsx, the one that is read and the names of the others
    """

    path: Path
    kind: str
    encoding: str = "utf-8"
    mark: int = 0
    delimiter: str = ""
    stream: Optional[BinaryIO] = None
    guessed: bool = True
    sheet: str = ""
    other_sheets: tuple[str, ...] = ()

    @property
    def from_office(self) -> bool:
        """True if a spreadsheet program wrote it, by its encoding or mark."""
        return self.kind == "xlsx" or self.mark > 0 or self.encoding != "utf-8"

    @property
    def surprises(self) -> str:
        """A note for the user on how it is read, or nothing: "CP949, semicolon-separated"."""
        surprises = [NAMES[self.encoding]] if self.guessed and self.encoding != "utf-8" else []
        if self.kind == "csv" and self.delimiter != ",":
            surprises.append(f"{DELIMITERS[self.delimiter]}-separated")
        if self.guessed and self.other_sheets:
            others = list_names(map(repr, self.other_sheets))
            surprises.append(f"sheet {self.sheet!r}, not {others}; name one by --sheet")
        return ", ".join(surprises)


@dataclass(frozen=True)
class Span:
    """Whole rows of a file: bytes (of parquet, row groups), column names of csv and tsv, and the lines before."""

    start: int
    end: int
    header: tuple[str, ...] = ()
    line: int = 0


class Resumed(io.RawIOBase):
    """A stream from its beginning, of which `head` was read: up to the first bytes beyond ASCII, which say its encoding.

    Closing it does not close the stream.
    """

    def __init__(self, stream: BinaryIO):
        self.stream, self.ended, self.head = stream, False, b""
        while not self.ended and self.head.isascii() and len(self.head) < ASCII:
            self.head += self.read_on(HEAD)
        self.before = io.BytesIO(self.head)

    def read_on(self, size: int) -> bytes:
        # a terminal that is read after its end asks for another one
        piece = b"" if self.ended else self.stream.read(size)
        self.ended = len(piece) < size
        return piece

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        piece = self.before.read(len(buffer)) or self.read_on(len(buffer))
        buffer[: len(piece)] = piece
        return len(piece)


def announce(source: Source) -> None:
    """Say on stderr how a file is read, once a file, where its name does not say so."""
    if source.surprises:
        say_once(f"{source.path}: read as {source.surprises}")


@functools.lru_cache(maxsize=None)
def say_once(line: str) -> None:
    print(line, file=sys.stderr)


def find_source(
    path: Union[str, Path], kind: Optional[str] = None, encoding: Optional[str] = None, sheet: Optional[str] = None
) -> Source:
    """Return the Source at a path; "-" is stdin.

    `kind` is by default that of the path's suffix, of stdin lines; `encoding` is one of `encodings.ENCODINGS`, by
    default found; `sheet` is a workbook's, by default the first visible one. DataError where the path is missing, empty,
    of an unknown kind, or in no known encoding, or has no such sheet; ConfigError for a sheet of another kind.
    """
    path = STDIN if str(path) == "-" else Path(path)
    if path is not STDIN and (path.is_dir() or not path.exists()):
        raise DataError(f"{path}: {'is a folder' if path.is_dir() else 'no such file'}")
    named, kind = kind is None and path is not STDIN, kind or ("lines" if path is STDIN else kind_of(path))
    regular = path is not STDIN and path.is_file()
    if regular and path.stat().st_size == 0:
        raise DataError(f"{path}: the file is empty; expected reviews")
    if sheet is not None and kind != "xlsx":
        raise ConfigError(f"{path}: sheet (--sheet): expected an xlsx file, found {kind}; leave it out")
    if kind in BINARY:
        stream = None if regular else read_whole(path)
        from .xlsx import choose_sheet

        name, others = choose_sheet(path, stream, sheet) if kind == "xlsx" else ("", [])
        return Source(path, kind, stream=stream, guessed=sheet is None, sheet=name, other_sheets=tuple(others))
    if regular:
        with open(path, "rb") as file:
            return text_source(path, kind, named, file, encoding)
    resumed = Resumed(sys.stdin.buffer if path is STDIN else open(path, "rb"))
    return text_source(path, kind, named, io.BytesIO(resumed.head), encoding, resumed)


def read_whole(path: Path) -> BinaryIO:
    """Return the content of a stream in memory; DataError for more than STREAM bytes."""
    content = io.BytesIO()
    with nullcontext(sys.stdin.buffer) if path is STDIN else open(path, "rb") as file:
        while piece := file.read(HEAD):
            content.write(piece)
            if content.tell() > STREAM:
                raise DataError(f"{path}: expected at most {STREAM:,} bytes from a stream, found more; name a file")
    return content


def text_source(
    path: Path, kind: str, named: bool, file: BinaryIO, encoding: Optional[str], stream: Optional[Resumed] = None
) -> Source:
    """Return the Source of a text file, or of a stream whose beginning is `file`; `named` is a kind by the suffix."""
    codec, mark = detect(file, path, encoding, whole=stream is None)
    file.seek(mark)
    content = file.read(HEAD)
    text = content.decode(codec, "ignore")
    first = text.partition("\n")[0].rstrip("\r")
    if (kind == "tsv" or kind == "lines" and named) and first.split("\t") == NSMC_HEADER:
        kind = "nsmc"
    if kind == "lines" and named and "\t" in first:
        expected = "expected one review a line, or the header 'id<tab>document<tab>label'"
        raise DataError(f"{path} line 1: {expected}, found other columns; name a table .tsv")
    delimiter = delimiter_of(text, len(content) < HEAD) if kind == "csv" else "\t" if kind in ("tsv", "nsmc") else ""
    rest: Any = io.BufferedReader(stream) if stream else None
    return Source(path, kind, codec, mark, delimiter, rest, encoding is None)


def kind_of(path: Union[str, Path]) -> str:
    """Return the kind of file that a name's suffix promises; DataError for an unknown one."""
    suffix = Path(path).suffix.lower()
    if suffix not in SUFFIXES:
        advice = "; save it as .xlsx in Excel" if suffix in SPREADSHEETS else ""
        raise DataError(f"{path}: unknown kind of file {suffix!r}; expected one of {', '.join(SUFFIXES)}{advice}")
    return SUFFIXES[suffix]


def delimiter_of(text: str, whole: bool) -> str:
    """Return what separates the fields at the beginning of a csv.

    That is the first of DELIMITERS by which the header has several fields and the next rows as many; where rows differ
    in all cases, the one of which the header has most.
    """
    tables = {delimiter: first_rows(text, delimiter, whole) for delimiter in DELIMITERS}
    widths = {delimiter: len(rows[0]) if rows else 0 for delimiter, rows in tables.items()}
    agreeing = [
        delimiter
        for delimiter in DELIMITERS
        if widths[delimiter] > 1 and all(len(r) == widths[delimiter] for r in tables[delimiter])
    ]
    return agreeing[0] if agreeing else max(DELIMITERS, key=lambda delimiter: widths[delimiter])


def first_rows(text: str, delimiter: str, whole: bool) -> list[list[str]]:
    """Return the first rows that are not blank, without the last one of a text that goes on."""
    csv.field_size_limit(LINE)
    rows: list[list[str]] = []
    try:
        for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True):
            rows += [row] if row else []
            if len(rows) > AGREEING:
                break
        else:
            return rows if whole or len(rows) < 2 else rows[:-1]
    # a quote that is not closed, or not yet: the reader of the table says where
    except csv.Error:
        pass
    return rows


@contextmanager
def open_text(source: Source, newline: Optional[str] = None, span: Optional[Span] = None) -> Iterator[TextIO]:
    """Open the text of a Source, or of a span; a stream stays open.

    DataError for a byte of a stream that is not of its encoding; those of a file were checked.
    """
    file: Any = source.stream
    if file is None:
        file = open(source.path, "rb")
        # where opening /dev/fd duplicates the file, it continues at the file's position
        file.seek(span.start if span else source.mark)
        if span:
            with file:
                file = io.BytesIO(file.read(span.end - span.start))
    elif source.mark:
        file.read(source.mark)
    with io.TextIOWrapper(file, source.encoding, newline=newline) as text:
        try:
            yield text
        except UnicodeDecodeError as problem:
            name, byte = NAMES[source.encoding], problem.object[problem.start]
            advice = "name its encoding by encoding (--encoding)"
            raise DataError(f"{source.path}: expected {name} text, found byte 0x{byte:02x}; {advice}") from problem


def stdin_lines(encoding: Optional[str] = None) -> Iterator[str]:
    """Yield the lines of stdin without their ends."""
    source = find_source("-", encoding=encoding)
    announce(source)
    with open_text(source) as file:
        for line in lines(file, STDIN):
            yield line.rstrip("\r\n")


def size_of(text: str, encoding: str) -> int:
    """Return the number of bytes of a text in an encoding without a mark."""
    return len(text) if encoding in ("utf-8", "cp949") and text.isascii() else len(text.encode(encoding))
