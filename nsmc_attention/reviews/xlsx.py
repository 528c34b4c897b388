"""Rows of a sheet of an Excel workbook (.xlsx), read and written one by one in bounded memory, by openpyxl.

Numbers stay numbers and dates become dates; a formula is read as its last value, and refused where it has none. Text
is always written as text.
"""

import datetime
import itertools
import re
import zipfile
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Callable, Iterable, Iterator, Optional

from .._io.spreadsheets import as_cell
from ..errors import DataError, list_names
from .bounded_lines import left_out, say_once
from .headers import Header, find_header, named_row
from .sources import Source
from .workbook import opened_book, quiet, require_excel

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


def xlsx_rows(source: Source, remarks: Optional[list[str]] = None) -> Iterator[list[Any]]:
    """Yield the column names of a workbook's sheet, then its rows, see `numbered_rows`."""
    return (row for _, row in numbered_rows(source, remarks))


def numbered_rows(source: Source, remarks: Optional[list[str]] = None) -> Iterator[tuple[int, list[Any]]]:
    """Yield (number, cells) of a sheet's header and of its rows up to the last that is not blank, equally long.

    The number of a header that is not in the sheet is 0. What is to be said of the header is added to `remarks`.

    DataError where the file is damaged, protected or too large, a row is longer than the header, or a formula has no
    value.
    """
    path = source.path
    with opened_sheet(source) as rows:
        every = filled_rows(rows, path)
        first = list(itertools.islice(every, max(SEARCHED_ROWS, source.header or 0)))
        header, before, place = header_of(source, first, [] if remarks is None else remarks)
        yield place, header
        repeated = 0
        for number, row in itertools.chain(first[before:], every):
            if len(row) > len(header):
                expected = f"expected {len(header)} cells as in the header ({list_names(header)})"
                advice = "name every column, or its row by header (--header ROW or none)"
                raise DataError(f"{path} row {number}: {expected}, found {len(row)}; {advice}")
            cells = [plain_cell(cell) for cell in row] + [None] * (len(header) - len(row))
            if cells == header:
                repeated += 1
            else:
                yield number, cells
        if repeated:
            say_once(left_out(path, repeated))


def filled_rows(rows: Iterable[tuple[int, list[dict[str, Any]]]], path: Path) -> Iterator[tuple[int, list[Any]]]:
    """Yield (number, values) of all rows up to the last that is not blank; of a blank one there are no values."""
    last = 0
    for number, cells in rows:
        values = {cell["column"]: cell["value"] for cell in cells if cell["value"] not in (None, "")}
        if not values:
            continue
        if number > ROWS:
            raise DataError(f"{path}: expected at most {ROWS:,} rows, found more")
        for blank in range(last + 1, number):
            yield blank, []
        yield number, [values.get(column) for column in range(1, max(values) + 1)]
        last = number


def header_of(source: Source, first: list[tuple[int, list[Any]]], remarks: list[str]) -> tuple[list[Any], int, int]:
    """Return the names of the columns, how many of the first rows are not reviews, and the header's row or 0.

    DataError for an empty sheet.
    """
    rows = [row for _, row in first]
    if not any(rows):
        raise DataError(f"{source.path}: sheet {source.sheet!r} is empty; expected a header and reviews")
    if source.header is not None:
        header: Optional[Header] = named_row(rows, source.header, source.path)
    else:
        header = find_header(rows, source.path)
        if header:
            remarks.append(header.note)
    if header:
        names = [name or column_name(None, column) for column, name in enumerate(header.names, start=1)]
        return names, header.before, first[header.before - 1][0] if header.row else 0
    before = next(place for place, row in enumerate(rows) if row)
    return (
        [column_name(cell, column) for column, cell in enumerate(rows[before], start=1)],
        before + 1,
        first[before][0],
    )


@contextmanager
def opened_sheet(source: Source) -> Iterator[Iterator[tuple[int, list[dict[str, Any]]]]]:
    """Give the (number, cells) of a sheet's rows; not by `openpyxl.load_workbook`, which parses much else whole."""
    require_excel()
    from openpyxl.styles.stylesheet import apply_stylesheet
    from openpyxl.xml.constants import SHARED_STRINGS

    with opened_book(source.path, source.stream) as book:
        target = next(part.target for sheet, part in book.parser.find_sheets() if sheet.name == source.sheet)
        strings = book.package.find(SHARED_STRINGS)
        for name in [target, strings.PartName[1:]] if strings else [target]:
            with book.archive.open(name) as part:
                check_rows(part, source.path)
        with quiet():
            book.read_strings()
            apply_stylesheet(book.archive, book.wb)
        with book.archive.open(target) as part:
            yield sheet_rows(book, part, source.path)


class SharedStrings(list[str]):
    """The texts of a workbook by number; a negative number raises IndexError, too."""

    def __getitem__(self, number: Any) -> Any:
        if number < 0:
            raise IndexError(f"shared string {number}")
        return super().__getitem__(number)


