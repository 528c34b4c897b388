"""The share of positive reviews in a table, and labels that lean to the side which is commoner there.

>>> from nsmc_attention import positive_share
>>> positive_share(["최고의 영화", "지루하고 별로다", None]).n
2
"""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Optional, Union

from ..errors import ConfigError, DataError
from ..machine.aliases import Record
from ..measure.share import Share, Tally
from ..scoring.files import outcomes, tally_of
from ..scoring.reference import AddedColumns, Row, items_of, or_packaged
from ..tables.parts import is_missing
from .predictor import Classifier, packaged
from .settings import LABELS

# The output columns of labels by a share, and their types
LEANING = {"label_by_share": "string", "probability_by_share": "double", "share": "double"}
# The largest odds by which a label leans to the commoner side
MOST_ODDS = 4.0
# What --share may be beside a number
TABLE = "table"


def positive_share(texts: Iterable[Any], classifier: Optional[Classifier] = None) -> Share:
    """Estimate the share of positive reviews.

    A count of labels is biased towards one half; this corrects it for the share itself (Saerens et al. 2002, see
    `measure.share`), and for what the stars of a sample say where texts are like film reviews; a text that a
    tenth of the rows are counts once.

    Parameters
    ----------
    texts : iterable of str
        What `Classifier.predict_many` takes; None, NaN and blank texts are left out.
    classifier : Classifier or None
        Scores the texts; None is the bundle that ships with the package.

    Returns
    -------
    Share(share, low, high, n)
        share is None where it cannot be known: fewer than 6 reviews, most of them without Hangul, or an interval wider
        than 0.65. low and high are the ends of the 95 % interval.

    Raises
    ------
    DataError
        For one string, or anything but texts.
    """
    scorer, tally = or_packaged(classifier, Classifier, packaged), Tally()
    items: Iterable[Any] = items_of(texts, "reviews", "give a list or a column of them")
    known = ("" if is_missing(text) else text for text in items)
    for window in scorer.windows(known, list):
        tally += tally_of(scorer, window, *outcomes(scorer, scorer.rows_in(window)), tally.rows)
    return tally.share


def require_share(share: Optional[Share], where: object) -> float:
    """Return the number of an estimated share; DataError where it is unknown."""
    if share is None or share.share is None:
        advice = "give a number as share (--share)"
        raise DataError(f"{where}: expected a share that can be estimated, found {share}; {advice}")
    return share.share


@dataclass(frozen=True)
class LabelsByShare(AddedColumns):
    """A scorer whose reviews also get a label by the share of positive reviews in their table.

    `label` and `probability` stay the review's own. `probability_by_share` has the odds of the share in it, at most 4
    to 1, and `label_by_share` follows it: more labels are right, but the rarer one is given less often.
    """

    share: float
    added = LEANING

    def values(self, records: Iterable[Record]) -> Iterator[Row]:
        odds = min(max(self.share / (1 - self.share), 1 / MOST_ODDS), MOST_ODDS) / math.exp(self.judge.prior)
        for record in records:
            if record["label"] is None or record["probability"] is None:
                yield None, None, None
            else:
                positive = record["probability"] * odds
                leaning = positive / (positive + 1 - record["probability"])
                yield LABELS[leaning >= 0.5], leaning, self.share


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
