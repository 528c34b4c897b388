"""The rows of a table with their output columns, written part by part as text, csv, tsv, jsonl, parquet or xlsx.

    with WRITERS[style](file, names of the table's columns, types of the output columns, verbatim) as write:
        write(ScoredRows(...))

Formats that are complete only at the end (parquet, xlsx) are written when the block ends without an error. A cell of csv,
tsv or xlsx that a spreadsheet would compute (OWASP, CSV injection) gets an apostrophe, unless `verbatim`.
"""

import json
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from itertools import repeat
from typing import IO, TYPE_CHECKING, Any, NamedTuple, Optional

from ..errors import DataError, required
from ..text.encoding import clean
from .columns import is_number

if TYPE_CHECKING:
    import pyarrow

    from .parts import Source

# {name: cells} of a table's columns
Columns = Mapping[str, Sequence[object]]
# Prefixes of the columns of classifiers and restorers
RESULTS = ("label", "score", "probability", "restore", "share", "error")
# Characters that put a cell in quotes, as some programs end a cell at them; and cells that have none and are no formulas
QUOTE, ENDS = '"', '",;\t\r\n'
SPLITTING, PLAIN_CELL = re.compile(f"[{ENDS}]"), re.compile(f"(?:[가-힣0-9A-Za-z][^{ENDS}]*)?")
# Invisible characters before a formula, besides controls and spaces: an apostrophe, fillers, variation selectors
INVISIBLE = "'\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0" + "".join(
    map(chr, range(0xFE00, 0xFE10))
)
# First characters of formulas
SIGNS = "=+-@＝＋－＠"
# Rows of a parquet row group
GROUP_ROWS = 2**16


class ScoredRows(NamedTuple):
    """Some rows: the cells of the table's columns, the texts, and the scorer's results.

    `results` are dicts for jsonl, else rows of output columns; `types` are the types of the table's columns, if known, and
    `numbers` the row numbers.
    """

    columns: Columns
    texts: Sequence[str]
    results: Iterable[Any]
    types: Mapping[str, object] = {}
    numbers: Sequence[int] = ()


Write = Callable[[ScoredRows], object]
# (file, names of the table's columns, `Scorer.types`, verbatim) -> context of a function that writes ScoredRows
Writer = Callable[..., AbstractContextManager[Write]]


def is_formula(text: str) -> bool:
    """Return whether a spreadsheet would compute a text, or read it as more than one cell."""
    for letter in text:
        if letter in "\t\r\n" or letter in SIGNS:
            return not is_number(text)
        if unicodedata.category(letter) not in ("Cc", "Cf", "Zs", "Zl", "Zp") and letter not in INVISIBLE:
            break
    return False


def as_cell(value: object) -> object:
    """Put an apostrophe before a formula; other values stay unchanged.

    To undo it, remove an apostrophe if the rest `is_formula`.
    """
    return f"'{value}" if isinstance(value, str) and value and is_formula(value) else value


def csv_cells(column: Sequence[object], verbatim: bool) -> list[str]:
    """Return a column's cells as csv text, escaped by `as_cell` unless verbatim, in quotes if they might be split."""
    cells, escape = plain_cells(column), str if verbatim else as_cell
    # each distinct text once: labels repeat, and most texts are plain
    texts = {cell for cell in cells if isinstance(cell, str)}
    written = {cell: cell if PLAIN_CELL.fullmatch(cell) else in_quotes(str(escape(cell))) for cell in texts}
    return [written[cell] if isinstance(cell, str) else in_quotes(str(cell)) for cell in cells]


def in_quotes(cell: str) -> str:
    return f'"{cell.replace(QUOTE, 2 * QUOTE)}"' if SPLITTING.search(cell) else cell


class ShortLineEnds(list[str]):
    """A file for a csv.writer, whose rows end in `terminator`; `text` replaces it by `end`.

    A csv.writer quotes cells that contain a character of its line terminator: here, all that could be read as several.
    """

    # without the comma, which is quoted anyway: Python 3.13 refuses it here
    write, terminator = list.append, ";\t\r\n"

    def text(self, end: str) -> str:
        return "".join([row[: -len(self.terminator)] + end for row in self])


