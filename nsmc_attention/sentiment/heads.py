"""What a review says beside its label: whether it takes a side, or has an opinion at all, and its stars.

    contexts, log-odds -> hidden layer -> ten stars
    these, the stars, character n-grams -> a side, neutral, no opinion

Two heads on what a classifier reads; its label, probability, attention and contributions stay what they are. The stars of
raw reviews teach the first, a softmax of ten, which is better than cumulative logits (McCullagh 1980). Texts that somebody
wrote teach the second, a multinomial logistic regression: `python -m recipes.sentiment` trains both, and has their figures.
"""

from collections.abc import Sequence
from typing import NamedTuple, Optional

import numpy
from numpy.typing import NDArray

from ..bundle import AnyBundle
from ..machine.aliases import Arrays, Numbers
from ..text.encoding import Encoded
from ..text.ngrams import hash_ngrams

Floats = NDArray[numpy.float32]
# The file of a bundle; figures of a review: the chances of a side, neutral, no opinion, and of 1 to 10 stars
FILE, FIGURES = "sentiment.safetensors", 13
# Rows of the table of n-grams; its last columns are of neutral and of no opinion, those before of the stars
BUCKETS = 2**17
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
        self.arrays = {**arrays, "table": arrays["table"] * arrays["scale"]}
        self.arrays["table"][0] = 0

    @classmethod
    def of(cls, bundle: AnyBundle) -> "Optional[Heads]":
        """Return the heads of a bundle, None where it has none."""
        from safetensors.numpy import load

        return cls(load(bundle.read(FILE))) if FILE in bundle.manifest["files"] else None

    def __call__(self, dense: Floats, grams: Grams) -> NDArray[numpy.float64]:
        """Return the outputs of the heads for N reviews, (N, FIGURES).

        dense (N, F) are what an engine's `read` returns of them, and their log-odds.
        """
        arrays, read = self.arrays, grams.read(self.arrays["table"])
        stars = ten_stars(arrays, dense, read[:, :-2])
        logits = beside(arrays, dense, stars) @ arrays["other"] + arrays["other_bias"] + read[:, -2:]
        return numpy.column_stack([softmax(numpy.insert(logits.astype("float64"), 0, 0, axis=1)), stars])

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
    return softmax(hidden @ arrays["output"] + arrays["output_bias"])


def beside(arrays: Arrays, dense: Floats, stars: Floats) -> Floats:
    """Return the inputs of the second head beside n-grams, (N, F + 10)."""
    contexts, logs = SCALES
    return numpy.hstack([contexts * (dense - arrays["mean"]) / arrays["spread"], logs * numpy.log(stars + 1e-4)])


def softmax(logits: Numbers) -> Numbers:
    powers = numpy.exp(logits - logits.max(axis=1, keepdims=True))
    return numpy.asarray(powers / powers.sum(axis=1, keepdims=True))
