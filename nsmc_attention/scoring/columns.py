"""A pandas column, or a table that has one, as texts and with what is made of them."""

from typing import Any, Optional, Union

import pandas

from ..errors import DataError
from ..tables.parts import as_text
from ..tables.writers import ShortLineEnds, as_cell, output_columns, output_names
from .files import say_renamed
from .reference import Scorer, text_column_of

# A column, or a table that has one
Texts = Union[pandas.Series, pandas.DataFrame, list[Any]]


def with_index(scorer: Scorer, column: Texts, text_column: Optional[str] = None) -> pandas.DataFrame:
    """Return the output columns of a column, with its index, or of a DataFrame after its own columns."""
    if isinstance(column, pandas.DataFrame):
        scored, names = with_index(scorer, column[text_column_of(column, text_column)]), [*map(str, column.columns)]
        say_renamed(names, scorer.types, "DataFrame")
        scored.columns = pandas.Index(output_names(names, scorer.types))
        # by their places, as an index may name a row twice
        beside = [column.reset_index(drop=True), scored.reset_index(drop=True)]
        return pandas.concat(beside, axis="columns").set_axis(column.index)
    if text_column is not None:
        raise DataError(f"text_column {text_column!r}: expected a DataFrame, found {type(column).__name__}")
    texts = texts_in(column)
    return pandas.DataFrame(output_columns(scorer.rows(texts), scorer.types), texts.index, list(scorer.types))


def texts_in(column: object) -> "pandas.Series[str]":
    """Return a column or a list as a column of texts; DataError for anything else."""
    if isinstance(column, list):
        column = pandas.Series(column, dtype=object)
    # iterating a dict or a table of another library would score the names of its columns
    if not isinstance(column, pandas.Series):
        raise DataError(f'expected a column as a pandas Series (frame["review"]), found {type(column).__name__}')
    return pandas.Series([as_text(value) for value in column], column.index, dtype=object)


def as_csv(table: pandas.DataFrame) -> str:
    """Return a DataFrame as csv for a spreadsheet: cells, names and a named index marked by `as_cell`, 6 digits."""

    def shown_as(value: object) -> object:
        # no reader of csv takes NUL, and Python 3.10 does not write it
        return as_cell(value.replace("\0", "") if isinstance(value, str) else value)

    shown = table.rename(index=shown_as, columns=shown_as)
    shown = shown.apply(lambda column: column.astype(object).map(shown_as) if column.dtype.kind == "O" else column)
    lines, named = ShortLineEnds(), any(table.index.names)
    shown.to_csv(lines, index=named, float_format="%.6g", lineterminator=lines.terminator)
    return "\ufeff" + lines.text("\r\n")
