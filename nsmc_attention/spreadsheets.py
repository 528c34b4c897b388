"""Texts as cells of a table that a spreadsheet shows and does not compute.

A cell that begins as a formula (=, +, -, @, also in full width, or after white space) is one to Excel and its like,
and a formula can start programs and send what is beside it away (OWASP, CSV injection). An apostrophe before it makes
it text. No two texts become the same cell: who takes one apostrophe away from each cell that `MARKED` matches has
the table as it was.
"""
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas

FORMULA = re.compile(r"'*[\s\0]*[=+\-@＝＋－＠]|'*[\t\r\n]")
MARKED = re.compile(r"'(?:" + FORMULA.pattern + ")")
NUMBER = re.compile(r"[+-]?[0-9][0-9.,]*(?:[eE][+-]?[0-9]+)?%?")


def as_cell(value: Any) -> Any:
    """Answer a cell's value so that no spreadsheet computes it; numbers, and what is no str, as they are."""
    if not isinstance(value, str) or not FORMULA.match(value) or NUMBER.fullmatch(value):
        return value
    return "'" + value


def as_csv(table: "pandas.DataFrame") -> str:
    """Answer a DataFrame as csv for a spreadsheet, `as_cell` done to its values, its columns' names and its index."""
    shown = table.rename(index=as_cell, columns=as_cell)
    shown = shown.apply(lambda column: column.map(as_cell) if column.dtype == object else column)
    # with both in its line ends, a bare one of them is quoted too
    text: str = shown.to_csv(lineterminator="\r\n")
    return "\ufeff" + text
