"""Training data: tokenized reviews, encoded reviews, then batches of nearly equal length (`text.preprocessing`)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Generic, Optional, TypeVar

import numpy
import pandas
from numpy.typing import ArrayLike, NDArray

from ..machine.aliases import Numbers
from ..registry import later
from ..text.encoding import Encoded, ReviewEncoder
from ..text.ngrams import ngram_ids

# Buckets hold one length up to EXACT_LENGTH; longer reviews are few and share buckets of LENGTH_STEP lengths
EXACT_LENGTH, LENGTH_STEP = 48, 16
# Imported at the first call: an install for prediction has no GluonNLP
numbering, stacked, bucket_sampler = (
    later(f"text.preprocessing:{name}") for name in ("numbering", "stacked", "bucket_sampler")
)
Review = TypeVar("Review")


@dataclass(frozen=True)
class TrainingPart(Generic[Review]):
    """N reviews, none blank, as lists of words or as Encoded, and their rows of the file.

    `labels` (N,) are probabilities of positive: 0 or 1, or (stars - 1) / 9 for raw reviews. `taught` (N,) are a
    teacher's, if there is one.
    """

    reviews: list[Review]
    labels: Numbers
    frame: pandas.DataFrame
    taught: Optional[NDArray[numpy.float64]] = None

    def take(self, members: Sequence[int]) -> "TrainingPart[Review]":
        """Select the reviews at these positions, in the order of the file."""
        members = sorted(members)
        taught = None if self.taught is None else self.taught[members]
        return TrainingPart([self.reviews[i] for i in members], self.labels[members], self.frame.iloc[members], taught)

    @property
    def targets(self) -> Numbers:
        """Training targets (N,): the labels, or their mean with the teacher's probabilities."""
        return self.labels if self.taught is None else (self.labels + self.taught) / 2


Tokenized = TrainingPart[list[str]]
EncodedPart = TrainingPart[Encoded]


def encode(examples: Tokenized, encoder: ReviewEncoder) -> EncodedPart:
    reviews: list[Encoded] = list(map(numbering(encoder), examples.reviews))
    return TrainingPart(reviews, examples.labels, examples.frame, examples.taught)


def batch_of(encoder: ReviewEncoder, reviews: Sequence[Encoded], labels: NDArray[numpy.float32], width: int) -> "Batch":
    token_ids = stacked([review.ids for review in reviews], width, encoder.padding, "int32")
    lengths = numpy.array([len(review) for review in reviews], dtype="float32")
    tokens = [review.tokens for review in reviews]
    ngrams = ngram_ids(tokens, encoder.ngram_buckets, width) if encoder.ngram_buckets else None
    return Batch(token_ids, lengths, labels, ngrams)


def bucket_lengths(longest: int) -> list[int]:
    """Return the padded lengths of batches: every length to EXACT_LENGTH, then every LENGTH_STEP-th."""
    exact = list(range(1, min(longest, EXACT_LENGTH) + 1))
    return exact + list(range(EXACT_LENGTH + LENGTH_STEP, longest + LENGTH_STEP, LENGTH_STEP))


@dataclass(frozen=True)
class Batch:
    """N padded reviews, with at most one training target besides the labels."""

    token_ids: NDArray[numpy.int32]  # (N, T)
    valid_length: NDArray[numpy.float32]  # (N,)
    labels: NDArray[numpy.float32]  # (N,), 0 to 1
    ngram_ids: Optional[NDArray[numpy.int32]] = None  # (N, T, NGRAMS)
    # (N, T): target of the attention weights, which sums to 1 over the tokens
    importance: Optional[NDArray[numpy.float32]] = None
    # (N, T): targets of a signed network's gates, -1..1; NaN if unknown
    gates: Optional[NDArray[numpy.float32]] = None
    # (N,): position of the erased token of each review, and the reviews without it
    erased: Optional[NDArray[numpy.int64]] = None
    without: Optional["Batch"] = None


class Batches:
    """Reviews, none empty, in batches of nearly equal length.

    `labels` (N,) are probabilities of positive. At most one further target may be given: `importance` or `gates`, an
    array (T,) for each review, or `erased` (N,), the position of one token in reviews of at least two. `fixed_length`,
    which no review exceeds, is the length of every batch.
    """

    def __init__(
        self,
        reviews: Sequence[Encoded],
        labels: ArrayLike,
        encoder: ReviewEncoder,
        batch_size: int,
        fixed_length: Optional[int] = None,
        importance: Optional[Sequence[NDArray[numpy.float64]]] = None,
        erased: Optional[NDArray[numpy.int64]] = None,
        gates: Optional[Sequence[NDArray[numpy.float32]]] = None,
    ):
        self.reviews, self.encoder, self.batch_size, self.erased = reviews, encoder, batch_size, erased
        # {name: (arrays, value of padding)}
        self.token_targets = {"importance": (importance, 0), "gates": (gates, numpy.nan)}
        self.labels = numpy.asarray(labels, dtype="float32")
        self.lengths = numpy.array([len(review) for review in reviews])
        widths = numpy.array([fixed_length] if fixed_length else bucket_lengths(int(self.lengths.max())))
        self.padded_length = widths[numpy.searchsorted(widths, self.lengths)]

    def __len__(self) -> int:
        """Batches in an epoch."""
        return sum(-(-count // self.batch_size) for count in numpy.bincount(self.padded_length).tolist())

    def epoch(self, seed: int, epoch: int) -> Iterator[Batch]:
        """Yield the batches of one epoch, in an order that depends on (seed, epoch) alone."""
        # the sampler draws from NumPy's global generator
        numpy.random.seed([seed, epoch])
        for members in list(bucket_sampler(self.padded_length, self.batch_size, shuffle=True)):
            yield self.take(members)

    def in_order(self) -> Iterator[tuple[NDArray[numpy.int64], Batch]]:
        """Yield (positions, batch) over all reviews once, the same way at each call."""
        for members in bucket_sampler(self.padded_length, self.batch_size, shuffle=False):
            yield numpy.asarray(members), self.take(members)

    def take(self, members: Sequence[int]) -> Batch:
        """Return the Batch of reviews of one padded length."""
        width, labels = int(self.padded_length[members[0]]), self.labels[members]
        reviews = [self.reviews[member] for member in members]
        batch = batch_of(self.encoder, reviews, labels, width)
        for name, (arrays, padding) in self.token_targets.items():
            if arrays is not None:
                rows = [arrays[member].tolist() for member in members]
                batch = replace(batch, **{name: stacked(rows, width, padding, "float32")})
        if self.erased is not None:
            erased = self.erased[members]
            shorter = [review.without(position) for review, position in zip(reviews, erased.tolist())]
            batch = replace(batch, erased=erased, without=batch_of(self.encoder, shorter, labels, width))
        return batch
