"""The user's workbook with the output columns added: one sheet's XML is copied with new cells, every other part as it is.

    with kept_workbook(source, text column, file, names, types) as write:
        write(ScoredRows(...))

Formats, formulas, comments, charts and macros stay, because nothing of them is read. The cells are put beside the rows
whose texts they are about, right of everything that these rows have. Memory does not grow with the rows.
"""

import datetime
import json
import re
import shutil
import zipfile
import zlib
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, TYPE_CHECKING, Any, Callable, Optional, Union
from xml.parsers import expat
from xml.sax.saxutils import escape

from ..errors import ConfigError, DataError
from ..reviews.sources import Source
from ..reviews.tables import as_text
from ..reviews.xlsx import CELL, CONTROL, READ, UNPACKED, BoundedArchive, numbered_rows, opened_book
from .parquet import output_prefix

if TYPE_CHECKING:
    from .formats import ScoredRows, Write

# Columns of a sheet, by Excel; bytes of all parts after unpacking, which are packed again
COLUMNS, WHOLE = 16_384, 4 * UNPACKED
# An opening tag, what is left out of a row's, and the corners of a range
TAG = re.compile(rb"""<[^\s/>]+(?:\s+[^\s=]+\s*=\s*(?:"[^"]*"|'[^']*'))*\s*/?>""")
SPANS = re.compile(rb"""\sspans\s*=\s*(?:"[^"]*"|'[^']*')""")
RANGE = re.compile(r"\$?([A-Z]+)\$?(\d+)(?::\$?([A-Z]+)\$?(\d+))?")
Cells = list[tuple[int, Any]]


def why_not_kept(source: Source) -> str:
    """Return why the output columns cannot be added to the workbook as it is, or nothing where they can."""
    with opened_book(source.path, source.stream) as book:
        parts = book.archive.infolist()
        if any(part.filename.startswith("_xmlsignatures/") for part in parts):
            return "is signed, and a change makes the signature invalid"
        if sum(part.file_size for part in parts) > WHOLE:
            return f"unpacks to more than {WHOLE:,} bytes"
        with book.archive.open(sheet_part(book, source)) as sheet:
            wide = b"\0" in sheet.read(4)
    return "has a sheet in UTF-16, which Excel does not write" if wide else ""


def check_macros(source: Source, output: Union[str, Path]) -> None:
    """Raise ConfigError where Excel would not open the output, as its name and its macros do not go together."""
    suffix, macros = Path(output).suffix.lower(), False
    if source.kind == "xlsx":
        with opened_book(source.path, source.stream) as book:
            macros = any("macroEnabled" in str(part.ContentType) for part in book.package.Override)
    if suffix in (".xlsx", ".xlsm") and macros != (suffix == ".xlsm"):
        found = "has macros" if macros else "has no macros"
        raise ConfigError(f"{output}: {source.path} {found}; name an --output with .{'xlsm' if macros else 'xlsx'}")


def sheet_part(book: Any, source: Source) -> str:
    """Return the name of the part that holds the sheet of a source."""
    return str(next(part.target for sheet, part in book.parser.find_sheets() if sheet.name == source.sheet))


@contextmanager
def kept_workbook(
    source: Source,
    text_column: str,
    file: IO[bytes],
    names: list[str],
    types: Mapping[str, str],
    verbatim: bool = False,
) -> Iterator["Write"]:
    """Yield what takes scored Parts; at the end the workbook of the source is written with their output columns.

    DataError where its rows are no longer those that were scored, there is no room right of them, or a text is too long.
    """
    seen = array("I")
    with TemporaryFile(prefix="nsmc_attention-") as spool:

        def write(part: "ScoredRows") -> None:
            results = list(part.results)
            seen.extend(map(digest, part.columns.get(text_column, ())))
            spool.write(f"{json.dumps(results)}\n".encode())

        yield write
        spool.seek(0)
        place = find_place(source, names, text_column, seen)
        prefix = output_prefix(names, types)
        header = [prefix + name for name in types] if place.header else []
        additions = place.additions(header, spooled(spool), len(types))
        write_book(source, file, additions, place)


def spooled(spool: IO[bytes]) -> Iterator[Sequence[Any]]:
    """Yield the rows of results that were written into a file in lists."""
    for line in spool:
        yield from json.loads(line)


def digest(cell: Any) -> int:
    """Return a number by which a text is compared; a time and its date have the same."""
    text = str(cell)[:10] if isinstance(cell, datetime.date) else as_text(cell)
    return zlib.crc32(text.encode("utf-8", "surrogatepass"))


@dataclass
class Place:
    """Where the output columns go: the header's row, 0 where there is none, those of the reviews, the first column.

    `rows` has 0 for a row that is wholly blank, to which nothing is added.
    """

    header: int
    rows: "array[int]"
    column: int = 1
    header_style: str = ""

    def additions(
        self, header: Sequence[str], results: Iterable[Sequence[Any]], width: int
    ) -> Iterator[tuple[int, Cells]]:
        """Yield (row, its new cells) from the top."""
        if self.column + width - 1 > COLUMNS:
            raise DataError(
                f"xlsx: expected room for {width} columns right of the table, found none; write --format csv"
            )
        if header:
            yield self.header, list(enumerate(header, start=self.column))
        for number, result in zip(self.rows, results):
            if number:
                yield number, list(enumerate(result, start=self.column))


