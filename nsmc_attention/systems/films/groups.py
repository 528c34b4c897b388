"""Ratings of groups of reviews, for reports and for tables of any size; see `registry.modules`.

A worker of `bulk` reads reviews once for both: their predictions, and what those of a film amount to.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Optional

import numpy
from numpy.typing import NDArray

from ..._runtime.aliases import Record
from ...classification.prediction import TYPES, Prediction, Row, output_row
from ...classification.predictor import WINDOW, leaning_of
from ...text.encoding import Encoded
from .pooling import Pool
from .rater import FilmRater, Pools, rater_of
from .rows import names_of, shown_in, write_ratings

__all__ = ["PoolingScorer", "load", "merge", "names_of", "rater_of", "shown_in", "write_ratings"]
load = FilmRater.load
NO_WEIGHTS: NDArray[numpy.float32] = numpy.zeros((0, 0), dtype="float32")


@dataclass
class PoolingScorer:
    """Scores reviews as their classifier does and pools them, each with the next of `films`.

    `pools` are those of the reviews so far; a review of the film None is in none. `shown` is that of `Pool`.
    """

    rater: FilmRater
    films: Iterator[Optional[str]]
    shown: int
    pools: Pools = field(default_factory=dict)
    types = TYPES

    @property
    def reference(self) -> Any:
        return self.rater.reference

    @property
    def prior(self) -> float:
        return leaning_of(self.rater.classifier.manifest)

    def rows(self, texts: Iterable[str]) -> list[Row]:
        """Return (label, score, probability, error) of each review."""
        return [row for _, row in self.read(texts)]

    def objects(self, texts: Iterable[str], weights: bool = False) -> Iterator[Record]:
        """Yield `Prediction.to_dict()` of each review, without weights."""
        for review, row in self.read(texts):
            yield Prediction(review.text, *row[:3], review.tokens, review.offsets, NO_WEIGHTS, row[3]).to_dict()

    def read(self, texts: Iterable[str]) -> Iterator[tuple[Encoded, Row]]:
        iterator = iter(texts)
        while window := self.rater.classifier.codec.encode_many(list(islice(iterator, WINDOW))):
            films = list(islice(self.films, len(window)))
            yield from zip(window, map(output_row, self.rater.add(self.pools, films, window, self.shown).tolist()))


def merge(pools: Pools, others: Pools, shown: int) -> None:
    """Add the reviews of other Pools to those of the same films."""
    for film, pool in others.items():
        pools.setdefault(film, Pool(shown)).merge(pool)
