"""What many rows are read by: lines of a bounded length, and pieces of a bounded size, whoever wrote them.

Imports no pandas: the single review from the shell takes this road too.
"""

from pathlib import Path
from typing import Callable, Iterable, Iterator, TextIO, TypeVar

from ..errors import DataError

# Characters of a line, and of the rows held at a time
LINE, PIECE = 2**24, 2**25
# What "-" stands for; messages call it by this name
STDIN = Path("stdin")

Item = TypeVar("Item")


def lines(file: TextIO, path: Path) -> Iterator[str]:
    """Yield the lines of a text file; DataError where one is longer than LINE."""
    number = 0
    while line := file.readline(LINE + 1):
        number += 1
        if len(line) > LINE:
            raise DataError(f"{path} line {number}: expected at most {LINE:,} characters, found more")
        yield line


def cut(rows: Iterable[Item], most: int, size: Callable[[Item], int]) -> Iterator[list[Item]]:
    """Yield lists of at most `most` rows that have, by `size`, about PIECE characters together."""
    piece: list[Item] = []
    held = 0
    for row in rows:
        piece.append(row)
        held += size(row)
        if len(piece) == most or held >= PIECE:
            yield piece
            piece, held = [], 0
    if piece:
        yield piece
