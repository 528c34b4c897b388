"""The classifier's result for one review: a frozen value that shows its words shaded in a notebook."""

from dataclasses import dataclass, replace
from html import escape
from itertools import repeat
from typing import Literal, Mapping, Optional

import numpy
from numpy.typing import NDArray

from ..drawing.html import in_frame, legend, matrix_html, shaded_words, shortened
from ..drawing.matrices import Matrix, matrices
from ..machine.aliases import Numbers, Record
from ..network.graphs import AXES
from .settings import LABELS

BLANK = "blank: no word to score"
# Columns added to tables, with their Arrow and Spark types; then the same with the sentiment's columns
TYPES = {"label": "string", "score": "double", "probability": "double", "error": "string"}
WITH_SENTIMENT = {"label": "string", "score": "double", "sentiment": "string", "stars": "double", **TYPES}
IN_WORDS = {name: kind for name, kind in WITH_SENTIMENT.items() if name != "stars"}
Row = tuple[Optional[str], Optional[float], Optional[float], Optional[str]]


@dataclass(frozen=True, eq=False)
class Prediction:
    """A scored review; `label` is None if there was nothing to score, and `error` gives the reason.

    Two predictions are equal if their texts, tokens and labels are, and their numbers agree to 1e-5: the other reviews
    of a batch change the order in which floats are summed.

    Attributes
    ----------
    text : str
        The clean text; text[start:end] of an offset is a token. Only the first 10,000 characters have tokens.
    score, probability : float or None
        Probability of the label, 0.5..1, and of "positive", 0..1.
    sentiment : "positive", "neutral", "negative" or None
        None for a review without an opinion (a fact, a question, a plan) or a label. The label if the bundle has no heads.
    stars : float or None
        Expected stars, 1.0..10.0; None for a review without a sentiment, and if the bundle has no `sentiment.heads`.
    weights : float32, one axis for each of `axes`
        (T, T) for (queries, keys): row i holds the attention of token i to each token, and sums to 1. (R, T) for (hops,
        keys): row i holds the attention of hop i. (T,) for (keys,): a review of more than 512 tokens has one weight a
        token.
    axes : tuple of str
        Ends with "keys", the tokens, which may follow "queries", also the tokens, or "hops".
    """

    text: str
    label: Optional[str]
    score: Optional[float]
    probability: Optional[float]
    tokens: tuple[str, ...]
    offsets: tuple[tuple[int, int], ...]
    weights: NDArray[numpy.float32]
    error: Optional[str] = None
    axes: tuple[str, ...] = AXES
    sentiment: Optional[str] = None
    stars: Optional[float] = None

    @property
    def token_weights(self) -> NDArray[numpy.float32]:
        """(T,) float32, sums to 1: the weight of each token, the mean of `weights` over every axis but the keys."""
        if not self.tokens:
            return numpy.zeros(0, dtype="float32")
        return numpy.asarray(self.weights.mean(axis=tuple(range(self.weights.ndim - 1))))

    @property
    def opinion(self) -> str:
        """The sentiment in words, as "neutral, 5.8 stars" or "no opinion"; "" if it only repeats the label."""
        return opinion_in_words(self.label, self.sentiment, self.stars)

    def averaged(self) -> "Prediction":
        """Return the Prediction with `token_weights` as its weights: (T,) takes far less memory than (T, T)."""
        return replace(self, weights=self.token_weights, axes=("keys",))

    def matrices(self, title: Optional[str] = None) -> list[Matrix]:
        """Return the weights as named matrices."""
        pairs = zip(self.offsets, self.offsets[1:])
        starts = [place for place, ((_, end), (start, _)) in enumerate(pairs, 1) if start > end]
        panels = matrices(self.weights, self.tokens, axes=self.axes, title=title)
        return [panel._replace(starts=starts) for panel in panels]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Prediction):
            return NotImplemented
        exact = ("text", "label", "tokens", "offsets", "error", "axes")
        if any(getattr(self, name) != getattr(other, name) for name in exact):
            return False
        if self.probability is None or other.probability is None:
            return True
        close = numpy.allclose(self.weights, other.weights, rtol=0, atol=1e-5)
        return close and abs(self.probability - other.probability) <= 1e-5

    def __repr__(self) -> str:
        if self.score is None:
            return f"Prediction({shortened(self.text)}, error={self.error!r})"
        return f"Prediction({shortened(self.text)}, {self.label} {self.score:.4f}, {len(self.tokens)} tokens)"

    def _repr_html_(self) -> str:
        """Show the words shaded by their weights in a notebook, with the matrix to unfold."""
        if self.score is None:
            return in_frame(escape(f"{shortened(self.text)}: {self.error}"))
        return attribution_html(self, self.token_weights)

    def to_dict(self, weights: bool = False) -> Record:
        """Return plain values for JSON; `weights` adds "weights" (T x T, or R x T for hops) and "token_weights" (T)."""
        names = ("text", "label", "score", "sentiment", "stars", "probability")
        values: Record = {name: getattr(self, name) for name in names}
        values.update(tokens=list(self.tokens), offsets=[list(span) for span in self.offsets])
        if weights:
            values.update(weights=self.weights.tolist(), token_weights=self.token_weights.tolist())
            if self.axes != AXES:
                values["axes"] = list(self.axes)
        if self.error:
            values["error"] = self.error
        return values


