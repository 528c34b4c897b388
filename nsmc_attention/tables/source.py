"""What a file of reviews is, by its name and its beginning: its kind, encoding and delimiter; and its text.

    path -> Source (kind, encoding, delimiter) -> text, or a span of it

Imports no pandas, which is slow.
"""

import codecs
import csv
import functools
import gzip
import io
import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import dropwhile
from pathlib import Path
from typing import Any, BinaryIO, Optional, TextIO, Union

from ..errors import ConfigError, DataError, did_you_mean, list_names
from ..text.encoding import ENTITY
from .columns import KNOWN, LABEL_COLUMNS, LESSER_COLUMNS, STAR_COLUMNS, TEXT_COLUMNS, Profile, is_value, known_in
from .header import FIRST_ROWS, header_row, names_columns

SUFFIXES = {".csv": "csv", ".tsv": "tsv", ".txt": "lines", ".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "json"}
SUFFIXES.update({".parquet": "parquet", ".xlsx": "xlsx", ".xlsm": "xlsx"})
PACKED = ".gz"
# Kinds of files that are not text, and kinds with fields and a header
BINARY, FIELDS = ("parquet", "xlsx"), ("csv", "tsv", "nsmc")
NSMC_HEADER = ["id", "document", "label"]
# What separates the fields of a csv, first the one that its name promises
DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}
ROLES = frozenset((*TEXT_COLUMNS, *LABEL_COLUMNS, *STAR_COLUMNS)) | LESSER_COLUMNS
# What "-" means; messages use this name
STDIN = Path("stdin")
# Bytes by which kind and delimiter are found, and bytes of ASCII after which a stream is UTF-8
HEAD, ASCII = 2**16, 2**20
# What --encoding may be, the names of codecs, and the marks that some begin with
ENCODINGS = {"utf-8": "utf-8", "cp949": "cp949", "euc-kr": "cp949", "utf-16": "utf-16-le"}
NAMES = {"utf-8": "UTF-8", "cp949": "CP949", "utf-16-le": "UTF-16", "utf-16-be": "UTF-16"}
MARKS = {codecs.BOM_UTF8: "utf-8", codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}
# What other files begin with that have the name of a table
FOREIGN = {
    b"PK\x03\x04": "a workbook or archive; name a workbook .xlsx, and unpack an archive",
    b"\xd0\xcf\x11\xe0": "an old Excel workbook; save it as .xlsx in Excel",
    b"\x1f\x8b": "a gzip archive; name it .csv.gz",
    b"PAR1": "a parquet file; name it .parquet",
    b"%PDF": "a PDF; save its table as csv",
}
HTML = (b"<!doctype", b"<html", b"<table", b"<?xml", b"<meta")


@dataclass(frozen=True)
class Source:
    """A file or stream of reviews and how to read it.

    Attributes
    ----------
    kind : csv, tsv, jsonl, json (one list or object), lines, parquet, xlsx, or nsmc (tsv without quoting)
    encoding : a codec: utf-8, cp949, utf-16-le or utf-16-be
    mark : bytes of the byte-order mark
    delimiter : of csv, tsv and nsmc
    quoted : whether quotes enclose fields of csv and tsv; else they are letters
    header : the row that names the columns, if it was given, 0 for none
    sheet, other_sheets : of xlsx, the one that is read and the names of the others
    guessed : whether the encoding, or the sheet, was not given
    stream : what is read where the path cannot be opened again: stdin or a pipe
    actual_kind : the kind, where it is not what the name promises
    remarks : what else is to be said of how it is read
    """

    path: Path
    kind: str
    encoding: str = "utf-8"
    mark: int = 0
    delimiter: str = ""
    quoted: bool = True
    header: Optional[int] = None
    sheet: str = ""
    other_sheets: tuple[str, ...] = ()
    guessed: bool = True
    stream: Optional[BinaryIO] = None
    actual_kind: str = ""
    remarks: tuple[str, ...] = ()

    @property
    def from_office(self) -> bool:
        """True if a spreadsheet program wrote it, by its encoding or mark."""
        return self.kind == "xlsx" or self.mark > 0 or self.encoding != "utf-8"

    @property
    def packed(self) -> bool:
        return self.path.suffix.lower() == PACKED

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
    """Whole rows of a file: bytes (of parquet, row groups), column names of csv and tsv, and the rows before."""

    start: int
    end: int
    names: tuple[str, ...] = ()
    rows: int = 0


class Rejoined(io.RawIOBase):
    """A stream from its beginning, whose `head` was read. Closing it does not close the stream."""

    def __init__(self, head: bytes, stream: BinaryIO):
        self.head, self.stream = io.BytesIO(head), stream

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        piece = self.head.read(len(buffer)) or self.stream.read(len(buffer))
        buffer[: len(piece)] = piece
        return len(piece)


