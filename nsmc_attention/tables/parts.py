"""Some rows of a table at a time, {column: its cells}, and cells as text. Imports no pandas, which is slow."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from ..errors import DataError

# Rows of a part, and its letters and cells, each of which counts as 50 bytes
PART_ROWS, PART_BYTES = 8192, 2**25
Item = TypeVar("Item")


class TablePart(dict[str, list[Any]]):
    """Some rows of a table: {column: its cells}, equally many.

    Attributes
    ----------
    numbers : sequence of int
        The number of each row, from 1, as Excel or an editor shows it (the header counts); of parquet, of the reviews.
    merged : mapping
        {column: {number of a row: value}} of cells of a workbook that are merged with one above.
    uncomputed : collection
        (column, number of a row) of the formulas of a workbook that have no value yet.
    types : mapping
        The types of a parquet file's columns.
    """

    numbers: Sequence[int] = ()
    merged: Mapping[str, Mapping[int, object]] = {}
    uncomputed: Collection[tuple[str, int]] = ()
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


def cells_of(parts: Iterable[TablePart], column: str) -> list[Any]:
    """Return the cells of a column in all parts, None in those that lack it."""
    return [cell for part in parts for cell in part.get(column) or [None] * part.rows]
