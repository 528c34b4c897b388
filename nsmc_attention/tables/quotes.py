"""Quotation marks of tables: whether they enclose fields or are letters. Imports no pandas, which is slow.

A tsv of a spreadsheet program or pandas has quotes around fields with line ends and quotes; one of other tools has none,
and a review that begins with a quote would swallow the rows up to the next one.
"""

import csv
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Optional, TextIO

from .bounded_lines import LINE
from .columns import is_value

# Characters read at a time
BLOCK = 1 << 20


def csv_reader(lines: Iterable[str], delimiter: str, quoted: bool = True) -> Iterator[list[str]]:
    """Return the rows of lines, whose fields are enclosed in quotes, or have them as letters; csv.Error for an open quote."""
    # of the whole process; csv's own limit is lower than a row's here
    csv.field_size_limit(LINE)
    if quoted:
        return csv.reader(lines, delimiter=delimiter, strict=True)
    return csv.reader(lines, delimiter=delimiter, strict=True, quoting=csv.QUOTE_NONE)


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
    """Return lines, cut where they are longer than any row may be."""
    return iter(lambda: file.readline(LINE + 1), "")


@dataclass
class Reading:
    """One way to read tab-separated text: its width, 0 for rows that differ, its rows, and the columns of values alone."""

    width: int = 0
    rows: int = 0
    values: Optional[set[int]] = None

    def add(self, row: Sequence[str]) -> bool:
        """Count a row; return whether it is as wide as the others. The first one names the columns."""
        self.rows += 1
        if self.rows == 1:
            self.width = len(row)
            return True
        left = range(len(row)) if self.values is None else self.values
        if left or self.values is None:
            self.values = {place for place in left if place < len(row) and is_value(row[place].strip())}
        return len(row) == self.width


def read_letters(lines: Iterable[str]) -> Reading:
    """Read each line as a row. A title above the first line that has tabs is left out."""
    reading = Reading()
    for line in lines:
        row = line.rstrip("\r\n").split("\t")
        if not line.strip():
            continue
        if len(row) > 1 and reading.width == 1:
            reading = Reading()
        if not reading.add(row):
            return Reading()
    return reading


def read_quoted(lines: Iterable[str]) -> Reading:
    """Read fields that quotes enclose; the width is 0 where one is not closed."""
    reading = Reading()
    try:
        for row in csv_reader(lines, "\t"):
            if any(map(str.strip, row)) and not reading.add(row):
                return Reading()
    except csv.Error:
        return Reading()
    return reading


def encloses(letters: Reading, quoted: Reading) -> bool:
    """Return whether quotes enclose fields, by `read_letters` and `read_quoted` of the same table.

    They are letters where each line is a row by itself and the quotes are not closed, or would make fewer rows, unless
    only these rows have a column of numbers.
    """
    if not letters.width or not quoted.width:
        return not letters.width
    if letters.width == 1 or letters.rows == quoted.rows:
        return True
    return bool((quoted.values or set()) - (letters.values or set()))


def swallowed(row: Sequence[str], delimiter: str) -> bool:
    """Return whether each line of a row of several lines looks like a row by itself: a quote was opened and never meant.

    Each has as many fields, and one that is a number or date in all; or there are three fields and more.
    """
    pieces = [line.split(delimiter) for line in delimiter.join(row).replace("\r\n", "\n").split("\n")]
    if len(row) < 2 or any(len(piece) != len(row) for piece in pieces):
        return False
    return len(row) > 2 or any(all(is_value(piece[place].strip()) for piece in pieces) for place in range(len(row)))
