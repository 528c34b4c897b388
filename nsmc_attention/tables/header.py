"""The header of a table, found in its first rows; titles above it are left out.

first rows -> Header (row, names)
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Optional

from ..errors import ConfigError, DataError
from .columns import KNOWN, NAMED, ends_known, is_sentence, is_value, known_in, normalized, syllables_in

# Rows that may be the header, and rows that are compared with it
HEADER_ROWS, FIRST_ROWS = 30, 50
# The end of a survey's question, which is a name as well as a sentence
QUESTIONS = ("주세요", "주십시오", "바랍니다", "니까", "나요", "까요", "인가요")
ADVICE = "name its row by header (--header ROW), or say --header none and the texts' column by --text-column NUMBER"
Rows = Sequence[Sequence[str]]


@dataclass(frozen=True)
class Header:
    """The names of a table's columns, and the number of rows `before` its first review; `row` is 0 for no header."""

    row: int
    names: tuple[str, ...]
    before: int
    note: str = ""


def header_row(header: Optional[object]) -> Optional[int]:
    """Return the row of `--header`, 0 for "none"; ConfigError for any other text."""
    if header is None:
        return None
    text = str(header).strip().lower()
    if text != "none" and not (text.isdecimal() and int(text)):
        raise ConfigError(f"--header: expected a row from 1, or none, found {str(header)[:40]!r}")
    return 0 if text == "none" else int(text)


def header_of(rows: Rows, number: Optional[int], where: object) -> Header:
    """Return the Header of a table from its first rows, blank ones included; `number` is its row, 0 for no header.

    DataError for a table without rows, without that row, or whose first row may be names as well as a review.
    """
    filled = [row_number for row_number, row in enumerate(rows, start=1) if any(row)]
    if number is None and not filled:
        raise DataError(f"{where}: the file is empty; expected a header and reviews")
    if number and number not in filled:
        raise DataError(f"{where}: expected a header in row {number} (--header), found a blank or no row there")
    row = below_titles(rows, filled) if number is None else number
    # merged cells may span two rows: the lower one has the names
    if number is None and "" in rows[row - 1] and row < len(rows) and names_columns(rows[row]):
        row += 1
    row = row if number is not None or names_are_certain(rows, row, where) else 0
    if row:
        note = f"the header is row {row}" if number is None and row != filled[0] else ""
        # Qualtrics adds rows with the questions and their ids
        if {cell[:11] for below in rows[row + 1 : row + 2] for cell in below if cell} == {'{"ImportId"'}:
            return Header(row, tuple(rows[row - 1]), row + 2, "left out two rows below the header, on the questions")
        return Header(row, tuple(rows[row - 1]), row, note)
    names = tuple(f"column {number}" for number in range(1, max(map(len, rows), default=0) + 1))
    note = f"no header, so its columns are called {', '.join(names[:3])}{', ...' * (len(names) > 3)}"
    return Header(0, names, filled[0] - 1 if number is None else 0, note if number is None else "")


def is_name(cell: str) -> bool:
    return len(cell) <= 40 and not is_value(cell) and (known_in(cell, KNOWN) or not is_sentence(cell))


def names_columns(row: Sequence[str]) -> bool:
    """Return whether all cells look like names of columns, and one name is known."""
    cells = [cell for cell in row if cell]
    return all(map(is_name, cells)) and len(set(cells)) == len(cells) and any(known_in(cell, KNOWN) for cell in cells)


def below_titles(rows: Rows, filled: Sequence[int]) -> int:
    """Return the header's row below a title or a date: the first row with more names, or one name of texts."""
    first, most = [cell for cell in rows[filled[0] - 1] if cell], 0
    named = any(known_in(cell, NAMED) for cell in first)
    if len(first) > 1 and (named or names_columns(first) and len(first) > 2):
        return filled[0]
    single = filled[1:2] if normalized(first[0]) not in NAMED and all(sum(map(bool, row)) < 2 for row in rows) else []
    for number in filled[:HEADER_ROWS]:
        cells = [cell for cell in rows[number - 1] if cell]
        wider, most = len(cells) > most or number in single and known_in(cells[0], NAMED), max(most, len(cells))
        if number == filled[0] or not wider or not all(map(is_name, cells)):
            continue
        # one known name may be a title if two are below it
        if names_columns(cells) and (not named or number in single or sum(known_in(cell, KNOWN) for cell in cells) > 1):
            return number
        if len(first) == 1 and not named and any(has_values_below(rows, number)):
            return number
    return filled[0]


def columns_below(rows: Rows, number: int) -> Iterator[tuple[str, list[str]]]:
    """Yield (cell, filled cells below it) for each column of a row that has both."""
    for place, cell in enumerate(rows[number - 1]):
        under = [row[place] for row in rows[number:] if place < len(row) and row[place]]
        if cell and under:
            yield cell, under


def has_values_below(rows: Rows, number: int) -> Iterator[bool]:
    """Yield for each column of a row whether only numbers or dates are below a cell that is neither."""
    return (not is_value(cell) and all(map(is_value, under)) for cell, under in columns_below(rows, number))


def names_are_certain(rows: Rows, number: int, where: object) -> bool:
    """Return whether a row names the columns, unlike the rows below it; DataError if it may be a review too."""
    cells, columns = [cell for cell in rows[number - 1] if cell], list(columns_below(rows, number))
    is_numbered = cells == [str(place) for place in range(len(cells))]
    is_known = any(known_in(cell, KNOWN) or ends_known(cell) for cell in cells)
    if is_known or is_numbered or any(has_values_below(rows, number)):
        return True
    if not columns:
        return not (any(map(is_value, cells)) and any(map(is_sentence, cells)))
    if any(is_value(cell) and all(map(is_value, under)) for cell, under in columns):
        return False
    above_texts = [cell for cell, under in columns if sum(map(is_sentence, under)) * 2 >= len(under)]
    if any(is_sentence(cell) and not cell.rstrip(" .?)").endswith(QUESTIONS) for cell in above_texts):
        return False
    if doubtful := next(filter(may_be_review, above_texts), ""):
        raise DataError(f"{where} row {number}: found no known name of a column, but {doubtful[:30]!r}; {ADVICE}")
    return True


def may_be_review(cell: str) -> bool:
    """Return whether a cell above sentences may be a short review: several words, long, or with a sentence's end."""
    ends = cell.endswith(tuple("다요네죠음임.!?~ㅋㅎㅠㅜ"))
    return syllables_in(cell) > 0 and len(cell) > 1 and (any(map(str.isspace, cell)) or len(cell) > 12 or ends)
