"""What a table is read from, some of its rows at a time, and cells as text. Imports no pandas, which is slow."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Optional, TypeVar

from ..errors import DataError

# Rows of a part, and its letters and cells, each of which counts as 50 bytes
PART_ROWS, PART_BYTES = 8192, 2**25
# The end of the name of a packed file
PACKED = ".gz"
Item = TypeVar("Item")


@dataclass(frozen=True)
class Source:
    """A file or stream of reviews and how to read it.

    Attributes
    ----------
    kind : csv, tsv, jsonl, json (one list or object), lines, parquet, xlsx, or nsmc (tsv without quoting)
    encoding, mark : a codec, and the bytes of the byte-order mark
    delimiter, quoted : of csv and tsv, and whether quotes enclose their fields; else they are letters
    header : the row that names the columns, if it was given, 0 for none
    sheet, other_sheets, guessed : of xlsx, the one that is read, the others, and whether it was not given
    stream : what is read where the path cannot be opened again: stdin or a pipe
    remarks : what is to be said of how it is read
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
    remarks: tuple[str, ...] = ()

    @property
    def from_office(self) -> bool:
        """True if a spreadsheet program wrote it, by its encoding or mark."""
        return self.kind == "xlsx" or self.mark > 0 or self.encoding != "utf-8"

    @property
    def packed(self) -> bool:
        return self.path.suffix.lower() == PACKED


class TablePart(dict[str, list[Any]]):
    """Some rows of a table: {column: its cells}, equally many.

    Attributes
    ----------
    numbers : sequence of int
        The number of each row, from 1, as Excel or an editor shows it (the header counts); of parquet, of the reviews.
    merged : mapping
        {column: {number of a row: value}} of cells of a workbook that are merged with one above.
    types : mapping
        The types of a parquet file's columns.
    """

    numbers: Sequence[int] = ()
    merged: Mapping[str, Mapping[int, object]] = {}
    types: Mapping[str, object] = {}

    @property
    def rows(self) -> int:
        return len(next(iter(self.values()), ()))


def cut(
    rows: Iterable[Item], most: int, size: Callable[[Item], int], largest: int = PART_BYTES
) -> Iterator[list[Item]]:
    """Yield lists of at most `most` rows, of about `largest` bytes, or what `size` counts."""
    piece: list[Item] = []
    total = 0
    for row in rows:
        piece.append(row)
        total += size(row)
        if len(piece) == most or total >= largest:
            yield piece
            piece, total = [], 0
    if piece:
        yield piece


def is_missing(value: object) -> bool:
    """Return whether a cell is None, NaN, or pandas' NA or NaT."""
    # of pandas, which is not imported for them
    return value is None or is_nan(value) or type(value).__name__ in ("NAType", "NaTType")


def is_nan(value: object) -> bool:
    return isinstance(value, float) and value != value


def as_text(value: object) -> str:
    """Return a cell as text, empty for a missing value (None, NaN, NA, NaT); DataError for bytes that are not UTF-8."""
    if isinstance(value, bytes):
        try:
            return value.decode()
        except UnicodeDecodeError:
            raise DataError(f"expected UTF-8 text in a column of bytes, found {value[:20]!r}") from None
    return "" if is_missing(value) else str(value)
