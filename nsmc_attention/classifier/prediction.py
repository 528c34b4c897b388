"""A classifier's result for one review, as a frozen value; in a notebook its words are shaded."""

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
# The output columns of tables, in the types of Arrow and of Spark; the same with those of the sentiment
TYPES = {"label": "string", "score": "double", "probability": "double", "error": "string"}
WITH_SENTIMENT = {"label": "string", "score": "double", "sentiment": "string", "stars": "double", **TYPES}
IN_WORDS = {name: kind for name, kind in WITH_SENTIMENT.items() if name != "stars"}
Row = tuple[Optional[str], Optional[float], Optional[float], Optional[str]]


@dataclass(frozen=True, eq=False)
class Prediction:
    """A scored review; if there was nothing to score, `label` is None and `error` gives the reason.

    Two predictions are equal if texts, tokens and labels are and the numbers agree to 1e-5: the other reviews of a
    batch change the order in which floats are summed.

    Attributes
    ----------
    text : str
        The clean text; text[start:end] of the offsets are the tokens, of its first 10,000 characters.
    score, probability : float or None
        Probability of the label, 0.5..1, and of positive, 0..1.
    sentiment : "positive", "neutral", "negative" or None
        None where there is no opinion (a fact, a question, a plan), or no label. Of a bundle without heads it is the label.
    stars : float or None
        The expected stars, 1.0 to 10.0, of a review with a sentiment, by a bundle with heads (`sentiment.heads`).
    weights : float32, one axis for each of `axes`
        (T, T) where these are (queries, keys): row i holds the attention of token i to each token, and sums to 1. (R,
        T) where these are (hops, keys): row i holds that of hop i. (T,) where these are (keys,): a review of more than
        512 tokens has one weight a token.
    axes : tuple of str
        The last is "keys", the tokens; before it "queries", the tokens too, or "hops".
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
        """The sentiment in words: "neutral, 5.8 stars", or "no opinion"; nothing where it only is the label."""
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
        """Return plain values for JSON; with weights, `weights` (T x T, of hops R x T) and `token_weights` (T) too."""
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
    """Return (label, score, probability, error) of probabilities (N,), NaN if blank; a reason withholds the label."""
    positive = probabilities >= 0.5
    labels, scores = map(LABELS.__getitem__, positive.tolist()), numpy.where(positive, probabilities, 1 - probabilities)
    rows: list[Row] = [*zip(labels, scores.tolist(), probabilities.tolist(), repeat(None))]
    blank = dict.fromkeys(numpy.flatnonzero(numpy.isnan(probabilities)).tolist(), BLANK)
    for place, reason in {**reasons, **blank}.items():
        if reason:
            rows[place] = None, None, None if reason is BLANK else rows[place][2], reason
    return rows


def opinion_in_words(label: Optional[str], sentiment: Optional[str], stars: Optional[float]) -> str:
    """Return "neutral, 5.8 stars", or "no opinion" of a review with a label alone; nothing without stars."""
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
# Methods with values below 0, which speak for negative
SIGNED = ("contribution", "gradient", "erasure")
# Methods whose values are made of the attention's weights alone or times a value, with the matrix of these beside them
WEIGHTED = ("contribution", "attention")


def attribution_html(prediction: Prediction, values: Numbers, method: str = "attention", source: str = "") -> str:
    """Return a prediction with a label as HTML, with values (T,) by one of METHODS; `source` names the model."""
    signed, largest = method in SIGNED, float(abs(values).max())
    about = "".join(f" · {escape(each)}" for each in (prediction.opinion, source) if each)
    head = (
        f"<b>{escape(str(prediction.label))} {100 * float(prediction.score or 0):.1f} %</b> · "
        f'<span title="{escape(METHODS[method])}">{method}</span>{about} · {legend(largest, signed)}'
    )
    words = shaded_words(prediction.text, prediction.tokens, prediction.offsets, values, signed)
    has_matrix = method in WEIGHTED and prediction.weights.ndim > 1
    unfolded = matrix_html(*prediction.matrices()) if has_matrix else ""
    return in_frame(f'<div class="nsmc-head">{head}</div>{words}{unfolded}')