def find_place(source: Source, names: list[str], text_column: str, seen: "array[int]") -> Place:
    """Return where the output columns of the scored rows go; DataError where the rows are not those that were scored."""
    numbers, texts = array("I"), array("I")
    column = names.index(text_column)
    rows = numbered_rows(source, [])
    header, _ = next(rows)
    for number, cells in rows:
        # a wholly blank row stays so
        numbers.append(number if any(cell is not None for cell in cells) else 0)
        texts.append(digest(cells[column]))
    if texts != seen:
        expected = "expected the rows that were scored in their order, found others"
        raise DataError(f"{source.path}: {expected}; name an --output with .csv")
    place = Place(header, numbers)
    measure(source, place)
    return place


def measure(source: Source, place: Place) -> None:
    """Fill in the first column right of what the rows have, merged cells included, and the style of the header's last."""
    first = place.header or next(filter(None, place.rows), 1)

    def on_cell(row: int, column: int, style: str) -> None:
        if row >= first and column >= place.column:
            place.column = column + 1
        if row == place.header:
            place.header_style = style

    def on_merge(reference: str) -> None:
        _, top, right, bottom = corners(reference)
        if bottom >= first and (not place.rows or top <= place.rows[-1]):
            place.column = max(place.column, right + 1)

    with opened_book(source.path, source.stream) as book, book.archive.open(sheet_part(book, source)) as part:
        Measure(on_cell, on_merge).read(part)


def corners(reference: str) -> tuple[int, int, int, int]:
    """Return (left, top, right, bottom) of a range such as A1:C3."""
    from openpyxl.utils import column_index_from_string

    found = RANGE.fullmatch(reference)
    if not found:
        return 1, 1, 0, 0
    left, top, right, bottom = found.groups()
    return column_index_from_string(left), int(top), column_index_from_string(right or left), int(bottom or top)


def write_book(source: Source, file: IO[bytes], additions: Iterator[tuple[int, Cells]], place: Place) -> None:
    """Copy a workbook's parts, the sheet with the additions; DataError for a damaged part."""
    with opened_book(source.path, source.stream) as book:
        target = sheet_part(book, source)
    # not within `opened_book`, for which a full disk is a damaged workbook
    opened: Any = nullcontext(source.stream) if source.stream else open(source.path, "rb")
    with opened as content, BoundedArchive(content) as archive, zipfile.ZipFile(file, "w") as written:
        for name in dict.fromkeys(archive.namelist()):
            info = archive.getinfo(name)
            copy = zipfile.ZipInfo(name, info.date_time)
            copy.compress_type, copy.external_attr = info.compress_type, info.external_attr
            with opened_part(archive, name, source.path) as part, written.open(copy, "w") as out:
                if name == target:
                    Splice(part, out, additions, place.header, place.header_style).run(source.path)
                else:
                    shutil.copyfileobj(part, out, READ)


@contextmanager
def opened_part(archive: BoundedArchive, name: str, path: Path) -> Iterator[IO[bytes]]:
    try:
        with archive.open(name) as part:
            yield part
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, expat.ExpatError) as problem:
        raise DataError(f"{path}: not a readable xlsx file: {name}: {problem}") from problem


class Positions:
    """The row and column of the cells of a sheet's XML, which may leave them out, as expat reads it."""

    def __init__(self) -> None:
        self.parser = expat.ParserCreate()
        self.parser.StartElementHandler, self.parser.EndElementHandler = self.start, self.end
        self.row = self.column = 0
        self.style = ""

    def start(self, name: str, attributes: dict[str, str]) -> None:
        tag = name.rpartition(":")[2]
        if tag == "row":
            self.row = int(float(attributes["r"])) if "r" in attributes else self.row + 1
            self.column = 0
        elif tag == "c":
            reference = attributes.get("r", "")
            self.column = corners(reference)[0] if reference else self.column + 1
            self.style = attributes.get("s", "")
        self.started(tag, name, attributes)

    def end(self, name: str) -> None:
        self.ended(name.rpartition(":")[2], name)

    def started(self, tag: str, name: str, attributes: dict[str, str]) -> None:
        """Take the start of an element."""

    def ended(self, tag: str, name: str) -> None:
        """Take the end of an element."""


class Measure(Positions):
    """Tells of each cell that has something, and of each range of merged cells."""

    def __init__(self, on_cell: Callable[[int, int, str], None], on_merge: Callable[[str], None]):
        super().__init__()
        self.on_cell, self.on_merge = on_cell, on_merge

    def read(self, part: IO[bytes]) -> None:
        while piece := part.read(READ):
            self.parser.Parse(piece, False)
        self.parser.Parse(b"", True)

    def started(self, tag: str, name: str, attributes: dict[str, str]) -> None:
        if tag in ("v", "f", "is") and self.row:
            self.on_cell(self.row, self.column, self.style)
        elif tag == "mergeCell":
            self.on_merge(attributes.get("ref", ""))


