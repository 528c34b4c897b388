"""Scoring of a pandas column, for a DataFrame in a notebook or in a Spark pandas UDF.

>>> import pandas
>>> from nsmc_attention import score_column
>>> score_column(pandas.Series(["정말 재미있는 영화였어요", None]))["label"].tolist()
['positive', None]
"""

from typing import Any, Optional, Union

import pandas

from ..classifier.positive_share import LabelsByShare, parsed_share, require_share
from ..classifier.prediction import TYPES
from ..classifier.predictor import Classifier, packaged
from ..scoring.columns import Texts, texts_in, with_index
from ..scoring.files import outcomes, tally_of
from ..scoring.reference import Scorer, or_packaged, text_column_of
from ..systems.restore.corrections import over

# Result of score_column as a schema for Spark's pandas_udf
SPARK_SCHEMA = ", ".join(f"{name} {kind}" for name, kind in TYPES.items())


def score_column(
    column: Texts,
    classifier: Union[Classifier, str, None] = None,
    restore: Any = False,
    text_column: Optional[str] = None,
    share: Union[None, float, str] = None,
) -> pandas.DataFrame:
    """Score a column of reviews: `frame.join(score_column(frame["review"]))`, or `score_column(frame, "review")`.

    Parameters
    ----------
    column : Series, list or DataFrame
        N reviews; None and NaN are blank, other values are converted to text.
    classifier : Classifier, str or None
        None is the packaged one, loaded once per process. A str is taken as the `text_column`.
    restore : bool or Restorer
        Restore and rescore reviews that the classifier is unsure about; adds the columns of `restore_column` first.
    text_column : str or None
        The DataFrame's column of reviews; None detects it by its name.
    share : "table", float or None
        Share of positive reviews, between 0 and 1, for an additional label (see `LabelsByShare`); "table" estimates it.

    Returns
    -------
    DataFrame
        N rows with label, score, probability and error, and the column's index. The columns of a DataFrame come first.
        If they include the name of a result, results are named predicted_label etc., and a message on stderr says so.

    Raises
    ------
    DataError
        The column has another type or is missing in the DataFrame, or the share cannot be estimated.
    """
    if isinstance(classifier, str):
        classifier, text_column = None, classifier
    scorer: Scorer = over(or_packaged(classifier, Classifier, packaged), restore)
    if share is not None:
        scorer = LabelsByShare(scorer, parsed_share(share) or share_of(scorer, column, text_column))
    return with_index(scorer, column, text_column)


def share_of(scorer: Scorer, column: Texts, text_column: Optional[str]) -> float:
    """Return the estimated share of positive reviews in a column; DataError if it cannot be estimated."""
    frame = isinstance(column, pandas.DataFrame)
    texts = texts_in(column[text_column_of(column, text_column)] if frame else column)
    return require_share(tally_of(scorer, [*texts], *outcomes(scorer, scorer.rows(texts))).share, "column")
