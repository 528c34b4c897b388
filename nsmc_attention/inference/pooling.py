"""Reviews of a film pooled as they come: memory does not grow with their number, nor does their order or any cut matter.

The softmax in one pass, Milakov & Gimelshein 2018 (arXiv:1805.02867), algorithm 3, with the weighted sum of the values.
"""

from collections.abc import Sequence
from heapq import nlargest

import numpy
from numpy.typing import NDArray


class Pool:
    """What is known of the reviews of a film so far; `shown` of those with the highest scores are kept as texts."""

    # a slot each: there may be 100,000 films
    __slots__ = ("shown", "count", "blank", "highest", "total", "weighted", "summed", "best")

    def __init__(self, shown: int):
        self.shown, self.count, self.blank = shown, 0, 0
        self.highest, self.total = -numpy.inf, 0.0
        self.weighted: NDArray[numpy.float64] = numpy.zeros(0)
        self.summed: NDArray[numpy.float64] = numpy.zeros(0)
        self.best: list[tuple[float, str]] = []

    def add(self, scores: NDArray[numpy.float32], values: NDArray[numpy.float32], texts: Sequence[str]) -> None:
        """Add reviews: scores (M,), values (M, D) and texts, at least one."""
        highest = max(self.highest, float(scores.max()))
        kept = float(numpy.exp(self.highest - highest))
        weights = numpy.exp(scores.astype("float64") - highest)
        weighted, summed = weights @ values, values.sum(axis=0, dtype="float64")
        if self.count:
            weighted, summed = self.weighted * kept + weighted, self.summed + summed
        self.weighted, self.summed, self.highest = weighted, summed, highest
        self.total = self.total * kept + float(weights.sum())
        self.count += len(scores)
        if self.shown:
            self.best = nlargest(self.shown, [*self.best, *zip(scores.tolist(), texts)])

    @property
    def pooled(self) -> NDArray[numpy.float64]:
        """(2 D,): the mean of the values by the weights, and their plain mean."""
        return numpy.concatenate([self.weighted / self.total, self.summed / self.count])

    @property
    def weights(self) -> list[tuple[str, float]]:
        """The kept texts, each with its share of all weights, the largest first."""
        return [(text, float(numpy.exp(score - self.highest)) / self.total) for score, text in self.best]