@contextmanager
def text_writer(file: IO[str], names: list[str], types: Mapping[str, str], verbatim: bool) -> Iterator[Write]:
    """One line a text: label, score, text, and added columns; only the restored text if it is not classified."""

    def line(text: str, values: dict[str, Any]) -> str:
        final = clean(values.get("restored", text))
        if values.get("error"):
            return f"-\t-\t{final}\t{values['error']}"
        if "label" not in values:
            return final
        suffix = "_by_share" if "label_by_share" in values else ""
        label, probability = values["label" + suffix], values["probability" + suffix]
        added = [f"\t{name}: {value}" for name, value in values.items() if value and not name.startswith(RESULTS)]
        return f"{label}\t{max(probability, 1 - probability):.4f}\t{final}{''.join(added)}"

    def write(rows: ScoredRows) -> None:
        for text, result in zip(rows.texts, rows.results):
            print(line(text, dict(zip(types, result))), file=file)

    yield write


@contextmanager
def csv_writer(
    delimiter: str, file: IO[str], names: list[str], types: Mapping[str, str], verbatim: bool
) -> Iterator[Write]:
    """The table's columns, then the output columns, with 6 digits: further digits depend on the batch."""
    header = csv_cells(names, verbatim) + csv_cells(output_names(names, types), True)
    file.write(delimiter.join(header) + "\n")

    def write(rows: ScoredRows) -> None:
        cells = [csv_cells(column, verbatim) for column in ordered(rows.columns, names, "csv")]
        outputs = [figures(column) or csv_cells(column, verbatim) for column in zip(*rows.results)]
        file.write("".join([f"{line}\n" for line in map(delimiter.join, zip(*cells, *outputs))]))

    yield write


@contextmanager
def jsonl_writer(file: IO[str], names: list[str], types: Mapping[str, str], verbatim: bool) -> Iterator[Write]:
    """One object a line: the table's columns, then those of `Scorer.objects`."""
    prefix = output_prefix(names, types)

    def write(rows: ScoredRows) -> None:
        lines, table = [], zip(*rows.columns.values()) if rows.columns else repeat(())
        for cells, result in zip(table, rows.results):
            values = dict(zip(rows.columns, cells))
            for name, value in result.items():
                key = prefix + name if name in types else name
                values[output_prefix(rows.columns, [key]) + key] = value
            lines.append(as_json(values) + "\n")
        file.writelines(lines)

    yield write


@contextmanager
def xlsx_writer(file: IO[bytes], names: list[str], types: Mapping[str, str], verbatim: bool) -> Iterator[Write]:
    """A new workbook of one sheet: the table's columns, then the output columns, with numbers of 6 digits."""
    from .workbook import new_workbook

    with new_workbook(file, as_cell if not verbatim else None) as append:
        append([*names, *output_names(names, types)])

        def write(rows: ScoredRows) -> None:
            for row, result in zip(zip(*ordered(rows.columns, names, "xlsx")), rows.results):
                append([*row, *(round(value, 6) if isinstance(value, float) else value for value in result)])

        yield write


@contextmanager
def kept_writer(
    source: "Source", file: IO[bytes], names: list[str], types: Mapping[str, str], verbatim: bool
) -> Iterator[Write]:
    """The user's own workbook, with the output columns right of its sheet's content."""
    from .workbook import kept_workbook

    with kept_workbook(source, file, output_names(names, types)) as fill:
        yield lambda rows: fill(rows.numbers, rows.results)


@contextmanager
def parquet_writer(file: IO[bytes], names: list[str], types: Mapping[str, str], verbatim: bool) -> Iterator[Write]:
    """The table's columns, with types that fit all rows, then the output columns.

    DataError if parquet has no type for a column.
    """
    parquet, tables, outputs = required("parquet", "pyarrow.parquet"), list["pyarrow.Table"](), list["pyarrow.Table"]()
    import pyarrow

    def write(rows: ScoredRows) -> None:
        columns = {encodable(name): as_array(name, cells, rows.types.get(name)) for name, cells in rows.columns.items()}
        tables.append(pyarrow.table(columns))
        results = output_columns([*rows.results], types)
        outputs.append(pyarrow.table({name: as_array(name, results[name], kind) for name, kind in types.items()}))

    yield write
    try:
        table, output = joined(tables), joined(outputs)
        for name, column in zip(output_names(table.column_names, types), output.columns):
            table = table.append_column(name, column)
        parquet.write_table(table, file, row_group_size=GROUP_ROWS)
    except pyarrow.ArrowException as problem:
        raise no_type("a column", problem) from problem


