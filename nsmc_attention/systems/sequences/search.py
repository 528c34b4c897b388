"""Greedy and beam search: from a decoder, called step by step, to the best sequences. Knows no engine and no text.

Sutskever et al. 2014 (arXiv:1409.3215), section 3.2, with the length penalty of Wu et al. 2016 (arXiv:1609.08144).
Shapes: N reviews, B hypotheses each, V characters of the vocabulary, S source length.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy

from ...machine.aliases import Numbers

State = Sequence[Numbers]


# One step of a network: (ids (M,), source, state), of which the source does not change between steps, the state does, and
# each array has a row a hypothesis -> log-probabilities (M, V) of what follows the ids, attention weights (M, S), new state
Decoder = Callable[[Numbers, State, State], tuple[Numbers, Numbers, Sequence[Numbers]]]


@dataclass(frozen=True, eq=False)
class Hypothesis:
    """A sequence without its begin and end; `score` is its log-probability divided by the length penalty.

    `weights` (T, S) are those of the steps that wrote it; `truncated` says that it had not ended within `longest`.
    """

    ids: tuple[int, ...]
    score: float
    weights: Numbers
    truncated: bool


def length_penalty(length: int, alpha: float) -> float:
    """Return ((5 + length) / 6) ** alpha, equation 14 of Wu et al.; `length` counts the end."""
    return float(((5 + length) / 6) ** alpha)


def search(*given: Any, **options: Any) -> list[list[Hypothesis]]:
    """Return for each review at most `beam` hypotheses, best first; the arguments are those of Search."""
    return Search(*given, **options).run()


@dataclass(eq=False)
class Search:
    """The hypotheses of N reviews side by side: what was written at each step, after which, and who has ended.

    `source` and `state` have a row for each of N reviews, `longest` (N,) is the most steps that each may take, its end
    being one. Every search ends: after these steps, what has been written is returned as truncated. With `beam` 1 it is
    greedy.
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
        # all hypotheses of a review are the same before the first step: only one of them counts
        self.scores = numpy.full((self.reviews, self.beam), -numpy.inf)
        self.scores[:, 0] = 0
        # of each step: the characters, the hypotheses that they were added to, and the weights before choosing
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
        """Let the decoder read the last characters; return the best 2 B continuations (N, 2 B) and the weights.

        Of 2 B at least B do not end.
        """
        log_probability, weights, state = self.decoder(self.ids.reshape(-1), self.source, self.state)
        self.state = list(state)
        size = log_probability.shape[1]
        totals = self.scores[:, :, None] + log_probability.reshape(self.reviews, self.beam, size)
        totals = totals.reshape(self.reviews, -1)
        count = min(2 * self.beam, totals.shape[1])
        best = numpy.argpartition(-totals, count - 1, axis=1)[:, :count]
        # by score; equal ones by their number, so that the result does not depend on the batch
        best = numpy.take_along_axis(best, numpy.lexsort((best, -numpy.take_along_axis(totals, best, 1))), axis=1)
        weights = weights.reshape(self.reviews, self.beam, -1)
        return best // size, best % size, numpy.take_along_axis(totals, best, axis=1), weights

    def collect(self, review: int, parents: Any, chosen: Any, totals: Any) -> None:
        """Keep the hypotheses of a review that end with this step, among its best B."""
        for place in range(min(self.beam, len(chosen))):
            if chosen[place] == self.end and numpy.isfinite(totals[place]):
                total, length = float(totals[place]), len(self.steps) + 1
                self.ended[review].append(self.hypothesis(review, int(parents[place]), total, length, False))

    def continue_with(self, parents: Any, chosen: Any, totals: Any, weights: Any) -> None:
        """Go on with the best B hypotheses of each review that have not ended."""
        going = numpy.argsort(chosen == self.end, axis=1, kind="stable")[:, : self.beam]
        parents, self.ids, self.scores = (
            numpy.take_along_axis(array, going, axis=1) for array in (parents, chosen, totals)
        )
        self.scores = numpy.where(self.ids == self.end, -numpy.inf, self.scores)
        self.steps.append((self.ids, parents, weights))
        rows = (numpy.arange(self.reviews)[:, None] * self.beam + parents).reshape(-1)
        self.state = [array[rows] for array in self.state]

    def is_done(self, review: int) -> bool:
        """Return whether nothing better can come; at the length limit, keep what there is as truncated."""
        ended, limit = self.ended[review], self.longest[review]
        best = float(self.scores[review].max())
        if not numpy.isfinite(best):
            return True
        # no longer hypothesis has a higher score than the best unfinished one at the greatest length
        bound = best / length_penalty(limit, self.alpha)
        kept = sorted((hypothesis.score for hypothesis in ended), reverse=True)[: self.beam]
        if len(kept) == self.beam and kept[-1] >= bound:
            return True
        if len(self.steps) < limit:
            return False
        for place in range(self.beam):
            if numpy.isfinite(self.scores[review, place]) and len(ended) < self.beam:
                total = float(self.scores[review, place])
                ended.append(self.hypothesis(review, place, total, len(self.steps), True))
        return True

    def hypothesis(self, review: int, place: int, total: float, length: int, truncated: bool) -> Hypothesis:
        """Return a hypothesis after the last step: its characters, and the weights that each was written by."""
        ids, rows = [], []
        for chosen, parents, weights in reversed(self.steps):
            ids.append(int(chosen[review, place]))
            place = int(parents[review, place])
            rows.append(weights[review, place])
        score = total / length_penalty(length, self.alpha)
        return Hypothesis(tuple(ids[::-1]), score, numpy.array(rows[::-1]), truncated)
