"""Attributions: one number a token, by attention or another method."""

from dataclasses import dataclass, replace
from typing import Optional

import numpy

from ..drawing.html import shortened
from ..drawing.matrices import Matrix
from ..errors import ConfigError, did_you_mean
from ..machine.aliases import Numbers
from .prediction import AUTO, METHODS, SIGNED, WEIGHTED, Prediction, attribution_html


@dataclass(frozen=True, eq=False)
class Attribution:
    """A prediction with one value per token, (T,) float64, by one of METHODS; `source` is the name of the model.

    Values are weights that sum to 1 for attention, else log-odds: above 0 for positive, below 0 for negative. `heads` are
    the encoder's own attention weights by layer and head, (L, K, T, T); None for an encoder without attention.
    """

    prediction: Prediction
    values: Numbers
    method: str
    source: str = ""
    heads: Optional[Numbers] = None

    def __repr__(self) -> str:
        score, count = float(self.prediction.score or 0), len(self.tokens)
        return f"Attribution({shortened(self.text)}, {self.label} {score:.4f}, {self.method}, {count} tokens)"

    def _repr_html_(self) -> str:
        """Show the words shaded by their values in a notebook, with the matrix, if any, to unfold."""
        return attribution_html(self.prediction, self.values, self.method, self.source)

    @property
    def text(self) -> str:
        return self.prediction.text

    @property
    def label(self) -> Optional[str]:
        return self.prediction.label

    @property
    def probability(self) -> float:
        """The probability of positive; each explained review has one."""
        return float(self.prediction.probability or 0.0)

    @property
    def tokens(self) -> tuple[str, ...]:
        return self.prediction.tokens

    @property
    def offsets(self) -> tuple[tuple[int, int], ...]:
        return self.prediction.offsets

    @property
    def matrix(self) -> Optional[Numbers]:
        """The prediction's weights, if the values are computed from them and they have more axes than the keys."""
        weights = self.prediction.weights
        return weights if self.method in WEIGHTED and weights.ndim > 1 else None

    def matrices(self, title: Optional[str] = None) -> list[Matrix]:
        """Return `matrix` as named matrices; none if the method has no matrix."""
        return [] if self.matrix is None else self.prediction.matrices(title)

    @property
    def signed(self) -> bool:
        """True if a value below 0 speaks for negative."""
        return self.method in SIGNED

    def without_matrix(self) -> "Attribution":
        return replace(self, prediction=self.prediction.averaged(), heads=None)

    def by_word(self) -> "Attribution":
        """Sum the values over the tokens of each word between white space (eojeol).

        Weights are summed over the keys of a word and averaged over its queries, so that rows still sum to 1.
        """
        # tokens of a word have the same number of spaces before them
        numbers = [self.text.count(" ", 0, start) for start, _ in self.offsets]
        words, word_of = numpy.unique(numbers, return_inverse=True)
        within = numpy.eye(len(words))[:, word_of]
        members = map(numpy.flatnonzero, within)
        spans = tuple((self.offsets[word[0]][0], self.offsets[word[-1]][1]) for word in members)
        mean = within / within.sum(axis=1, keepdims=True)
        weights = self.prediction.weights @ within.T
        if "queries" in self.prediction.axes:
            weights = mean @ weights
        heads = None if self.heads is None else mean @ self.heads @ within.T
        tokens = tuple(self.text[start:end] for start, end in spans)
        merged = replace(self.prediction, tokens=tokens, offsets=spans, weights=weights)
        return replace(self, prediction=merged, values=within @ self.values, heads=heads)


def check_method(method: str) -> str:
    """Return the method; ConfigError if it is neither AUTO nor one of METHODS."""
    if method != AUTO and method not in METHODS:
        raise ConfigError(f"unknown method {method!r}{did_you_mean(method, [*METHODS, AUTO])}")
    return method
