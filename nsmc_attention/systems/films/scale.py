"""The scale of a film network: the classifier whose vectors it reads, and the margins that make intervals of quantiles.

The intervals of 90 % hold on films nobody has seen: split-conformal prediction on quantiles, Romano et al. 2019
(arXiv:1905.03222), equations 6 to 8. The quantiles are moved apart by as much as films not trained on need.
"""

import json
import math
from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy
from numpy.typing import NDArray

from ..._io.reading import read_json
from ..._runtime.aliases import Numbers
from ...errors import BundleError

# Share of the films whose stars are inside
COVERAGE = 0.9
# Numbers of reviews given for which a margin is found; between them it is interpolated
COUNTS = (1, 2, 3, 5, 8, 12, 20, 32, 64)


def margin(low: Numbers, high: Numbers, stars: Numbers) -> float:
    """Return what widens intervals so that a share COVERAGE of new films is inside; below 0 it narrows them.

    low, high and stars are (N,), of N films that the quantiles were not trained on; infinite for too few of them.
    """
    scores = numpy.sort(numpy.maximum(low - stars, stars - high))
    rank = math.ceil((len(scores) + 1) * COVERAGE)
    return float(scores[rank - 1]) if rank <= len(scores) else math.inf


def widened(quantiles: Numbers, counts: Numbers, margins: Numbers, bounds: tuple[float, float]) -> Numbers:
    """Return (N, 3): the quantiles of N films, the outer ones moved by the margins (of COUNTS) and within the bounds.

    A narrowed interval keeps the median inside.
    """
    low, middle, high = numpy.asarray(quantiles, dtype="float64").T
    more = numpy.interp(numpy.log(counts), numpy.log(COUNTS), margins)
    moved = numpy.stack([numpy.minimum(low - more, middle), middle, numpy.maximum(high + more, middle)], axis=1)
    return moved.clip(*bounds)


def inside(intervals: Numbers, stars: Numbers) -> float:
    """Return the share of stars (N,) within intervals (N, 3)."""
    return float(((intervals[:, 0] <= stars) & (stars <= intervals[:, 2])).mean())


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
    def of(cls, reader: Any, stars: Numbers, margins: list[float]) -> "Scale":
        bundle = reader.bundle
        return cls(bundle.name, bundle.fingerprint, reader.width, float(stars.min()), float(stars.max()), margins)

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
        """Return stars (N, 3), the low end, the middle and the high end, of the network's quantiles for N films."""
        return widened(quantiles, counts, numpy.array(self.margins), (self.lowest, self.highest))
