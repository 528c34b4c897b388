"""Character n-grams as hashed numbers: what a review looks like, whatever the tokenizer made of it.

The tokens of a review are read as one string without white space, so a missing space changes no n-gram, and a
typo only those that it is part of. Each token gets the n-grams that begin in it; one that the review had before
counts no second time (presence, which Wang & Manning 2012 found better than counts). Hashed, so that no list of
n-grams is kept (Weinberger et al. 2009, arXiv:0902.2206).
"""

from typing import Sequence

import numpy
from numpy.typing import NDArray

SIZES = (2, 3)
# Characters of a token that n-grams begin at
FIRST = 4
NGRAMS = FIRST * len(SIZES)
# Under the root that divides a review's sum, where it has no n-gram that is known
SMALLEST = 1e-6
END = "\0" * (max(SIZES) - 1)
# Odd constants with bits well spread (those of xxHash), for multiplying in 64 bits
SEED, STEP, LAST = (numpy.uint64(value) for value in (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9))


def ngram_ids(token_lists: Sequence[Sequence[str]], buckets: int, width: int) -> NDArray[numpy.int32]:
    """Number the character n-grams of a batch.

    Parameters
    ----------
    token_lists : list of N lists of str
        Of each the first `width` tokens are read.
    buckets : int, at least 2
        Numbers there are, 0 included.
    width : int

    Returns
    -------
    (N, width, NGRAMS) int32
        1 to buckets - 1, each at most once in a review; 0 where a token has no such n-gram, and in the padding.
        The end of a review counts as a character.
    """
    token_lists = [tokens[:width] for tokens in token_lists]
    found = numpy.zeros((len(token_lists), width, NGRAMS), dtype="int32")
    text = "".join("".join(tokens) + END for tokens in token_lists) + END
    hashes = [hashed(text, size, buckets) for size in SIZES]
    counts = numpy.array([len(tokens) for tokens in token_lists])
    lengths = numpy.array([len(token) for tokens in token_lists for token in tokens], dtype="int64")
    rows = numpy.repeat(numpy.arange(len(counts)), counts)
    places = numpy.arange(len(rows)) - numpy.repeat(numpy.cumsum(counts) - counts, counts)
    starts = numpy.cumsum(lengths) - lengths + rows * len(END)
    for step in range(FIRST):
        inside = lengths > step
        for number, each in enumerate(hashes):
            found[rows[inside], places[inside], number * FIRST + step] = each[starts[inside] + step]
    return once(found, buckets)


def hashed(text: str, size: int, buckets: int) -> NDArray[numpy.uint64]:
    """Answer for each place of the text the number, 1 to buckets - 1, of the `size` characters from there."""
    codes = numpy.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4").astype("uint64")
    places = len(codes) - max(SIZES) + 1
    value = codes[:places] * SEED
    for step in range(1, size):
        value = (value + codes[step : places + step]) * STEP
        value ^= value >> numpy.uint64(31)
    return (value * LAST >> numpy.uint64(32)) % numpy.uint64(buckets - 1) + numpy.uint64(1)


def once(numbers: NDArray[numpy.int32], buckets: int) -> NDArray[numpy.int32]:
    """Put 0 in place of each number that its row (N, ...) had before."""
    flat = numbers.reshape(-1)
    places = numpy.flatnonzero(flat)
    per_row = numbers[0].size if len(numbers) else 1
    # of equal keys numpy answers the first
    _, first = numpy.unique(places // per_row * numpy.int64(buckets) + flat[places], return_index=True)
    kept = numpy.zeros_like(flat)
    kept[places[first]] = flat[places[first]]
    return kept.reshape(numbers.shape)
