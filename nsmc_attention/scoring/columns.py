"""A pandas column or DataFrame of texts, scored into output columns."""

from typing import Any, Optional, Union

import pandas

from ..errors import DataError
from ..tables.parts import as_text
from ..tables.writers import ShortLineEnds, as_cell, output_columns, output_names
from .files import say_renamed
from .reference import Scorer, text_column_of

# A column, or a table with one
Texts = Union[pandas.Series, pandas.DataFrame, list[Any]]


def with_index(scorer: Scorer, column: Texts, text_column: Optional[str] = None) -> pandas.DataFrame:
    """Return the output columns of a column, with its index; for a DataFrame, append them to its columns."""
    if isinstance(column, pandas.DataFrame):
        scored, names = with_index(scorer, column[text_column_of(column, text_column)]), [*map(str, column.columns)]
        say_renamed(names, scorer.types, "DataFrame")
        scored.columns = pandas.Index(output_names(names, scorer.types))
        # joined by position, as an index may name a row twice
        tables = [column.reset_index(drop=True), scored.reset_index(drop=True)]
        return pandas.concat(tables, axis="columns").set_axis(column.index)
    if text_column is not None:
        raise DataError(f"text_column {text_column!r}: expected a DataFrame, found {type(column).__name__}")
    texts = texts_in(column)
    return pandas.DataFrame(output_columns(scorer.rows(texts), scorer.types), texts.index, list(scorer.types))


def texts_in(column: object) -> "pandas.Series[str]":
    """Return a column or a list as a Series of texts; DataError for any other type."""
    if isinstance(column, list):
        column = pandas.Series(column, dtype=object)
    # iteration over a dict, or over a table of another library, would score its column names
    if not isinstance(column, pandas.Series):
        raise DataError(f'expected a column as a pandas Series (frame["review"]), found {type(column).__name__}')
    return pandas.Series([as_text(value) for value in column], column.index, dtype=object)


def as_csv(table: pandas.DataFrame) -> str:
    """Return a DataFrame as csv for a spreadsheet: texts, names and a named index pass `as_cell`, floats have 6 digits."""

    def escaped(value: object) -> object:
        # csv readers reject NUL, and Python 3.10 does not write it
        return as_cell(value.replace("\0", "") if isinstance(value, str) else value)

    cells = table.rename(index=escaped, columns=escaped)
    cells = cells.apply(lambda column: column.astype(object).map(escaped) if column.dtype.kind == "O" else column)
    lines, has_index = ShortLineEnds(), any(table.index.names)
    cells.to_csv(lines, index=has_index, float_format="%.6g", lineterminator=lines.terminator)
    return "\ufeff" + lines.text("\r\n")
