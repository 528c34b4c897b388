"""The output columns beside a table's own."""

from collections.abc import Iterable, Sequence
from typing import Any


def output_columns(rows: Sequence[Sequence[Any]], columns: Iterable[str]) -> dict[str, list[Any]]:
    """Return {name: list} of the output columns for N rows of their values."""
    return {name: [row[index] for row in rows] for index, name in enumerate(columns)}


def output_prefix(names: Iterable[str], columns: Iterable[str]) -> str:
    """Return a prefix that keeps the output columns from clashing with the table's."""
    names, columns, prefix = set(names), tuple(columns), ""
    while {prefix + name for name in columns} & names:
        prefix += "predicted_"
    return prefix
