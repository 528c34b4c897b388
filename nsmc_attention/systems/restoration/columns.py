"""A pandas column of texts, restored: for a DataFrame in a notebook, and the body of a Spark pandas UDF."""

from typing import Optional

import pandas

from ...classification.columns import Texts, spark_schema, with_index
from .restorer import TYPES, Restorer, packaged_restorer

RESTORED_SCHEMA = spark_schema(TYPES)


def restore_column(
    column: Texts, restorer: Optional[Restorer] = None, text_column: Optional[str] = None
) -> pandas.DataFrame:
    """Restore a column of texts by a restorer, or by the packaged editor, loaded once per process.

    None and NaN are blank, other values are converted to text. Returns a DataFrame of restored and restore_error (why a
    text was returned as it was, or None) with the column's index: `frame.join(restore_column(frame["review"]))`. Of a
    DataFrame, `text_column` and errors are those of `score_column`.
    """
    return with_index(restorer or packaged_restorer(), column, text_column)
