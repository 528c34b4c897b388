"""Whether texts are unlike the film reviews that the packaged classifier was trained on.

    strangeness = mean of log(rank) over the words - 2 x mean of |log-odds of positive| over the texts

Words of the vocabulary are ranked from the commonest of the training to the rarest: texts of another kind have rarer
ones, and of those the classifier is less sure. The limits are from `benchmarks/classification/likeness.py`, which compares this
with other measures.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Optional

import numpy
from numpy.typing import NDArray

from ..evaluation.calibration import log_odds
from ..text.encoding import ReviewEncoder
from ..text.hangul import HANGUL
from ..text.symbols import ENTRIES
from .predictor import Classifier

# Rows that are looked at, and the fewest of which anything is said
MOST, FEWEST = 1000, 20
# The strangeness of texts beyond which they are of another kind, and its standard error times the root of their number
LIMIT, SPREAD = 0.0, 4.0
# Of film reviews: exp of the mean of log(rank), and the percentage of the mean of |log-odds|
USUAL_RANK, USUAL_CERTAINTY = 95, 94
LETTER = re.compile(r"[^\W\d_]")
ADVICE = "label 100 rows, then run nsmc-attention adapt FILE --out RUN"


class Traits(NamedTuple):
    """The number of texts with a word, and the means of log(rank) of their words and of |log-odds|; 0 of none."""

    texts: int
    log_rank: float
    log_odds: float

    @property
    def strangeness(self) -> float:
        return self.log_rank - 2 * self.log_odds

    @property
    def limit(self) -> float:
        return LIMIT + SPREAD / float(numpy.sqrt(max(1, self.texts)))


@dataclass(frozen=True)
class Unlike:
    """Texts unlike film reviews: how many, their words' geometric mean rank, the classifier's certainty in percent."""

    texts: int
    rank: int
    certainty: int
    usual_rank: int = USUAL_RANK
    usual_certainty: int = USUAL_CERTAINTY

    def __str__(self) -> str:
        sure = f"the classifier is {self.certainty} % sure, of film reviews {self.usual_certainty} %"
        rare = f"mean rank of their words {self.rank:,}, of film reviews {self.usual_rank}"
        return f"unlike the film reviews of the training ({sure}; {rare}): expect more wrong labels; {ADVICE}"


def word_ranks(encoder: ReviewEncoder) -> NDArray[numpy.int64]:
    """Return the rank (V,) of each entry of a vocabulary among its words, the most frequent first.

    That of the unknown token is V; symbols, which come before the words, have 0.
    """
    ranks = numpy.arange(len(encoder)) + 1
    if encoder.symbols:
        places = numpy.array([encoder.token_to_idx[entry] for entry in ENTRIES])
        ranks -= numpy.searchsorted(numpy.sort(places), ranks - 1)
        ranks[places] = 0
    ranks[encoder.unknown] = len(encoder)
    return ranks


def traits(classifier: Classifier, texts: Sequence[str]) -> Traits:
    """Return the Traits of texts; the rank of a word that the vocabulary lacks is the size of the vocabulary."""
    encoder = classifier.bundle.codec
    if not (reviews := [review for review in encoder.encode_many(texts) if len(review)]):
        return Traits(0, 0.0, 0.0)
    ranks = word_ranks(encoder)[numpy.concatenate([review.ids for review in reviews])]
    ranks = ranks[ranks > 0] if ranks.any() else numpy.ones(1)
    odds = log_odds(classifier.score(reviews))
    return Traits(len(reviews), float(numpy.log(ranks).mean()), float(numpy.abs(odds).mean()))


def unlike(classifier: Classifier, texts: Sequence[str]) -> Optional[Unlike]:
    """Return how the first MOST texts are unlike film reviews; None where they are alike, or nothing can be said.

    Nothing can of less than FEWEST texts with a word, nor by another classifier than the packaged one.
    """
    if not classifier.bundle.packaged or len(texts) < FEWEST:
        return None
    kind = traits(classifier, texts[:MOST])
    if kind.texts < FEWEST or kind.strangeness <= kind.limit:
        return None
    return Unlike(kind.texts, round(numpy.exp(kind.log_rank)), round(100 / (1 + numpy.exp(-kind.log_odds))))


def remark(classifier: Classifier, texts: Sequence[str]) -> Optional[str]:
    """Return what is to be said of texts of which the packaged classifier's labels say little; None for nothing.

    They are `unlike` film reviews or, however few they are, most of those with a letter have no Hangul.
    """
    difference, written = unlike(classifier, texts), list(filter(LETTER.search, texts))
    if difference:
        return str(difference)
    foreign = sum(not HANGUL.search(text) for text in written)
    if not classifier.bundle.packaged or 2 * foreign <= len(written):
        return None
    count = f"{foreign:,} of {len(texts):,} text{'s' * (len(texts) != 1)} {'has' if foreign == 1 else 'have'}"
    return f"{count} no Hangul: the classifier knows Korean and a few English words; other texts get no label"
