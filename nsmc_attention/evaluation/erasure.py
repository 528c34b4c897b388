"""The change of the prediction when a token is erased, by which attention is taught and judged."""

from typing import Callable, Iterable, Sequence

import numpy
from numpy.typing import NDArray

from ..text.encoding import Encoded
from .calibration import log_odds

Floats = NDArray[numpy.float64]
# (N,) probability of positive of N reviews, as `classification.predictor.TokenScorer`
Scorer = Callable[[Sequence[Encoded]], Floats]
ProgressCallback = Callable[[Iterable[int]], Iterable[int]]
# Reviews whose erasures are scored together, and what a probability is at least: single precision knows no less
PIECE, SMALLEST = 256, 1e-7


def leave_one_out(score: Scorer, reviews: Sequence[Encoded], progress: ProgressCallback = iter) -> list[Floats]:
    """Erase each token in turn; return (T,) float64 for each review, none of which is empty.

    Log-odds of the review (of a single token) less those without the token: above 0 if it speaks for positive. Li,
    Monroe & Jurafsky 2016 (arXiv:1612.08220), section 3. `progress` wraps the iterable of the loop, as tqdm does.
    """
    whole = log_odds(score(reviews), SMALLEST)
    changes: list[Floats] = []
    for start in progress(range(0, len(reviews), PIECE)):
        piece = reviews[start : start + PIECE]
        without = [review.without(position) for review in piece for position in range(len(review))]
        lengths = [len(review) for review in piece]
        left = numpy.nan_to_num(log_odds(score(without), SMALLEST))
        change = numpy.repeat(whole[start : start + PIECE], lengths) - left
        changes.extend(numpy.split(change, numpy.cumsum(lengths)[:-1]))
    return changes


def shares(changes: Floats) -> Floats:
    """Return the absolute changes divided by their sum; equal shares if all are 0."""
    importance = numpy.abs(changes)
    total = importance.sum()
    return importance / total if total > 0 else numpy.full(len(importance), 1 / len(importance))
