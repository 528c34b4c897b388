"""Texts as cells of a table that a spreadsheet shows and does not compute.

A cell that begins as a formula (=, +, -, @, also in full width, or after what is not seen) is one to Excel and its
like, and a formula can start programs and send what is beside it away (OWASP, CSV injection). An apostrophe before it
makes it text. No two texts become the same cell: who takes one apostrophe away from each cell that `MARKED` matches
has the table as it was.

Which of SEPARATORS a spreadsheet splits at is a matter of its country and settings. So that no cell begins within
another, one with any of them stands in quotes. That holds a cell together where the comma (in tsv the tab) is split at
too, and in the first column everywhere.
"""

import csv
import io
import re
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import pandas

# Characters of Unicode's category Cf that take no room: the byte-order mark, which readers drop, and its like
FORMAT = "\xad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff"
FORMULA = re.compile(rf"'*[\s\0{FORMAT}]*[=+\-@＝＋－＠]|'*[{FORMAT}]*[\t\r\n]")
MARKED = re.compile(r"'(?:" + FORMULA.pattern + ")")
NUMBER = re.compile(r"[+-]?[0-9][0-9.,]*(?:[eE][+-]?[0-9]+)?%?")
SEPARATORS = ",;\t"
# see ShortLineEnds
LINE_END = SEPARATORS + "\r\n"


def as_cell(value: Any) -> Any:
    """Answer a cell's value so that no spreadsheet computes it; numbers, and what is no str, as they are."""
    if not isinstance(value, str) or not FORMULA.match(value) or NUMBER.fullmatch(value):
        return value
    return "'" + value


class Writable(Protocol):
    """What rows can be written to."""

    def write(self, text: str, /) -> object: ...


class ShortLineEnds:
    """A file for a csv.writer whose rows end in LINE_END, of which it keeps `end` alone.

    A csv.writer quotes each cell that has a character of its line end: told LINE_END it quotes all that could be taken
    for more than one cell, a bare \\r and \\n too, and no other.
    """

    def __init__(self, file: Writable, end: str):
        self.file, self.end = file, end

    def write(self, row: str) -> object:
        return self.file.write(row[: -len(LINE_END)] + self.end)


def table_writer(file: Writable, delimiter: str = ",") -> Any:
    """Answer a csv.writer of lines that end in a line feed; it quotes what could be taken for more than one cell."""
    return csv.writer(ShortLineEnds(file, "\n"), delimiter=delimiter, lineterminator=LINE_END)


def as_csv(table: "pandas.DataFrame") -> str:
    """Answer a DataFrame as csv for a spreadsheet, `as_cell` done to its values, its columns' names and its index."""
    shown = table.rename(index=as_cell, columns=as_cell)
    shown = shown.apply(lambda column: column.map(as_cell) if column.dtype == object else column)
    text = io.StringIO(newline="")
    shown.to_csv(ShortLineEnds(text, "\r\n"), lineterminator=LINE_END)
    return "\ufeff" + text.getvalue()
