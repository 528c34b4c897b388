"""The source of a table, parts of its rows, and cells as text. Imports no pandas, which is slow."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Optional, TypeVar

from ..errors import DataError

# Most rows of a part, and most bytes of its letters and cells, about 50 each
PART_ROWS, PART_BYTES = 8192, 2**25
# Suffix of a compressed file
PACKED = ".gz"
Item = TypeVar("Item")


@dataclass(frozen=True)
class Source:
    """A file or stream of reviews, and its format.

    Attributes
    ----------
    kind : csv, tsv, jsonl, json (one list or object), lines, parquet, xlsx, or nsmc (tsv without quoting)
    encoding, mark : a codec, and the number of bytes of the byte-order mark
    delimiter, quoted : of csv and tsv; `quoted` is False if quotes are letters instead of enclosing fields
    header : the row of the names, as the user gave it, 0 for no header; None finds it
    sheet, other_sheets, guessed : the sheet of xlsx that is read, the others, and whether the user left the choice open
    stream : the open stream of a path that cannot be opened again, stdin or a pipe
    remarks : notes for the user on how it is read
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
        """True if its kind, encoding or mark is that of a spreadsheet program."""
        return self.kind == "xlsx" or self.mark > 0 or self.encoding != "utf-8"

    @property
    def packed(self) -> bool:
        return self.path.suffix.lower() == PACKED


class TablePart(dict[str, list[Any]]):
    """Some rows of a table, {column: cells}, with equally many cells in each column.

    Attributes
    ----------
    numbers : sequence of int
        The number of each row from 1, as Excel or an editor shows it, with the header; parquet counts reviews only.
    merged : mapping
        {column: {row number: value}} of a workbook's cells that are merged with a cell above.
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
    """Yield lists of at most `most` rows, and of about `largest` bytes as counted by `size`."""
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
    # by name: pandas is not imported for them
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