def joined(tables: "list[pyarrow.Table]") -> "pyarrow.Table":
    """Concatenate tables by rows; a column with texts in one table and other values in another becomes text."""
    import pyarrow

    texts = {field.name for table in tables for field in table.schema if pyarrow.types.is_string(field.type)}
    for index, table in enumerate(tables):
        for place, field in enumerate(table.schema):
            if field.name in texts and pyarrow.types.is_primitive(field.type):
                column = pyarrow.array(as_texts(table[place].to_pylist()), pyarrow.string())
                tables[index] = tables[index].set_column(place, field.name, column)
    return pyarrow.concat_tables(tables, promote_options="permissive")


def as_array(name: str, values: Sequence[object], kind: Any) -> "pyarrow.Array":
    """Return values as an array of a type, or of an inferred type; texts among numbers turn all into texts."""
    import pyarrow

    try:
        return pyarrow.array(values, kind)
    except (pyarrow.ArrowException, TypeError, OverflowError, UnicodeEncodeError) as problem:
        if kind is not None:
            # not every type can be created from Python values
            return as_array(name, values, None)
        if str in set(map(type, values)) and not any(isinstance(value, (dict, list)) for value in values):
            return pyarrow.array(as_texts(values), pyarrow.string())
        raise no_type(f"column {name!r}", problem) from problem


def no_type(where: str, problem: Exception) -> DataError:
    expected = f"parquet: expected values of one type that parquet has in {where}, found others"
    return DataError(f"{expected} ({str(problem)[:120]}); write --format jsonl or csv")


def as_texts(values: Iterable[object]) -> list[Optional[str]]:
    return [None if value is None else encodable(str(value)) for value in values]


def encodable(text: str) -> str:
    """Return a text with a question mark for each lone surrogate."""
    return text.encode("utf-8", "replace").decode()


WRITERS: dict[str, Writer] = {
    "text": text_writer,
    "csv": partial(csv_writer, ","),
    "tsv": partial(csv_writer, "\t"),
    "jsonl": jsonl_writer,
    "parquet": parquet_writer,
    "xlsx": xlsx_writer,
}


def output_columns(rows: Sequence[Sequence[object]], columns: Iterable[str]) -> dict[str, list[object]]:
    """Return {name: list} of the output columns for N rows of their values."""
    return {name: [row[index] for row in rows] for index, name in enumerate(columns)}


def output_prefix(names: Iterable[str], columns: Iterable[str]) -> str:
    """Return a prefix that makes the output columns differ from the table's columns."""
    names, columns, prefix = set(names), tuple(columns), ""
    while {prefix + name for name in columns} & names:
        prefix += "predicted_"
    return prefix


def output_names(names: Sequence[str], types: Mapping[str, str]) -> list[str]:
    """Return the names of the output columns in a table with these columns."""
    prefix = output_prefix(names, types)
    return [prefix + name for name in types]


def ordered(columns: Columns, names: list[str], style: str) -> list[Sequence[object]]:
    """Return the cells of the columns `names`, None if missing; DataError for a column with another name."""
    if new := [name for name in columns if name not in names]:
        raise DataError(f"{style}: expected the columns of the first rows, found {new[0]!r} too; use --format jsonl")
    missing = [None] * max(map(len, columns.values()))
    return [columns.get(name, missing) for name in names]


def as_json(values: dict[str, object]) -> str:
    """Return a dict as one line of JSON; NaN and infinite numbers, which JSON lacks, become null."""
    try:
        return json.dumps(values, ensure_ascii=False, default=plain, allow_nan=False)
    except ValueError:
        finite = json.loads(json.dumps(values, default=plain), parse_constant=lambda _: None)
        return json.dumps(finite, ensure_ascii=False)


def figures(column: Sequence[Any]) -> list[str]:
    """Return an output column of numbers as csv text, with 6 digits, "" for None; [] for a column of other types."""
    numbers = set(map(type, column)) - {type(None)} == {float}
    return ["" if value is None else f"{value:.6f}" for value in column] if numbers else []


def plain_cells(column: Sequence[object]) -> Sequence[object]:
    """Return `plain` of a column's cells, "" for None; a column of texts, the most common, is returned as it is."""
    return column if set(map(type, column)) == {str} else ["" if cell is None else plain(cell) for cell in column]


def plain(value: object) -> object:
    """Return a cell as a value for csv and JSON: bytes as text if they are UTF-8, other objects as their str."""
    if isinstance(value, bytes):
        try:
            return value.decode()
        except UnicodeDecodeError:
            return str(value)
    return value if isinstance(value, (str, int, float, bool)) else str(value)
