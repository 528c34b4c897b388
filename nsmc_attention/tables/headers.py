"""The row of a table that names its columns, found by the first rows; titles above it are left out.

first rows -> Header (row, names)
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Optional

from ..errors import ConfigError, DataError
from .columns import KNOWN, NAMED, SYLLABLE, is_sentence, is_value, known_in

# Rows in which a header is sought
SEARCHED = 10
SHORT = re.compile(r"[^\s]{1,12}")
# The end of a survey's question, which is a name as well as a sentence
QUESTION = re.compile(r".*(?:주세요|주십시오|바랍니다|니까|나요|까요|인가요)[\s.?)]*", re.DOTALL)
ADVICE = "name its row by header (--header ROW), or say --header none and the texts' column by --text-column NUMBER"


@dataclass(frozen=True)
class Header:
    """The names of a table's columns, and the rows, from 1, before its first review; `row` is 0 where there is none."""

    row: int
    names: tuple[str, ...]
    before: int

    @property
    def note(self) -> str:
        """The note for the user if the header is not the first row with content."""
        if not self.row:
            return f"no header, so its columns are called {', '.join(self.names[:3])}{', ...' * (len(self.names) > 3)}"
        return f"the header is row {self.row}"


def header_row(header: Optional[object]) -> Optional[int]:
    """Return the row of `--header`, 0 for none; ConfigError for what is neither."""
    if header is None:
        return None
    text = str(header).strip().lower()
    if text == "none":
        return 0
    if not text.isdecimal() or int(text) < 1:
        raise ConfigError(f"--header: expected a row from 1, or none, found {str(header)[:40]!r}")
    return int(text)


def column_names(count: int) -> tuple[str, ...]:
    return tuple(f"column {number}" for number in range(1, count + 1))


def texts_in(row: Iterable[object]) -> list[str]:
    return ["" if cell is None else str(cell).strip() for cell in row]


def named_row(rows: Sequence[Sequence[object]], number: int, where: object) -> Header:
    """Return the Header of a `--header`; DataError where there is no such row."""
    if not number:
        return Header(0, column_names(max(map(len, rows), default=0)), 0)
    names = texts_in(rows[number - 1]) if number <= len(rows) else []
    if not any(names):
        raise DataError(f"{where}: expected a header in row {number} (--header), found a blank or no row there")
    return Header(number, tuple(names), number)


def find_header(rows: Sequence[Sequence[object]], where: object) -> Optional[Header]:
    """Return the Header of a table by its first rows, blank ones included; None where it is the first that is not blank.

    DataError where the first row may be a header as well as a review.
    """
    cells = [texts_in(row) for row in rows]
    if not (filled := [number for number, row in enumerate(cells) if any(row)]):
        return None
    start = below_titles(cells, filled)
    if two := both_rows(cells, start):
        return Header(start + 2, two, start + 2)
    below = [row for row in cells[start + 1 :] if any(row)]
    if (kind := without_header(cells[start], below)) is None:
        first = next(cell for cell in cells[start] if cell)
        raise DataError(f"{where} line {start + 1}: found no known name of a column, but {first[:30]!r}; {ADVICE}")
    if kind:
        return Header(0, column_names(max(map(len, cells))), start)
    return Header(start + 1, tuple(cells[start]), start + 1) if start != filled[0] else None


def is_name(cell: str) -> bool:
    return 0 < len(cell) <= 40 and not is_value(cell) and not (is_sentence(cell) and not known_in(cell, KNOWN))


def names_columns(row: Sequence[str]) -> bool:
    """Return whether cells look like names of columns, of which one is known."""
    cells = [cell for cell in row if cell]
    return all(map(is_name, cells)) and len(set(cells)) == len(cells) and any(known_in(cell, KNOWN) for cell in cells)


def below_titles(rows: Sequence[Sequence[str]], filled: Sequence[int]) -> int:
    """Return the place of the header below a title or a date: the first row of names that has more cells than those."""
    first = rows[filled[0]]
    count = sum(map(bool, first))
    named = any(known_in(cell, NAMED) for cell in first)
    if named and count > 1 or names_columns(first) and count > 2:
        return filled[0]
    for place in filled[1:SEARCHED]:
        row, above = rows[place], [rows[number] for number in filled if number < place]
        cells = [cell for cell in row if cell]
        if len(cells) <= max(sum(map(bool, upper)) for upper in above) or not all(map(is_name, cells)):
            continue
        below = [rows[number] for number in filled if number > place]
        # one known name may be a title, too, where two are below it
        if names_columns(row) and (not named or sum(known_in(cell, KNOWN) for cell in cells) > 1):
            return place
        if count == 1 and not named and differs(row, below):
            return place
    return filled[0]


def with_cells_below(row: Sequence[str], below: Sequence[Sequence[str]]) -> list[tuple[str, list[str]]]:
    """Return (cell, those below it) for each column of a row in which both have something."""
    columns = ([cells[place] for cells in below if place < len(cells) and cells[place]] for place in range(len(row)))
    return [(cell, under) for cell, under in zip(row, columns) if cell and under]


def differs(row: Sequence[str], below: Sequence[Sequence[str]]) -> bool:
    """Return whether a column has only numbers or dates below a cell that is neither."""
    return any(not is_value(cell) and all(map(is_value, under)) for cell, under in with_cells_below(row, below))


def both_rows(rows: Sequence[Sequence[str]], start: int) -> tuple[str, ...]:
    """Return the names of a header of two rows, merged cells of which are blank; nothing for one of one row."""
    if start + 2 >= len(rows):
        return ()
    pairs = list(zip_longest(rows[start], rows[start + 1], fillvalue=""))
    merged = any(down and not up for up, down in pairs) and any(up and not down for up, down in pairs)
    if not merged or not names_columns([down for _, down in pairs]):
        return ()
    names = tuple(down or up for up, down in pairs)
    return names if names_columns(names) and len(set(names)) == len(names) else ()


def without_header(first: Sequence[str], below: Sequence[Sequence[str]]) -> Optional[bool]:
    """Return whether a first row is data like those below it; None where it may be names as well as a review."""
    if any(known_in(cell, KNOWN) for cell in first) or counted(first) or differs(first, below):
        return False
    if not below:
        return any(map(is_value, first)) and any(map(is_sentence, first))
    pairs = with_cells_below(first, below)
    if any(is_value(cell) and all(map(is_value, under)) for cell, under in pairs):
        return True
    texts = [(cell, under) for cell, under in pairs if sum(map(is_sentence, under)) * 2 >= len(under)]
    if any(is_sentence(cell) and not QUESTION.fullmatch(cell) for cell, _ in texts):
        return True
    return None if any(in_doubt(cell) for cell, _ in texts) else False


def counted(first: Sequence[str]) -> bool:
    """Return whether names are 0, 1, 2, ..., as pandas writes where there are none."""
    names = [cell for cell in first if cell]
    return bool(names) and names == [str(number) for number in range(len(names))]


def in_doubt(cell: str) -> bool:
    """Return whether a cell above sentences may be a short review: Hangul of several words, or with the end of one."""
    if not SYLLABLE.search(cell) or len(cell) < 2:
        return False
    return " " in cell or not SHORT.fullmatch(cell) or cell[-1] in "다요네죠음임.!?~ㅋㅎㅠㅜ"
