"""The probability of a space at each place of a text without spaces: two logistic regressions on MeCab's morphemes around it.

    letters -> morphemes (mecab-ko) -> keys of each place, between two morphemes or in one -> their weights added: log-odds

An editor knows the words of its training sentences, the dictionary those of other texts too. These log-odds are added to
the editor's, as of two experts (Hinton 2002): in full where the text came without spaces, else a share of them. Shares
were chosen on the packaged editor's dev part and on comments that are no film reviews (benchmarks/restoration/README.md).
"""

from base64 import b85decode, b85encode
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, Optional
from zlib import compress, crc32, decompress

import numpy
from numpy.typing import NDArray

from ...machine.aliases import Numbers, Record
from ...native.dictionary import installed_decoder
from ...text.tokenizers import morphemes
from ..sequences.characters import Characters

if TYPE_CHECKING:
    from ...native._text import Junctions as Compiled

# A probability of 0 or 1 has finite log-odds
NEAREST_SHARE = 1e-6
# Weights are integers, so many to 1: their sums have no rounding. As they are stored, in the order of the hashes
UNIT, WEIGHT, HASH = 20, numpy.dtype("i1"), numpy.dtype("<u4")
# Keys of a place in a morpheme and of a junction
IN_MORPHEME, AT_JUNCTION = 7, 11
# All numbers are one in the keys of letters
DIGITS = str.maketrans("123456789", "0" * 9)


@dataclass(frozen=True)
class Junctions:
    """The log-odds of a space at a `junction` of morphemes and `inside` one, and what each key adds.

    Of a key there is its hash, CRC-32: `hashes` in rising order (HASH), and `weights` as multiples of 1 / UNIT (WEIGHT).
    Of 100,000 keys that have none, two or three get the weight of another.
    """

    hashes: bytes
    weights: bytes
    junction: float
    inside: float

    @classmethod
    def of(cls, weights: Mapping[int, int], junction: float, inside: float) -> "Junctions":
        """Return those with these weights, {hash: multiple of 1 / UNIT}."""
        hashes = sorted(weights)
        numbers = numpy.array([weights[number] for number in hashes], WEIGHT)
        return cls(numpy.array(hashes, HASH).tobytes(), numbers.tobytes(), junction, inside)

    def log_odds(self, texts: Sequence[str]) -> NDArray[numpy.float64]:
        """Return (S,), the log-odds of a space after each character of texts of S together, which have none."""
        decoder = installed_decoder()
        if not decoder:
            return numpy.concatenate([self.in_python(text) for text in texts])
        found = numpy.full(sum(map(len, texts)), self.inside)
        decoder.log_odds(list(texts), compiled(self), found)
        return found

    def in_python(self, letters: str) -> NDArray[numpy.float64]:
        """Return the same of one text, to the bit; for where nothing is compiled, and to read."""
        found = numpy.full(len(letters), self.inside)
        for place, keys in enumerate(keys_of(letters)):
            constant = self.junction if len(keys) == AT_JUNCTION else self.inside
            found[place] = constant + sum(self.by_hash.get(hash_of(key), 0) for key in keys) / UNIT
        return found

    @cached_property
    def by_hash(self) -> dict[int, int]:
        """The weights by their hashes."""
        return dict(zip(numpy.frombuffer(self.hashes, HASH).tolist(), numpy.frombuffer(self.weights, WEIGHT).tolist()))

    def to_dict(self) -> Record:
        """Return plain values for JSON: `keys` are base 85 of what `packed` makes."""
        keys = b85encode(packed(self.hashes, self.weights)).decode()
        return {"keys": keys, "junction": self.junction, "inside": self.inside}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> "Junctions":
        """Return the junctions from the values of `to_dict`."""
        return cls(*unpacked(b85decode(values["keys"])), values["junction"], values["inside"])