def output_rows(probabilities: Numbers, reasons: Mapping[int, Optional[str]]) -> list[Row]:
    """Return (label, score, probability, error) for probabilities (N,), NaN if blank; a reason withholds the label."""
    positive = probabilities >= 0.5
    labels, scores = map(LABELS.__getitem__, positive.tolist()), numpy.where(positive, probabilities, 1 - probabilities)
    rows: list[Row] = [*zip(labels, scores.tolist(), probabilities.tolist(), repeat(None))]
    blank = dict.fromkeys(numpy.flatnonzero(numpy.isnan(probabilities)).tolist(), BLANK)
    for place, reason in {**reasons, **blank}.items():
        if reason:
            rows[place] = None, None, None if reason is BLANK else rows[place][2], reason
    return rows


def opinion_in_words(label: Optional[str], sentiment: Optional[str], stars: Optional[float]) -> str:
    """Return "neutral, 5.8 stars", or "no opinion" for a label without a sentiment; "" without stars."""
    if sentiment is None:
        return "no opinion" if label else ""
    return "" if stars is None else f"{sentiment}, {stars:.1f} stars"


# The first of METHODS that fits a classifier
AUTO = "auto"
Method = Literal["auto", "contribution", "attention", "gradient", "erasure"]
METHODS: dict[str, str] = {
    "contribution": "contribution: what each word adds to the log-odds, which are the sum and a bias",
    "attention": "attention: the weight of each word",
    "gradient": "gradient x input: how the log-odds change if the word's embedding grows a little",
    "erasure": "erasure: by how much the log-odds fall when the word is left out",
}
# Methods whose values below 0 speak for negative
SIGNED = ("contribution", "gradient", "erasure")
# Methods computed from the attention weights, whose matrix is shown too
WEIGHTED = ("contribution", "attention")


def attribution_html(prediction: Prediction, values: Numbers, method: str = "attention", source: str = "") -> str:
    """Return a labelled prediction as HTML, with values (T,) by one of METHODS; `source` names the model."""
    signed, largest = method in SIGNED, float(abs(values).max())
    notes = "".join(f" · {escape(note)}" for note in (prediction.opinion, source) if note)
    head = (
        f"<b>{escape(str(prediction.label))} {100 * float(prediction.score or 0):.1f} %</b> · "
        f'<span title="{escape(METHODS[method])}">{method}</span>{notes} · {legend(largest, signed)}'
    )
    words = shaded_words(prediction.text, prediction.tokens, prediction.offsets, values, signed)
    has_matrix = method in WEIGHTED and prediction.weights.ndim > 1
    matrix = matrix_html(*prediction.matrices()) if has_matrix else ""
    return in_frame(f'<div class="nsmc-head">{head}</div>{words}{matrix}')
