"""The rows of a Source, read by csv, json, python-calamine or pyarrow.

csv, tsv, xlsx -> rows of cells -> header, parts of rows
lines, jsonl, json, parquet     -> parts of rows
"""

import csv
import json
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Any, Optional

from ..errors import DataError, required
from .columns import TEXT_COLUMNS, normalized
from .header import FIRST_ROWS, Header, header_of
from .parts import PART_BYTES, PART_ROWS, Source, TablePart, cut, is_nan
from .source import open_text, reader_of, say_once
from .workbook import display_values, opened_sheet

Row = list[Any]
MOST_COLUMNS = 2000
AS_LINES = "write one object a line: jq -c '.[]' FILE > FILE.jsonl, or to_json(orient='records', lines=True) of pandas"


def parts_of(source: Source, rows: int = PART_ROWS, text_column: Optional[str] = None) -> Iterator[TablePart]:
    """Yield a source's rows, in parts of at most `rows` rows; `text_column` is the name for plain lines."""
    column = text_column or TEXT_COLUMNS[0]
    readers: dict[str, Callable[..., Iterator[TablePart]]] = {"jsonl": read_jsonl, "parquet": read_parquet}
    readers.update(xlsx=read_xlsx, lines=partial(read_lines, column), json=partial(read_json, column))
    return readers.get(source.kind, read_csv)(source, rows)


def read_csv(source: Source, rows: int) -> Iterator[TablePart]:
    with open_text(source) as file:
        yield from grid_parts(csv_records(file, source), source, rows)


def read_xlsx(source: Source, rows: int) -> Iterator[TablePart]:
    with opened_sheet(source) as (records, merged):
        for part in grid_parts(records, source, rows):
            part.merged = {name: merged[column] for column, name in enumerate(part) if column in merged}
            part.update((name, display_values(cells)) for name, cells in [*part.items()])
            yield part


def csv_records(lines: Iterable[str], source: Source) -> Iterator[Row]:
    """Yield the rows of csv, tsv or nsmc; DataError, with the line, for a quote that is not closed."""
    reader, begun = reader_of(lines, source.delimiter, source.quoted), 1
    try:
        for row in reader:
            begun = reader.line_num + 1
            yield row
    except csv.Error as problem:
        advice = 'end the field with ", and write a quote within it as ""'
        expected = f"expected each quote to be closed, found {problem}"
        raise DataError(f"{source.path} line {begun}: {expected}; {advice}") from problem


