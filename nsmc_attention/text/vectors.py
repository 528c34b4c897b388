"""Given word vectors: a file in the text format of word2vec or fastText in, the rows of a vocabulary's words out.

gluonnlp.embedding keeps the whole file in memory, and skips words that come again and lines that it cannot decode.
"""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

import numpy
from numpy.typing import NDArray

from ..errors import DataError

# Bytes of the longest line, more than a word and 4,096 numbers have: a file without line ends is not read whole
LONGEST = 2**18
# A training whose parameters exceed it diverges
LARGEST = 1e6
GZIP, MARK = b"\x1f\x8b", b"\xef\xbb\xbf"


class WordVectors(NamedTuple):
    """Ids (K,) and vectors (K, E) float32 of the words that a vocabulary and a file share; the file's name and sha256."""

    ids: NDArray[numpy.int64]
    rows: NDArray[numpy.float32]
    name: str
    sha256: str

    def describe(self) -> dict[str, object]:
        """Return what manifests say of the file."""
        return {"name": self.name, "sha256": self.sha256, "words": len(self.ids)}


def read_vectors(path: Path, token_to_idx: Mapping[str, int], size: int) -> WordVectors:
    """Read the vectors of `size` numbers of the words of a vocabulary; memory is bounded by the vocabulary.

    DataError where the file is no such text, lacks words that its first line counts, or has no word of the vocabulary.
    """
    ids, digest = {token.encode(): index for token, index in token_to_idx.items()}, sha256()
    rows: dict[int, NDArray[numpy.float32]] = {}
    for where, (word, *numbers) in vector_lines(path, size, digest.update):
        index = ids.get(word)
        if index is None:
            continue
        if index in rows:
            raise DataError(f"{where}: expected each word once, found {word.decode()!r} again; leave one of them out")
        rows[index] = vector(numbers, where)
    if not rows:
        raise DataError(
            f"{path}: expected words of the vocabulary, found none; train them on tokens of the same tokenizer"
        )
    return WordVectors(numpy.array(list(rows)), numpy.array(list(rows.values())), path.name, digest.hexdigest())


def vector_lines(path: Path, size: int, read: Callable[[bytes], object]) -> Iterator[tuple[str, list[bytes]]]:
    """Yield where each line is, and the word and `size` numbers in it; `read` is called with each line of the file.

    The first line may be the numbers of words and of units, as word2vec writes it.
    """
    counted, expected = 0, None
    try:
        with open(path, "rb") as file:
            for number, line in enumerate(iter(partial(file.readline, LONGEST), b""), 1):
                read(line)
                where, fields = f"{path} line {number}", line.removeprefix(MARK).split()
                if number == 1 and line.startswith(GZIP):
                    raise DataError(f"{path}: expected text, found a gzip file; unpack it by gunzip")
                if number == 1 and len(fields) == 2 and all(field.isdigit() and len(field) < 16 for field in fields):
                    expected, units = map(int, fields)
                else:
                    units, counted = max(0, len(fields) - 1), counted + 1
                if units != size:
                    hint = (
                        f"give --embedding-size {units}" if counted < 2 and units > 1 else "mend or leave out the line"
                    )
                    raise DataError(f"{where}: expected vectors of {size} numbers, found {units}; {hint}")
                if counted:
                    yield where, fields
    except OSError as problem:
        raise DataError(f"{path}: cannot be read: {problem.strerror}") from problem
    if not counted or counted != (expected or counted):
        raise DataError(
            f"{path}: expected {expected or 'lines of a word and its vector'}, found {counted}; is it whole?"
        )


def vector(numbers: list[bytes], where: str) -> NDArray[numpy.float32]:
    """Return the numbers of a line; DataError for one that is none, or beyond LARGEST."""
    for number in numbers:
        try:
            good = abs(float(number)) <= LARGEST
        except ValueError:
            good = False
        if not good:
            found = number[:20].decode(errors="replace")
            raise DataError(f"{where}: expected numbers from {-LARGEST:g} to {LARGEST:g}, found {found!r}")
    return numpy.array([float(number) for number in numbers], dtype="float32")
