"""An Excel workbook (.xlsx) as an archive of bounded parts, and its sheets. By openpyxl."""

import warnings
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Optional, Union

from ..errors import DataError, MissingPackage, list_names, nearest

if TYPE_CHECKING:
    from openpyxl.reader.excel import ExcelReader

# Bytes after unpacking: of a part that is read row by row, and of one that is parsed whole
UNPACKED, PART = 2**29, 2**20
# What is raised for a damaged archive, and by openpyxl for a damaged workbook
UNREADABLE = (zipfile.BadZipFile, zlib.error, EOFError, OSError)
DAMAGE = (*UNREADABLE, LookupError, ValueError, TypeError, AttributeError, SyntaxError, ArithmeticError, RuntimeError)


def require_excel() -> Any:
    """Import openpyxl; MissingPackage names the extra that installs it."""
    try:
        import openpyxl
    except ImportError as problem:
        raise MissingPackage("xlsx", "openpyxl") from problem
    return openpyxl


class BoundedArchive(zipfile.ZipFile):
    """The parts of a workbook; DataError for one that unpacks to much more than a small file should."""

    def getinfo(self, name: str) -> zipfile.ZipInfo:
        part = super().getinfo(name)
        if part.file_size > UNPACKED or part.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            expected = f"expected at most {UNPACKED:,} bytes, stored or deflated, in {name}"
            raise DataError(f"{self.filename}: {expected}, found {part.file_size:,}")
        return part

    def read(self, name: Union[str, zipfile.ZipInfo], pwd: Optional[bytes] = None) -> bytes:
        size = self.getinfo(str(name)).file_size
        if size > PART:
            raise DataError(f"{self.filename}: expected at most {PART:,} bytes in {name}, found {size:,}")
        return super().read(name, pwd)


def choose_sheet(path: Path, stream: Optional[BinaryIO] = None, name: Optional[str] = None) -> tuple[str, list[str]]:
    """Return the name of the sheet to read, None for the first visible one, and those of all others.

    DataError, with the names there are, where the workbook has no such sheet.
    """
    with opened_book(path, stream) as book:
        every = list(book.parser.find_sheets())
        tables = [sheet for sheet, part in every if "worksheet" in part.Type and part.target in book.valid_files]
    names = [str(sheet.name) for sheet in tables]
    if name is None:
        name = next((str(sheet.name) for sheet in tables if sheet.state == "visible"), "".join(names[:1]))
    if name not in names:
        expected = f"expected a sheet{f' {name!r}' if name else ''}, found {list_names(names) if names else 'none'}"
        raise DataError(f"{path}: {expected}{nearest(name, names) if name else ''}; name one by sheet (--sheet)")
    return name, [str(sheet.name) for sheet, _ in every if sheet.name != name]


@contextmanager
def opened_book(path: Path, stream: Optional[BinaryIO]) -> Iterator["ExcelReader"]:
    """Open a workbook as openpyxl's ExcelReader that has read the list of sheets, nothing else.

    `openpyxl.load_workbook` parses styles, themes, charts and pictures whole before their sizes can be checked.
    DataError, also within the `with` block, where it cannot be read.
    """
    require_excel()
    from openpyxl.reader.excel import ExcelReader

    try:
        with nullcontext(stream) if stream else open(path, "rb") as file:
            file.seek(0)
            if file.read(4) == b"\xd0\xcf\x11\xe0":
                reason = "found an old .xls, or one protected by a password"
                raise DataError(f"{path}: expected an .xlsx file, {reason}; save it as .xlsx without a password")
            with BoundedArchive(file) as archive:
                archive.filename = str(path)
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    book = ExcelReader(file, read_only=True, data_only=True, keep_links=False)
                    book.archive = archive
                    book.read_manifest()
                    book.read_workbook()
                yield book
    except DAMAGE as problem:
        reason = (str(problem).splitlines() or [type(problem).__name__])[0]
        raise DataError(f"{path}: not a readable xlsx file: {reason}") from problem
