"""From the reviews of a film to its stars: reviews pooled as they come, and the scale of the network's quantiles."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from heapq import nlargest

import numpy
from numpy.typing import NDArray

from ...errors import BundleError
from ...machine.aliases import Numbers
from ...machine.files import read_json

# Numbers of reviews given for which a margin is found; between them it is interpolated
COUNTS = (1, 2, 3, 5, 8, 12, 20, 32, 64)


class Pool:
    """The sums over a film's reviews so far; `shown` of those with the highest scores are kept as texts, each once.

    Memory does not grow with the reviews, nor does their order or any cut matter: the softmax in one pass, Milakov &
    Gimelshein 2018 (arXiv:1805.02867), algorithm 3, with the weighted sum of the values.
    """

    # a slot each: there may be 100,000 films
    __slots__ = ("shown", "count", "blank", "highest", "total", "weighted", "summed", "best")

    def __init__(self, shown: int):
        self.shown, self.count, self.blank, self.highest, self.total = shown, 0, 0, -numpy.inf, 0.0
        self.weighted: NDArray[numpy.float64] = numpy.zeros(())
        self.summed: NDArray[numpy.float64] = numpy.zeros(())
        self.best: list[tuple[float, str]] = []

    def add(self, scores: NDArray[numpy.float32], values: NDArray[numpy.float32], texts: Sequence[str]) -> None:
        """Add reviews: scores (M,), values (M, D) and texts, at least one."""
        highest = max(self.highest, float(scores.max()))
        # the sums so far are relative to the highest score so far
        kept, weights = float(numpy.exp(self.highest - highest)), numpy.exp(scores.astype("float64") - highest)
        self.highest, self.count = highest, self.count + len(scores)
        self.total = self.total * kept + float(weights.sum())
        self.weighted = self.weighted * kept + weights @ values
        self.summed = self.summed + values.sum(axis=0, dtype="float64")
        if self.shown:
            once = {text: (score, text) for score, text in [*self.best, *zip(scores.tolist(), texts)]}
            self.best = nlargest(self.shown, once.values())

    @property
    def pooled(self) -> NDArray[numpy.float64]:
        """(2 D,): the mean of the values by the weights, and their plain mean."""
        return numpy.concatenate([self.weighted / self.total, self.summed / self.count])

    @property
    def weights(self) -> list[tuple[str, float]]:
        """The kept texts, each with its share of all weights, the largest first."""
        return [(text, float(numpy.exp(score - self.highest)) / self.total) for score, text in self.best]


@dataclass(frozen=True)
class Scale:
    """The scale of a film network.

    Attributes
    ----------
    name, classifier : str
        Name and fingerprint of the classifier's bundle whose encoder reads the reviews.
    inputs : int
        Numbers of a review (F).
    lowest, highest : float
        Fewest and most stars of the reviews that it was trained on.
    margins : list of float
        By how much the outer quantiles are moved apart, by COUNTS.
    """

    name: str
    classifier: str
    inputs: int
    lowest: float
    highest: float
    margins: list[float]

    @property
    def sizes(self) -> tuple[int, ...]:
        """The arguments of a config's `network`."""
        return (self.inputs,)

    @classmethod
    def from_json(cls, content: bytes, where: object, *bundle: object) -> "Scale":
        """Read what `to_json` returned, wherever the rest of its `bundle` is; BundleError if it is something else."""
        values = read_json(content, where, BundleError, "the scale of a film network")
        if not isinstance(values, dict) or values.keys() != {each.name for each in fields(cls)}:
            raise BundleError(f"{where}: expected the scale of a film network, found something else; was it altered?")
        return cls(**values)

    def to_json(self) -> str:
        return json.dumps(asdict(self), ensure_ascii=False, indent=2) + "\n"

    def intervals(self, quantiles: Numbers, counts: Numbers) -> NDArray[numpy.float64]:
        """Stars (N, 3), the low end, the middle and the high end, of the network's quantiles (N, 3) for N films.

        The outer quantiles are moved by the margins, within the bounds; a narrowed interval keeps the median inside.
        """
        low, middle, high = numpy.asarray(quantiles, dtype="float64").T
        more = numpy.interp(numpy.log(counts), numpy.log(COUNTS), self.margins)
        moved = numpy.stack([numpy.minimum(low - more, middle), middle, numpy.maximum(high + more, middle)], axis=1)
        return moved.clip(self.lowest, self.highest)
