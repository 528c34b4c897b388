"""Rows of a sheet of an Excel workbook (.xlsx), read and written one by one in bounded memory, by openpyxl.

Numbers stay numbers and dates become dates; a formula is read as its last value, and refused where it has none. Text
is always written as text.
"""

import datetime
import errno
import itertools
import os
import re
import warnings
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import gettempdir
from typing import IO, TYPE_CHECKING, Any, Callable, Optional

from .._io.atomic import cannot_write
from .._io.spreadsheets import as_cell
from ..errors import DataError, list_names
from .bounded_lines import left_out, say_once
from .headers import Header, find_header, named_row, texts_in
from .sources import Source
from .workbook import opened_book, require_excel

if TYPE_CHECKING:
    from openpyxl.reader.excel import ExcelReader


# Of a sheet, by Excel: rows, and characters of a cell
ROWS, CELL = 2**20, 32_767
# Bytes of a row
ROW = 2**21
# Rows of a sheet, or shared strings: four columns of texts, all different
TAGS = 2**22
READ = 2**18
# Rows in which the header is sought
SEARCHED_ROWS = 20
ROW_TAG = re.compile(rb"<(/?)(?:\w+:)?(?:row|si)\b[^<>]*?(/?)>")
# Characters that XML does not have; openpyxl refuses them
CONTROL = re.compile("[\0-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
# A cell of openpyxl's parser of sheets: its row, column, value and more
ParsedCell = dict[str, Any]


def numbered_rows(source: Source, remarks: list[str]) -> Iterator[tuple[int, list[object]]]:
    """Yield (number, cells) of a sheet's header and of its rows up to the last that is not blank, equally long.

    The number of a header that is not in the sheet is 0. A note on how the header was found is added to `remarks`.

    DataError where the file is damaged, protected or too large, a row is longer than the header, or a formula has no
    value.
    """
    path = source.path
    with opened_sheet(source) as rows:
        every = filled_rows(rows, path)
        first = list(itertools.islice(every, max(SEARCHED_ROWS, source.header or 0)))
        named = header_of(source, [row for _, row in first], remarks)
        header: list[object] = [*named.names]
        yield (first[named.before - 1][0] if named.row else 0), header
        repeated = 0
        for number, row in itertools.chain(first[named.before :], every):
            if len(row) > len(header):
                expected = f"expected {len(header)} cells as in the header ({list_names(named.names)})"
                advice = "name every column, or its row by header (--header ROW or none)"
                raise DataError(f"{path} row {number}: {expected}, found {len(row)}; {advice}")
            cells = [plain_cell(cell) for cell in row] + [None] * (len(header) - len(row))
            if cells == header:
                repeated += 1
            else:
                yield number, cells
        if repeated:
            say_once(left_out(path, repeated))


def filled_rows(rows: Iterable[tuple[int, list[ParsedCell]]], path: Path) -> Iterator[tuple[int, list[object]]]:
    """Yield (number, values) of all rows up to the last that is not blank; of a blank one there are no values."""
    last = 0
    for number, cells in rows:
        values = {cell["column"]: cell["value"] for cell in cells if cell["value"] not in (None, "")}
        if not values:
            continue
        if number > ROWS:
            raise DataError(f"{path}: expected at most {ROWS:,} rows, found more")
        yield from ((blank, []) for blank in range(last + 1, number))
        yield number, [values.get(column) for column in range(1, max(values) + 1)]
        last = number


def header_of(source: Source, rows: list[list[object]], remarks: list[str]) -> Header:
    """Return the Header of a sheet by its first rows; a blank name is "column C". DataError for an empty sheet."""
    from openpyxl.utils import get_column_letter

    if not any(rows):
        raise DataError(f"{source.path}: sheet {source.sheet!r} is empty; expected a header and reviews")
    if source.header is not None:
        header: Optional[Header] = named_row(rows, source.header, source.path)
    elif header := find_header(rows, source.path):
        remarks.append(header.note)
    if header is None:
        row = next(number for number, row in enumerate(rows, start=1) if row)
        header = Header(row, tuple(texts_in(map(plain_cell, rows[row - 1]))), row)
    names = (name or f"column {get_column_letter(column)}" for column, name in enumerate(header.names, start=1))
    return Header(header.row, tuple(names), header.before)


def sheet_part(book: "ExcelReader", source: Source) -> str:
    """Return the name of the part that holds the sheet of a source."""
    return str(next(part.target for sheet, part in book.parser.find_sheets() if sheet.name == source.sheet))


@contextmanager
def opened_sheet(source: Source) -> Iterator[Iterator[tuple[int, list[ParsedCell]]]]:
    """Yield the (number, cells) of a sheet's rows, whose sizes are checked first."""
    with opened_book(source.path, source.stream) as book:
        from openpyxl.styles.stylesheet import apply_stylesheet
        from openpyxl.xml.constants import SHARED_STRINGS

        target, strings = sheet_part(book, source), book.package.find(SHARED_STRINGS)
        for name in [target, strings.PartName[1:]] if strings else [target]:
            with book.archive.open(name) as part:
                check_rows(part, source.path)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            book.read_strings()
            apply_stylesheet(book.archive, book.wb)
        with book.archive.open(target) as part:
            yield sheet_rows(book, part, source.path)


def sheet_rows(book: "ExcelReader", part: IO[bytes], path: Path) -> Iterator[tuple[int, list[ParsedCell]]]:
    """Yield openpyxl's rows; DataError, with its cell, for a number of no shared text, or a formula without a value, as
    programs but Excel write it.

    The public rows of openpyxl do not tell such a formula from a blank cell, and drop rows that are out of order.
    """
    from openpyxl.utils import get_column_letter
    from openpyxl.worksheet._reader import FORMULA_TAG, VALUE_TAG, WorkSheetParser

    class Parser(WorkSheetParser):
        def parse_cell(self, element: Any) -> ParsedCell:
            number = element.findtext(VALUE_TAG) if element.get("t") == "s" else None
            # openpyxl reads -1 as the last
            if number and not (number.strip().isdecimal() and int(number) < len(self.shared_strings)):
                where = f"{path} cell {element.get('r') or f'in row {self.row_counter}'}"
                expected = f"expected the number of one of {len(self.shared_strings):,} shared texts"
                raise DataError(f"{where}: {expected}, found {number[:20]!r}; save it again in Excel")
            cell: ParsedCell = super().parse_cell(element)
            # of an empty text, the value is there, and empty
            empty = element.get("t") == "str" and element.find(VALUE_TAG) is not None
            if cell["value"] is None and not empty and element.find(FORMULA_TAG) is not None:
                where = f"{path} cell {get_column_letter(cell['column'])}{cell['row']}"
                advice = "save it again in Excel, or as text if it is a review that begins with ="
                raise DataError(f"{where}: expected a value, found a formula not computed yet; {advice}")
            return cell

    dates = {"date_formats": book.wb._date_formats, "timedelta_formats": book.wb._timedelta_formats}
    yield from Parser(part, book.shared_strings, data_only=True, epoch=book.wb.epoch, **dates).parse()


def check_rows(part: IO[bytes], path: Path) -> None:
    """Raise DataError for what takes much memory: a row, or shared string, of more than ROW bytes, or very many.

    Comments and rows within rows are refused, which no program writes: they would hide where a row ends.
    """
    rest, within, count = b"", False, 0
    while block := part.read(READ):
        rest += block
        end = largest = 0
        for tag in ROW_TAG.finditer(rest):
            if within and not tag[1] or count > TAGS:
                raise DataError(f"{path}: expected at most {TAGS:,} rows, none within another, found others")
            largest = max(largest, tag.start() - end)
            within, end, count = not tag[1] and not tag[2], tag.end(), count + 1
        if b"<!" in rest:
            raise DataError(f"{path}: expected no XML comments in a sheet, found one; save it again in Excel")
        rest = rest[end:]
        if max(largest, len(rest)) > ROW:
            raise DataError(f"{path}: expected at most {ROW:,} bytes in a row, found more")


def plain_cell(cell: object) -> object:
    """Return a cell's value, a number with the 15 digits that Excel shows."""
    return float(f"{cell:.15g}") if isinstance(cell, float) else cell


def plain_dates(column: list[object]) -> list[object]:
    """Return a column's values, its times as dates where all of them are at midnight, as a date is stored."""
    times = [cell for cell in column if isinstance(cell, datetime.datetime)]
    if any(cell.time() != datetime.time() for cell in times):
        return column
    return [cell.date() if isinstance(cell, datetime.datetime) else cell for cell in column]


@contextmanager
def written_sheet(file: IO[bytes], verbatim: bool = False) -> Iterator[Callable[[list[object]], None]]:
    """Yield what appends a row, first the header, to a workbook of one sheet; no text is ever computed.

    Text that would be computed where it is typed in again (see `_io.spreadsheets`) is marked as text, unless verbatim.
    DataError for more rows, or longer text, than Excel takes.
    """
    book = require_excel().Workbook(write_only=True)
    from openpyxl.writer.excel import ExcelWriter

    sheet = book.create_sheet("reviews")
    sheet.freeze_panes = "A2"
    numbers = itertools.count(1)

    def append(row: list[object]) -> None:
        if (number := next(numbers)) > ROWS:
            raise DataError(f"xlsx: expected at most {ROWS:,} rows, found more; write --format csv")
        sheet.append([written_cell(sheet, value, number, verbatim) for value in row])

    try:
        yield append
        sheet.close()
    except BaseException as problem:
        # a sheet that is left open complains on stderr
        with suppress(Exception):
            sheet.close()
        if type(problem).__name__ == "SerialisationError":
            # of lxml, as IO_ENOSPC, about openpyxl's temporary file
            code = getattr(errno, str(problem)[3:], errno.EIO)
            raise cannot_write(Path(gettempdir()), OSError(code, os.strerror(code))) from problem
        raise
    # not `book.save`, whose archive complains too where the disk is full
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        ExcelWriter(book, archive).save()


def written_cell(sheet: object, value: object, row: int, verbatim: bool) -> object:
    """Return a cell for openpyxl: numbers and dates as they are where Excel has them, all else as text."""
    from openpyxl.cell import WriteOnlyCell

    if value is None or value == "" or in_excel(value):
        return value
    text = cell_text(value, row)
    cell = WriteOnlyCell(sheet, text)
    # not "f", a formula, nor "e", an error
    cell.data_type = "s"
    # what Excel makes of an apostrophe before the text
    cell.quotePrefix = not verbatim and as_cell(text) != text
    return cell


def cell_text(value: object, row: int) -> str:
    """Return a value as the text of a cell in a row, without characters that XML lacks; DataError if it is too long."""
    text = CONTROL.sub("\ufffd", str(value))
    if len(text) > CELL:
        expected = f"expected at most {CELL:,} characters in a cell"
        raise DataError(f"xlsx row {row}: {expected}, found {len(text):,}; write --format csv")
    return text


def in_excel(value: object) -> bool:
    """Return whether Excel has a value as it is: numbers of at most 15 digits, dates from 1900 without a zone."""
    if isinstance(value, (int, float)):
        return abs(value) < 10**15
    return isinstance(value, datetime.date) and value.year >= 1900 and getattr(value, "tzinfo", None) is None
