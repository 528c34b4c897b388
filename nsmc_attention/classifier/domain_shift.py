"""Detection of texts unlike the film reviews that the packaged classifier was trained on.

    strangeness = mean of log(rank) over the words - 2 x mean of |log-odds of positive| over the texts

Words of the vocabulary are ranked by their frequency in the training data, the most frequent first. Texts of another kind
have rarer words, and the classifier is less sure of them. `benchmarks/classification/domain_shift.py` sets the limits and
compares this measure with others.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Optional

import numpy
from numpy.typing import NDArray

from ..machine.aliases import Numbers
from ..measure.metrics import log_odds
from ..scoring.reference import Predictor
from ..text.encoding import Encoded, ReviewEncoder
from ..text.hangul import HANGUL
from ..text.symbols import ENTRIES
from .abstention import ANY_LETTER

# Rows that are measured, and the fewest texts with a word that allow a verdict
MOST_TEXTS, FEWEST_TEXTS = 1000, 20
# Texts of another kind exceed SHIFT_LIMIT by more than SHIFT_SPREAD divided by the root of their number
SHIFT_LIMIT, SHIFT_SPREAD = 0.0, 4.0
# Film reviews' exp of the mean of log(rank), and percentage of the mean of |log-odds|
USUAL_RANK, USUAL_CERTAINTY = 95, 94


@dataclass(frozen=True)
class DomainShift:
    """Texts unlike film reviews: their number, their words' geometric mean rank, the classifier's certainty in percent."""

    texts: int
    rank: int
    certainty: int
    usual_rank: int = USUAL_RANK
    usual_certainty: int = USUAL_CERTAINTY

    def __str__(self) -> str:
        sure = f"the classifier is {self.certainty} % sure, of film reviews {self.usual_certainty} %"
        rare = f"mean rank of their words {self.rank:,}, of film reviews {self.usual_rank}"
        advice = "label 100 rows, then run nsmc-attention adapt FILE --out RUN"
        return f"unlike the film reviews of the training ({sure}; {rare}): expect more wrong labels; {advice}"


def word_ranks(encoder: ReviewEncoder) -> NDArray[numpy.int64]:
    """Rank the entries of a vocabulary, (V,), the most frequent word first.

    The unknown token's rank is V; symbols, which come before the words, have rank 0.
    """
    ranks = numpy.arange(len(encoder)) + 1
    if encoder.symbols:
        places = numpy.array([encoder.token_to_idx[entry] for entry in ENTRIES])
        ranks -= numpy.searchsorted(numpy.sort(places), ranks - 1)
        ranks[places] = 0
    ranks[encoder.unknown] = len(encoder)
    return ranks


def domain_shift(classifier: Predictor, texts: Sequence[str]) -> Optional[DomainShift]:
    """Measure how the first MOST_TEXTS texts differ from film reviews; None unless the classifier is packaged."""
    if not classifier.bundle.packaged:
        return None
    reviews = [review for review in classifier.bundle.codec.encode_many(texts[:MOST_TEXTS]) if len(review)]
    return shift_of(classifier.bundle.codec, reviews, classifier.judge.score(reviews))


def shift_of(encoder: ReviewEncoder, reviews: Sequence[Encoded], probabilities: Numbers) -> Optional[DomainShift]:
    """Measure `domain_shift` from probabilities (N,), NaN if blank; None for fewer than FEWEST_TEXTS texts with a word."""
    ids = [review.ids for review in reviews if len(review)]
    if len(ids) < FEWEST_TEXTS:
        return None
    ranks = word_ranks(encoder)[numpy.concatenate(ids)]
    log_rank = numpy.log(ranks[ranks > 0]).mean() if ranks.any() else 0.0
    certainty = numpy.nanmean(numpy.abs(log_odds(probabilities)))
    shift = DomainShift(len(ids), round(numpy.exp(log_rank)), round(100 / (1 + numpy.exp(-certainty))))
    return shift if log_rank - 2 * certainty > SHIFT_LIMIT + SHIFT_SPREAD / len(ids) ** 0.5 else None


def domain_warning(classifier: Predictor, texts: Sequence[str]) -> Optional[str]:
    """Return a warning if the packaged classifier's labels of these texts mean little, else None.

    That is so after a `domain_shift`, and if most texts with a letter, however few, have no Hangul.
    """
    if shift := domain_shift(classifier, texts):
        return str(shift)
    written = list(filter(ANY_LETTER.search, texts))
    foreign = sum(not HANGUL.search(text) for text in written)
    if not classifier.bundle.packaged or 2 * foreign <= len(written):
        return None
    count = f"{foreign:,} of {len(texts):,} text{'s' * (len(texts) != 1)} {'has' if foreign == 1 else 'have'}"
    return f"{count} no Hangul: the classifier knows Korean and a few English words; other texts get no label"
