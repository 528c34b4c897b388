"""Sources of reviews: a file's kind, encoding and delimiter, found once, and its text, opened accordingly.

    path -> Source (kind, encoding, delimiter) -> text, or a span of it

Imports no pandas, which is slow.
"""

import io
import sys
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO, Iterator, Optional, TextIO, Union

from ..errors import ConfigError, DataError, list_names
from .bounded_lines import BINARY, STDIN, lines, say_once
from .encodings import NAMES, detect
from .headers import find_header, header_row, named_row
from .kinds import AGREEING, DELIMITERS, LIST, delimiter_of, first_rows, foreign, json_kind, table_in
from .quotes import any_leading, encloses, physical, read_letters, read_quoted

SUFFIXES = {".csv": "csv", ".tsv": "tsv", ".txt": "lines", ".jsonl": "jsonl", ".ndjson": "jsonl", ".parquet": "parquet"}
SUFFIXES.update({".xlsx": "xlsx", ".xlsm": "xlsx", ".json": "jsonl"})
# Other spreadsheets, which Excel can save as .xlsx
SPREADSHEETS = (".xls", ".xlsb", ".ods")
PACKED = (".gz", ".bz2", ".xz", ".zst", ".zip", ".7z")
NSMC_HEADER = ["id", "document", "label"]
# Kinds with fields and a header
FIELDS = ("csv", "tsv", "nsmc")
# Bytes by which kind and delimiter are found, and bytes of ASCII after which a stream is UTF-8
HEAD, ASCII = 2**16, 2**20
# Bytes of a parquet or xlsx file from a stream, which is kept whole
STREAM = 2**30


