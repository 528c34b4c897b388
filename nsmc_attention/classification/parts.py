"""The reviews of a training, tokenized and then encoded. Read without MXNet."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Generic, Optional, TypeVar

import pandas
from numpy.typing import NDArray

from ..text.encoding import Encoded, ReviewEncoder

Review = TypeVar("Review")


@dataclass(frozen=True)
class TrainingPart(Generic[Review]):
    """N reviews, none of them blank: a list of words each, or an Encoded each, and the rows of the file.

    `labels` (N,) are the probabilities of positive: 0 or 1, or of raw reviews (stars - 1) / 9.
    """

    reviews: list[Review]
    labels: NDArray[Any]
    frame: pandas.DataFrame

    def take(self, members: Sequence[int]) -> "TrainingPart[Review]":
        """Return the part of these positions, in the order of the file."""
        members = sorted(members)
        return TrainingPart([self.reviews[i] for i in members], self.labels[members], self.frame.iloc[members])


Tokenized = TrainingPart[list[str]]
EncodedPart = TrainingPart[Encoded]


@dataclass(frozen=True)
class Parts:
    """The tokenized reviews of a training; `misspelt` is the training part with some reviews misspelt."""

    train: Tokenized
    dev: Tokenized
    misspelt: Tokenized
    stars: Optional[Tokenized] = None


def encode(part: Tokenized, encoder: ReviewEncoder) -> EncodedPart:
    return TrainingPart([encoder.encode_words(words) for words in part.reviews], part.labels, part.frame)
