"""A pandas column of reviews, scored: for a DataFrame in a notebook, and the body of a Spark pandas UDF.

>>> import pandas
>>> from nsmc_attention import score_column
>>> score_column(pandas.Series(["정말 재미있는 영화였어요", None]))["label"].tolist()
['positive', None]
"""

from typing import Optional

import pandas

from ..errors import DataError
from ..reviews.tables import as_text
from .prediction import COLUMNS, TYPES, output_columns
from .predictor import Classifier, packaged

# What score_column returns, as Spark's pandas_udf wants it
SPARK_SCHEMA = ", ".join(f"{name} {kind}" for name, kind in TYPES.items())


def score_column(column: pandas.Series, classifier: Optional[Classifier] = None) -> pandas.DataFrame:
    """Score a column of reviews by a classifier, or by the bundle that ships with the package, loaded once a process.

    None and NaN are blank, other values are converted to text. Returns a DataFrame of label, score, probability and
    error with the column's index: `frame.join(score_column(frame["review"]))`. DataError if it is no Series.
    """
    # iterating a DataFrame would score the names of its columns
    if not isinstance(column, pandas.Series):
        raise DataError(f'expected a column as a pandas Series (frame["review"]), found {type(column).__name__}')
    scored = (classifier or packaged()).probabilities([as_text(value) for value in column])
    return pandas.DataFrame(output_columns(scored), index=column.index, columns=COLUMNS)
