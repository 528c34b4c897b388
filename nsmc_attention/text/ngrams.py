"""Hashed character n-grams of reviews.

The tokens of a review are read as one string without white space, so a missing space changes no n-gram and a typo
only those that contain it. Each token gets the n-grams that begin in it; an n-gram counts once a review (presence, which
Wang & Manning 2012 found better than counts). Hashing needs no list of n-grams (Weinberger et al. 2009, arXiv:0902.2206).
"""

from typing import Callable, Optional, Sequence

import numpy
from numpy.typing import NDArray

from ..native import switched_on

SIZES = (2, 3)
# First characters of a token, where n-grams begin
FIRST = 4
NGRAMS = FIRST * len(SIZES)
# Lower bound under the root that divides a review's sum, which prevents 0 / 0 without known n-grams
SMALLEST_SQUARE = 1e-6
# Share of a token's n-gram log-odds that the next token gets, because n-grams reach into it. With a third, contributions
# correlate best with the changes when a word is erased (0.83; with none 0.76, with a half 0.81)
SHARED = 1 / 3
END = "\0" * (max(SIZES) - 1)
# Odd constants of xxHash, for multiplication in 64 bits
SEED, HASH_STEP, LAST = (numpy.uint64(value) for value in (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9))


def ngram_ids(token_lists: Sequence[Sequence[str]], buckets: int, width: int) -> NDArray[numpy.int32]:
    """Hash the character n-grams of the first `width` tokens of N reviews; return (N, width, NGRAMS).

    Ids are 1..buckets - 1 (buckets >= 2), each at most once in a review; 0 is no n-gram. The end of a review counts as
    a character.
    """
    token_lists = [tokens[:width] for tokens in token_lists]
    if not (write := native_writer()):
        return numpy_ngram_ids(token_lists, buckets, width)
    ids = numpy.zeros((len(token_lists), width, NGRAMS), dtype="int32")
    write(token_lists, buckets, ids)
    return ids


def numpy_ngram_ids(token_lists: Sequence[Sequence[str]], buckets: int, width: int) -> NDArray[numpy.int32]:
    """Compute `ngram_ids` with NumPy; no review has more than `width` tokens."""
    ids = numpy.zeros((len(token_lists), width, NGRAMS), dtype="int32")
    text = "".join("".join(tokens) + END for tokens in token_lists)
    hashes = hash_ngrams(text, max(SIZES), buckets)[min(SIZES) - 1 :]
    counts = numpy.array([len(tokens) for tokens in token_lists])
    lengths = numpy.array([len(token) for tokens in token_lists for token in tokens], dtype="int64")
    rows = numpy.repeat(numpy.arange(len(counts)), counts)
    columns = numpy.arange(len(rows)) - numpy.repeat(numpy.cumsum(counts) - counts, counts)
    starts = numpy.cumsum(lengths) - lengths + rows * len(END)
    for step in range(FIRST):
        inside = lengths > step
        for number, values in enumerate(hashes):
            ids[rows[inside], columns[inside], number * FIRST + step] = values[starts[inside] + step]
    return zero_repeats(ids, buckets)


def native_writer() -> "Optional[Callable[[list[Sequence[str]], int, NDArray[numpy.int32]], None]]":
    """Return the compiled form of `ngram_ids`, or None."""
    try:
        from ..native._text import write_ngrams
    except ImportError:
        return None
    return write_ngrams if switched_on() else None


def hash_ngrams(text: str, largest: int, buckets: int) -> list[NDArray[numpy.uint64]]:
    """Return, for each size from 1 to `largest`, the hashes (1..buckets - 1) of the n-grams at all positions of a text."""
    codes = numpy.frombuffer((text + "\0" * largest).encode("utf-32-le", "surrogatepass"), dtype="<u4").astype("uint64")
    value, hashes = codes[: len(text)] * SEED, list[NDArray[numpy.uint64]]()
    for step in range(largest):
        if step:
            value = (value + codes[step : len(text) + step]) * HASH_STEP
            value ^= value >> numpy.uint64(31)
        hashes.append((value * LAST >> numpy.uint64(32)) % numpy.uint64(buckets - 1) + numpy.uint64(1))
    return hashes


def zero_repeats(ids: NDArray[numpy.int32], buckets: int) -> NDArray[numpy.int32]:
    """Set ids (N, ...) to 0 that occur earlier in their row."""
    flat = ids.reshape(-1)
    positions = numpy.flatnonzero(flat)
    per_row = ids[0].size if len(ids) else 1
    # numpy returns the first of equal keys
    _, first = numpy.unique(positions // per_row * numpy.int64(buckets) + flat[positions], return_index=True)
    unique = numpy.zeros_like(flat)
    unique[positions[first]] = flat[positions[first]]
    return unique.reshape(ids.shape)
