"""A pandas column of texts, scored: for a DataFrame in a notebook, and the body of a Spark pandas UDF.

>>> import pandas
>>> from nsmc_attention import score_column
>>> score_column(pandas.Series(["정말 재미있는 영화였어요", None]))["label"].tolist()
['positive', None]
"""

from typing import Any, Optional, Union

import pandas

from ..errors import ConfigError, DataError
from ..registry import ability
from ..scoring.files import tally_of
from ..scoring.reference import Scorer, text_column_of
from ..tables.parts import as_text
from ..tables.writers import output_columns, output_names
from .positive_share import LabelsByShare, require_share, share_given
from .prediction import TYPES
from .predictor import Classifier, packaged

# A column, or a table that has one
Texts = Union[pandas.Series, pandas.DataFrame, list[Any]]

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
    scorer: Scorer = corrected(classifier or packaged(), restore)
    if share is not None:
        texts = texts_in(
            column[text_column_of(column, text_column)] if isinstance(column, pandas.DataFrame) else column
        )
        estimated = None if (number := share_given(share)) else tally_of(scorer, [*texts], scorer.rows(texts)).share
        scorer = LabelsByShare(scorer, number or require_share(estimated, "column"))
    return with_index(scorer, column, text_column)


def corrected(classifier: Classifier, restore: object) -> Scorer:
    """Return the classifier, of corrected texts where `restore` is True or what corrects them; ConfigError if none does."""
    if not restore:
        return classifier
    if not (correcting := ability("corrections")):
        raise ConfigError("restore: no system of this installation corrects texts; leave it out")
    scorer: Scorer = correcting.over(classifier, restore)
    return scorer


def with_index(scorer: Scorer, column: Texts, text_column: Optional[str] = None) -> pandas.DataFrame:
    """Return the output columns of a column, with its index, or of a DataFrame after its own columns."""
    if isinstance(column, pandas.DataFrame):
        scored = with_index(scorer, column[text_column_of(column, text_column)])
        scored.columns = pandas.Index(output_names([str(name) for name in column.columns], scorer.types))
        # by their places, as an index may name a row twice
        beside = [column.reset_index(drop=True), scored.reset_index(drop=True)]
        return pandas.concat(beside, axis="columns").set_axis(column.index)
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
