"""The reviews of a training: tokenized, encoded, then in batches of nearly equal length by GluonNLP's bucket sampler."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, Optional, TypeVar, Union

import numpy
import pandas
from numpy.typing import ArrayLike, NDArray

from .._runtime.aliases import Numbers
from ..text.encoding import Encoded, ReviewEncoder

# One exact length a bucket up to here; longer reviews are few and share buckets of this many lengths.
EXACT_LENGTH, LENGTH_STEP = 48, 16
Review = TypeVar("Review")
Members = Union[Sequence[int], NDArray[numpy.int64]]


@dataclass(frozen=True)
class TrainingPart(Generic[Review]):
    """N reviews, none of them blank: a list of words each, or an Encoded each, and the rows of the file.

    `labels` (N,) are the probabilities of positive: 0 or 1, or of raw reviews (stars - 1) / 9. `taught` (N,) are those of a
    teacher, if there is one.
    """

    reviews: list[Review]
    labels: Numbers
    frame: pandas.DataFrame
    taught: Optional[Numbers] = None

    def take(self, members: Sequence[int]) -> "TrainingPart[Review]":
        """Return the part of these positions, in the order of the file."""
        members = sorted(members)
        taught = None if self.taught is None else self.taught[members]
        return TrainingPart([self.reviews[i] for i in members], self.labels[members], self.frame.iloc[members], taught)

    @property
    def targets(self) -> Numbers:
        """The probabilities of positive (N,) to learn: the labels, or halfway between them and the teacher's."""
        return self.labels if self.taught is None else (self.labels + self.taught) / 2


Tokenized = TrainingPart[list[str]]
EncodedPart = TrainingPart[Encoded]


def encode(part: Tokenized, encoder: ReviewEncoder) -> EncodedPart:
    reviews = [encoder.encode_words(words) for words in part.reviews]
    return TrainingPart(reviews, part.labels, part.frame, part.taught)


def padded(rows: Sequence[Numbers], inside: Numbers, padding: float) -> NDArray[numpy.float32]:
    """Return rows of numbers (T,) as an array (N, T), where `inside` (N, T) is False the padding."""
    found = numpy.full(inside.shape, padding, dtype="float32")
    # row by row, in the order of the joined reviews
    found[inside] = numpy.concatenate(rows)
    return found


def bucket_lengths(longest: int) -> list[int]:
    """Return the padded lengths of batches: every length to EXACT_LENGTH, then every LENGTH_STEP-th."""
    exact = list(range(1, min(longest, EXACT_LENGTH) + 1))
    return exact + list(range(EXACT_LENGTH + LENGTH_STEP, longest + LENGTH_STEP, LENGTH_STEP))


@dataclass(frozen=True)
class Batch:
    """N reviews side by side, and what attention, contributions or gates are taught by.

    `importance`, which the attention is trained to highlight, sums to 1 over the tokens. `erased` is the position of one
    token of each review, and `without_ids` and `without_ngram_ids` are the reviews without it. `gates` are those that a
    signed network is to give the tokens, NaN where they are not known.
    """

    token_ids: NDArray[numpy.int32]  # (N, T)
    valid_length: NDArray[numpy.float32]  # (N,)
    labels: NDArray[numpy.float32]  # (N,), 0 to 1
    importance: Optional[NDArray[numpy.float32]] = None  # (N, T)
    gates: Optional[NDArray[numpy.float32]] = None  # (N, T)
    ngram_ids: Optional[NDArray[numpy.int32]] = None  # (N, T, NGRAMS)
    erased: Optional[NDArray[numpy.int32]] = None  # (N,)
    without_ids: Optional[NDArray[numpy.int32]] = None  # (N, T)
    without_ngram_ids: Optional[NDArray[numpy.int32]] = None  # (N, T, NGRAMS)

    @property
    def without(self) -> "Batch":
        """The reviews without their erased token."""
        assert self.without_ids is not None
        return Batch(self.without_ids, self.valid_length - 1, self.labels, ngram_ids=self.without_ngram_ids)

    def take(self, members: Members) -> "Batch":
        """Return the Batch of these rows."""
        return replace(self, **{name: array[members] for name, array in vars(self).items() if array is not None})


