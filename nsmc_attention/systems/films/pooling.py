"""Reviews of a film pooled as they come: memory does not grow with their number, nor does their order or any cut matter.

The softmax in one pass, Milakov & Gimelshein 2018 (arXiv:1805.02867), algorithm 3, with the weighted sum of the values.
"""

from collections.abc import Iterable, Sequence
from heapq import nlargest

import numpy
from numpy.typing import NDArray


class Pool:
    """The sums over a film's reviews so far; `shown` of those with the highest scores are kept as texts."""

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
        highest = float(scores.max())
        weights = numpy.exp(scores.astype("float64") - highest)
        summed = values.sum(axis=0, dtype="float64")
        best = zip(scores.tolist(), texts) if self.shown else ()
        self.join(len(scores), highest, float(weights.sum()), weights @ values, summed, best)

    def join(
        self,
        count: int,
        highest: float,
        total: float,
        weighted: NDArray[numpy.float64],
        summed: NDArray[numpy.float64],
        best: Iterable[tuple[float, str]],
    ) -> None:
        """Add `count` reviews by their sums, whose weights are relative to that of their highest score."""
        if self.count:
            joint = max(self.highest, highest)
            own, others = float(numpy.exp(self.highest - joint)), float(numpy.exp(highest - joint))
            highest, total = joint, self.total * own + total * others
            weighted, summed = self.weighted * own + weighted * others, self.summed + summed
        self.highest, self.total, self.weighted, self.summed = highest, total, weighted, summed
        self.count += count
        if self.shown:
            self.best = nlargest(self.shown, [*self.best, *best])

    @property
    def pooled(self) -> NDArray[numpy.float64]:
        """(2 D,): the mean of the values by the weights, and their plain mean."""
        return numpy.concatenate([self.weighted / self.total, self.summed / self.count])

    @property
    def weights(self) -> list[tuple[str, float]]:
        """The kept texts, each with its share of all weights, the largest first."""
        return [(text, float(numpy.exp(score - self.highest)) / self.total) for score, text in self.best]
