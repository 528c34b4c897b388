"""What the classifier says of one review, as a frozen value."""

from dataclasses import dataclass
from typing import Any, Iterable, Optional

import numpy
from numpy.typing import NDArray

from ..bundle.format import LABELS

NOTHING_TO_READ = "blank: no word to score"
# What tables are told of a review, in the types of Arrow and of Spark
TYPES = {"label": "string", "score": "double", "probability": "double", "error": "string"}
COLUMNS = tuple(TYPES)


@dataclass(frozen=True, eq=False)
class Prediction:
    """A scored review; `label` is None and `error` tells why where there was nothing to score.

    Two predictions are equal when texts, tokens and labels are and the numbers agree to 1e-5: other reviews
    in the batch change the order in which floats are summed, and with it their last bits.

    Attributes
    ----------
    text : str
        The clean text, which offsets point into.
    label : "positive", "negative" or None
    score : float in 0.5..1 or None
        Probability of the label.
    probability : float in 0..1 or None
        Probability of positive.
    tokens : tuple of str, T of them
    offsets : tuple of (start, end)
        text[start:end] is the token. Where the last end is before the text's, the rest was beyond max_length.
    weights : (T, T) float32
        Row i says how much token i looks at each token; a row sums to 1.
    error : str or None
    """

    text: str
    label: Optional[str]
    score: Optional[float]
    probability: Optional[float]
    tokens: tuple[str, ...]
    offsets: tuple[tuple[int, int], ...]
    weights: NDArray[numpy.float32]
    error: Optional[str] = None

    @property
    def token_weights(self) -> NDArray[numpy.float32]:
        """(T,) float32, sums to 1: how much each token is looked at, the mean over the rows of `weights`."""
        return self.weights.mean(axis=0) if len(self.tokens) else numpy.zeros(0, dtype="float32")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Prediction):
            return NotImplemented
        same = (self.text, self.label, self.tokens, self.offsets, self.error) == (
            other.text,
            other.label,
            other.tokens,
            other.offsets,
            other.error,
        )
        if not same or self.probability is None or other.probability is None:
            return same
        return abs(self.probability - other.probability) <= 1e-5 and bool(
            numpy.allclose(self.weights, other.weights, rtol=0, atol=1e-5)
        )

    def to_dict(self, weights: bool = False) -> dict[str, Any]:
        """Answer plain values for JSON; with weights, `weights` (T x T) and `token_weights` (T) too."""
        values = {
            "text": self.text,
            "label": self.label,
            "score": self.score,
            "probability": self.probability,
            "tokens": list(self.tokens),
            "offsets": [list(span) for span in self.offsets],
        }
        if weights:
            values["weights"] = self.weights.tolist()
            values["token_weights"] = self.token_weights.tolist()
        return {**values, "error": self.error} if self.error else values


def verdict(probability: float) -> tuple[Optional[str], Optional[float], Optional[float], Optional[str]]:
    """Answer (label, score, probability, error) for a probability of positive; NaN is a blank text."""
    if probability != probability:
        return None, None, None, NOTHING_TO_READ
    positive = probability >= 0.5
    return LABELS[positive], probability if positive else 1 - probability, probability, None


def verdicts(probabilities: NDArray[numpy.float64]) -> dict[str, list[Any]]:
    """Answer {name: list} of COLUMNS for N probabilities of positive."""
    answers = [verdict(each) for each in probabilities.tolist()]
    return {name: [each[place] for each in answers] for place, name in enumerate(COLUMNS)}


def prefix_beside(names: Iterable[str]) -> str:
    """Answer what stands before the names of the answer's columns, so that none is among a table's own."""
    names, prefix = set(names), ""
    while {prefix + name for name in COLUMNS} & names:
        prefix += "predicted_"
    return prefix


def blank(text: str) -> Prediction:
    """Answer the prediction of a text without a token."""
    return Prediction(text, None, None, None, (), (), numpy.zeros((0, 0), dtype="float32"), NOTHING_TO_READ)