@functools.lru_cache(maxsize=None)
def say_once(line: str) -> None:
    print(line, file=sys.stderr)


def announce(source: Source) -> None:
    """Say on stderr how a file is read, once a file, where its name does not say so."""
    for line in ([f"read as {source.surprises}"] if source.surprises else []) + [*source.remarks]:
        say_once(f"{source.path}: {line}")


def kind_of(path: Union[str, Path]) -> str:
    """Return the kind of file that a name's suffix promises; DataError for an unknown one."""
    path = Path(path)
    suffix = (path.with_suffix("") if path.suffix.lower() == PACKED else path).suffix.lower()
    if suffix not in SUFFIXES:
        advice = "save it as .xlsx in Excel" if suffix in (".xls", ".xlsb", ".ods") else "unpack an archive first"
        raise DataError(
            f"{path}: unknown kind of file {path.suffix!r}; expected one of {', '.join(SUFFIXES)}; {advice}"
        )
    return SUFFIXES[suffix]


def find_source(
    path: Union[str, Path],
    kind: Optional[str] = None,
    encoding: Optional[str] = None,
    sheet: Optional[str] = None,
    header: Optional[object] = None,
) -> Source:
    """Return the Source at a path; "-" is stdin.

    `kind` is by default that of the path's suffix, of stdin lines, or the one that the content plainly has; `encoding` is
    one of ENCODINGS, by default found; `sheet` is a workbook's, by default the first visible one; `header` is the row of
    the columns' names, or "none", by default found. DataError where the path is missing, empty, of an unknown kind, or
    in no known encoding, or has no such sheet; ConfigError for a sheet or header of another kind.
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
    if row is not None and kind in ("jsonl", "json", "parquet"):
        raise ConfigError(f"{path}: header (--header): expected csv, tsv or xlsx, found {kind}; leave it out")
    stream = None if regular else sys.stdin.buffer if path is STDIN else open(path, "rb")
    source = Source(path, kind, header=row, guessed=(sheet if kind == "xlsx" else encoding) is None)
    if kind in BINARY:
        source = replace(source, stream=stream and io.BytesIO(stream.read()))
        if kind == "parquet":
            return source
        from .workbook import with_sheet

        return with_sheet(source, sheet)
    if not stream:
        with opened(source) as file:
            return text_source(source, file, guess, encoding)
    head = b""
    while head.isascii() and len(head) < ASCII and (piece := stream.read(HEAD)):
        head += piece
    source = replace(source, stream=io.BufferedReader(Rejoined(head, stream)))
    return text_source(source, io.BytesIO(head[: head.rfind(b"\n") + 1] or head), guess, encoding)


def opened(source: Source) -> BinaryIO:
    """Open the bytes of a file, unpacked."""
    return gzip.open(source.path) if source.packed else open(source.path, "rb")  # type: ignore[return-value]


def text_source(source: Source, file: BinaryIO, guess: bool, encoding: Optional[str]) -> Source:
    """Return the Source of a text file, or of a stream whose beginning is `file`; `guess`: whether no kind was given.

    DataError for a file that has the name of text and is another, as a workbook called .csv.
    """
    head = file.read(HEAD)
    begins = head[:200].lstrip()
    if other := next((FOREIGN[start] for start in FOREIGN if begins.startswith(start)), ""):
        raise DataError(f"{source.path}: expected text, found {other}")
    if begins.lower().startswith(HTML):
        raise DataError(f"{source.path}: expected text, found a page; open it in Excel and save it as .xlsx or csv")
    codec, mark = encoding_of(file, source.path, encoding)
    file.seek(mark)
    content = file.read(HEAD)
    text, whole = content.decode(codec, "ignore"), len(content) < HEAD
    kind, delimiter = kind_in(text, whole, source, guess)
    actual = "" if kind in (source.kind, "nsmc") else {"jsonl": "JSON Lines", "json": "JSON"}.get(kind, kind)
    source = replace(source, kind=kind, encoding=codec, mark=mark, delimiter=delimiter, actual_kind=actual)
    if delimiter == "\t":
        file.seek(mark)
        quoted = kind != "nsmc" and quotes_enclose(io.TextIOWrapper(file, codec, errors="ignore", newline=""))
        source = replace(source, quoted=quoted)
    return source


def encoding_of(file: BinaryIO, path: Path, given: Optional[str]) -> tuple[str, int]:
    """Return the codec and the bytes of the byte-order mark of a file: UTF-8, CP949, or UTF-16 with a mark.

    `given` is an `--encoding`. Of two, the codec that fewer lines are not of; DataError, with the first of these lines.
    """
    file.seek(0)
    head = file.read(3)
    codec, mark = next(((codec, len(mark)) for mark, codec in MARKS.items() if head.startswith(mark)), ("", 0))
    if given and (wanted := codec_of(given)) and NAMES[wanted] != NAMES.get(codec):
        codec, mark = wanted, 0
    bad: dict[str, tuple[int, int, int]] = {}
    for each in [codec] if codec else ["utf-8", "cp949"]:
        file.seek(mark)
        bad[each] = bad_lines(file, each)
        if not bad[each][0]:
            return each, mark
    codec = min(bad, key=lambda each: bad[each][0])
    _, line, byte = bad[codec]
    rest = ", which the rest of the file is" * (codec == "cp949" and not given)
    advice = "mend or remove that byte" if rest else "save it as UTF-8 (in Excel: Save as, CSV UTF-8)"
    advice += ", or name its encoding by encoding (--encoding)"
    raise DataError(f"{path} line {line}: expected {NAMES[codec]} text{rest}, found byte 0x{byte:02x}; {advice}")


def codec_of(encoding: str) -> str:
    """Return the codec of an `--encoding`; ConfigError for another."""
    name = encoding.strip().lower().replace("_", "-")
    if name not in ENCODINGS:
        raise ConfigError(f"--encoding: unknown encoding {encoding[:40]!r}{did_you_mean(name, ENCODINGS)}")
    return ENCODINGS[name]


def bad_lines(file: BinaryIO, codec: str) -> tuple[int, int, int]:
    """Return how many lines of a file are not of a codec, the number of the first of them, and its bad byte.

    Lines of UTF-16, whose line ends have two bytes, are not checked here.
    """
    count = first = byte = number = 0
    while not codec.startswith("utf-16") and (lines := file.readlines(HEAD)):
        try:
            b"".join(lines).decode(codec)
        except UnicodeDecodeError:
            for place, line in enumerate(lines, start=number + 1):
                try:
                    line.decode(codec)
                except UnicodeDecodeError as problem:
                    count, first, byte = count + 1, first or place, byte if first else line[problem.start]
        number += len(lines)
    return count, first, byte


def kind_in(text: str, whole: bool, source: Source, guess: bool) -> tuple[str, str]:
    """Return the kind and delimiter of a text by its beginning, where it plainly is not of the kind that is promised.

    DataError for a .txt whose first line has tabs, and that is no table.
    """
    kind, first = source.kind, text.partition("\n")[0].rstrip("\r")
    if source.header is None and (kind == "tsv" or kind == "lines" and guess) and first.split("\t") == NSMC_HEADER:
        return "nsmc", "\t"
    if kind in ("json", "jsonl") or kind == "lines" and guess and source.header is None:
        if json := json_kind(text, kind):
            return json, ""
        if delimiter := table_in(text, whole) if kind == "lines" else "":
            return ("tsv" if delimiter == "\t" else "csv"), delimiter
        if "\t" in first and kind == "lines" and source.path is not STDIN:
            expected = "expected one review a line, or the header 'id<tab>document<tab>label'"
            raise DataError(
                f"{source.path} line 1: {expected}, found other columns; name a table .tsv, and see --header"
            )
        return kind, ""
    delimiter = delimiter_of(text, whole) if kind in ("csv", "tsv") or source.header is not None else ""
    if kind == "csv" or kind == "lines" and delimiter:
        return "csv", delimiter
    if kind == "tsv" and guess and "\t" not in text and delimiter in first:
        return "csv", delimiter
    return kind, "\t" if kind == "tsv" else ""


def json_kind(text: str, promised: str) -> str:
    """Return "json" for one JSON list or object over the whole text, "jsonl" for objects line by line, or nothing."""
    text = text.lstrip()
    opening = "".join(text[:20].split())[:2]
    if opening[:1] == "[" and opening in ("[{", '["', "[["):
        if promised == "lines" and opening != "[{":
            try:
                json.JSONDecoder().raw_decode(text)
            except ValueError:
                return ""
        return "json"
    if opening != '{"':
        return ""
    first, _, rest = text.partition("\n")
    try:
        json.loads(first)
    except ValueError:
        # an object of many lines, or of a very long one
        return promised if promised == "jsonl" else "json"
    return "jsonl" if rest.strip() or promised == "jsonl" else "json"


def table_in(text: str, whole: bool) -> str:
    """Return the delimiter of a table whose name does not say so, by its header and the rows; nothing for plain lines."""
    for mark, quoted in (("\t", False), *((mark, True) for mark in DELIMITERS)):
        if is_table(first_rows(text, mark, whole, quoted), mark):
            return mark
    return ""


def is_table(rows: Sequence[Sequence[str]], delimiter: str) -> bool:
    """Return whether rows agree, and are below a header with the name of a text, label or star column, or are data.

    Reviews with commas are none: of two names one more must be known, or a column be all numbers or dates. Without a
    header there are three rows, of tabs two, with a column of texts beside one of numbers.
    """
    if len(rows) < 2 or len(rows[0]) < 2 or any(len(row) != len(rows[0]) for row in rows):
        return False
    first, columns = rows[0], [[cell.strip() for cell in column] for column in zip(*rows)]
    numeric = [column for column in columns if all(map(is_value, column[1:]))]
    if names_columns(first) and any(known_in(cell, ROLES) for cell in first):
        return sum(known_in(cell, KNOWN) for cell in first) > 1 or bool(numeric)
    if len(rows) < 2 + (delimiter != "\t") or not any(is_value(column[0]) for column in numeric):
        return False
    profiles = [Profile(column) for column in columns if column not in numeric]
    return any(profile.has_sentences or profile.syllables >= 4 for profile in profiles)


def delimiter_of(text: str, whole: bool) -> str:
    """Return what separates the fields at the beginning of a csv.

    That is the first of DELIMITERS by which the first rows have several fields, and as many; where rows differ in all
    cases, the one of which a row of names, or the first row, has most.
    """
    # the semicolon of an entity separates nothing
    text = ENTITY.sub("", text) if "&" in text else text
    tables = {delimiter: first_rows(text, delimiter, whole) for delimiter in DELIMITERS}
    for delimiter, rows in tables.items():
        if rows and len(rows[0]) > 1 and all(len(row) == len(rows[0]) for row in rows):
            return delimiter
    named = {mark: max([len(row) for row in rows if names_columns(row)] or [0]) for mark, rows in tables.items()}
    first = {mark: len(rows[0]) if rows else 0 for mark, rows in tables.items()}
    return max(DELIMITERS, key=lambda mark: (named[mark], first[mark]))


def reader_of(lines: Any, delimiter: str, quoted: bool = True) -> Any:
    """Return a csv.reader of lines whose fields are enclosed in quotes, or have them as letters."""
    # of the whole process; csv's own limit is lower than a text may be
    csv.field_size_limit(2**31 - 1)
    return csv.reader(lines, delimiter=delimiter, strict=True, quoting=csv.QUOTE_MINIMAL if quoted else csv.QUOTE_NONE)


def first_rows(text: str, delimiter: str, whole: bool, quoted: bool = True) -> list[list[str]]:
    """Return the first rows that are not blank, without the last one of a text that goes on."""
    rows: list[list[str]] = []
    try:
        for row in reader_of(io.StringIO(text, newline=""), delimiter, quoted):
            rows += [row] if row else []
            if len(rows) > FIRST_ROWS:
                return rows
    # a quote that is not closed, or not yet: the reader of the table says where
    except csv.Error:
        return rows
    return rows if whole or len(rows) < 2 else rows[:-1]


def quotes_enclose(file: TextIO) -> bool:
    """Return whether quotes enclose fields of a tab-separated text; else they are letters.

    They are letters where each line is a row by itself, with as many tabs as the header, unless the rows are the same
    read either way (one tool quotes each text, another none).
    """
    tabs, marked = list[int](), False
    for line in file:
        tabs += [line.count("\t")] if line.strip() else []
        marked = marked or '"' in line
    if not marked:
        return False
    file.seek(0)
    try:
        fields = [len(row) - 1 for row in reader_of(file, "\t") if any(map(str.strip, row))]
    except csv.Error:
        fields = []
    # without titles above the header
    tabs, fields = (list(dropwhile(lambda count: not count, counts)) or counts for counts in (tabs, fields))
    by_tabs, by_quotes = len(set(tabs)) == 1, len(set(fields)) == 1
    return by_quotes and (tabs == fields or not by_tabs or not tabs[0]) or not by_quotes and not by_tabs


@contextmanager
def open_text(source: Source, span: Optional[Span] = None) -> Iterator[TextIO]:
    """Open the text of a Source, or of a span, with its line ends; a stream stays open.

    DataError for a byte of a stream that is not of its encoding; those of a file were checked.
    """
    file: Any = source.stream or opened(source)
    if source.stream:
        file.read(source.mark)
    else:
        file.seek(span.start if span else source.mark)
        if span:
            with file:
                file = io.BytesIO(file.read(span.end - span.start))
    with io.TextIOWrapper(file, source.encoding, newline="") as text:
        try:
            yield text
        except (UnicodeDecodeError, EOFError, gzip.BadGzipFile) as problem:
            found = f"byte 0x{problem.object[problem.start]:02x}" if isinstance(problem, UnicodeError) else str(problem)
            advice = "name its encoding by encoding (--encoding)"
            raise DataError(
                f"{source.path}: expected {NAMES[source.encoding]} text, found {found}; {advice}"
            ) from problem


def source_lines(source: Source) -> Iterator[str]:
    """Yield the lines of a Source without their ends."""
    announce(source)
    with open_text(source) as file:
        for line in file:
            yield line.rstrip("\r\n")
