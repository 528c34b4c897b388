"""One number a word: how much of the answer a method lays on it. The same value for attention and its rivals."""

from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, Optional

import numpy
from numpy.typing import NDArray

from ..errors import ConfigError, DataError, did_you_mean

METHODS = {
    "attention": "attention: how much each word is looked at",
    "gradient": "gradient x input: how much each word pulls the log-odds, were it a little stronger",
    "integrated": "integrated gradients: what each word adds to the log-odds, on the way from nothing",
    "erasure": "erasure: by how much the log-odds fall when the word is left out",
    "random": "random: what a method that knows nothing looks like",
}
# Of these a value below 0 speaks for negative
SIGNED = ("gradient", "integrated", "erasure")


@dataclass(frozen=True, eq=False)
class Attribution:
    """A review's words with a number each.

    Attributes
    ----------
    text : str
        What offsets point into.
    label : "positive" or "negative"
    probability : float
        Of positive.
    tokens : tuple of str, T of them
    offsets : tuple of (start, end)
    values : (T,) float64
        Of attention and random, weights that sum to 1; of the other METHODS, log-odds: above 0 what speaks for
        positive, below 0 for negative.
    method : str
        One of METHODS.
    matrix : (T, T) array or None
        The whole attention, where the values are made of one: row i says how much token i looks at each.
    source : str
        What to call the model that answered.
    """

    text: str
    label: str
    probability: float
    tokens: tuple[str, ...]
    offsets: tuple[tuple[int, int], ...]
    values: NDArray[Any]
    method: str
    matrix: Optional[NDArray[Any]] = None
    source: str = ""

    def __post_init__(self) -> None:
        check_method(self.method)
        if not len(self.tokens) == len(self.offsets) == len(self.values):
            raise DataError(
                f"attribution: expected as many values as tokens, found {len(self.tokens)} tokens, "
                f"{len(self.offsets)} offsets and {len(self.values)} values"
            )

    @property
    def signed(self) -> bool:
        """Whether a value below 0 speaks for negative."""
        return self.method in SIGNED

    def by_word(self) -> "Attribution":
        """Answer the same attribution over words between white space (eojeol): a word has the sum of its tokens.

        Of the matrix rows are averaged and columns summed, so that rows still sum to 1.
        """
        words = [list(members) for _, members in groupby(range(len(self.tokens)), self.word_number)]
        spans = tuple((self.offsets[members[0]][0], self.offsets[members[-1]][1]) for members in words)
        matrix = self.matrix
        if matrix is not None:
            matrix = numpy.array(
                [[matrix[numpy.ix_(queries, keys)].sum(axis=1).mean() for keys in words] for queries in words]
            ).reshape(len(words), len(words))
        return replace(
            self,
            tokens=tuple(self.text[start:end] for start, end in spans),
            offsets=spans,
            matrix=matrix,
            values=numpy.array([self.values[members].sum() for members in words]),
        )

    def word_number(self, token: int) -> int:
        """Answer how many white spaces stand before a token, which is the same within a word."""
        return self.text.count(" ", 0, self.offsets[token][0])


def check_method(method: str) -> str:
    """Answer the method; ConfigError where it is not one of METHODS."""
    if method not in METHODS:
        raise ConfigError(f"unknown method {method!r}{did_you_mean(method, METHODS)}")
    return method
