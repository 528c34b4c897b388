"""From tokens to batches of nearly equal length, with GluonNLP: batchify.Pad -> bucket sampler."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Optional

from .._runtime.mxnet_shim import import_mxnet

import_mxnet()

import gluonnlp  # noqa: E402
import numpy  # noqa: E402
from numpy.typing import NDArray  # noqa: E402

from ..text.encoding import Encoded, Encoder  # noqa: E402
from ..text.ngrams import ngram_ids  # noqa: E402

# One exact length a bucket up to here; longer reviews are few and share buckets of this many lengths.
EXACT_LENGTH, LENGTH_STEP = 48, 16


def bucket_lengths(longest: int) -> list[int]:
    """Return the padded lengths of batches: every length to EXACT_LENGTH, then every LENGTH_STEP-th."""
    exact = list(range(1, min(longest, EXACT_LENGTH) + 1))
    return exact + list(range(EXACT_LENGTH + LENGTH_STEP, longest + LENGTH_STEP, LENGTH_STEP))


@dataclass(frozen=True)
class Batch:
    """N reviews side by side.

    Attributes
    ----------
    token_ids : (N, T) int32
    valid_length : (N,) float32
    labels : (N,) float32, 0 to 1
    importance : (N, T) float32 or None
        What the attention is trained to highlight: sums to 1 over the tokens.
    ngram_ids : (N, T, NGRAMS) int32 or None
    """

    token_ids: NDArray[numpy.int32]
    valid_length: NDArray[numpy.float32]
    labels: NDArray[numpy.float32]
    importance: Optional[NDArray[Any]] = None
    ngram_ids: Optional[NDArray[Any]] = None

    def take(self, members: Any) -> "Batch":
        """Return the Batch of these rows."""
        return replace(self, **{name: array[members] for name, array in vars(self).items() if array is not None})


class Batches:
    """Reviews numbered and padded once, bucket by bucket; a batch is then a slice of its bucket.

    Parameters
    ----------
    reviews : list of Encoded
        At least one token each.
    labels : (N,) array
        The probability of positive, 0 to 1.
    encoder : encoding.Encoder
    batch_size : int
    fixed_length : int or None
        Pad every batch to this length.
    importance : list of (T,) arrays or None
    wide : bool
        With n-gram ids, for a network that has a table of n-grams.
    """

    def __init__(
        self,
        reviews: Sequence[Encoded],
        labels: Any,
        encoder: Encoder,
        batch_size: int,
        fixed_length: Optional[int] = None,
        importance: Optional[Sequence[NDArray[Any]]] = None,
        wide: bool = False,
    ):
        self.batch_size = batch_size
        self.labels = numpy.asarray(labels, dtype="float32")
        lengths = numpy.array([len(review) for review in reviews])
        buckets = numpy.array([fixed_length] if fixed_length else bucket_lengths(int(lengths.max())))
        lengths = numpy.minimum(lengths, buckets[-1])
        self.lengths = lengths.astype("float32")
        self.bucket = numpy.searchsorted(buckets, lengths)
        self.padded_length = buckets[self.bucket]
        self.row = numpy.empty(len(lengths), dtype="int64")
        self.padded = {}
        for index in numpy.unique(self.bucket):
            members, length = numpy.flatnonzero(self.bucket == index), int(buckets[index])
            self.row[members] = numpy.arange(len(members))
            own = [reviews[member] for member in members]
            self.padded[index] = (
                pad([review.ids for review in own], encoder.padding, length),
                None if importance is None else pad_weights([importance[member] for member in members], length),
                ngram_ids([review.tokens for review in own], encoder.ngram_buckets, length) if wide else None,
            )

    def __len__(self) -> int:
        """Batches in an epoch."""
        return sum(-(-len(ids) // self.batch_size) for ids, *_ in self.padded.values())

    def sampler(self, shuffle: bool) -> Any:
        """Build GluonNLP's bucket sampler; it shuffles its own lists in place, so each epoch has a fresh one."""
        return gluonnlp.data.FixedBucketSampler(
            self.padded_length,
            self.batch_size,
            num_buckets=None,
            ratio=0,
            shuffle=shuffle,
            bucket_keys=numpy.unique(self.padded_length).tolist(),
        )

    def epoch(self, seed: int, epoch: int) -> Iterator[Batch]:
        """Yield the batches of one epoch, in an order that (seed, epoch) alone decides."""
        # GluonNLP's samplers draw from numpy's global generator
        numpy.random.seed([seed, epoch])
        for members in list(self.sampler(shuffle=True)):
            yield self.take(numpy.asarray(members))

    def in_order(self) -> Iterator[tuple[NDArray[Any], Batch]]:
        """Yield (positions, batch) over all reviews once, the same way at each call."""
        for members in self.sampler(shuffle=False):
            members = numpy.asarray(members)
            yield members, self.take(members)

    def take(self, members: NDArray[Any]) -> Batch:
        rows = self.row[members]
        token_ids, importance, ngrams = self.padded[self.bucket[members[0]]]
        return Batch(
            token_ids[rows],
            self.lengths[members],
            self.labels[members],
            None if importance is None else importance[rows],
            None if ngrams is None else ngrams[rows],
        )


def pad(sequences: Sequence[Sequence[int]], padding: int, length: int) -> NDArray[numpy.int32]:
    """Stack id lists to (N, length) int32 through PadSequence and batchify.Pad; padding is never `<unk>`."""
    widen = gluonnlp.data.PadSequence(length, pad_val=padding, clip=True)
    stacked = gluonnlp.data.batchify.Pad(pad_val=padding, dtype="int32")([widen(list(ids)) for ids in sequences])
    return stacked.asnumpy()


def pad_weights(rows: Sequence[NDArray[Any]], length: int) -> NDArray[numpy.float32]:
    """Stack one number a token to (N, length) float32, 0 in the padding."""
    found = numpy.zeros((len(rows), length), dtype="float32")
    for row, values in zip(found, rows):
        row[: len(values)] = values
    return found