def grid_parts(records: Iterator[Row], source: Source, rows: int) -> Iterator[TablePart]:
    """Find the header and yield parts of the rows below it, at least one, which may be empty but has the columns.

    DataError if two columns share a name, or a row has another number of cells.
    """
    first = list(islice(records, max(FIRST_ROWS, source.header or 0)))
    header = header_of([texts_in(row) for row in first], source.header, source.path)
    names, first = names_in(header, first), first[header.before :]
    if header.note:
        say_once(f"{source.path}: {header.note}")
    check_columns(names, f"{source.path} row {header.row or 1}")
    weights = [60 * len(row) + sum(len(cell) for cell in row if isinstance(cell, str)) for row in first]
    most = min(rows, max(16, PART_BYTES // (sum(weights) // (len(first) or 1) + 1)))
    records, grid, empty = chain(first, records), Grid(names, source, header.before), True
    while chunk := list(islice(records, most)):
        for part in grid.parts(chunk):
            empty = False
            yield part
    if empty:
        yield grid.part([], [])
    if grid.repeated:
        kind = "row that repeats" if grid.repeated == 1 else "rows that repeat"
        say_once(f"{source.path}: left out {grid.repeated:,} {kind} the header")


def names_in(header: Header, first: Sequence[Row]) -> list[str]:
    """Return the names in the header's row, up to the last filled cell; a blank name becomes "column 3"."""
    if not header.row:
        return list(header.names)
    cells = ["" if cell is None else str(cell) for cell in first[header.row - 1]]
    last = max(place for place, cell in enumerate(cells) if cell.strip())
    return [cell if cell.strip() else f"column {place}" for place, cell in enumerate(cells[: last + 1], start=1)]


class Grid:
    """Turns rows into parts whose rows have one cell a name, without repeated headers and without blank rows at the end.
    `number` is that of the last row, `blank` holds the blank rows since the last filled one."""

    def __init__(self, names: list[str], source: Source, number: int):
        self.names, self.source, self.number = names, source, number
        self.blank, self.repeated = list[tuple[int, Row]](), 0

    def part(self, rows: Sequence[Row], numbers: Sequence[int]) -> TablePart:
        part = TablePart(zip(self.names, map(list, zip(*rows)) if rows else ([] for _ in self.names)))
        part.numbers = numbers
        return part

    def parts(self, rows: list[Row]) -> Iterator[TablePart]:
        start, self.number = self.number + 1, self.number + len(rows)
        # fast path for nearly all parts
        if not self.blank and set(map(len, rows)) == {len(self.names)} and self.names not in rows and any(rows[-1]):
            yield self.part(rows, range(start, self.number + 1))
            return
        numbered = list[tuple[int, Row]]()
        for number, row in enumerate(rows, start):
            cells = self.cells(row, number)
            if cells is None:
                self.blank.append((number, [""] * len(self.names)))
            elif cells == self.names:
                self.repeated += 1
            else:
                numbered += [*self.blank, (number, cells)]
                self.blank.clear()
        if numbered:
            yield self.part([cells for _, cells in numbered], [number for number, _ in numbered])

    def cells(self, row: Row, number: int) -> Optional[Row]:
        """Return one cell a name, None for a blank row; DataError if the row has another number of cells."""
        width, of_sheet = len(self.names), self.source.kind == "xlsx"
        beyond = any(cell not in ("", None) for cell in row[width:])
        if not beyond and (not row or (len(row) < width or of_sheet) and not any(str(cell).strip() for cell in row)):
            return None
        if beyond or len(row) < width and not of_sheet:
            expected = f"expected {width} cells as in the header, found {len(row)}"
            advice = "; name every column, or its row by header (--header ROW or none)" if beyond else ""
            raise DataError(f"{self.source.path} row {number}: {expected}{advice}")
        return [*row[:width], *[""] * (width - len(row))]


def texts_in(row: Iterable[object]) -> list[str]:
    return ["" if cell is None else str(cell).strip() for cell in row]


def check_columns(names: Collection[str], where: object) -> None:
    """Raise DataError for too many columns, or for a name that occurs twice."""
    if len(names) > MOST_COLUMNS:
        raise DataError(f"{where}: expected at most {MOST_COLUMNS:,} columns, found {len(names):,}")
    if len(set(names)) < len(names):
        raise DataError(f"{where}: expected each column once, found {Counter(names).most_common(1)[0][0]!r} twice")


def read_lines(text_column: str, source: Source, rows: int) -> Iterator[TablePart]:
    number = 0
    with open_text(source) as file:
        for piece in cut(file, rows, len):
            part = TablePart({text_column: [line.rstrip("\r\n") for line in piece]})
            part.numbers = range(number + 1, number + 1 + len(piece))
            number += len(piece)
            yield part


def read_jsonl(source: Source, rows: int) -> Iterator[TablePart]:
    with open_text(source) as file:
        yield from object_parts(parsed(enumerate(file, start=1), source.path), rows, source.path)


def parsed(lines: Iterable[tuple[int, str]], path: Path) -> Iterator[tuple[int, object]]:
    """Yield (number, value) of the lines of JSON that are not blank."""
    for number, line in lines:
        try:
            if line.strip():
                yield number, json.loads(line)
        except (ValueError, RecursionError) as problem:
            expected = f"expected a JSON object, found {line.strip()[:40]!r}"
            raise DataError(f"{path} line {number}: {expected}") from problem


def read_json(text_column: str, source: Source, rows: int) -> Iterator[TablePart]:
    with open_text(source) as file:
        try:
            value = json.load(file)
        except (ValueError, RecursionError) as problem:
            where = f"{source.path} line {getattr(problem, 'lineno', 1)}"
            raise DataError(f"{where}: expected one JSON list or object, found none; {AS_LINES}") from problem
    values = rows_of(value, source.path)
    objects = ({text_column: row} if isinstance(row, str) else row for row in values)
    yield from object_parts(enumerate(objects, start=1), rows, source.path)


def rows_of(value: Any, path: Path) -> Sequence[Any]:
    """Return the rows of a JSON value: a list, an object's only list of objects, its columns, or the object itself.

    DataError if there are several such lists, or an object is not a row, without a usual name of texts.
    """
    if isinstance(value, list) and value:
        return value
    kind = "an empty " * (value in ([], {})) + type(value).__name__
    if isinstance(value, dict) and value:
        lists, columns = dict(lists_in(value)), list(value.values())
        if len(lists) == 1 and not usual_text(value):
            return next(iter(lists.values()))
        if lists:
            expected = f"expected one list of objects, found {len(lists)} ({', '.join([*lists][:3])})"
            raise DataError(f"{path}: {expected}; {AS_LINES}")
        if all(isinstance(cell, list) for cell in columns) and len(set(map(len, columns))) == 1:
            return [dict(zip(value, cells)) for cells in zip(*columns)]
        # {row number: text or row}
        if all(map(str.isdecimal, value)):
            return columns
        # {column: {row number: cell}}, as pandas writes it
        if all(isinstance(cell, dict) and all(map(str.isdecimal, cell)) for cell in columns):
            keys = dict.fromkeys(chain.from_iterable(columns))
            return [{name: column.get(key) for name, column in value.items()} for key in keys]
        if usual_text(value):
            return [value]
        kind = f"one object ({', '.join([*value][:5])})"
    raise DataError(f"{path}: expected a JSON list of objects, found {kind}; {AS_LINES}")


def usual_text(value: dict[str, object]) -> bool:
    """Return whether an object has a text under a usual name."""
    return any(normalized(name) in TEXT_COLUMNS and isinstance(cell, str) for name, cell in value.items())


def lists_in(value: dict[str, Any], path: str = "") -> Iterator[tuple[str, list[object]]]:
    """Yield (path, list) of the lists of objects in an object and its nested objects."""
    for name, cell in value.items():
        if isinstance(cell, list) and cell and all(isinstance(row, dict) for row in cell):
            yield path + name, cell
        elif isinstance(cell, dict):
            yield from lists_in(cell, f"{path}{name}.")


def object_parts(numbered: Iterable[tuple[int, Any]], rows: int, path: Path) -> Iterator[TablePart]:
    """Yield parts of objects, with None for NaN and for missing cells; DataError for a value that is not an object."""

    def checked() -> Iterator[tuple[int, dict[str, object]]]:
        for number, value in numbered:
            if not isinstance(value, dict):
                expected = f"expected a JSON object, found {type(value).__name__}"
                raise DataError(f"{path} row {number}: {expected}; {AS_LINES}")
            yield number, value

    for piece in cut(checked(), rows, lambda pair: 60 * len(pair[1]) + sum(map(letters_in, pair[1].values()))):
        names = dict.fromkeys(chain.from_iterable(row for _, row in piece))
        check_columns(names, path)
        cells = {name: [row.get(name) for _, row in piece] for name in names}
        part = TablePart((name, [None if is_nan(cell) else cell for cell in column]) for name, column in cells.items())
        part.numbers = [number for number, _ in piece]
        yield part


def letters_in(value: object) -> int:
    """Return the approximate size of a value in bytes, nested values included."""
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else ()
    return len(value) if isinstance(value, str) else 60 + sum(map(letters_in, inside))


def read_parquet(source: Source, rows: int) -> Iterator[TablePart]:
    parquet, number = required("parquet", "pyarrow.parquet"), 1
    from pyarrow import ArrowException

    try:
        with parquet.ParquetFile(source.stream or source.path) as file:
            names = file.schema_arrow.names
            check_columns(names, source.path)
            empty = TablePart((name, []) for name in names)
            # the file's size does not tell: it stores a repeated value once
            first = next(file.iter_batches(8), None)
            weight_of_row = letters_in(first.to_pydict()) // (first.num_rows or 1) if first else 0
            most = max(8, PART_BYTES // (weight_of_row + 1))
            batches = file.iter_batches(min(rows, most))
            for part in chain((TablePart(batch.to_pydict()) for batch in batches), [empty]):
                part.types = dict(zip(names, file.schema_arrow.types))
                part.numbers = range(number, number + part.rows)
                number += part.rows
                if part.rows or number == 1:
                    yield part
    except (ArrowException, OSError, ValueError, OverflowError, LookupError) as problem:
        reason = (str(problem).splitlines() or [type(problem).__name__])[0]
        raise DataError(f"{source.path}: not a readable parquet file: {reason}") from problem