class Batches:
    """Reviews, none empty, padded once, bucket by bucket; a batch is then some rows of its bucket.

    `labels` (N,) are probabilities of positive, `importance` and `gates` have an array (T,) for each review, `erased` (N,)
    are positions of a token of each, of which there are two at least. `fixed_length`, which no review exceeds, is the
    length of every batch.
    """

    def __init__(
        self,
        reviews: Sequence[Encoded],
        labels: ArrayLike,
        encoder: ReviewEncoder,
        batch_size: int,
        fixed_length: Optional[int] = None,
        importance: Optional[Sequence[Numbers]] = None,
        erased: Optional[Numbers] = None,
        gates: Optional[Sequence[Numbers]] = None,
    ):
        self.batch_size, self.labels = batch_size, numpy.asarray(labels, dtype="float32")
        self.lengths = numpy.array([len(review) for review in reviews])
        widths = numpy.array([fixed_length] if fixed_length else bucket_lengths(int(self.lengths.max())))
        self.padded_length = widths[numpy.searchsorted(widths, self.lengths)]
        self.row = numpy.empty(len(reviews), dtype="int64")
        self.buckets: dict[int, Batch] = {}
        for width in numpy.unique(self.padded_length).tolist():
            members = numpy.flatnonzero(self.padded_length == width)
            self.row[members] = numpy.arange(len(members))
            token_ids, valid_length, *ngram_ids = encoder.batch([reviews[i] for i in members], width)
            inside = numpy.arange(width) < valid_length[:, None]
            weights = None if importance is None else padded([importance[i] for i in members], inside, 0)
            own_gates = None if gates is None else padded([gates[i] for i in members], inside, numpy.nan)
            lengths = valid_length.astype("float32")
            bucket = Batch(token_ids, lengths, self.labels[members], weights, own_gates, *ngram_ids)
            if erased is not None:
                left = [reviews[i].without(position) for i, position in zip(members, erased[members].tolist())]
                without_ids, _, *without_ngrams = encoder.batch(left, width)
                ngrams = without_ngrams[0] if without_ngrams else None
                bucket = replace(bucket, erased=erased[members], without_ids=without_ids, without_ngram_ids=ngrams)
            self.buckets[width] = bucket

    def __len__(self) -> int:
        """Batches in an epoch."""
        return sum(-(-len(bucket.labels) // self.batch_size) for bucket in self.buckets.values())

    def sampler(self, shuffle: bool) -> Any:
        """Build GluonNLP's bucket sampler; it shuffles its own lists in place, so each epoch has a fresh one."""
        from .._runtime.gluon import gluonnlp

        options: Any = {"num_buckets": None, "ratio": 0, "bucket_keys": list(self.buckets)}
        return gluonnlp.data.FixedBucketSampler(self.padded_length, self.batch_size, shuffle=shuffle, **options)

    def epoch(self, seed: int, epoch: int) -> Iterator[Batch]:
        """Yield the batches of one epoch, in an order that (seed, epoch) alone decides."""
        # GluonNLP's samplers draw from numpy's global generator
        numpy.random.seed([seed, epoch])
        for members in list(self.sampler(shuffle=True)):
            yield self.take(members)

    def in_order(self) -> Iterator[tuple[Numbers, Batch]]:
        """Yield (positions, batch) over all reviews once, the same way at each call."""
        for members in self.sampler(shuffle=False):
            yield numpy.asarray(members), self.take(members)

    def take(self, members: Sequence[int]) -> Batch:
        """Return the Batch of reviews of one bucket."""
        return self.buckets[int(self.padded_length[members[0]])].take(self.row[members])