@dataclass(frozen=True)
class Source:
    """A file or stream of reviews and how to read it.

    Attributes
    ----------
    kind : csv, tsv, jsonl, json (one list or object), lines, parquet, xlsx, or nsmc (tsv without quoting)
    encoding : a codec: utf-8, cp949, utf-16-le or utf-16-be
    mark : bytes of the byte-order mark
    delimiter : of csv, tsv and nsmc
    stream : what is read where the path cannot be opened again: stdin or a pipe
    guessed : whether the encoding, or the sheet, was not given
    sheet, other_sheets : of xlsx, the one that is read and the names of the others
    quoted : whether quotes enclose fields of csv and tsv; else they are letters
    header : the row of xlsx that names the columns, if it was given, 0 for none
    names, before : of csv and tsv, the columns and the rows before the first review; no names: of the first row
    actual_kind : the kind, where it is not what the name promises
    remarks : what else is to be said of how it is read
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
    quoted: bool = True
    header: Optional[int] = None
    names: tuple[str, ...] = ()
    before: int = 0
    actual_kind: str = ""
    remarks: tuple[str, ...] = ()

    @property
    def from_office(self) -> bool:
        """True if a spreadsheet program wrote it, by its encoding or mark."""
        return self.kind == "xlsx" or self.mark > 0 or self.encoding != "utf-8"

    @property
    def surprises(self) -> str:
        """A note for the user on how it is read, or nothing: "CP949, semicolon-separated"."""
        surprises = [self.actual_kind] if self.actual_kind else []
        surprises += [NAMES[self.encoding]] if self.guessed and self.encoding != "utf-8" else []
        if self.kind == "csv" and (self.delimiter != "," or self.actual_kind):
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
    for remark in source.remarks:
        say_once(f"{source.path}: {remark}")


def find_source(
    path: Union[str, Path],
    kind: Optional[str] = None,
    encoding: Optional[str] = None,
    sheet: Optional[str] = None,
    header: Optional[object] = None,
) -> Source:
    """Return the Source at a path; "-" is stdin.

    `kind` is by default that of the path's suffix, of stdin lines, or the one that the content plainly has; `encoding` is
    one of `encodings.ENCODINGS`, by default found; `sheet` is a workbook's, by default the first visible one; `header` is
    the row of the columns' names, or "none", by default found. DataError where the path is missing, empty, of an unknown
    kind, or in no known encoding, or has no such sheet or row; ConfigError for a sheet or header of another kind.
    """
    path = STDIN if str(path) == "-" else Path(path)
    if path is not STDIN and (path.is_dir() or not path.exists()):
        raise DataError(f"{path}: {'is a folder' if path.is_dir() else 'no such file'}")
    guess, kind = kind is None, kind or ("lines" if path is STDIN else kind_of(path))
    regular, row = path is not STDIN and path.is_file(), header_row(header)
    if regular and path.stat().st_size == 0:
        raise DataError(f"{path}: the file is empty; expected reviews")
    if sheet is not None and kind != "xlsx":
        raise ConfigError(f"{path}: sheet (--sheet): expected an xlsx file, found {kind}; leave it out")
    if row is not None and kind in ("jsonl", "parquet"):
        raise ConfigError(f"{path}: header (--header): expected csv, tsv or xlsx, found {kind}; leave it out")
    if kind in BINARY:
        stream = None if regular else read_whole(path)
        from .workbook import choose_sheet

        name, others = choose_sheet(path, stream, sheet) if kind == "xlsx" else ("", [])
        guessed, sheets = sheet is None, tuple(others)
        return Source(path, kind, stream=stream, guessed=guessed, sheet=name, other_sheets=sheets, header=row)
    if regular:
        with open(path, "rb") as file:
            return text_source(path, kind, guess, file, encoding, row)
    resumed = Resumed(sys.stdin.buffer if path is STDIN else open(path, "rb"))
    return text_source(path, kind, guess, io.BytesIO(resumed.head), encoding, row, resumed)


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
    path: Path,
    kind: str,
    guess: bool,
    file: BinaryIO,
    encoding: Optional[str],
    header: Optional[int] = None,
    stream: Optional[Resumed] = None,
) -> Source:
    """Return the Source of a text file, or of a stream whose beginning is `file`; `guess`: whether no kind was given.

    DataError for a file that has the name of text and is another, as a workbook called .csv.
    """
    file.seek(0)
    if other := foreign(file.read(HEAD)):
        raise DataError(f"{path}: expected text, found {other}")
    codec, mark = detect(file, path, encoding, whole=stream is None)
    file.seek(mark)
    content = file.read(HEAD)
    text, whole = content.decode(codec, "ignore"), len(content) < HEAD
    promised = kind
    kind, delimiter = kind_in(text, whole, kind, guess, header, path)
    rest = io.BufferedReader(stream) if stream else None
    actual = "" if kind in (promised, "nsmc") else {"jsonl": "JSON Lines", "json": "JSON"}.get(kind, kind)
    source = Source(path, kind, codec, mark, delimiter, rest, encoding is None, actual_kind=actual)
    if kind not in ("csv", "tsv"):
        return source
    if delimiter == "\t":
        source = replace(source, quoted=has_quotes(source, text))
    return with_header(source, text, whole, header)


def kind_in(text: str, whole: bool, kind: str, guess: bool, header: Optional[int], path: Path) -> tuple[str, str]:
    """Return the kind and delimiter of a text by its beginning, where it plainly is not of the kind that is promised.

    DataError for a file of lines whose first line has tabs, and that is no table.
    """
    first = text.partition("\n")[0].rstrip("\r")
    if header is None and (kind == "tsv" or kind == "lines" and guess) and first.split("\t") == NSMC_HEADER:
        return "nsmc", "\t"
    if kind == "jsonl":
        one = LIST.match(text) or path.suffix.lower() == ".json" and json_kind(text, whole) == "json"
        return ("json" if one else kind), ""
    if kind == "lines" and guess:
        if json := json_kind(text, whole):
            return json, ""
        if delimiter := table_in(text, whole):
            return ("tsv" if delimiter == "\t" else "csv"), delimiter
    if kind == "lines" and header is not None:
        return "csv", delimiter_of(text, whole)
    if kind == "lines" and guess and "\t" in first:
        refuse_tabs(text, whole, path)
    if kind == "tsv" and guess and "\t" not in text:
        delimiter = delimiter_of(text, whole)
        return ("csv" if delimiter in first else "tsv"), (delimiter if delimiter in first else "\t")
    return kind, delimiter_of(text, whole) if kind == "csv" else "\t" if kind == "tsv" else ""


def refuse_tabs(text: str, whole: bool, path: Path) -> None:
    """Raise DataError for a .txt whose first line has tabs, or lines that all have as many, and that is no table."""
    rows = first_rows(text, "\t", whole, quoted=False)
    if path is STDIN and (len(rows) < 2 or len(set(map(len, rows))) > 1):
        return
    expected = "expected one review a line, or the header 'id<tab>document<tab>label'"
    advice = "name a table .tsv" if path is not STDIN else "for a table give --input - --input-format tsv"
    raise DataError(f"{path} line 1: {expected}, found other columns; {advice}, and see --header")


def has_quotes(source: Source, head: str) -> bool:
    """Return whether quotes enclose fields of a tab-separated file, or of a stream by its `head`."""

    def opened() -> AbstractContextManager[TextIO]:
        if source.stream:
            return nullcontext(io.StringIO(head[: head.rfind("\n") + 1] or head, newline=""))
        return open_text(source, newline="")

    with opened() as text:
        if not any_leading(text):
            return True
    with opened() as text:
        letters = read_letters(physical(text))
    with opened() as text:
        return encloses(letters, read_quoted(physical(text)))


def with_header(source: Source, text: str, whole: bool, row: Optional[int]) -> Source:
    """Return a Source with the names of its columns, where they are not in the first row that is not blank."""
    rows = first_rows(text, source.delimiter, whole, blank=True, quoted=source.quoted, most=max(AGREEING, row or 0))
    if row is not None:
        header = named_row(rows, row, source.path)
        return replace(source, names=header.names, before=header.before)
    if header_found := find_header(rows, source.path):
        note = (header_found.note,)
        return replace(source, names=header_found.names, before=header_found.before, remarks=note)
    return source


def kind_of(path: Union[str, Path]) -> str:
    """Return the kind of file that a name's suffix promises; DataError for an unknown one."""
    suffix = Path(path).suffix.lower()
    if suffix not in SUFFIXES:
        advice = "; save it as .xlsx in Excel" if suffix in SPREADSHEETS else ""
        if suffix in PACKED:
            advice = f"; unpack it first, or: zcat {path} | nsmc-attention predict --input - --input-format csv"
        raise DataError(f"{path}: unknown kind of file {suffix!r}; expected one of {', '.join(SUFFIXES)}{advice}")
    return SUFFIXES[suffix]


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


def source_lines(source: Source) -> Iterator[str]:
    """Yield the lines of a Source without their ends."""
    announce(source)
    with open_text(source) as file:
        for line in lines(file, source.path):
            yield line.rstrip("\r\n")


def size_of(text: str, encoding: str) -> int:
    """Return the number of bytes of a text in an encoding without a mark."""
    return len(text) if encoding in ("utf-8", "cp949") and text.isascii() else len(text.encode(encoding))
