"""The kind, encoding and delimiter of a file of reviews, found by its name and its beginning; and its text.

    path -> Source (kind, encoding, delimiter) -> text

Imports no pandas, which is slow.
"""

import codecs
import csv
import functools
import gzip
import io
import json
import sys
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import dropwhile
from operator import itemgetter
from pathlib import Path
from typing import Any, BinaryIO, Optional, TextIO, Union

from ..errors import ConfigError, DataError, did_you_mean, list_names
from .columns import KNOWN, ROLES, Profile, is_value, known_in
from .header import FIRST_ROWS, header_row, names_columns
from .parts import PACKED, Source

SUFFIXES = {".csv": "csv", ".tsv": "tsv", ".txt": "lines", ".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "json"}
SUFFIXES.update({".parquet": "parquet", ".xlsx": "xlsx", ".xlsm": "xlsx"})
# Kinds of files that are not text
BINARY = ("parquet", "xlsx")
NSMC_HEADER = ["id", "document", "label"]
# Delimiters of csv and their names, the expected one first
DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}
# The path for "-", as messages name it
STDIN = Path("stdin")
# Bytes that are read to find kind and delimiter, and bytes of ASCII after which a stream counts as UTF-8
HEAD, ASCII = 2**16, 2**20
# Codecs by the values of --encoding, names of codecs, and codecs by their byte-order marks
ENCODINGS = {"utf-8": "utf-8", "cp949": "cp949", "euc-kr": "cp949", "utf-16": "utf-16-le"}
NAMES = {"utf-8": "UTF-8", "cp949": "CP949", "utf-16-le": "UTF-16", "utf-16-be": "UTF-16"}
MARKS = {codecs.BOM_UTF8: "utf-8", codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}
# First bytes of workbooks, archives, PDFs and web pages, which may have the name of a text file
FOREIGN = tuple(b"pk\x03\x04 \xd0\xcf\x11\xe0 \x1f\x8b par1 %pdf <!doctype <html <table <?xml".split())


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
    """Report on stderr, once a file, how it is read if its name does not tell."""
    sheets = source.guessed and source.other_sheets
    named = list_names(map(repr, sheets or ()))
    others = f"read as sheet {source.sheet!r}, not {named}; name one by --sheet" if sheets else ""
    for line in filter(None, (others, *source.remarks)):
        say_once(f"{source.path}: {line}")


def kind_of(path: Union[str, Path]) -> str:
    """Return the kind of file for a name's suffix; DataError for an unknown suffix."""
    path = Path(path)
    is_packed = path.suffix.lower() == PACKED
    suffix = (path.with_suffix("") if is_packed else path).suffix.lower()
    if suffix not in SUFFIXES or is_packed and SUFFIXES[suffix] in BINARY:
        expected = f"expected one of {', '.join(SUFFIXES)}; save a table as .csv or .xlsx, and unpack an archive"
        raise DataError(f"{path}: unknown kind of file {path.suffix!r}; {expected}")
    return SUFFIXES[suffix]


