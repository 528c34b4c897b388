"""The user's own table: csv, tsv, jsonl, parquet, xlsx or plain lines, from a file or stdin, every column unchanged.

    path -> Source (its kind, encoding, delimiter) -> Table (its text column, its rows in parts)

Every value of csv and tsv stays text: no NA, no guessed numbers. Memory is bounded for any file.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from pathlib import Path
from sys import getsizeof
from typing import Any, Callable, Optional, TypeVar, Union

from .._io.bounded import read_json
from ..errors import DataError, list_names
from .bounded_lines import PIECE, check_columns, cut, emptied, lines
from .columns import NAMED, TEXT_COLUMNS, choose_text, known_in, refuse_values
from .columns import require_column as require_column
from .csv_tables import MeasuredLines, RowLines, csv_rows
from .json_tables import AS_LINES, json_items
from .oddities import oddity
from .parquet import LEVELS, parquet_file, parquet_rows
from .sources import FIELDS, Source, Span, announce, find_source, open_text
from .xlsx import numbered_rows, plain_dates

PART_ROWS = 8192
# Texts of the first part on which something may be remarked
REMARKED = 1000


class TablePart(dict[str, list[Any]]):
    """Some rows of a table: {column: its cells}, equally many. `types` are those of a parquet file's columns,
    `remark` is what is to be said of the header, in the first part of a workbook.
    """

    types: Mapping[str, object] = {}
    remark: str = ""

    @property
    def rows(self) -> int:
        return len(next(iter(self.values()), ()))


@dataclass(frozen=True)
class Table:
    """A table that is being read: where from, which column has the texts, and its rows, in order."""

    source: Source
    text_column: str
    parts: Iterator[TablePart]


Reader = Callable[[Source, int, Optional[Span]], Iterator[TablePart]]
Row = TypeVar("Row", list[str], list[object])


def open_table(
    path: Union[str, Path, Source],
    text_column: Optional[object] = None,
    rows: int = PART_ROWS,
    kind: Optional[str] = None,
    encoding: Optional[str] = None,
    note: Callable[[Source], object] = announce,
    sheet: Optional[str] = None,
    header: Optional[object] = None,
) -> Table:
    """Open a table, whose parts have at most `rows` rows.

    `path` is a file, "-" for stdin, which is streamed (parquet and xlsx are read whole), or a Source. What is None is found:
    the column of the texts (a name, or a number from 1) by `columns.choose_text`; the `kind` (csv, tsv, jsonl, parquet,
    xlsx, nsmc, or lines of one review each) by the name and the content; the encoding (utf-8, cp949, euc-kr, utf-16); the
    first visible sheet, or the only one with texts; the `header`, a row from 1 or "none", by `headers.find_header`. The
    delimiter of csv is found in any case. `note` is called once with the Source: it says on stderr what is not as the
    file's name promises. DataError, also while the parts are read, where the file is missing, empty, of no known kind or
    encoding, or malformed (with its line); where no column is the text's, or it has numbers.
    """
    source = path if isinstance(path, Source) else find_source(path, kind, encoding, sheet, header)
    try:
        table = likeliest_sheet(source, None if text_column is None else str(text_column), rows)
    except DataError:
        note(source)
        raise
    note(table.source)
    return table


def likeliest_sheet(source: Source, text_column: Optional[str], rows: int) -> Table:
    """Return the Table of a Source; of a workbook whose first sheet may have no reviews, that of another one that has.

    That is the only other sheet with a column of texts by its name, else by its cells. DataError where there are several
    and the first sheet has no texts.
    """
    table: Optional[Table] = None
    problem: Optional[DataError] = None
    only = not source.guessed or not source.other_sheets
    try:
        table = opened(source, text_column, rows)
        # a cover with a sentence may be taken for a table
        if only or known_in(table.text_column, NAMED):
            return table
    except DataError as error:
        if only:
            raise
        problem = error
    others = {}
    for name in source.other_sheets:
        rest = tuple(other for other in (source.sheet, *source.other_sheets) if other != name)
        with suppress(DataError):
            others[name] = opened(replace(source, sheet=name, other_sheets=rest), text_column, rows)
    known = {name: other for name, other in others.items() if known_in(other.text_column, NAMED)}
    if table or known:
        others = known
    if len(others) == 1:
        return next(iter(others.values()))
    if table:
        return table
    if not others and problem:
        raise problem
    expected = f"expected one sheet with reviews, found {list_names(map(repr, others))}"
    raise DataError(f"{source.path}: {expected}; name one by sheet (--sheet)") from problem


def opened(source: Source, text_column: Optional[str], rows: int) -> Table:
    """Return the Table of a Source, whose remarks say which column has the texts where its name does not."""
    parts = parts_of(source, rows, text_column=text_column)
    first = next(parts, None)
    column, remarks = text_column or TEXT_COLUMNS[0], [*source.remarks]
    if first is not None and source.kind != "lines":
        chosen = choose_text(first, text_column, source.path)
        column = chosen.name
        refuse_values(first, column, source.path)
        remarks += filter(None, [first.remark, chosen.note])
    # a column that is given may not be there, which `with_column` says
    cells = first.get(column, []) if first else []
    remarks += filter(None, [oddity([as_text(cell) for cell in cells[:REMARKED]])])
    every = parts if first is None else chain(emptied([first]), parts)
    return Table(replace(source, remarks=tuple(remarks)), column, with_column(every, column, source.path))


def parts_of(
    source: Source, rows: int = PART_ROWS, span: Optional[Span] = None, text_column: Optional[str] = None
) -> Iterator[TablePart]:
    """Yield a source's rows, or those of a span, in parts of at most `rows` rows; `text_column` names lines."""
    readers: dict[str, Reader] = {"jsonl": read_jsonl, "parquet": read_parquet, "xlsx": read_xlsx}
    readers["lines"] = partial(read_lines, text_column or TEXT_COLUMNS[0])
    readers["json"] = partial(read_json_table, text_column or TEXT_COLUMNS[0])
    return readers.get(source.kind, read_csv)(source, rows, span)


