"""Greedy and beam search: a step-by-step decoder in, the best sequences out; independent of engine and text.

Sutskever et al. 2014 (arXiv:1409.3215), section 3.2, with the length penalty of Wu et al. 2016 (arXiv:1609.08144).
Shapes: N reviews, B hypotheses each, V characters of the vocabulary, S source length.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy

from ...machine.aliases import Numbers

State = Sequence[Numbers]


# One step of a network: ids (M,), constant source and state, with a row for each hypothesis -> log-probabilities (M, V)
# of the next ids, attention weights (M, S), new state
Decoder = Callable[[Numbers, State, State], tuple[Numbers, Numbers, Sequence[Numbers]]]


@dataclass(frozen=True, eq=False)
class Hypothesis:
    """A sequence without its begin and end; `score` is its log-probability divided by the length penalty.

    `weights` (T, S) are the attention weights of its T steps; `truncated` is true if it had no end within `longest`.
    """

    ids: tuple[int, ...]
    score: float
    weights: Numbers
    truncated: bool


def length_penalty(length: int, alpha: float) -> float:
    """Return ((5 + length) / 6) ** alpha, equation 14 of Wu et al.; `length` includes the end."""
    return float(((5 + length) / 6) ** alpha)


def search(*arguments: Any, **options: Any) -> list[list[Hypothesis]]:
    """Return at most `beam` hypotheses for each review, best first; the arguments are those of Search."""
    return Search(*arguments, **options).run()


@dataclass(eq=False)
class Search:
    """A beam search over N reviews at once.

    `source` and `state` have a row for each review; `longest` (N,) is the most steps of each, including the end. After
    these steps, unfinished hypotheses are returned as truncated, so every search ends. `beam` 1 is greedy search.
    """

    decoder: Decoder
    source: State
    state: State
    begin: int
    end: int
    longest: Sequence[int]
    beam: int = 4
    alpha: float = 0.6

    def __post_init__(self) -> None:
        self.reviews = len(self.longest)
        self.source, self.state = (self.repeated(arrays) for arrays in (self.source, self.state))
        self.ids = numpy.full((self.reviews, self.beam), self.begin)
        # a review's hypotheses are equal before the first step, so only one of them has a score
        self.scores = numpy.full((self.reviews, self.beam), -numpy.inf)
        self.scores[:, 0] = 0
        # for each step: chosen ids, the hypotheses that they extend, and the weights of all hypotheses before the step
        self.steps: list[tuple[Numbers, Numbers, Numbers]] = []
        self.ended: list[list[Hypothesis]] = [[] for _ in range(self.reviews)]

    def repeated(self, arrays: State) -> list[Numbers]:
        return [numpy.repeat(array, self.beam, axis=0) for array in arrays]

    def run(self) -> list[list[Hypothesis]]:
        open_reviews = list(range(self.reviews))
        while open_reviews:
            parents, chosen, totals, weights = self.advance()
            for review in open_reviews:
                self.collect(review, parents[review], chosen[review], totals[review])
            self.continue_with(parents, chosen, totals, weights)
            open_reviews = [review for review in open_reviews if not self.is_done(review)]
        return [sorted(ended, key=lambda hypothesis: -hypothesis.score)[: self.beam] for ended in self.ended]

    def advance(self) -> tuple[Numbers, ...]:
        """Run the decoder on the last ids; return its best continuations.

        Parents, ids and scores (N, 2 B), then weights (N, B, S). At least B of the 2 B continuations do not end.
        """
        log_probability, weights, state = self.decoder(self.ids.reshape(-1), self.source, self.state)
        self.state = list(state)
        size = log_probability.shape[1]
        totals = self.scores[:, :, None] + log_probability.reshape(self.reviews, self.beam, size)
        totals = totals.reshape(self.reviews, -1)
        count = min(2 * self.beam, totals.shape[1])
        best = numpy.argpartition(-totals, count - 1, axis=1)[:, :count]
        # by score, ties by index, so that the result does not depend on the batch
        best = numpy.take_along_axis(best, numpy.lexsort((best, -numpy.take_along_axis(totals, best, 1))), axis=1)
        weights = weights.reshape(self.reviews, self.beam, -1)
        return best // size, best % size, numpy.take_along_axis(totals, best, axis=1), weights

    def collect(self, review: int, parents: Any, chosen: Any, totals: Any) -> None:
        """Store the hypotheses of a review that end with this step and are among its best B."""
        for rank in range(min(self.beam, len(chosen))):
            if chosen[rank] == self.end and numpy.isfinite(totals[rank]):
                total, length = float(totals[rank]), len(self.steps) + 1
                self.ended[review].append(self.hypothesis(review, int(parents[rank]), total, length, False))

    def continue_with(self, parents: Any, chosen: Any, totals: Any, weights: Any) -> None:
        """Continue with the best B unfinished hypotheses of each review."""
        unfinished = numpy.argsort(chosen == self.end, axis=1, kind="stable")[:, : self.beam]
        parents, self.ids, self.scores = (
            numpy.take_along_axis(array, unfinished, axis=1) for array in (parents, chosen, totals)
        )
        self.scores = numpy.where(self.ids == self.end, -numpy.inf, self.scores)
        self.steps.append((self.ids, parents, weights))
        rows = (numpy.arange(self.reviews)[:, None] * self.beam + parents).reshape(-1)
        self.state = [array[rows] for array in self.state]

    def is_done(self, review: int) -> bool:
        """Return whether a review's search is done; at the length limit, store unfinished hypotheses as truncated."""
        ended, limit = self.ended[review], self.longest[review]
        best = float(self.scores[review].max())
        if not numpy.isfinite(best):
            return True
        # log-probabilities only fall: the best unfinished one, at the greatest length, bounds all later scores
        bound = best / length_penalty(limit, self.alpha)
        scores = sorted((hypothesis.score for hypothesis in ended), reverse=True)[: self.beam]
        if len(scores) == self.beam and scores[-1] >= bound:
            return True
        if len(self.steps) < limit:
            return False
        for rank in range(self.beam):
            if numpy.isfinite(self.scores[review, rank]) and len(ended) < self.beam:
                total = float(self.scores[review, rank])
                ended.append(self.hypothesis(review, rank, total, len(self.steps), True))
        return True

    def hypothesis(self, review: int, rank: int, total: float, length: int, truncated: bool) -> Hypothesis:
        """Return the hypothesis at a rank of the last step, with ids and weights traced back through its parents."""
        ids, rows = [], []
        for chosen, parents, weights in reversed(self.steps):
            ids.append(int(chosen[review, rank]))
            rank = int(parents[review, rank])
            rows.append(weights[review, rank])
        score = total / length_penalty(length, self.alpha)
        return Hypothesis(tuple(ids[::-1]), score, numpy.array(rows[::-1]), truncated)
