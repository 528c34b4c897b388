"""Pooling of a film's reviews in one pass, and the scale that turns the network's quantiles into stars."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from heapq import nlargest

import numpy
from numpy.typing import NDArray

from ...errors import BundleError
from ...machine.aliases import Numbers
from ...machine.files import read_json

# Numbers of reviews with a calibrated margin; margins between them are interpolated
COUNTS = (1, 2, 3, 5, 8, 12, 20, 32, 64)


class Pool:
    """Running sums over a film's reviews, and the texts of the `shown` different ones with the highest scores.

    Memory does not grow with the reviews, and neither their order nor their division into calls of `add` matters: the
    softmax in one pass, Milakov & Gimelshein 2018 (arXiv:1805.02867), algorithm 3, with the weighted sum of the values.
    """

    # slots save memory: a table may have 100,000 films
    __slots__ = ("shown", "count", "blank", "highest", "total", "weighted", "summed", "best")

    def __init__(self, shown: int):
        self.shown, self.count, self.blank, self.highest, self.total = shown, 0, 0, -numpy.inf, 0.0
        self.weighted: NDArray[numpy.float64] = numpy.zeros(())
        self.summed: NDArray[numpy.float64] = numpy.zeros(())
        self.best: list[tuple[float, str]] = []

    def add(self, scores: NDArray[numpy.float32], values: NDArray[numpy.float32], texts: Sequence[str]) -> None:
        """Add reviews: scores (M,), values (M, D) and texts, at least one."""
        highest = max(self.highest, float(scores.max()))
        # all sums are relative to the highest score, so that no exponential overflows
        rescaling, weights = float(numpy.exp(self.highest - highest)), numpy.exp(scores.astype("float64") - highest)
        self.highest, self.count = highest, self.count + len(scores)
        self.total = self.total * rescaling + float(weights.sum())
        self.weighted = self.weighted * rescaling + weights @ values
        self.summed = self.summed + values.sum(axis=0, dtype="float64")
        if self.shown:
            unique = {text: (score, text) for score, text in [*self.best, *zip(scores.tolist(), texts)]}
            self.best = nlargest(self.shown, unique.values())

    @property
    def pooled(self) -> NDArray[numpy.float64]:
        """Weighted mean of the values followed by their plain mean, (2 D,)."""
        return numpy.concatenate([self.weighted / self.total, self.summed / self.count])

    @property
    def weights(self) -> list[tuple[str, float]]:
        """The `shown` texts, each with its share of the total weight (0 to 1), in descending order."""
        return [(text, float(numpy.exp(score - self.highest)) / self.total) for score, text in self.best]


@dataclass(frozen=True)
class Scale:
    """The scale of a film network: its classifier, the bounds of its stars and the margins of its intervals.

    Attributes
    ----------
    name, classifier : str
        Name and fingerprint of the classifier's bundle whose encoder reads the reviews.
    inputs : int
        Features of a review (F).
    lowest, highest : float
        Minimum and maximum stars of the training reviews.
    margins : list of float
        Stars by which each outer quantile moves outward, one for each of COUNTS; negative ones narrow the interval.
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
        """Read the content of scale.json; `where` is its path for messages, BundleError if its keys are others."""
        values = read_json(content, where, BundleError, "the scale of a film network")
        if not isinstance(values, dict) or values.keys() != {field.name for field in fields(cls)}:
            raise BundleError(f"{where}: expected the scale of a film network, found something else; was it altered?")
        return cls(**values)

    def to_json(self) -> str:
        return json.dumps(asdict(self), ensure_ascii=False, indent=2) + "\n"

    def intervals(self, quantiles: Numbers, counts: Numbers) -> NDArray[numpy.float64]:
        """Return stars (N, 3), low, middle and high, from the quantiles (N, 3) of films with `counts` reviews (N,).

        Margins move the outer quantiles within the bounds; a narrowed interval keeps the median inside.
        """
        low, middle, high = numpy.asarray(quantiles, dtype="float64").T
        margin = numpy.interp(numpy.log(counts), numpy.log(COUNTS), self.margins)
        bounds = [numpy.minimum(low - margin, middle), middle, numpy.maximum(high + margin, middle)]
        return numpy.stack(bounds, axis=1).clip(self.lowest, self.highest)
