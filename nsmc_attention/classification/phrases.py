"""Phrases whose contribution is not what the prediction loses without them.

A contribution says what a word adds to the sum. Without the word the others may add something else: gates and attention read
the whole review. Where the two differ, the contribution alone does not explain the prediction.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy
from numpy.typing import NDArray

from ..evaluation.calibration import log_odds
from ..evaluation.erasure import SMALLEST, Scorer
from ..text.encoding import Encoded

# Words of a phrase at most, tokens of a review at most, and how far log-odds differ at least
LONGEST, MOST, DIFFERENT = 3, 128, 1.0


class Phrase(NamedTuple):
    """Characters start to end of a review, what they are said to contribute, and what erasing them changes (log-odds)."""

    start: int
    end: int
    contribution: float
    erasure: float


def disputed(score: Scorer, review: Encoded, values: NDArray[numpy.float64]) -> list[Phrase]:
    """Return the shortest phrases of 1 to LONGEST words whose contribution is more than DIFFERENT from their erasure.

    `values` (T,) are the contributions of the tokens. Of a review of more than MOST tokens none are looked for.
    """
    if not (spans := phrases(review) if len(review) <= MOST else []):
        return []
    without = [review.take([*range(first), *range(last, len(review))]) for first, last in spans]
    whole, *left = log_odds(score([review, *without]), SMALLEST).tolist()
    offsets, wrong, known = review.offsets, list[Phrase](), list[tuple[int, int]]()
    for (first, last), odds in zip(spans, left):
        phrase = Phrase(offsets[first][0], offsets[last - 1][1], float(values[first:last].sum()), whole - odds)
        inside = any(first <= start and end <= last for start, end in known)
        if abs(phrase.contribution - phrase.erasure) > DIFFERENT and not inside:
            known.append((first, last))
            wrong.append(phrase)
    return sorted(wrong)


def phrases(review: Encoded) -> list[tuple[int, int]]:
    """Return (first, last) tokens of the phrases of a review, short ones first; none is the whole review."""
    starts = word_starts(review.text, review.offsets)
    ends = [*starts[1:], len(review)]
    spans = [
        (starts[word], ends[word + length - 1])
        for length in range(1, LONGEST + 1)
        for word in range(len(starts) - length + 1)
    ]
    return [(first, last) for first, last in spans if last - first < len(review)]


def word_starts(text: str, offsets: Sequence[tuple[int, int]]) -> list[int]:
    """Return the first token of each word between white space."""
    return [
        token for token, (start, _) in enumerate(offsets) if token == 0 or " " in text[offsets[token - 1][1] : start]
    ]
