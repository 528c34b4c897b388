"""A pandas column of texts, scored or restored: for a DataFrame in a notebook, and the body of a Spark pandas UDF.

>>> import pandas
>>> from nsmc_attention import score_column
>>> score_column(pandas.Series(["정말 재미있는 영화였어요", None]))["label"].tolist()
['positive', None]
"""

from collections.abc import Mapping
from typing import Optional

import pandas

from ..errors import DataError
from ..inference.parquet import output_columns
from ..inference.reference import Scorer
from ..restoration.restorer import TYPES as RESTORED
from ..restoration.restorer import Restorer, packaged_restorer
from ..reviews.tables import as_text
from .prediction import TYPES
from .predictor import Classifier, packaged
from .restored import Restore, restoring


def spark_schema(types: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {kind}" for name, kind in types.items())


# What score_column and restore_column return, as Spark's pandas_udf wants it
SPARK_SCHEMA, RESTORED_SCHEMA = spark_schema(TYPES), spark_schema(RESTORED)


def score_column(
    column: pandas.Series, classifier: Optional[Classifier] = None, restore: Restore = False
) -> pandas.DataFrame:
    """Score a column of reviews by a classifier, or by the bundle that ships with the package, loaded once a process.

    None and NaN are blank, other values are converted to text. Returns a DataFrame of label, score, probability and
    error with the column's index: `frame.join(score_column(frame["review"]))`. With `restore`, True or a Restorer, what is in
    doubt is restored and scored again (`restored.SURE`), and the columns of `restore_column` come first. DataError if it is no Series.
    """
    return with_index(restoring(classifier or packaged(), restore), column)


def restore_column(column: pandas.Series, restorer: Optional[Restorer] = None) -> pandas.DataFrame:
    """Restore a column of texts by a restorer, or by the editor that ships with the package, loaded once a process.

    None and NaN are blank, other values are converted to text. Returns a DataFrame of restored and restore_error (why a
    text was returned as it was, or None) with the column's index: `frame.join(restore_column(frame["review"]))`.
    DataError if it is no Series.
    """
    return with_index(restorer or packaged_restorer(), column)


def with_index(scorer: Scorer, column: pandas.Series) -> pandas.DataFrame:
    """Return the output columns of a column, with its index."""
    # iterating a DataFrame would score the names of its columns
    if not isinstance(column, pandas.Series):
        raise DataError(f'expected a column as a pandas Series (frame["review"]), found {type(column).__name__}')
    rows = scorer.rows([as_text(value) for value in column])
    return pandas.DataFrame(output_columns(rows, scorer.types), index=column.index, columns=list(scorer.types))
