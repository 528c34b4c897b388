"""Quotation marks of tables: whether they enclose fields or are letters. Imports no pandas, which is slow.

A tsv of a spreadsheet program or pandas has quotes around fields with line ends and quotes; one of other tools has none,
and a review that begins with a quote would swallow the rows up to the next one.
"""

import csv
from collections.abc import Iterable, Iterator, Sequence
from typing import TextIO

from .columns import is_value
from .pieces import LINE

# Characters read at a time
BLOCK = 1 << 20


def any_leading(file: TextIO) -> bool:
    """Return whether a field of tab-separated lines begins with a quote."""
    before = "\n"
    while block := file.read(BLOCK):
        block = before + block
        if '\t"' in block or '\n"' in block or '\r"' in block:
            return True
        before = block[-1]
    return False


def physical(file: TextIO) -> Iterator[str]:
    """Yield lines, cut where they are longer than any row may be."""
    while line := file.readline(LINE + 1):
        yield line


def lines_agree(lines: Iterable[str]) -> tuple[int, int]:
    """Return how many tabs each line has that is not blank, -1 where they differ, and how many lines there are.

    A title above the first line that has tabs is left out.
    """
    tabs, count = 0, 0
    for line in lines:
        if not line.strip():
            continue
        found, count = line.count("\t"), count + 1
        if found and not tabs:
            tabs, count = found, 1
        if found != tabs:
            return -1, count
    return tabs, count


def quoted_rows(lines: Iterable[str]) -> tuple[bool, int]:
    """Return whether each quote is closed and the rows agree; and how many there are."""
    csv.field_size_limit(LINE)
    width, count = 0, 0
    try:
        for row in csv.reader(lines, delimiter="\t", strict=True):
            if any(map(str.strip, row)):
                width, count = width or len(row), count + 1
                if len(row) != width:
                    return False, count
    except csv.Error:
        return False, count
    return True, count


def encloses(lines: tuple[int, int], quoted: tuple[bool, int]) -> bool:
    """Return whether quotes enclose fields, by `lines_agree` and `quoted_rows` of the same table.

    They are letters where each line is a row by itself and the quotes are not closed, or would make fewer rows.
    """
    (tabs, count), (closed, rows) = lines, quoted
    return closed and (tabs < 1 or rows == count) or not closed and tabs < 0


def swallowed(row: Sequence[str], delimiter: str) -> bool:
    """Return whether each line of a row of several lines looks like a row by itself: a quote was opened and never meant.

    Each has as many fields, and one that is a number or date in all; or there are three fields and more.
    """
    pieces = [line.split(delimiter) for line in delimiter.join(row).replace("\r\n", "\n").split("\n")]
    if len(row) < 2 or any(len(piece) != len(row) for piece in pieces):
        return False
    return len(row) > 2 or any(all(is_value(piece[place].strip()) for piece in pieces) for place in range(len(row)))
