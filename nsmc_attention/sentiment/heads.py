"""What a review says beside its label: whether it takes a side, or has an opinion at all, and its stars.

    contexts, log-odds, character n-grams -> hidden layer -> ten stars
    these, and the stars -> a side, neutral, no opinion; and whether the text is a review of a film
    films, label, stars -> neutral or not, in reviews of films

The label, probability, attention and contributions stay what they are. The first head, a softmax of ten, is better than
cumulative logits (McCullagh 1980); the second are logistic regressions (`python -m recipes.sentiment`).
"""

from collections.abc import Sequence
from typing import NamedTuple, Optional

import numpy
from numpy.typing import NDArray

from ..bundle import AnyBundle
from ..machine.aliases import Arrays
from ..measure.share import SIDES_OF_STARS, normalized
from ..text.ngrams import hash_ngrams

Floats = NDArray[numpy.float32]
Opinion = tuple[Optional[str], Optional[float]]
# The file of a bundle; figures of a review: the chances of a side, neutral, no opinion, and of 1 to 10 stars
FILE, FIGURES = "sentiment.safetensors", 13
# Added to the log-odds of neutral by the stars, for a positive and a negative label, and the largest log-odds after that
LEANING, MOST = (1.0, -0.3), 2.0
# Letters of the longest n-grams, characters of a text that are read, factors of contexts and of the logarithms of stars
SIZES, LONGEST_TEXT, SCALES = 5, 1000, (0.1, 0.3)


class Grams(NamedTuple):
    """The n-grams of N texts: how many, (N,), the first of their characters, (N,), and the rows of the table of those that
    begin in each character (characters, SIZES); the row 0 is no n-gram."""

    counts: NDArray[numpy.int64]
    starts: NDArray[numpy.int64]
    rows: NDArray[numpy.int64]

    @classmethod
    def of(cls, texts: Sequence[str], buckets: int) -> "Grams":
        """Hash the n-grams of texts, of 1 to SIZES small letters, to rows of a table; outer white space counts."""
        texts = [f" {text[:LONGEST_TEXT].lower()} " for text in texts]
        lengths = numpy.array([len(text) for text in texts])
        ends = numpy.cumsum(lengths)
        left = numpy.repeat(ends, lengths) - numpy.arange(ends[-1])
        hashes = hash_ngrams("".join(texts), SIZES, buckets)
        rows = numpy.stack([hashed * (left > size) for size, hashed in enumerate(hashes)], axis=1).astype("int64")
        return cls(numpy.add.reduceat((rows > 0).sum(axis=1), ends - lengths), ends - lengths, rows)

    def read(self, table: Floats) -> Floats:
        """Return the sum of each text's rows of a table, by the root of their number, (N, columns)."""
        sums = numpy.add.reduceat(sum(table.take(rows, axis=0) for rows in self.rows.T), self.starts, axis=0)
        return numpy.asarray(sums / numpy.sqrt(self.counts)[:, None], dtype="float32")


class Heads:
    """The heads of a classifier, by their parameters; of the table, int8 with a scale a column."""

    def __init__(self, arrays: Arrays):
        self.arrays, self.table = arrays, arrays["table"] * arrays["scale"]
        self.table[0] = 0

    @classmethod
    def of(cls, bundle: AnyBundle) -> "Optional[Heads]":
        """Return the heads of a bundle, None where it has none."""
        from safetensors.numpy import load

        return cls(load(bundle.read(FILE))) if FILE in bundle.manifest["files"] else None

    def __call__(self, dense: Floats, read: Floats) -> NDArray[numpy.float64]:
        """Return (N, FIGURES) for an engine's `read` of N reviews and log-odds, (N, F), and `Grams` of `table`."""
        stars = ten_stars(self.arrays, dense, read[:, :-3])
        logits = beside(self.arrays, dense, stars) @ self.arrays["other"] + self.arrays["other_bias"] + read[:, -3:]
        film = 1 / (1 + numpy.exp(-logits[:, 2]))
        logits[:, 0] += film * (by_stars(dense[:, -1] > 0, stars) - logits[:, 0])
        return numpy.column_stack([normalized(numpy.insert(logits[:, :2].astype("float64"), 0, 0, axis=1)), stars])

    def sentiments(self, labels: Sequence[Optional[str]], said: NDArray[numpy.float64]) -> list[Opinion]:
        """Return the sentiment and the stars of reviews by their labels and what the call says of them, (N, FIGURES).

        A review has its label's side or is neutral, as a film's with stars of the other side. Both are None without an opinion.
        """
        kinds = said[:, :3].argmax(axis=1).tolist()
        return [
            (None, None) if label is None or kind == 2 else ("neutral" if kind == 1 else label, stars)
            for label, kind, stars in zip(labels, kinds, (said[:, 3:] @ numpy.arange(1, 11)).tolist())
        ]


def ten_stars(arrays: Arrays, dense: Floats, read: Floats) -> Floats:
    """Return probabilities of ten stars (N, 10) by contexts and log-odds (N, F), and what n-grams say of them."""
    inputs = numpy.hstack([(dense - arrays["mean"]) / arrays["spread"], read])
    hidden = numpy.maximum(inputs @ arrays["hidden"] + arrays["hidden_bias"], 0)
    return normalized(hidden @ arrays["output"] + arrays["output_bias"])


def by_stars(positive: NDArray[numpy.bool_], stars: Floats) -> Floats:
    """Return the log-odds of neutral (N,) where stars (N, 10) are not on the label's side."""
    low, middle, high = numpy.add.reduceat(stars, SIDES_OF_STARS, axis=1).T
    own, other = numpy.where(positive, (high, low), (low, high))
    odds = numpy.log((numpy.maximum(middle, other) + 1e-4) / (own + 1e-4))
    return numpy.minimum(odds + numpy.where(positive, *LEANING), MOST)


def beside(arrays: Arrays, dense: Floats, stars: Floats) -> Floats:
    """Return the inputs of the second head beside n-grams, (N, F + 10)."""
    contexts, logs = SCALES
    return numpy.hstack([contexts * (dense - arrays["mean"]) / arrays["spread"], logs * numpy.log(stars + 1e-4)])