def with_column(parts: Iterable[TablePart], column: str, path: Path) -> Iterator[TablePart]:
    """Yield parts; DataError for one that lacks the column, as rows of jsonl may."""
    for part in parts:
        require_column(part, column, path)
        yield part


def cells_of(parts: Iterable[TablePart], column: str) -> list[Any]:
    """Return the cells of a column in all parts, None in those that lack it."""
    return [cell for part in parts for cell in part.get(column) or [None] * part.rows]


def columns_of(path: Path, columns: Sequence[str]) -> list[list[str]]:
    """Return the cells of columns of all rows, as text; DataError as `open_table`, and for a column that is missing."""
    announce(source := find_source(path))
    parts = list(parts_of(source, text_column="lines of text"))
    for column in columns:
        require_column(dict.fromkeys(chain.from_iterable(parts)), column, path, "")
    return [list(map(as_text, cells_of(parts, column))) for column in columns]


def spans(source: Source, rows: int) -> Iterator[Span]:
    """Cut a text file between its rows into Spans of at most `rows` rows and about PIECE bytes; at least one."""
    with open_text(source, newline="") as text:
        read, fields = MeasuredLines(text, source), source.kind in FIELDS
        records: Iterator[Any] = csv_rows(read, source) if fields else iter(read)
        header, count, cuts = tuple(next(records)) if fields else (), 0, 0
        start, line = read.position, read.number
        for record in records:
            read.length = 0
            # blank rows come with the one that follows them
            if read.position == start:
                continue
            count += 1
            # a part of jsonl does not end with a blank line, which would be left out
            if source.kind == "jsonl" and not record.strip():
                continue
            if count == rows or read.position - start >= PIECE:
                yield Span(start, read.position, header, line)
                start, line, count, cuts = read.position, read.number, 0, cuts + 1
        # a table without rows is one Span too
        if count or not cuts:
            yield Span(start, read.position, header, line)


def read_csv(source: Source, rows: int, span: Optional[Span]) -> Iterator[TablePart]:
    with open_text(source, "", span) as file:
        read = RowLines(file, source, span.line if span else 0)
        records = csv_rows(read, source, span.header if span else ())
        header = list(span.header) if span else next(records)
        yield from parts_with(header, records, rows, lambda row: getsizeof(row) + sum(map(getsizeof, row)))


def read_xlsx(source: Source, rows: int, span: Optional[Span]) -> Iterator[TablePart]:
    remarks: list[str] = []
    records = (row for _, row in numbered_rows(source, remarks))
    header = list(map(str, next(records)))
    check_columns(header, f"{source.path} row {source.header or 1}")
    for part in parts_with(header, records, rows, memory):
        dated = TablePart((name, plain_dates(cells)) for name, cells in part.items())
        dated.remark = remarks.pop() if remarks else ""
        yield dated


def parts_with(header: list[str], records: Iterator[Row], rows: int, size: Callable[[Row], int]) -> Iterator[TablePart]:
    """Yield parts of rows as `pieces.cut` cuts them; at least one, as a table without rows still has columns."""
    pieces = cut(records, rows, size)
    for piece in chain(emptied([next(pieces, [])]), pieces):
        yield TablePart(zip(header, map(list, zip(*piece) if piece else [()] * len(header))))


