"""Text as table cells that a spreadsheet displays and does not compute.

A cell that begins with =, +, - or @ (also full-width, or after invisible characters) is a formula, which can start
programs and send neighbouring cells away (OWASP, CSV injection). An apostrophe before it makes it text. Reversible:
strip one apostrophe from every cell that matches MARKED. A cell with any of SEPARATORS is quoted, because locale and
settings decide which of them a spreadsheet splits at.
"""

import csv
import io
import re
from collections.abc import Sequence
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas

# Zero-width characters of Unicode's category Cf, such as the byte-order mark, which readers drop
FORMAT = "\xad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff"
FORMULA = re.compile(rf"'*[\s\0{FORMAT}]*[=+\-@＝＋－＠]|'*[{FORMAT}]*[\t\r\n]")
MARKED = re.compile(r"'(?:" + FORMULA.pattern + ")")
NUMBER = re.compile(r"[+-]?[0-9][0-9.,]*(?:[eE][+-]?[0-9]+)?%?")
SEPARATORS = ",;\t"


def as_cell(value: object) -> object:
    """Return a cell's value, marked where a spreadsheet would compute it; numbers and other types unchanged."""
    if not isinstance(value, str) or not FORMULA.match(value) or NUMBER.fullmatch(value):
        return value
    return "'" + value


def as_cells(column: Sequence[object]) -> list[object]:
    """Return `as_cell` of each cell of a column."""
    # no formula begins with a letter or digit, as nearly every cell does
    return [cell if not cell or isinstance(cell, str) and cell[0].isalnum() else as_cell(cell) for cell in column]


class ShortLineEnds:
    """A file for a csv.writer whose rows end in `terminator`, instead of which `end` is written.

    A csv.writer quotes the cells that contain a character of its line terminator: here, all that could be read as several.
    """

    def __init__(self, file: IO[str], end: str, delimiter: str = ","):
        self.file, self.end = file, end
        # without the delimiter, whose cells are quoted in any case: Python 3.13 refuses it there
        self.terminator = SEPARATORS.replace(delimiter, "") + "\r\n"

    def write(self, row: str) -> object:
        return self.file.write(row[: -len(self.terminator)] + self.end)


def table_writer(file: IO[str], delimiter: str = ",") -> Any:
    """Return a csv.writer of lines that end in \\n, which quotes every cell that could be read as several."""
    lines = ShortLineEnds(file, "\n", delimiter)
    return csv.writer(lines, delimiter=delimiter, lineterminator=lines.terminator)


def as_csv(table: "pandas.DataFrame") -> str:
    """Return a DataFrame as csv for a spreadsheet: values, column names and a named index marked by `as_cell`, 6 digits.

    NUL characters, which no reader of csv takes and Python 3.10 does not write, are left out.
    """

    def shown_as(value: object) -> object:
        return as_cell(value.replace("\0", "") if isinstance(value, str) else value)

    shown = table.rename(index=shown_as, columns=shown_as)
    shown = shown.apply(lambda column: column.map(shown_as) if column.dtype == object else column)
    text = io.StringIO(newline="")
    lines, named = ShortLineEnds(text, "\r\n"), any(table.index.names)
    shown.to_csv(lines, index=named, float_format="%.6g", lineterminator=lines.terminator)
    return "\ufeff" + text.getvalue()
