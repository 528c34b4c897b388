"""What a review says beside its label: whether it takes a side, or has an opinion at all, and its stars.

    contexts, log-odds, character n-grams -> hidden layer -> ten stars
    these, and the stars -> a side, neutral, no opinion
    n-grams -> like a review of a film: then the stars say mostly whether it is neutral

Heads on what a classifier reads; its label, probability, attention and contributions stay what they are. The stars of
raw reviews teach the first, a softmax of ten, which is better than cumulative logits (McCullagh 1980). Texts that somebody
wrote teach the second, a multinomial logistic regression, and both the third: `python -m recipes.sentiment` has figures.
"""

from collections.abc import Sequence
from typing import NamedTuple, Optional

import numpy
from numpy.typing import NDArray

from ..bundle import AnyBundle
from ..machine.aliases import Arrays
from ..measure.share import SIDES_OF_STARS, normalized
from ..text.encoding import Encoded
from ..text.ngrams import hash_ngrams

Floats = NDArray[numpy.float32]
# The file of a bundle; figures of a review: the chances of a side, neutral, no opinion, and of 1 to 10 stars
FILE, FIGURES = "sentiment.safetensors", 13
# Rows of the table of n-grams, whose columns are of stars, neutral, no opinion and films; of films so many, repeated
BUCKETS, FILM_ROWS = 2**17, 2**13
# How much the stars decide of a film's review what is neutral, and the log-odds that are added to theirs
BY_STARS, LEANING = 0.9, 0.2
# Letters of the longest n-grams, and characters of a text that are read
SIZES, LONGEST_TEXT = 5, 1000
# Factors of contexts and of the logarithms of stars before the second head
SCALES = (0.1, 0.3)


class Grams(NamedTuple):
    """The n-grams of N texts: how many, (N,), the first of their characters, (N,), and rows of the table (characters, SIZES).

    Those of the n-grams that begin in a character; the row 0 is no n-gram.
    """

    counts: NDArray[numpy.int64]
    starts: NDArray[numpy.int64]
    rows: NDArray[numpy.int64]

    @classmethod
    def of(cls, reviews: Sequence[Encoded]) -> "Grams":
        """Hash the n-grams of reviews, of 1 to SIZES letters, in small letters; white space before and after them counts."""
        texts = [f" {(one.text or ' '.join(one.tokens))[:LONGEST_TEXT].lower()} " for one in reviews]
        lengths = numpy.array([len(text) for text in texts])
        ends = numpy.cumsum(lengths)
        left = numpy.repeat(ends, lengths) - numpy.arange(ends[-1])
        hashes = hash_ngrams("".join(texts), SIZES, BUCKETS)
        rows = numpy.stack([hashed * (left > size) for size, hashed in enumerate(hashes)], axis=1).astype("int64")
        return cls(numpy.add.reduceat((rows > 0).sum(axis=1), ends - lengths), ends - lengths, rows)

    def read(self, table: Floats) -> Floats:
        """Return the sum of each text's rows of a table, by the root of their number, (N, columns)."""
        sums = numpy.add.reduceat(table[self.rows].sum(axis=1), self.starts, axis=0)
        return numpy.asarray(sums / numpy.sqrt(self.counts)[:, None], dtype="float32")


class Heads:
    """The heads of a classifier, by their parameters; of the table, int8 with a scale a column."""

    def __init__(self, arrays: Arrays):
        films = numpy.tile(arrays["film"] * arrays["film_scale"], BUCKETS // FILM_ROWS)
        self.arrays, self.table = arrays, numpy.column_stack([arrays["table"] * arrays["scale"], films])
        self.table[0] = 0

    @classmethod
    def of(cls, bundle: AnyBundle) -> "Optional[Heads]":
        """Return the heads of a bundle, None where it has none."""
        from safetensors.numpy import load

        return cls(load(bundle.read(FILE))) if FILE in bundle.manifest["files"] else None

    def __call__(self, dense: Floats, read: Floats) -> NDArray[numpy.float64]:
        """Return (N, FIGURES) for what an engine's `read` returns of N reviews and their log-odds, (N, F), and `Grams` of `table`."""
        arrays, stars = self.arrays, ten_stars(self.arrays, dense, read[:, :-3])
        logits = beside(arrays, dense, stars) @ arrays["other"] + arrays["other_bias"] + read[:, -3:-1]
        low, middle, high = numpy.add.reduceat(stars, SIDES_OF_STARS, axis=1).T
        by_stars = numpy.log((middle + 1e-4) / (numpy.maximum(low, high) + 1e-4)) + LEANING
        logits[:, 0] += BY_STARS / (1 + numpy.exp(-read[:, -1] - arrays["film_bias"])) * (by_stars - logits[:, 0])
        return numpy.column_stack([normalized(numpy.insert(logits.astype("float64"), 0, 0, axis=1)), stars])

    def sentiments(
        self, labels: Sequence[Optional[str]], said: NDArray[numpy.float64]
    ) -> list[tuple[Optional[str], Optional[float]]]:
        """Return the sentiment and the stars of reviews by their labels and what the call says of them, (N, FIGURES).

        A review has its label's side, or is neutral. Both are None without a label or an opinion.
        """
        kinds = said[:, :3].argmax(axis=1).tolist()
        return [
            (None, None) if label is None or kind == 2 else ("neutral" if kind == 1 else label, stars)
            for label, kind, stars in zip(labels, kinds, (said[:, 3:] @ numpy.arange(1, 11)).tolist())
        ]


def ten_stars(arrays: Arrays, dense: Floats, read: Floats) -> Floats:
    """Return the probabilities of ten stars (N, 10) by contexts and log-odds (N, F), and what n-grams say of the stars."""
    inputs = numpy.hstack([(dense - arrays["mean"]) / arrays["spread"], read])
    hidden = numpy.maximum(inputs @ arrays["hidden"] + arrays["hidden_bias"], 0)
    return normalized(hidden @ arrays["output"] + arrays["output_bias"])


def beside(arrays: Arrays, dense: Floats, stars: Floats) -> Floats:
    """Return the inputs of the second head beside n-grams, (N, F + 10)."""
    contexts, logs = SCALES
    return numpy.hstack([contexts * (dense - arrays["mean"]) / arrays["spread"], logs * numpy.log(stars + 1e-4)])
