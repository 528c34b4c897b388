"""The share of positive reviews in a table, and labels that lean to the more common side.

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

# Columns added for labels by a share, and their types
LEANING = {"label_by_share": "string", "probability_by_share": "double", "share": "double"}
# Largest odds by which a label leans to the more common side
MOST_ODDS = 4.0
# The value of --share that is not a number
TABLE = "table"


def positive_share(texts: Iterable[Any], classifier: Optional[Classifier] = None) -> Share:
    """Estimate the share of positive reviews.

    A count of labels is biased towards one half. This estimate corrects it for the share itself (Saerens et al. 2002, see
    `measure.share`) and, if the texts are like film reviews, for the stars of a sample. A text that makes up a tenth of
    the rows or more counts once.

    Parameters
    ----------
    texts : iterable of str
        Any argument of `Classifier.predict_many`; None, NaN and blank texts are left out.
    classifier : Classifier or None
        Scores the texts; None is the packaged classifier.

    Returns
    -------
    Share(share, low, high, n)
        share is None for fewer than 6 reviews, if most have no Hangul, and if the interval is wider than 0.65. low and
        high are the ends of the 95 % interval.

    Raises
    ------
    DataError
        The argument is one string, or has no texts.
    """
    scorer, tally = or_packaged(classifier, Classifier, packaged), Tally()
    items: Iterable[Any] = items_of(texts, "reviews", "give a list or a column of them")
    cells = ("" if is_missing(text) else text for text in items)
    for window in scorer.windows(cells, list):
        tally += tally_of(scorer, window, *outcomes(scorer, scorer.rows_in(window)), tally.rows)
    return tally.share


def require_share(share: Optional[Share], where: object) -> float:
    """Return the number of an estimated share; DataError if it is unknown."""
    if share is None or share.share is None:
        advice = "give a number as share (--share)"
        raise DataError(f"{where}: expected a share that can be estimated, found {share}; {advice}")
    return share.share


@dataclass(frozen=True)
class LabelsByShare(AddedColumns):
    """A scorer that adds labels by the share of positive reviews in the table.

    `label` and `probability` stay as they are. `probability_by_share` includes the odds of the share, at most 4 to 1, and
    `label_by_share` follows it: more labels are right, but the rarer label is given less often.
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


def parsed_share(value: Union[str, float]) -> Optional[float]:
    """Return the number of a `--share`, None for "table"; ConfigError for any other value."""
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