def read_jsonl(source: Source, rows: int, span: Optional[Span]) -> Iterator[TablePart]:
    with open_text(source, span=span) as file:
        before, path = span.line if span else 0, source.path
        numbered = up_to_the_last(enumerate(lines(file, path, before), before + 1))
        objects = (parse_object(line, f"{path} line {number}") if line else {} for number, line in numbered)
        yield from parts_of_dicts(objects, rows, path)


def up_to_the_last(numbered: Iterable[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """Yield (number, line) from the first to the last line of a file that is not blank; a blank one is empty."""
    blank: list[int] = []
    for number, line in numbered:
        if not line.strip():
            blank.append(number)
            continue
        yield from ((each, "") for each in blank if blank[0] > 1)
        blank.clear()
        yield number, line


def read_json_table(text_column: str, source: Source, rows: int, span: Optional[Span]) -> Iterator[TablePart]:
    with open_text(source) as file:
        items = checked_items(json_items(file, source.path), text_column, source.path)
        yield from parts_of_dicts(items, rows, source.path)


def checked_items(items: Iterable[tuple[int, object]], text_column: str, path: Path) -> Iterator[dict[str, object]]:
    """Yield objects, and texts as objects; DataError, with its number, for another value."""
    for number, value in items:
        row = {text_column: value} if isinstance(value, str) else value
        yield checked_object(row, f"{path} object {number}", f"; {AS_LINES}")


def parts_of_dicts(objects: Iterable[dict[str, object]], rows: int, path: Path) -> Iterator[TablePart]:
    return (from_rows(piece, path) for piece in cut(objects, rows, memory))


def from_rows(rows: list[dict[str, object]], path: Path) -> TablePart:
    """Make a TablePart of dicts, values unchanged but NaN, which is None, as is what a row lacks."""
    names = dict.fromkeys(chain.from_iterable(rows))
    check_columns(names, path)
    return TablePart((name, [None if is_nan(cell := row.get(name)) else cell for row in rows]) for name in names)


def is_nan(value: object) -> bool:
    return isinstance(value, float) and value != value


def parse_object(line: str, where: str) -> dict[str, object]:
    value = read_json(line, where, DataError, "a JSON object")
    # most lines cannot be nested too deeply
    if isinstance(value, dict) and line.count("{") + line.count("[") <= LEVELS:
        return value
    return checked_object(value, where)


def checked_object(value: object, where: str, advice: str = "") -> dict[str, object]:
    """Return a value; DataError if it is no JSON object, with the advice, or nested too deeply."""
    if not isinstance(value, dict):
        raise DataError(f"{where}: expected a JSON object, found {type(value).__name__}{advice}")
    if deeper(value, LEVELS):
        raise DataError(f"{where}: expected at most {LEVELS} nested lists and objects")
    return value


def deeper(value: object, levels: int) -> bool:
    if not isinstance(value, (dict, list)):
        return False
    inside = value.values() if isinstance(value, dict) else value
    return not levels or any(deeper(item, levels - 1) for item in inside)


def read_lines(text_column: str, source: Source, rows: int, span: Optional[Span]) -> Iterator[TablePart]:
    with open_text(source, span=span) as file:
        for piece in cut(lines(file, source.path, span.line if span else 0), rows, getsizeof):
            yield TablePart({text_column: [line.rstrip("\r\n") for line in piece]})


def read_parquet(source: Source, rows: int, span: Optional[Span]) -> Iterator[TablePart]:
    path = source.path
    with parquet_file(source) as (file, shared):
        schema = file.schema_arrow
        check_columns(schema.names, path)
        types = dict(zip(schema.names, schema.types))
        groups = range(span.start, span.end) if span else range(file.num_row_groups)
        parts = parts_of_dicts(parquet_rows(file, shared, groups), rows, path)
        for part in chain(emptied([next(parts, TablePart((name, []) for name in schema.names))]), parts):
            part.types = types
            yield part


def memory(value: object) -> int:
    """Return the bytes of a value and everything inside it but the keys of dicts; what many share counts each time."""
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else ()
    return getsizeof(value) + sum(map(memory, inside))


def is_missing(value: object) -> bool:
    """Return whether a cell is None, NaN, or pandas' NA or NaT."""
    # of pandas, which is not imported for them
    return value is None or is_nan(value) or type(value).__name__ in ("NAType", "NaTType")


def as_text(value: object) -> str:
    """Return a cell as text, empty for a missing value (None, NaN, NA, NaT); DataError for bytes that are not UTF-8."""
    if is_missing(value):
        return ""
    if not isinstance(value, bytes):
        return str(value)
    try:
        return value.decode()
    except UnicodeDecodeError:
        raise DataError(f"expected UTF-8 text in a column of bytes, found {value[:20]!r}") from None
