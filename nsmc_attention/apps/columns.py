"""A pandas column of texts, scored: for a DataFrame in a notebook, and the body of a Spark pandas UDF.

>>> import pandas
>>> from nsmc_attention import score_column
>>> score_column(pandas.Series(["정말 재미있는 영화였어요", None]))["label"].tolist()
['positive', None]
"""

from typing import Any, Optional, Union

import pandas

from ..classifier.positive_share import LabelsByShare, require_share, share_given
from ..classifier.prediction import TYPES
from ..classifier.predictor import Classifier, packaged
from ..scoring.columns import Texts, texts_in, with_index
from ..scoring.files import outcomes, tally_of
from ..scoring.reference import Scorer, text_column_of
from ..systems.restore.corrections import over

# What score_column returns, as Spark's pandas_udf wants it
SPARK_SCHEMA = ", ".join(f"{name} {kind}" for name, kind in TYPES.items())


def score_column(
    column: Texts,
    classifier: Optional[Classifier] = None,
    restore: Any = False,
    text_column: Optional[str] = None,
    share: Union[None, float, str] = None,
) -> pandas.DataFrame:
    """Score a column of reviews by a classifier, or by the packaged one, loaded once per process.

    None and NaN are blank, other values are converted to text. Returns a DataFrame of label, score, probability and
    error with the column's index: `frame.join(score_column(frame["review"]))`. Of a DataFrame, whose column of texts is found
    by its name or is `text_column`, its own columns come first, and these are called predicted_label and so on where
    a name is taken. With `restore`, True or a Restorer, what is in doubt is restored and scored again, and
    the columns of `restore_column` come first. With `share`, "table" or a number between 0 and 1, a label by that share
    of positive reviews stands beside the review's own, see `LabelsByShare`; "table" estimates it of the column. DataError if
    it is no Series, list or DataFrame, or its share cannot be estimated.
    """
    scorer: Scorer = over(classifier or packaged(), restore)
    if share is not None:
        texts = texts_in(
            column[text_column_of(column, text_column)] if isinstance(column, pandas.DataFrame) else column
        )
        estimated = (
            None
            if (number := share_given(share))
            else tally_of(scorer, [*texts], *outcomes(scorer, scorer.rows(texts))).share
        )
        scorer = LabelsByShare(scorer, number or require_share(estimated, "column"))
    return with_index(scorer, column, text_column)