def find_source(
    path: Union[str, Path],
    kind: Optional[str] = None,
    encoding: Optional[str] = None,
    sheet: Optional[str] = None,
    header: Optional[object] = None,
) -> Source:
    """Return the Source at a path; "-" is stdin.

    `kind` defaults to that of the path's suffix (lines for stdin), unless the content clearly has another; `encoding` is
    one of ENCODINGS, found by default; `sheet` defaults to a workbook's first visible one; `header` is the row of the
    names, or "none", found by default. DataError if the path is missing, empty, of an unknown kind or encoding, or has
    no such sheet; ConfigError for a sheet or header of a kind without them.
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
        from .workbook import with_sheet

        source = replace(source, stream=stream and io.BytesIO(stream.read()))
        return with_sheet(source, sheet) if kind == "xlsx" else source
    if not stream:
        with reporting_damage(source), opened(source) as file:
            return text_source(source, file, guess, encoding)
    head = b""
    while head.isascii() and len(head) < ASCII and (piece := stream.read(HEAD)):
        head += piece
    source = replace(source, stream=io.BufferedReader(Rejoined(head, stream)))
    return text_source(source, io.BytesIO(head[: head.rfind(b"\n") + 1] or head), guess, encoding)


def opened(source: Source) -> BinaryIO:
    """Open the decompressed bytes of a file."""
    return gzip.open(source.path) if source.packed else open(source.path, "rb")  # type: ignore[return-value]


def text_source(source: Source, file: BinaryIO, guess: bool, encoding: Optional[str]) -> Source:
    """Return the Source of a text file, or of a stream that begins with `file`; `guess` looks for the kind in the text.

    DataError for other content under the name of a text file, as a workbook called .csv.
    """
    if file.read(200).lstrip().lower().startswith(FOREIGN):
        advice = "name it after its kind, or save it as csv or .xlsx"
        raise DataError(f"{source.path}: expected text, found a workbook, archive, PDF or web page; {advice}")
    codec, mark = encoding_of(file, source.path, encoding)
    file.seek(mark)
    content = file.read(HEAD)
    text, is_complete = content.decode(codec, "ignore"), len(content) < HEAD
    kind, delimiter = kind_in(text, is_complete, source, guess)
    quoted = True
    if delimiter == "\t":
        file.seek(mark)
        quoted = kind != "nsmc" and quotes_enclose(io.TextIOWrapper(file, codec, errors="ignore", newline=""))
    other = {"jsonl": "JSON Lines", "json": "JSON"}.get(kind, kind) if kind not in (source.kind, "nsmc") else ""
    separated = f"{DELIMITERS[delimiter]}-separated" if kind == "csv" and (delimiter != "," or other) else ""
    surprises = [other, NAMES[codec] if encoding is None and codec != "utf-8" else "", separated]
    remarks = (f"read as {', '.join(filter(None, surprises))}",) if any(surprises) else ()
    return replace(source, kind=kind, encoding=codec, mark=mark, delimiter=delimiter, quoted=quoted, remarks=remarks)


def encoding_of(file: BinaryIO, path: Path, encoding: Optional[str]) -> tuple[str, int]:
    """Return the codec and the length of the byte-order mark of a file: UTF-8, CP949, or UTF-16 with a mark.

    `encoding` is an `--encoding`. If no codec fits, DataError names the first invalid byte of the codec that decodes more
    of the file.
    """
    file.seek(0)
    head, farthest = file.read(3), (0, 0, "")
    codec, mark = next(((codec, len(mark)) for mark, codec in MARKS.items() if head.startswith(mark)), ("", 0))
    if encoding:
        name = encoding.strip().lower().replace("_", "-")
        if name not in ENCODINGS:
            raise ConfigError(f"--encoding: unknown encoding {encoding[:40]!r}{did_you_mean(name, ENCODINGS)}")
        if NAMES[ENCODINGS[name]] != NAMES.get(codec):
            codec, mark = ENCODINGS[name], 0
    for candidate in [codec] if codec else ["utf-8", "cp949"]:
        file.seek(mark)
        # `open_text` reports invalid bytes of UTF-16
        if candidate.startswith("utf-16") or not (place := first_bad(file, candidate)):
            return candidate, mark
        farthest = max(farthest, (*place, candidate), key=itemgetter(0))
    number, byte, codec = farthest
    rest = ", which the rest of the file is" if codec == "cp949" and not encoding else ""
    expected = f"expected {NAMES[codec]} text{rest}, found byte 0x{byte:02x}"
    advice = "save it as UTF-8 (in Excel: Save as, CSV UTF-8), or name its encoding by encoding (--encoding)"
    raise DataError(f"{path} line {number}: {expected}; {advice}")


def first_bad(file: BinaryIO, codec: str) -> Optional[tuple[int, int]]:
    """Return the line and the value of the first byte that is invalid in a codec, or None."""
    number = 1
    while lines := file.readlines(HEAD):
        try:
            (text := b"".join(lines)).decode(codec)
        except UnicodeDecodeError as problem:
            return number + text.count(b"\n", 0, problem.start), text[problem.start]
        number += len(lines)
    return None


def kind_in(text: str, is_complete: bool, source: Source, guess: bool) -> tuple[str, str]:
    """Return the kind and delimiter of a text from its beginning: the Source's kind, unless it clearly is another.

    DataError for a .txt whose first line has tabs, but that is not a table.
    """
    kind, first = source.kind, text.partition("\n")[0].rstrip("\r")
    if source.header is None and (kind == "tsv" or kind == "lines" and guess) and first.split("\t") == NSMC_HEADER:
        return "nsmc", "\t"
    if kind == "csv" or kind == "lines" and source.header is not None:
        return "csv", delimiter_of(text, is_complete)
    if kind == "tsv":
        delimiter = delimiter_of(text, is_complete) if guess and "\t" not in text else "\t"
        return ("csv", delimiter) if delimiter in first and delimiter != "\t" else ("tsv", "\t")
    if kind == "lines" and not guess:
        return kind, ""
    if json := json_kind(text, kind):
        return json, ""
    for mark, quoted in (("\t", False), *((mark, True) for mark in DELIMITERS)) if kind == "lines" else ():
        if is_table(first_rows(text, mark, is_complete, quoted)):
            return ("tsv" if mark == "\t" else "csv"), mark
    if "\t" in first and kind == "lines" and source.path is not STDIN:
        expected = "expected one review a line, or the header 'id<tab>document<tab>label'"
        raise DataError(f"{source.path} line 1: {expected}, found other columns; name a table .tsv, and see --header")
    return kind, ""


def json_kind(text: str, promised: str) -> str:
    """Return "json" for one JSON list or object over the whole text, "jsonl" for objects line by line, else ""."""
    text = text.lstrip()
    opening, (first, _, rest) = "".join(text[:20].split())[:2], text.partition("\n")
    if opening in ("[{", "[["):
        return "json"
    try:
        json.JSONDecoder().raw_decode(text) if opening == '["' else json.loads(first)
    except (ValueError, RecursionError):
        # an object over several lines, or on a very long line; or a review in brackets
        return "json" if opening == '{"' and promised != "jsonl" else ""
    if opening == '["':
        return "json"
    return "" if opening != '{"' else "jsonl" if rest.strip() or promised == "jsonl" else "json"


def is_table(rows: Sequence[Sequence[str]]) -> bool:
    """Return whether rows have equally many cells, and a header with a known name or columns of texts and numbers.

    To exclude reviews with commas, a header needs a name of texts, labels or stars, and another known name or a column
    of numbers or dates. Without a header, at least three rows must have a column of texts and one of numbers.
    """
    if len(rows) < 2 or len(rows[0]) < 2 or any(len(row) != len(rows[0]) for row in rows):
        return False
    first, columns = rows[0], [[cell.strip() for cell in column] for column in zip(*rows)]
    numeric = [column for column in columns if all(map(is_value, column[1:]))]
    if names_columns(first) and any(known_in(cell, ROLES) for cell in first):
        return sum(known_in(cell, KNOWN) for cell in first) > 1 or bool(numeric)
    texts = [Profile(column) for column in columns if column not in numeric]
    has_numbers = len(rows) > 2 and any(is_value(column[0]) for column in numeric)
    return has_numbers and any(profile.has_sentences or profile.syllables >= 4 for profile in texts)


def delimiter_of(text: str, is_complete: bool) -> str:
    """Return the delimiter of a csv by its beginning.

    It is the first of DELIMITERS that splits all first rows into the same number of fields, at least two; else the one
    that splits a row of names, or the first row, into the most fields.
    """
    tables = {delimiter: first_rows(text, delimiter, is_complete) or [[]] for delimiter in DELIMITERS}
    for delimiter, rows in tables.items():
        if len(rows[0]) > 1 and all(len(row) == len(rows[0]) for row in rows):
            return delimiter
    named = {mark: max([len(row) for row in rows if names_columns(row)] or [0]) for mark, rows in tables.items()}
    return max(DELIMITERS, key=lambda mark: (named[mark], len(tables[mark][0])))


def reader_of(lines: Any, delimiter: str, quoted: bool = True) -> Any:
    """Return a csv.reader of lines; quotes enclose fields if `quoted`, else they are letters."""
    # for the whole process: csv's own limit is lower than the length of a text
    csv.field_size_limit(2**31 - 1)
    if quoted:
        return csv.reader(lines, delimiter=delimiter, strict=True)
    return csv.reader(lines, delimiter=delimiter, strict=True, quoting=csv.QUOTE_NONE)


def first_rows(text: str, delimiter: str, is_complete: bool, quoted: bool = True) -> list[list[str]]:
    """Return the first rows that are not blank, without the last row unless the text is `is_complete`."""
    rows: list[list[str]] = []
    try:
        for row in filter(None, reader_of(io.StringIO(text, newline=""), delimiter, quoted)):
            rows.append(row)
            if len(rows) > FIRST_ROWS:
                return rows
    # an open quote, perhaps closed later: the reader of the table reports it
    except csv.Error:
        return rows
    return rows if is_complete or len(rows) < 2 else rows[:-1]


def quotes_enclose(file: TextIO) -> bool:
    """Return whether quotes enclose fields of a tab-separated text; else they are letters.

    They are letters if each line is a row by itself, with as many tabs as the header, unless both readings give the same
    rows (one tool quotes each text, another none).
    """
    tabs, has_quotes = list[int](), False
    for line in file:
        tabs += [line.count("\t")] if line.strip() else []
        has_quotes = has_quotes or '"' in line
    if not has_quotes:
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
def open_text(source: Source) -> Iterator[TextIO]:
    """Open the text of a Source, with its line ends; a stream stays open.

    DataError for an invalid byte in a stream; a file was checked before.
    """
    file: Any = source.stream or opened(source)
    file.read(source.mark)
    with reporting_damage(source), io.TextIOWrapper(file, source.encoding, newline="") as text:
        yield text


@contextmanager
def reporting_damage(source: Source) -> Iterator[None]:
    """Raise DataError for bytes that are invalid in the source's encoding, or a damaged .gz file."""
    try:
        yield
    except UnicodeDecodeError as problem:
        expected = f"expected {NAMES[source.encoding]} text, found byte 0x{problem.object[problem.start]:02x}"
        raise DataError(f"{source.path}: {expected}; name its encoding by encoding (--encoding)") from problem
    except (EOFError, gzip.BadGzipFile, zlib.error) as problem:
        raise DataError(f"{source.path}: not a whole .gz file: {problem}; pack it again") from problem


def source_lines(source: Source) -> Iterator[str]:
    """Yield the lines of a Source without their line ends."""
    announce(source)
    with open_text(source) as file:
        for line in file:
            yield line.rstrip("\r\n")
