"""The user's table: csv, tsv, jsonl, json, parquet, xlsx or plain lines, from a file or stdin, with all columns unchanged.

    path -> Source (its kind, encoding, delimiter) -> Table (its text column, its rows in parts)

Values of csv and tsv stay text: no NA, no guessed numbers. Memory does not grow with the rows of a text file.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any, Optional, Union

from ..errors import DataError, list_names
from .columns import NAMED, TEXT_COLUMNS, choose_text, known_in, refuse_values, require_column
from .parts import PART_ROWS, Source, TablePart
from .rows import parts_of
from .source import announce, find_source


@dataclass(frozen=True)
class Table:
    """A table that is being read: its source, its column of texts, and its rows in parts, in order."""

    source: Source
    text_column: str
    parts: Iterator[TablePart]


def open_table(
    path: Union[str, Path, Source],
    text_column: Optional[object] = None,
    rows: int = PART_ROWS,
    note: Callable[[Source], object] = announce,
    **how: Any,
) -> Table:
    """Open a table in parts of at most `rows` rows.

    Parameters
    ----------
    path : path, str or Source
        A file, or "-" for stdin, which is streamed (json, parquet and xlsx are read whole).
    text_column : str, int or None
        The column of the texts, a name or a number from 1; None finds it by `columns.choose_text`.
    how : kind, encoding, sheet and header, each str or None
        As for `source.find_source`; None finds it. The default sheet of a workbook is the first visible one with texts.
    note : callable
        Called once with the Source; it reports on stderr how the file differs from the promise of its name.

    Raises
    ------
    DataError
        The file is missing, empty, of an unknown kind or encoding, or malformed (with the row), also while parts are
        read; no column has texts, or the column has numbers, objects or lists.
    """
    source = path if isinstance(path, Source) else find_source(path, **how)
    try:
        table = likeliest_sheet(source, None if text_column is None else str(text_column), rows)
    except DataError:
        note(source)
        raise
    note(table.source)
    return table


def likeliest_sheet(source: Source, text_column: Optional[str], rows: int) -> Table:
    """Open the Table of a Source. If the first sheet of a workbook has no known name of texts, take the only other sheet
    that has one, or that has texts. DataError if several others have, and the first sheet has no texts."""
    if source.kind != "xlsx" or not source.guessed or not source.other_sheets:
        return opened(source, text_column, rows)
    names, tables = (source.sheet, *source.other_sheets), list[Table]()
    for name in names:
        sheet = replace(source, sheet=name, other_sheets=tuple(other for other in names if other != name))
        with suppress(DataError):
            tables.append(opened(sheet, text_column, rows))
            if name == source.sheet and known_in(tables[-1].text_column, NAMED):
                return tables[-1]
    if not tables:
        # raises the error of the first sheet
        return opened(source, text_column, rows)
    best = [table for table in tables if known_in(table.text_column, NAMED)] or tables
    if len(best) > 1 and tables[0].source.sheet != source.sheet:
        sheets = list_names(repr(table.source.sheet) for table in best)
        raise DataError(f"{source.path}: expected one sheet with reviews, found {sheets}; name one by sheet (--sheet)")
    return best[0] if len(best) == 1 else tables[0]


def opened(source: Source, text_column: Optional[str], rows: int) -> Table:
    """Open the Table of a Source; a remark names the column of texts if its name is unusual."""
    parts = parts_of(source, rows, text_column=text_column)
    first = next(parts, None)
    column, remarks = text_column or TEXT_COLUMNS[0], [*source.remarks]
    if first is not None and source.kind != "lines":
        column, note = choose_text(first, text_column, source.path)
        refuse_values(first, column, source.path)
        remarks += filter(None, [note])
    all_parts = parts if first is None else chain([first], parts)
    return Table(replace(source, remarks=tuple(remarks)), column, with_column(all_parts, column, source.path))


def with_column(parts: Iterable[TablePart], column: str, path: Path) -> Iterator[TablePart]:
    """Yield parts, with the merged cells of other columns filled; DataError for a part without the column (jsonl)."""
    for part in parts:
        require_column(part, column, path)
        for name, below in part.merged.items():
            if name != column:
                part[name] = [below.get(number, cell) for number, cell in zip(part.numbers, part[name])]
        yield part
