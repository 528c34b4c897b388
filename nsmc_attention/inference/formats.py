"""The rows of a table with their output columns, written part by part as text, csv, tsv, jsonl, parquet or xlsx.

    with WRITERS[style](file, names of the table's columns, types of the output columns, verbatim) as write:
        write(ScoredRows(...))

What a format holds at its end (parquet, xlsx) is written when the block ends without an error.
"""

import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from itertools import repeat
from typing import IO

from .._io.spreadsheets import as_cells, table_writer
from ..errors import DataError
from ..text.encoding import clean
from .parquet import ParquetSpool, output_prefix
from .scored_rows import Columns, ScoredRows

Write = Callable[[ScoredRows], object]
# What the columns of a classifier and a restorer begin with
OWN = ("label", "score", "probability", "restore", "share", "error")
# (file, names of the table's columns, `Scorer.types`, verbatim) -> context of a function that writes ScoredRows
Writer = Callable[..., AbstractContextManager[Write]]


@contextmanager
def text_writer(file: IO[str], names: list[str], types: Mapping[str, str], verbatim: bool) -> Iterator[Write]:
    """One line a text: label, score, text, and columns that others add; the restored text alone if it is not classified."""

    def write(rows: ScoredRows) -> None:
        for text, result in zip(rows.texts, rows.results):
            values = dict(zip(types, result))
            shown = clean(values.get("restored", text))
            if values.get("error"):
                shown = f"-\t-\t{shown}\t{values['error']}"
            elif "label" in values:
                end = "_by_share" * ("label_by_share" in values)
                label, probability = values["label" + end], values["probability" + end]
                added = [f"\t{name}: {value}" for name, value in values.items() if value and not name.startswith(OWN)]
                shown = f"{label}\t{max(probability, 1 - probability):.4f}\t{shown}{''.join(added)}"
            print(shown, file=file)

    yield write


@contextmanager
def csv_writer(
    delimiter: str, file: IO[str], names: list[str], types: Mapping[str, str], verbatim: bool
) -> Iterator[Write]:
    """The table's columns, then the output columns. Further digits of probabilities depend on the batch."""
    marked = list if verbatim else as_cells
    table = table_writer(file, delimiter)
    table.writerow([*marked(names), *output_names(names, types)])

    def write(rows: ScoredRows) -> None:
        cells = [*ordered(rows.columns, names, "csv"), *map(figures, zip(*rows.results))]
        table.writerows(zip(*(marked(plain_cells(column)) for column in cells)))

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
                values[unique_name(prefix + name if name in types else name, rows.columns)] = value
            lines.append(as_json(values) + "\n")
        file.writelines(lines)

    yield write


@contextmanager
def xlsx_writer(file: IO[bytes], names: list[str], types: Mapping[str, str], verbatim: bool) -> Iterator[Write]:
    """A workbook of one sheet: the table's columns, then the output columns, numbers of these with 6 digits."""
    from ..tables.xlsx import written_sheet

    with written_sheet(file, verbatim) as append:
        append([*names, *output_names(names, types)])

        def write(rows: ScoredRows) -> None:
            for row, result in zip(zip(*ordered(rows.columns, names, "xlsx")), rows.results):
                append([*row, *(round(value, 6) if isinstance(value, float) else value for value in result)])

        yield write


WRITERS: dict[str, Writer] = {
    "text": text_writer,
    "csv": partial(csv_writer, ","),
    "tsv": partial(csv_writer, "\t"),
    "jsonl": jsonl_writer,
    "parquet": ParquetSpool,
    "xlsx": xlsx_writer,
}


def output_names(names: list[str], types: Mapping[str, str]) -> list[str]:
    """Return the output columns as a table with these columns calls them."""
    prefix = output_prefix(names, types)
    return [prefix + name for name in types]


def ordered(columns: Columns, names: list[str], style: str) -> list[Sequence[object]]:
    """Return the cells of the columns called names, None where one is missing; DataError for a column of another name."""
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


def figures(column: Sequence[object]) -> list[object]:
    """Return an output column as csv has it, where numbers have 6 digits."""
    return [f"{value:.6f}" if isinstance(value, float) else value for value in column]


def plain_cells(column: Sequence[object]) -> Sequence[object]:
    """Return `plain` of a column's cells, nothing for None; a column of texts as it is, which most are."""
    if set(map(type, column)) == {str}:
        return column
    return ["" if cell is None else plain(cell) for cell in column]


def plain(value: object) -> object:
    """Return a cell as csv and JSON hold it: bytes as their text if they are UTF-8, other objects as their str."""
    if isinstance(value, bytes):
        try:
            return value.decode()
        except UnicodeDecodeError:
            return str(value)
    return value if isinstance(value, (str, int, float, bool)) else str(value)


def unique_name(name: str, taken: Collection[str]) -> str:
    """Prefix a name with `predicted_` until it is not taken."""
    while name in taken:
        name = f"predicted_{name}"
    return name
