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
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, TYPE_CHECKING, Union
from xml.parsers import expat
from xml.sax.saxutils import escape

from ..errors import ConfigError, DataError
from ..tables.sources import Source
from ..tables.tables import as_text
from ..tables.workbook import UNPACKED, BoundedArchive, opened_book
from ..tables.xlsx import READ, cell_text, numbered_rows, sheet_part
from .parquet import output_prefix

if TYPE_CHECKING:
    from .formats import Write
    from .scored_rows import ScoredRows

# Columns of a sheet, by Excel; bytes of all parts after unpacking, which are packed again
COLUMNS, WHOLE = 16_384, 4 * UNPACKED
# An opening tag, what is left out of a row's, and the corners of a range
TAG = re.compile(rb"""<[^\s/>]+(?:\s+[^\s=]+\s*=\s*(?:"[^"]*"|'[^']*'))*\s*/?>""")
SPANS = re.compile(rb"""\sspans\s*=\s*(?:"[^"]*"|'[^']*')""")
RANGE = re.compile(r"\$?([A-Z]+)\$?(\d+)(?::\$?([A-Z]+)\$?(\d+))?")
# A row, and its new cells by their column
NewCells = tuple[int, list[tuple[int, object]]]


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


@contextmanager
def kept_workbook(
    source: Source,
    text_column: str,
    file: IO[bytes],
    names: list[str],
    types: Mapping[str, str],
    verbatim: bool = False,
) -> Iterator["Write"]:
    """Yield what takes ScoredRows; at the end the workbook of the source is written with their output columns.

    DataError where its rows are no longer those that were scored, there is no room right of them, or a text is too long.
    """
    seen = array("I")
    with TemporaryFile(prefix="nsmc_attention-") as spool:

        def write(rows: "ScoredRows") -> None:
            seen.extend(map(digest, rows.columns.get(text_column, ())))
            spool.write(f"{json.dumps(list(rows.results))}\n".encode())

        yield write
        spool.seek(0)
        place = find_place(source, names, text_column, seen)
        if place.column + len(types) - 1 > COLUMNS:
            expected = f"expected room for {len(types)} columns right of the table, found none"
            raise DataError(f"xlsx: {expected}; write --format csv")
        write_book(source, file, place, additions(place, names, types, spool))


def additions(place: "Place", names: list[str], types: Mapping[str, str], spool: Iterable[bytes]) -> Iterator[NewCells]:
    """Yield (row, its new cells) from the top; each line of the spool is a list of rows of results."""
    if place.header:
        prefix = output_prefix(names, types)
        yield place.header, list(enumerate((prefix + name for name in types), start=place.column))
    for number, result in zip(place.rows, chain.from_iterable(map(json.loads, spool))):
        if number:
            yield number, list(enumerate(result, start=place.column))


def digest(cell: object) -> int:
    """Return a number by which a text is compared; a time and its date have the same."""
    text = str(cell)[:10] if isinstance(cell, datetime.date) else as_text(cell)
    return zlib.crc32(text.encode("utf-8", "surrogatepass"))


@dataclass
class Place:
    """The place of the output columns: the header's row (0 for none), the reviews' rows, the first column.

    `rows` has 0 for a row that is wholly blank, to which nothing is added.
    """

    header: int
    rows: "array[int]"
    column: int = 1
    header_style: str = ""


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
    with opened_book(source.path, source.stream) as book, book.archive.open(sheet_part(book, source)) as part:
        Measure(place).read(part)
    return place


def corners(reference: str) -> tuple[int, int, int, int]:
    """Return (left, top, right, bottom) of a range such as A1:C3."""
    from openpyxl.utils import column_index_from_string

    if not (ends := RANGE.fullmatch(reference)):
        return 1, 1, 0, 0
    left, top, right, bottom = ends.groups()
    return column_index_from_string(left), int(top), column_index_from_string(right or left), int(bottom or top)


def write_book(source: Source, file: IO[bytes], place: Place, new_cells: Iterator[NewCells]) -> None:
    """Copy a workbook's parts, the sheet with the new cells; DataError for a damaged part."""
    with opened_book(source.path, source.stream) as book:
        target = sheet_part(book, source)
    # not within `opened_book`, for which a full disk is a damaged workbook
    opened = nullcontext(source.stream) if source.stream else open(source.path, "rb")
    with opened as content, BoundedArchive(content) as archive, zipfile.ZipFile(file, "w") as written:
        for name in dict.fromkeys(archive.namelist()):
            info = archive.getinfo(name)
            copy = zipfile.ZipInfo(name, info.date_time)
            copy.compress_type, copy.external_attr = info.compress_type, info.external_attr
            with opened_part(archive, name, source.path) as part, written.open(copy, "w") as out:
                if name == target:
                    Splice(part, out, new_cells, place.header, place.header_style).run(source.path)
                else:
                    shutil.copyfileobj(part, out, READ)