@lru_cache(maxsize=1)
def compiled(junctions: Junctions) -> "Compiled":
    """Return junctions in compiled form; a key that is added below is added to `Places` of native/text.cpp too."""
    from ...native._text import Junctions as Compiled

    return Compiled(junctions.hashes, junctions.weights, junctions.junction, junctions.inside)


@dataclass(frozen=True)
class RestorerCharacters(Characters):
    """Characters with `junctions`, None where nothing but the network decides the spaces."""

    junctions: Optional[Junctions] = None

    @classmethod
    def from_dict(cls, values: Mapping[str, Any], where: object) -> "RestorerCharacters":
        known, junctions = Characters.from_dict(values, where).known, values.get("junctions")
        return cls(known, Junctions.from_dict(junctions) if junctions else None)

    def to_dict(self) -> dict[str, Any]:
        return {**super().to_dict(), **({"junctions": self.junctions.to_dict()} if self.junctions else {})}


def packed(hashes: bytes, weights: bytes) -> bytes:
    """Return hashes in rising order and their weights in a third of their bytes: differences, byte by byte, compressed."""
    steps = numpy.diff(numpy.frombuffer(hashes, HASH), prepend=HASH.type(0)).astype(HASH)
    return compress(steps.view("u1").reshape(-1, HASH.itemsize).T.tobytes() + weights, 9)


def unpacked(content: bytes) -> tuple[bytes, bytes]:
    """Return the hashes and weights that `packed` was given."""
    plain = decompress(content)
    count = len(plain) // (HASH.itemsize + 1)
    columns = numpy.frombuffer(plain, "u1", count * HASH.itemsize).reshape(HASH.itemsize, count)
    hashes = numpy.cumsum(numpy.ascontiguousarray(columns.T).view(HASH).ravel(), dtype="int64")
    return hashes.astype(HASH).tobytes(), plain[count * HASH.itemsize :]


def with_log_odds(spaces: Numbers, found: Numbers) -> NDArray[numpy.float64]:
    """Return an editor's probabilities of a space (S,) with log-odds added to them; NaN adds nothing."""
    near = numpy.clip(spaces.astype("float64"), NEAREST_SHARE, 1 - NEAREST_SHARE)
    odds = numpy.log(near / (1 - near)) + numpy.nan_to_num(found)
    return 1 / (1 + numpy.exp(-odds))


def keys_of(letters: str) -> Iterator[list[str]]:
    """Yield the keys of each place of a text without spaces, after its characters but the last: IN_MORPHEME or AT_JUNCTION."""
    pairs = [(surface, features.partition(",")[0]) for surface, features in morphemes(letters)]
    tags = ["", *(tag for _, tag in pairs), ""]
    around = "".join([" ", *(surface.translate(DIGITS) for surface, _ in pairs), "  "])
    place = 0
    for number, (surface, tag) in enumerate(pairs):
        first, _, after, *last = tags[number : number + 4]
        for before in range(1, len(surface)):
            by_word = [f"{surface}@{before}", f"{tag}@{before}@{len(surface) - before}", f"{first}<{tag}>{after}"]
            yield by_word + [f"{key}." for key in letter_keys(*around[place : place + 4])]
            place += 1
        if last:
            right, both = pairs[number + 1][0], f"{tag}|{after}"
            lengths = f"{min(len(surface), 3)}{both}{min(len(right), 3)}"
            by_words = [both, f"{surface}/{both}", f"{both}/{right}", f"{surface}+{right}", lengths]
            by_tags = [f"{first} {both}", f"{both} {last[0]}"]
            yield by_words + by_tags + letter_keys(*around[place : place + 4])
        place += 1


def letter_keys(far: str, left: str, right: str, other: str) -> list[str]:
    """Return the keys of the two letters on either side: the nearest ones, three of them, all."""
    return [f"{left}_{right}", f"{far}{left}_{right}", f"{left}_{right}{other}", f"{far}{left}_{right}{other}"]


def hash_of(key: str) -> int:
    """Return the hash of a key, CRC-32 of its UTF-8 bytes."""
    return crc32(key.encode("utf-8", "surrogatepass"))