class Splice(Positions):
    """A sheet's XML copied byte by byte, but for the cells that are added and the empty ones that they replace.

    expat says at which byte each element begins; a serializer would rename the namespaces that other parts of it name.
    """

    def __init__(
        self, part: IO[bytes], out: IO[bytes], additions: Iterator[tuple[int, Cells]], header: int = 0, style: str = ""
    ):
        super().__init__()
        self.part, self.out, self.additions, self.header, self.header_style = part, out, additions, header, style
        self.next: Optional[tuple[int, Cells]] = next(additions, None)
        # bytes that are kept, the place of the first of them, and the first that is not written
        self.kept, self.base, self.place = b"", 0, 0
        self.adding = False
        # of the row that is added to: what begins right of its cells, as (column, style, first byte), and its end
        self.beyond: list[tuple[int, str, int]] = []
        self.prefix = ""

    def run(self, path: Path) -> None:
        """Copy the whole part; DataError where rows that are added to are not there."""
        while piece := self.part.read(READ):
            self.kept += piece
            self.parser.Parse(piece, False)
            if not self.adding:
                self.copy(max(self.place, self.parser.CurrentByteIndex))
            self.kept, self.base = self.kept[self.place - self.base :], self.place
        self.parser.Parse(b"", True)
        self.out.write(self.kept[self.place - self.base :])
        if self.next:
            raise DataError(f"{path}: expected row {self.next[0]}, found none; name an --output with .csv")

    def copy(self, end: int) -> None:
        """Write what comes before a byte."""
        self.out.write(self.slice(self.place, end))
        self.place = end

    def slice(self, start: int, end: int) -> bytes:
        return self.kept[start - self.base : end - self.base]

    def tag(self) -> bytes:
        """Return the opening tag that expat is at."""
        found = TAG.match(self.kept, self.parser.CurrentByteIndex - self.base)
        return found[0] if found else b""

    def started(self, tag: str, name: str, attributes: dict[str, str]) -> None:
        here = self.parser.CurrentByteIndex
        if tag == "row" and self.next and self.row == self.next[0]:
            self.adding, self.beyond, self.prefix = True, [], name[: -len("row")]
            self.replace(here, SPANS.sub(b"", self.tag()))
        elif tag == "c" and self.adding and self.next and self.column >= self.next[1][0][0]:
            self.beyond.append((self.column, self.style, here))
        elif tag == "dimension" and self.next:
            old = attributes.get("ref", "")
            self.replace(here, self.tag().replace(old.encode(), self.wider(old).encode()))

    def replace(self, here: int, new: bytes) -> None:
        self.copy(here)
        self.out.write(new)
        self.place = here + len(self.tag())

    def wider(self, reference: str) -> str:
        """Return a range that has the new columns too."""
        from openpyxl.utils import get_column_letter

        found = RANGE.fullmatch(reference)
        if not found or not self.next:
            return reference
        right = max(corners(reference)[2], self.next[1][-1][0])
        return f"{found[1]}{found[2]}:{get_column_letter(right)}{found[4] or found[2]}"

    def ended(self, tag: str, name: str) -> None:
        if tag != "row" or not self.adding or not self.next:
            return
        here, (row, cells) = self.parser.CurrentByteIndex, self.next
        starts = [start for *_, start in self.beyond] + [here]
        kept = {column: (style, self.slice(start, end)) for (column, style, start), end in zip(self.beyond, starts[1:])}
        self.copy(starts[0])
        new = dict(cells)
        for column in sorted({*kept, *new}):
            style, old = kept.get(column, (self.header_style if row == self.header else "", b""))
            value = new.get(column)
            self.out.write(old if value is None else cell_xml(self.prefix, row, column, value, style))
        self.place = here
        self.adding, self.next = False, next(self.additions, None)


def cell_xml(prefix: str, row: int, column: int, value: Any, style: str = "") -> bytes:
    """Return a cell: a number with 6 digits, all else as text, which is never computed; ASCII, for any encoding."""
    from openpyxl.utils import get_column_letter

    where = f'r="{get_column_letter(column)}{row}"' + (f' s="{style}"' if style else "")
    if isinstance(value, (int, float)):
        xml = f"<{prefix}c {where}><{prefix}v>{round(value, 6)!r}</{prefix}v></{prefix}c>"
    else:
        text = CONTROL.sub("\ufffd", str(value))
        if len(text) > CELL:
            expected = f"expected at most {CELL:,} characters in a cell"
            raise DataError(f"xlsx row {row}: {expected}, found {len(text):,}; write --format csv")
        shown = escape(text, {"\r": "&#13;"})
        inner = f'<{prefix}is><{prefix}t xml:space="preserve">{shown}</{prefix}t></{prefix}is>'
        xml = f'<{prefix}c {where} t="inlineStr">{inner}</{prefix}c>'
    return xml.encode("ascii", "xmlcharrefreplace")