@contextmanager
def opened_part(archive: BoundedArchive, name: str, path: Path) -> Iterator[IO[bytes]]:
    try:
        if archive.getinfo(name).header_offset < 0:
            raise zipfile.BadZipFile("it begins before the file does")
        with archive.open(name) as part:
            yield part
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, expat.ExpatError) as problem:
        raise DataError(f"{path}: not a readable xlsx file: {name}: {problem}") from problem


class Positions:
    """The row and column of the cells of a sheet's XML, which may leave them out, as expat reads it."""

    def __init__(self) -> None:
        self.parser = expat.ParserCreate()
        self.parser.StartElementHandler = self.start
        self.row = self.column = 0
        self.style = ""

    def start(self, name: str, attributes: dict[str, str]) -> None:
        """Take the start of an element, whose name may have a prefix."""
        tag = tag_of(name)
        if tag == "row":
            self.row = int(float(attributes["r"])) if "r" in attributes else self.row + 1
            self.column = 0
        elif tag == "c":
            reference = attributes.get("r", "")
            self.column = corners(reference)[0] if reference else self.column + 1
            self.style = attributes.get("s", "")


def tag_of(name: str) -> str:
    return name.rpartition(":")[2]


class Measure(Positions):
    """Fills in a place: the first column right of what the rows have, merged cells too, and the style of the header's last."""

    def __init__(self, place: Place):
        super().__init__()
        self.place, self.first = place, place.header or next(filter(None, place.rows), 1)

    def read(self, part: IO[bytes]) -> None:
        while block := part.read(READ):
            self.parser.Parse(block, False)
        self.parser.Parse(b"", True)

    def start(self, name: str, attributes: dict[str, str]) -> None:
        super().start(name, attributes)
        tag, place = tag_of(name), self.place
        if tag in ("v", "f", "is") and self.row:
            if self.row >= self.first:
                place.column = max(place.column, self.column + 1)
            if self.row == place.header:
                place.header_style = self.style
        elif tag == "mergeCell":
            _, top, right, bottom = corners(attributes.get("ref", ""))
            if bottom >= self.first and (not place.rows or top <= place.rows[-1]):
                place.column = max(place.column, right + 1)


class Splice(Positions):
    """A sheet's XML copied byte by byte, but for the cells that are added and the empty ones that they replace.

    expat says at which byte each element begins; a serializer would rename the namespaces that other parts of it name.
    """

    def __init__(
        self, part: IO[bytes], out: IO[bytes], new_cells: Iterator[NewCells], header: int = 0, style: str = ""
    ):
        super().__init__()
        self.parser.EndElementHandler = self.end
        self.part, self.out, self.new_cells, self.header, self.header_style = part, out, new_cells, header, style
        self.next = next(new_cells, None)
        # bytes that are kept, the place of the first of them, and the first that is not written
        self.kept, self.base, self.place = b"", 0, 0
        self.adding = False
        # of the row that is added to: what begins right of its cells, as (column, style, first byte), and its end
        self.beyond: list[tuple[int, str, int]] = []
        self.prefix = ""

    def run(self, path: Path) -> None:
        """Copy the whole part; DataError where rows that are added to are not there."""
        while block := self.part.read(READ):
            self.kept += block
            self.parser.Parse(block, False)
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
        tag = TAG.match(self.kept, self.parser.CurrentByteIndex - self.base)
        return tag[0] if tag else b""

    def start(self, name: str, attributes: dict[str, str]) -> None:
        super().start(name, attributes)
        tag, here = tag_of(name), self.parser.CurrentByteIndex
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

        ends = RANGE.fullmatch(reference)
        if not ends or not self.next:
            return reference
        right = max(corners(reference)[2], self.next[1][-1][0])
        return f"{ends[1]}{ends[2]}:{get_column_letter(right)}{ends[4] or ends[2]}"

    def end(self, name: str) -> None:
        if tag_of(name) != "row" or not self.adding or not self.next:
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
        self.adding, self.next = False, next(self.new_cells, None)


def cell_xml(prefix: str, row: int, column: int, value: object, style: str = "") -> bytes:
    """Return a cell: a number with 6 digits, all else as text, which is never computed; ASCII, for any encoding."""
    from openpyxl.utils import get_column_letter

    where = f'r="{get_column_letter(column)}{row}"' + (f' s="{style}"' if style else "")
    if isinstance(value, (int, float)):
        xml = f"<{prefix}c {where}><{prefix}v>{round(value, 6)!r}</{prefix}v></{prefix}c>"
    else:
        shown = escape(cell_text(value, row), {"\r": "&#13;"})
        inner = f'<{prefix}is><{prefix}t xml:space="preserve">{shown}</{prefix}t></{prefix}is>'
        xml = f'<{prefix}c {where} t="inlineStr">{inner}</{prefix}c>'
    return xml.encode("ascii", "xmlcharrefreplace")
