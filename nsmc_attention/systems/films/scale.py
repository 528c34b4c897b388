"""The scale of a film network: the classifier whose vectors it reads, and the margins that make intervals of quantiles."""

import json
import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy
from numpy.typing import NDArray

from ..._io.bounded import read_json
from ..._runtime.aliases import Numbers
from ...errors import BundleError
from .intervals import COUNTS, widened

# Numbers of a review that a network may read; a classifier's states have some hundred
MOST_INPUTS = 2**16


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
        By how much the outer quantiles are moved apart, by `intervals.COUNTS`.
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
        try:
            scale = cls(**values)
            names = isinstance(scale.name, str) and isinstance(scale.classifier, str)
            numbers = [scale.lowest, scale.highest, *scale.margins]
            finite = all(isinstance(number, float) and math.isfinite(number) for number in numbers)
            fits = names and finite and type(scale.inputs) is int and 1 <= scale.inputs <= MOST_INPUTS
        except TypeError:
            fits = False
        if not fits or len(scale.margins) != len(COUNTS):
            raise BundleError(f"{where}: expected the scale of a film network, found something else; was it altered?")
        return scale

    def to_json(self) -> str:
        return json.dumps(asdict(self), ensure_ascii=False, indent=2) + "\n"

    def intervals(self, quantiles: Numbers, counts: Numbers) -> NDArray[numpy.float64]:
        """Return stars (N, 3), the low end, the middle and the high end, of the network's quantiles for N films."""
        return widened(quantiles, counts, numpy.array(self.margins), (self.lowest, self.highest))
