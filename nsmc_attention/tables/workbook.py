"""Excel workbooks (.xlsx): sheets and rows, read by python-calamine and written by openpyxl."""

import datetime
import errno
import io
import itertools
import os
import re
import warnings
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import replace
from typing import IO, Any, Optional

from ..errors import DataError, list_names, nearest, required
from .parts import Source

# Excel's limits: rows of a sheet, and characters of a cell
MOST_ROWS, LONGEST_CELL = 2**20, 32_767
# Characters that XML does not allow
INVALID_IN_XML = re.compile("[\0-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
# Files of a workbook that openpyxl preserves
PRESERVED = tuple(
    "[Content_Types].xml _rels/ docProps/ xl/_rels/ xl/workbook.xml xl/styles.xml xl/theme/ xl/sharedStrings.xml xl/worksheets/ "
    "xl/calcChain.xml xl/comments xl/drawings/vmlDrawing xl/drawings/commentsDrawing xl/legacyDrawing xl/printerSettings/ "
    "xl/tables/".split()
)


@contextmanager
def opened_book(source: Source) -> Iterator[Any]:
    """Open a workbook; DataError, also within the `with` block, if it cannot be read."""
    python_calamine = required("xlsx", "python_calamine")
    try:
        if source.stream:
            source.stream.seek(0)
        with python_calamine.load_workbook(source.stream or source.path) as book:
            yield book
    except python_calamine.PasswordError:
        raise DataError(f"{source.path}: is protected by a password; save it without one") from None
    except (python_calamine.CalamineError, OSError, ValueError) as problem:
        reason = (str(problem).splitlines() or [type(problem).__name__])[0]
        raise DataError(f"{source.path}: not a readable xlsx file: {reason}; save it again in Excel") from problem


def with_sheet(source: Source, name: Optional[str]) -> Source:
    """Return a Source with a sheet by its name, None for the first visible one; DataError if there is none."""
    with opened_book(source) as book:
        from python_calamine import SheetTypeEnum, SheetVisibleEnum

        sheets = book.sheets_metadata
    tables = [sheet.name for sheet in sheets if sheet.typ == SheetTypeEnum.WorkSheet]
    visible = [sheet.name for sheet in sheets if sheet.visible == SheetVisibleEnum.Visible and sheet.name in tables]
    if name is None and tables:
        name = (visible or tables)[0]
    if name not in tables:
        names = list_names(map(repr, tables)) if tables else "none"
        expected = f"expected a sheet{f' {name!r}' if name else ''}, found {names}{nearest(name, tables)}"
        raise DataError(f"{source.path}: {expected}; name one by sheet (--sheet)")
    return replace(source, sheet=str(name), other_sheets=tuple(sheet.name for sheet in sheets if sheet.name != name))


@contextmanager
def opened_sheet(source: Source) -> Iterator[tuple[Iterator[list[Any]], dict[int, dict[int, object]]]]:
    """Open the sheet of a Source: its rows, from the first on, with "" for blank cells, and `merged_below`.

    DataError if the workbook is damaged.
    """
    with opened_book(source) as book:
        sheet = book.get_sheet_by_name(source.sheet)
        yield rows_of(sheet), merged_below(sheet)


def rows_of(sheet: Any) -> Iterator[list[Any]]:
    """Yield the rows of a sheet from its first column on."""
    left = [""] * (sheet.start or (0, 0))[1]
    return map(left.__add__, sheet.iter_rows()) if left else iter(sheet.iter_rows())


def display_values(column: list[Any]) -> list[Any]:
    """Return the cells of a column as Excel shows them: None if blank, numbers with 15 digits."""
    if set(map(type, column)) == {str}:
        return [cell or None for cell in column]
    numbers = (float(f"{cell:.15g}") if type(cell) is float else cell for cell in column)
    return [
        None if cell == "" else int(cell) if type(cell) is float and cell.is_integer() else cell for cell in numbers
    ]


def merged_below(sheet: Any) -> dict[int, dict[int, object]]:
    """Return {column: {row number: value}} of the cells that are merged with a cell above."""
    merged: dict[int, dict[int, object]] = {}
    ranges = [(*first, *last) for first, last in sheet.merged_cell_ranges or () if last[0] > first[0]]
    tops = {top: list[Any]() for top, *_ in ranges}
    for place, row in enumerate(rows_of(sheet)) if ranges else ():
        if place in tops:
            tops[place] = row
    for top, left, bottom, _ in ranges:
        (value,) = display_values(tops[top][left : left + 1] or [""])
        merged.setdefault(left, {}).update(dict.fromkeys(range(top + 2, bottom + 2), value))
    return merged


@contextmanager
def new_workbook(
    file: IO[bytes], escape: Optional[Callable[[object], object]]
) -> Iterator[Callable[[list[Any]], None]]:
    """Yield a function that appends a row to a new workbook of one sheet, which never computes a text.

    Texts that `escape` changes stay texts after editing. DataError for more rows, or longer text, than Excel allows.
    """
    book = required("xlsx", "openpyxl").Workbook(write_only=True)
    sheet = book.create_sheet("reviews")
    sheet.freeze_panes = "A2"
    count = itertools.count(1)

    def append(row: list[Any]) -> None:
        if (number := next(count)) > MOST_ROWS:
            raise DataError(f"xlsx: expected at most {MOST_ROWS:,} rows, found more; write --format csv")
        sheet.append([written_cell(sheet, value, number, escape) for value in row])

    with saved(book, file):
        yield append


@contextmanager
def saved(book: Any, file: IO[bytes]) -> Iterator[None]:
    """Save a workbook after the `with` block; OSError if the disk, or that of temporary files, is full."""
    # in memory first: openpyxl's archive reports a full disk on stderr
    content = io.BytesIO()
    try:
        yield
        book.save(content)
    except Exception as problem:
        if type(problem).__name__ == "SerialisationError":
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)) from problem
        raise
    file.write(content.getbuffer())


