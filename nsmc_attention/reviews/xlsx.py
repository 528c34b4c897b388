"""Rows of an Excel workbook (.xlsx), read and written one by one in bounded memory, by openpyxl.

Numbers stay numbers and dates become dates; a formula is read as its last value. Text is always written as text.
"""

import datetime
import io
import itertools
import re
import sys
import warnings
import zipfile
import zlib
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Iterable, Iterator

from .._io.spreadsheets import as_cell
from ..errors import DataError, MissingPackage, listed
from .pieces import STDIN

# Of a sheet, by Excel: rows, and characters of a cell
ROWS, CELL = 2**20, 32_767
# Bytes after unpacking: of a workbook, of a part that is parsed whole, and of a row, which is too
UNPACKED, PART, ROW = 2**29, 2**24, 2**21
# Parts that are read row by row, or are lists of plain text
STREAMED = re.compile(r"xl/(worksheets/[^/]+|sharedStrings)\.xml")
READ = 2**18
# One that two pieces share is missed, which does not matter
ROW_END = re.compile(b"(?:row|si)>")
# Characters that XML does not have; openpyxl refuses them
CONTROL = re.compile("[\0-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
# What openpyxl raises for a damaged workbook
DAMAGE = (
    zipfile.BadZipFile,
    zlib.error,
    LookupError,
    ValueError,
    TypeError,
    AttributeError,
    SyntaxError,
    ArithmeticError,
    EOFError,
    OSError,
    RuntimeError,
)


def require_excel() -> Any:
    """Import openpyxl; MissingPackage names the extra that installs it."""
    try:
        import openpyxl
    except ImportError as problem:
        raise MissingPackage("xlsx", "openpyxl") from problem
    return openpyxl


def xlsx_rows(path: Path) -> Iterator[list[Any]]:
    """Yield the column names of a workbook's first visible sheet, then its rows that are not blank, equally long.

    DataError where the file is damaged, protected or too large, or a row is longer than the header.
    """
    with opened_sheet(path) as sheet:
        names: list[Any] = []
        for number, cells in enumerate(itertools.islice(sheet.iter_rows(values_only=True), ROWS + 1), start=1):
            row = list(cells)
            while row and row[-1] in (None, ""):
                row.pop()
            if not row:
                continue
            if number > ROWS:
                raise DataError(f"{path}: expected at most {ROWS:,} rows, found more")
            if not names:
                names = [column_name(cell, place) for place, cell in enumerate(row, start=1)]
                yield names
            elif len(row) > len(names):
                expected = f"expected {len(names)} cells as in the header ({listed(names)})"
                raise DataError(f"{path} row {number}: {expected}, found {len(row)}; name every column")
            else:
                yield [plain_cell(cell) for cell in row] + [None] * (len(names) - len(row))
        if not names:
            raise DataError(f"{path}: sheet {sheet.title!r} is empty; expected a header and reviews")


@contextmanager
def opened_sheet(path: Path) -> Iterator[Any]:
    """Open the first visible sheet of a workbook; DataError, also within the `with` block, where it cannot be read."""
    openpyxl = require_excel()
    try:
        with opened_bytes(path) as file:
            check_sizes(file, path)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                book = openpyxl.load_workbook(file, read_only=True, data_only=True, keep_links=False)
            sheets = book.worksheets
            sheet = next((each for each in sheets if each.sheet_state == "visible"), sheets[0])
            # programs write wrong ones, beyond which cells would be lost
            sheet.reset_dimensions()
            yield sheet
    except DAMAGE as problem:
        reason = (str(problem).splitlines() or [type(problem).__name__])[0]
        raise DataError(f"{path}: not a readable xlsx file: {reason}") from problem


@contextmanager
def opened_bytes(path: Path) -> Iterator[IO[bytes]]:
    if path is STDIN or not path.is_file():
        yield io.BytesIO(sys.stdin.buffer.read() if path is STDIN else path.read_bytes())
        return
    with open(path, "rb") as file:
        if file.read(4) == b"\xd0\xcf\x11\xe0":
            found = "found an old .xls, or one protected by a password"
            raise DataError(f"{path}: expected an .xlsx file, {found}; save it as .xlsx without a password")
        file.seek(0)
        yield file


def check_sizes(file: IO[bytes], path: Path) -> None:
    """Raise DataError for a small file that unpacks to what does not fit into memory."""
    with zipfile.ZipFile(file) as archive:
        # pictures and the like are not read
        parts = [part for part in archive.infolist() if part.filename.endswith((".xml", ".rels"))]
        streamed = [part for part in parts if STREAMED.fullmatch(part.filename)]
        whole = max((part.file_size for part in parts if part not in streamed), default=0)
        total = sum(part.file_size for part in parts)
        if total > UNPACKED or whole > PART:
            raise DataError(f"{path}: expected at most {UNPACKED:,} bytes when unpacked, found {total:,}")
        for part in streamed:
            with archive.open(part) as sheet:
                check_rows(sheet, path)
    file.seek(0)


def check_rows(part: IO[bytes], path: Path) -> None:
    """Raise DataError where more than ROW bytes are between the ends of rows, or of shared strings."""
    done = since = 0
    while piece := part.read(READ):
        ends = [done + found.start() for found in ROW_END.finditer(piece)]
        done += len(piece)
        if (ends[0] if ends else done) - since > ROW:
            raise DataError(f"{path}: expected at most {ROW:,} bytes in a row, found more")
        since = ends[-1] if ends else since


def column_name(cell: Any, place: int) -> str:
    """Return a column's name: what is in its first cell, or "column C" where that is blank."""
    from openpyxl.utils import get_column_letter

    text = "" if cell is None else str(plain_cell(cell)).strip()
    return text or f"column {get_column_letter(place)}"


def plain_cell(cell: Any) -> Any:
    """Return a cell's value, a number with the 15 digits that Excel shows."""
    return float(f"{cell:.15g}") if isinstance(cell, float) else cell


def plain_dates(column: list[Any]) -> list[Any]:
    """Return a column's values, its times as dates where all of them are at midnight, as a date is stored."""
    times = [cell for cell in column if isinstance(cell, datetime.datetime)]
    if any(cell.time() != datetime.time() for cell in times):
        return column
    return [cell.date() if isinstance(cell, datetime.datetime) else cell for cell in column]


def write_rows(file: IO[bytes], rows: Iterable[list[Any]], verbatim: bool = False) -> None:
    """Write rows, of which the first is the header, as a workbook of one sheet; no text is ever computed.

    Text that would be computed where it is typed in again (see `_io.spreadsheets`) is marked as text, unless verbatim.
    DataError for more rows, or longer text, than Excel takes.
    """
    book = require_excel().Workbook(write_only=True)
    sheet = book.create_sheet("reviews")
    sheet.freeze_panes = "A2"
    try:
        for number, row in enumerate(rows, start=1):
            if number > ROWS:
                raise DataError(f"xlsx: expected at most {ROWS:,} rows, found more; write --format csv")
            sheet.append([written_cell(sheet, value, number, verbatim) for value in row])
    except BaseException:
        # a sheet that is left open complains on stderr
        sheet.close()
        raise
    book.save(file)


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
