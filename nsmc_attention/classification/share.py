"""The share of positive reviews in a table, and labels that lean to the side which is commoner there.

>>> from nsmc_attention import positive_share
>>> positive_share([0.99] * 95 + [0.02] * 5).n
100
"""

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any, Optional, Union

import numpy

from .._runtime.aliases import Numbers, Record
from ..errors import ConfigError, DataError
from ..evaluation.share import Evidence, Share, Tally, by_odds, odds_of
from ..inference.reference import AddedColumns, Row
from ..inference.scoring import tally_of
from ..tables.parts import is_missing
from .predictor import WINDOW, Classifier, packaged
from .settings import LABELS

if TYPE_CHECKING:
    import pandas

    Reviews = Union[Iterable[str], "pandas.Series[Any]"]
    Probabilities = Union[Iterable[Optional[float]], Numbers, "pandas.Series[Any]"]

# The output columns of labels by a share, and their types
LEANING = {"label_by_share": "string", "probability_by_share": "double", "share": "double"}
# What --share may be beside a number
TABLE = "table"


def positive_share(reviews: "Union[Reviews, Probabilities]", classifier: Optional[Classifier] = None) -> Share:
    """Estimate the share of positive reviews from texts or from probabilities of positive.

    A count of labels is biased towards one half; this corrects it for the share itself (Saerens et al. 2002, see
    `evaluation.share`). Stars in the middle are no part of the model: neutral reviews count on either side.

    Parameters
    ----------
    reviews : iterable of str, or of float in 0..1
        Texts, or probabilities as of a `Classifier`; None, NaN and blank texts are left out.
    classifier : Classifier or None
        Scores the texts, or made the probabilities; None is the bundle that ships with the package.

    Returns
    -------
    Share(share, low, high, n)
        share is None where it cannot be known: fewer than 6 reviews, most of them without Hangul, or an interval wider
        than 0.65. low and high are the ends of the 95 % interval.

    Raises
    ------
    DataError
        For one string, a DataFrame, or anything but texts or probabilities.
    """
    # a table would yield its columns, an open file its header too
    taken_apart = isinstance(reviews, (str, bytes, Mapping)) or hasattr(reviews, "columns") or hasattr(reviews, "read")
    if taken_apart or not isinstance(reviews, Iterable):
        expected = 'expected a list or a column of reviews or probabilities (frame["review"])'
        raise DataError(f"positive_share: {expected}, found {type(reviews).__name__}")
    values = iter(reviews)
    ahead: list[Any] = []
    for value in values:
        ahead.append(value)
        if not is_missing(value):
            break
    if ahead and isinstance(ahead[-1], str):
        return share_of_texts(chain(ahead, values), classifier or packaged())
    prior = classifier.prior if classifier else 0.0
    return Evidence.of(checked_probabilities(chain(ahead, values)), prior).share


def share_of_texts(texts: Iterable[Any], classifier: Classifier) -> Share:
    tally, window = Tally(), list[str]()
    for index, text in enumerate(texts):
        if not isinstance(text, str) and not is_missing(text):
            raise DataError(
                f"texts[{index}]: expected a review as str, found {type(text).__name__}: {str(text)[:40]!r}"
            )
        window.append(text if isinstance(text, str) else "")
        if len(window) == WINDOW:
            tally, window = tally + tally_of(classifier, window, classifier.rows(window)), []
    return (tally + tally_of(classifier, window, classifier.rows(window))).share


def checked_probabilities(values: Iterable[Any]) -> list[float]:
    """Return probabilities as floats, NaN for a missing one; DataError for what is none."""
    numbers: list[float] = []
    for index, value in enumerate(values):
        try:
            number = float("nan") if is_missing(value) else float(value)
        except (TypeError, ValueError):
            number = -1.0
        if isinstance(value, (str, bool, numpy.bool_)) or number < 0 or number > 1:
            expected = "expected a probability of positive, 0 to 1"
            raise DataError(f"probabilities[{index}]: {expected}, found {str(value)[:40]!r}")
        numbers.append(number)
    return numbers


def require_share(share: Optional[Share], where: object) -> float:
    """Return the number of an estimated share; DataError where it is unknown."""
    if share is None or share.share is None:
        raise DataError(
            f"{where}: expected a share that can be estimated, found {share}; give a number as share (--share)"
        )
    return share.share


@dataclass(frozen=True)
class LabelsByShare(AddedColumns):
    """A scorer whose reviews also get a label by the share of positive reviews in their table.

    `label` and `probability` stay the review's own. `probability_by_share` has the odds of the share in it, at most 4 to
    1, and `label_by_share` follows it: more labels are right, but the rarer one is given less often.
    """

    share: float
    added = LEANING

    def __post_init__(self) -> None:
        if not 0 < self.share < 1:
            raise ConfigError(f"share (--share): expected table, or a number between 0 and 1, found {self.share:g}")

    def leaning(
        self, label: Optional[str], probability: Optional[float]
    ) -> tuple[Optional[str], Optional[float], Optional[float]]:
        """Return the values of LEANING for a review's own label and probability of positive, None without a label."""
        if label is None or probability is None:
            return None, None, None
        leaning = by_odds(probability, odds_of(self.share) / math.exp(self.prior))
        return LABELS[leaning >= 0.5], leaning, self.share

    def values(self, records: Iterable[Record]) -> Iterator[Row]:
        return (self.leaning(record["label"], record["probability"]) for record in records)


def share_given(value: Union[str, float]) -> Optional[float]:
    """Return the number of a `--share`, None for "table"; ConfigError for anything else."""
    if value == TABLE:
        return None
    text = str(value)
    try:
        number = float(text.rstrip("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        number = float("nan")
    if not 0 < number < 1:
        raise ConfigError(f"--share: expected table, or a number between 0 and 1, found {text[:40]!r}")
    return number
