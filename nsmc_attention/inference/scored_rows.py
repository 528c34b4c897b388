"""Some rows of a table with what a scorer makes of them, on their way to a file."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

# The cells of a table's columns
Columns = Mapping[str, Sequence[object]]


class ScoredRows(NamedTuple):
    """Some rows: the cells of the table's columns, the texts, and what the scorer makes of each.

    `results` are objects for jsonl, else rows of output columns; `types` those of the table's columns, if known.
    """

    columns: Columns
    texts: Sequence[str]
    results: Iterable[Any]
    types: Mapping[str, object] = {}