def written_cell(sheet: Any, value: Any, row: int, escape: Optional[Callable[[object], object]]) -> Any:
    """Return a cell for openpyxl: numbers and dates that Excel can hold as they are, all else as text."""
    from openpyxl.cell import WriteOnlyCell

    if isinstance(value, (int, float)) and abs(value) < 10**15 or value is None or value == "":
        return value
    if isinstance(value, datetime.date) and value.year >= 1900 and getattr(value, "tzinfo", None) is None:
        return value
    cell = WriteOnlyCell(sheet)
    as_text_cell(cell, str(value), row)
    # Excel's format for a text that was typed with an apostrophe
    cell.quotePrefix = escape is not None and escape(str(value)) != str(value)
    return cell


def as_text_cell(cell: Any, text: str, row: int) -> None:
    """Put a text into a cell, without characters that are invalid in XML; DataError if it is too long."""
    if len(text) > LONGEST_CELL:
        expected = f"expected at most {LONGEST_CELL:,} characters in a cell"
        raise DataError(f"xlsx row {row}: {expected}, found {len(text):,}; write --format csv")
    cell.value = INVALID_IN_XML.sub("\ufffd", text)
    # a string, neither a formula ("f") nor an error ("e")
    cell.data_type = "s"


def why_not_kept(source: Source) -> str:
    """Return a reason if openpyxl would lose content when it saves a workbook, else ""."""
    with zipfile.ZipFile(source.stream or source.path) as archive:
        others = [name for name in archive.namelist() if not name.startswith(PRESERVED)]
        sheets = [name for name in archive.namelist() if name.startswith("xl/worksheets/sheet")]
        if others:
            return f"has {others[0].removeprefix('xl/').partition('/')[0]}, which would be lost"
        extended = any(b"<extLst" in archive.read(name) for name in sheets)
    return "has formats of newer versions of Excel, which would be lost" if extended else ""


@contextmanager
def kept_workbook(source: Source, file: IO[bytes], names: Sequence[str]) -> Iterator[Callable[..., None]]:
    """Yield a function that takes row numbers and results; then write the user's workbook with the results in columns
    called `names`, right of the sheet's content. Excel computes formulas again when it opens the file."""
    openpyxl = required("xlsx", "openpyxl")
    if source.stream:
        source.stream.seek(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        book = openpyxl.load_workbook(source.stream or source.path, rich_text=True)
    sheet = book[source.sheet]
    column, first = sheet.max_column + 1, 0

    def write(numbers: Sequence[int], results: Iterable[Sequence[Any]]) -> None:
        nonlocal first
        for number, values in zip(numbers, results):
            if not first:
                first = max(number - 1, 1)
                fill(first, names)
            if any(cell.value is not None for cell in sheet[number]):
                fill(number, values)

    def fill(number: int, values: Sequence[Any]) -> None:
        for place, value in enumerate(values, start=column):
            cell = sheet.cell(number, place)
            if isinstance(value, str):
                as_text_cell(cell, value, number)
            else:
                cell.value = round(value, 6) if isinstance(value, float) else value
            if number == first:
                cell._style = copy(sheet.cell(number, column - 1)._style)

    with saved(book, file):
        yield write
