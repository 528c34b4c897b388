"""Lines of bounded length and pieces of bounded size, whatever a file holds. Imports no pandas, which is slow."""

import functools
import sys
from collections import Counter
from pathlib import Path
from typing import Callable, Collection, Iterable, Iterator, TextIO, TypeVar

from ..errors import DataError

# Characters of a line, and bytes of the rows in memory at a time
LINE, PIECE = 2**24, 2**25
COLUMNS = 2000
# Kinds of files that are not text
BINARY = ("parquet", "xlsx")
# What "-" means; messages use this name
STDIN = Path("stdin")

Item = TypeVar("Item")


def lines(file: TextIO, path: Path, number: int = 0) -> Iterator[str]:
    """Yield the lines of a text file, `number` lines of which precede; DataError for one longer than LINE."""
    while line := file.readline(LINE + 1):
        number += 1
        if len(line) > LINE:
            raise DataError(f"{path} line {number}: expected at most {LINE:,} characters, found more")
        yield line


def cut(rows: Iterable[Item], most: int, size: Callable[[Item], int], largest: int = PIECE) -> Iterator[list[Item]]:
    """Yield lists of at most `most` rows, of about `largest` bytes (or what `size` counts)."""
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


def emptied(items: list[Item]) -> Iterator[Item]:
    """Yield the items of a list and remove each from it: `itertools.chain` holds what it is given to its own end."""
    while items:
        yield items.pop(0)


def check_columns(names: Collection[str], where: object) -> None:
    """Raise DataError for too many columns, or for one that is there twice."""
    if len(names) > COLUMNS:
        raise DataError(f"{where}: expected at most {COLUMNS:,} columns, found {len(names):,}")
    if len(set(names)) < len(names):
        raise DataError(f"{where}: expected each column once, found {Counter(names).most_common(1)[0][0]!r} twice")


@functools.lru_cache(maxsize=None)
def say_once(line: str) -> None:
    print(line, file=sys.stderr)


def left_out(path: Path, repeated: int) -> str:
    """Return what is said of rows that repeat the header, as files that were put together have."""
    return f"{path}: left out {repeated:,} row{'s' * (repeated != 1)} that repeat{'s' * (repeated == 1)} the header"
