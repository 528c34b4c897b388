"""The reviews of a training, tokenized and then encoded. Read without MXNet."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Optional

import pandas
from numpy.typing import NDArray

from ..text.encoding import Encoded, Encoder


@dataclass(frozen=True)
class EncodedPart:
    """Encoded reviews.

    Attributes
    ----------
    reviews : list of Encoded
    labels : (N,) array
        The probability of positive: 0 or 1, or of raw reviews (stars - 1) / 9.
    frame : DataFrame
        The reviews themselves, row by row.
    """

    reviews: list[Encoded]
    labels: NDArray[Any]
    frame: pandas.DataFrame

    @property
    def token_lists(self) -> list[tuple[str, ...]]:
        return [review.tokens for review in self.reviews]

    def take(self, members: Sequence[int]) -> "EncodedPart":
        """Return the part of these positions, in the order of the file."""
        members = sorted(members)
        return EncodedPart([self.reviews[i] for i in members], self.labels[members], self.frame.iloc[members])


@dataclass(frozen=True)
class Part:
    """Tokenized reviews without the blank ones: a list of words each, and the rest as in EncodedPart."""

    token_lists: list[list[str]]
    labels: NDArray[Any]
    frame: pandas.DataFrame

    def take(self, members: Sequence[int]) -> "Part":
        """Return the part of these positions, in the order of the file."""
        members = sorted(members)
        return Part([self.token_lists[i] for i in members], self.labels[members], self.frame.iloc[members])

    def encode(self, encoder: Encoder) -> EncodedPart:
        return EncodedPart([encoder.encode_words(words) for words in self.token_lists], self.labels, self.frame)


@dataclass(frozen=True)
class Parts:
    """The reviews of a training; `misspelt` is the training part with some reviews misspelt."""

    train: Part
    dev: Part
    misspelt: Part
    stars: Optional[Part] = None