def sheet_rows(book: Any, part: IO[bytes], path: Path) -> Any:
    """Return an iterator of openpyxl's rows; DataError for a formula without a value, as programs but Excel write it."""
    from openpyxl.utils import get_column_letter
    from openpyxl.worksheet._reader import FORMULA_TAG, VALUE_TAG, WorkSheetParser

    class Parser(WorkSheetParser):
        def parse_cell(self, element: Any) -> dict[str, Any]:
            cell: dict[str, Any] = super().parse_cell(element)
            # of an empty text, the value is there, and empty
            empty = element.get("t") == "str" and element.find(VALUE_TAG) is not None
            if cell["value"] is None and not empty and element.find(FORMULA_TAG) is not None:
                where = f"{path} cell {get_column_letter(cell['column'])}{cell['row']}"
                advice = "save it again in Excel, or as text if it is a review that begins with ="
                raise DataError(f"{where}: expected a value, found a formula not computed yet; {advice}")
            return cell

    dates = {"date_formats": book.wb._date_formats, "timedelta_formats": book.wb._timedelta_formats}
    return Parser(part, SharedStrings(book.shared_strings), data_only=True, epoch=book.wb.epoch, **dates).parse()


def check_rows(part: IO[bytes], path: Path) -> None:
    """Raise DataError for what takes much memory: a row, or shared string, of more than ROW bytes, or very many.

    Comments and rows within rows are refused, which no program writes: they would hide where a row ends.
    """
    rest, within, count, largest = b"", False, 0, 0
    while piece := part.read(READ):
        rest += piece
        end = 0
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


def column_name(cell: Any, column: int) -> str:
    """Return a column's name: what is in its first cell, or "column C" where that is blank."""
    from openpyxl.utils import get_column_letter

    text = "" if cell is None else str(plain_cell(cell)).strip()
    return text or f"column {get_column_letter(column)}"


def plain_cell(cell: Any) -> Any:
    """Return a cell's value, a number with the 15 digits that Excel shows."""
    return float(f"{cell:.15g}") if isinstance(cell, float) else cell


def plain_dates(column: list[Any]) -> list[Any]:
    """Return a column's values, its times as dates where all of them are at midnight, as a date is stored."""
    times = [cell for cell in column if isinstance(cell, datetime.datetime)]
    if any(cell.time() != datetime.time() for cell in times):
        return column
    return [cell.date() if isinstance(cell, datetime.datetime) else cell for cell in column]


@contextmanager
def written_sheet(file: IO[bytes], verbatim: bool = False) -> Iterator[Callable[[list[Any]], None]]:
    """Yield what appends a row, first the header, to a workbook of one sheet; no text is ever computed.

    Text that would be computed where it is typed in again (see `_io.spreadsheets`) is marked as text, unless verbatim.
    DataError for more rows, or longer text, than Excel takes.
    """
    book = require_excel().Workbook(write_only=True)
    sheet = book.create_sheet("reviews")
    sheet.freeze_panes = "A2"
    numbers = itertools.count(1)

    def append(row: list[Any]) -> None:
        if (number := next(numbers)) > ROWS:
            raise DataError(f"xlsx: expected at most {ROWS:,} rows, found more; write --format csv")
        sheet.append([written_cell(sheet, value, number, verbatim) for value in row])

    try:
        yield append
    except BaseException:
        # a sheet that is left open complains on stderr
        sheet.close()
        raise
    save(book, file)


def save(book: Any, file: IO[bytes]) -> None:
    """Write a workbook; after `book.save` on a full disk, Python would print a second error when it closes the archive."""
    from openpyxl.writer.excel import ExcelWriter

    archive = zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED)
    try:
        ExcelWriter(book, archive).save()
    except BaseException:
        # closing it would write again
        archive.fp = None
        raise


def written_cell(sheet: Any, value: Any, row: int, verbatim: bool) -> Any:
    """Return a cell for openpyxl: numbers and dates as they are where Excel has them, all else as text."""
    from openpyxl.cell import WriteOnlyCell

    if value is None or value == "" or in_excel(value):
        return value
    text = CONTROL.sub("\ufffd", str(value))
    if len(text) > CELL:
        expected = f"expected at most {CELL:,} characters in a cell"
        raise DataError(f"xlsx row {row}: {expected}, found {len(text):,}; write --format csv")
    cell = WriteOnlyCell(sheet, text)
    # not "f", a formula, nor "e", an error
    cell.data_type = "s"
    # what Excel makes of an apostrophe before the text
    cell.quotePrefix = not verbatim and as_cell(text) != text
    return cell


def in_excel(value: Any) -> bool:
    """Return whether Excel has a value as it is: numbers of at most 15 digits, dates from 1900 without a zone."""
    if isinstance(value, (int, float)):
        return abs(value) < 10**15
    return isinstance(value, datetime.date) and value.year >= 1900 and getattr(value, "tzinfo", None) is None
