"""The probability of a space at each place of a text without spaces: two logistic regressions on MeCab's morphemes around it.

    letters -> morphemes (mecab-ko) -> keys of each place, between two morphemes or in one -> their weights added: log-odds

An editor knows the words of its training sentences, the dictionary those of other texts too. These log-odds are added to
the editor's, as of two experts (Hinton 2002): in full where the text came without spaces, else a share of them. Shares
were chosen on the packaged editor's dev part and on comments that are no film reviews (benchmarks/restoration/README.md).
"""

from base64 import b85decode, b85encode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any, Optional, TypeVar
from zlib import compress, crc32, decompressobj, error

import numpy
from numpy.typing import NDArray

from ..._runtime.aliases import Numbers, Record
from ...errors import BundleError
from ...native.dictionary import installed_decoder
from ...text.tokenizers import morphemes
from ..sequences.characters import Characters

if TYPE_CHECKING:
    from ...native._text import Junctions as Compiled

# At how many places a key must be to get a weight; smaller weights are left out
FEWEST, SMALLEST = 20, 0.3
# The strength of the penalty, as scikit-learn's C
PENALTY = 0.3
# A probability of 0 or 1 has finite log-odds; a constant of a foreign bundle may be this large, whose sums do not overflow
NEAREST, LARGEST = 1e-6, 50
# Weights are integers, so many to 1: their sums have no rounding. As they are stored, in the order of the hashes
UNIT, WEIGHT, HASH = 20, numpy.dtype("i1"), numpy.dtype("<u4")
# No more are read from a file
MOST_KEYS = 2**24
# Keys of a place in a morpheme and of a junction; texts whose keys are found at once
IN_MORPHEME, AT_JUNCTION, TEXTS = 7, 11, 1000
Self = TypeVar("Self", bound="RestorerCharacters")
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
        decoder.log_odds(list(texts), self.compiled, found)
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
        hashes, weights = numpy.frombuffer(self.hashes, HASH), numpy.frombuffer(self.weights, WEIGHT)
        return dict(zip(hashes.tolist(), weights.tolist()))

    @cached_property
    def compiled(self) -> "Compiled":
        """The same in compiled form; a key that is added below is added to `Places` of native/text.cpp too."""
        from ...native._text import Junctions as Compiled

        return Compiled(self.hashes, self.weights, self.junction, self.inside)

    def __getstate__(self) -> dict[str, object]:
        # compiled objects are not pickled
        return asdict(self)

    def to_dict(self) -> Record:
        """Return plain values for JSON: `keys` are base 85 of what `packed` makes."""
        return {
            "keys": b85encode(packed(self.hashes, self.weights)).decode(),
            "junction": self.junction,
            "inside": self.inside,
        }

    @classmethod
    def from_dict(cls, values: object) -> "Optional[Junctions]":
        """Return what `to_dict` made; None if it is something else."""
        if not isinstance(values, dict) or values.keys() != {"keys", "junction", "inside"}:
            return None
        constants = [values["junction"], values["inside"]]
        if not all(isinstance(number, (int, float)) and abs(number) <= LARGEST for number in constants):
            return None
        try:
            hashes, weights = unpacked(b85decode(values["keys"]))
        except (TypeError, ValueError, AttributeError, error):
            return None
        return cls(hashes, weights, *constants)


@dataclass(frozen=True)
class RestorerCharacters(Characters):
    """Characters with `junctions`, None where nothing but the network decides the spaces."""

    junctions: Optional[Junctions] = None

    @classmethod
    def from_dict(cls: type[Self], values: Mapping[str, Any], where: object) -> Self:
        known = Characters.from_dict(values, where).known
        junctions = Junctions.from_dict(values["junctions"]) if "junctions" in values else None
        if "junctions" in values and junctions is None:
            raise BundleError(f"{where}: expected junctions, found other values; fit new ones: recipes/junctions.py")
        return cls(known, junctions)

    def to_dict(self) -> dict[str, Any]:
        return {**super().to_dict(), **({"junctions": self.junctions.to_dict()} if self.junctions else {})}


def packed(hashes: bytes, weights: bytes) -> bytes:
    """Return hashes in rising order and their weights in a third of their bytes: differences, byte by byte, compressed."""
    steps = numpy.diff(numpy.frombuffer(hashes, HASH), prepend=HASH.type(0)).astype(HASH)
    return compress(steps.view("u1").reshape(-1, HASH.itemsize).T.tobytes() + weights, 9)


def unpacked(content: bytes) -> tuple[bytes, bytes]:
    """Return the hashes and weights that `packed` was given; ValueError or zlib's error if it was given none."""
    reader = decompressobj()
    plain = reader.decompress(content, MOST_KEYS * (HASH.itemsize + 1))
    count, rest = divmod(len(plain), HASH.itemsize + 1)
    columns = numpy.frombuffer(plain, "u1", count * HASH.itemsize).reshape(HASH.itemsize, count)
    steps = numpy.ascontiguousarray(columns.T).view(HASH).ravel()
    hashes = numpy.cumsum(steps, dtype="int64")
    if rest or not reader.eof or not (steps[1:] > 0).all() or hashes[-1:].max(initial=0) > numpy.iinfo(HASH).max:
        raise ValueError("expected packed keys, found something else")
    return hashes.astype(HASH).tobytes(), plain[count * HASH.itemsize :]


def with_log_odds(spaces: Numbers, found: Numbers) -> NDArray[numpy.float64]:
    """Return an editor's probabilities of a space (S,) with log-odds added to them; NaN adds nothing."""
    near = numpy.clip(spaces.astype("float64"), NEAREST, 1 - NEAREST)
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


def hashed(texts: Sequence[str]) -> NDArray[numpy.uint32]:
    """Return (S, 12) of S characters: of the place after each how many keys it has, and their hashes."""
    found = numpy.zeros((sum(map(len, texts)), 1 + AT_JUNCTION), "uint32")
    decoder, begin = installed_decoder(), 0
    if decoder:
        decoder.keys(list(texts), found)
        return found
    for text in texts:
        for place, keys in enumerate(keys_of(text), begin):
            found[place, : 1 + len(keys)] = [len(keys), *map(hash_of, keys)]
        begin += len(text)
    return found


def fitted(sentences: Iterable[tuple[str, list[bool]]]) -> Junctions:
    """Return the weights that tell where sentences have their spaces.

    A sentence is its characters without the spaces, and of each whether a space follows.
    """
    numbers = (IN_MORPHEME, AT_JUNCTION)
    rest, parts = iter(sentences), [(list[Numbers](), list[Numbers]()) for _ in numbers]
    while some := list(islice(rest, TEXTS)):
        rows, follows = hashed([text for text, _ in some]), numpy.concatenate([spaces for _, spaces in some])
        for number, (hashes, spaces) in zip(numbers, parts):
            own = rows[:, 0] == number
            hashes.append(rows[own, 1 : 1 + number])
            spaces.append(follows[own])
    found = list[tuple[float, dict[int, int]]]()
    for number, (hashes, spaces) in zip(numbers, parts):
        keys = numpy.concatenate([numpy.zeros((0, number), "uint32"), *hashes])
        hashes.clear()
        found.append(regression(keys, numpy.concatenate([numpy.zeros(0, "bool"), *spaces])))
    (inside, of_inside), (junction, of_junctions) = found
    return Junctions.of({**of_inside, **of_junctions}, junction, inside)


def regression(hashes: NDArray[numpy.uint32], spaces: Numbers) -> tuple[float, dict[int, int]]:
    """Return constant and weights of a logistic regression on the keys of places (N, K), by whether each has a space."""
    from scipy.sparse import csr_matrix
    from sklearn.linear_model import LogisticRegression

    count = int(spaces.sum())
    if count in (0, len(spaces)):
        # no places, or all are alike: as if there was one more of either kind
        return round(float(numpy.log((count + 1) / (len(spaces) - count + 1))), 2), {}
    known = [numpy.zeros(0, "uint32")]
    columns = numpy.empty(hashes.shape, "int32")
    for key, column in enumerate(hashes.T):
        names, order, counts = numpy.unique(column, return_inverse=True, return_counts=True)
        common = counts >= FEWEST
        columns[:, key] = numpy.where(common, numpy.cumsum(common) - 1 + sum(map(len, known)), -1)[order]
        known.append(names[common])
    keys, present = numpy.concatenate(known), columns >= 0
    ends = numpy.append(0, numpy.cumsum(present.sum(axis=1)))
    ones = numpy.ones(ends[-1], "float32")
    places = csr_matrix((ones, columns[present], ends), shape=(len(hashes), max(1, len(keys))))
    del columns, present
    model = LogisticRegression(C=PENALTY, max_iter=200).fit(places, spaces)
    weights = numpy.clip(numpy.round(model.coef_[0] * UNIT), -127, 127).astype(WEIGHT)
    large = numpy.flatnonzero(abs(model.coef_[0][: len(keys)]) >= SMALLEST)
    return round(float(model.intercept_[0]), 2), dict(zip(keys[large].tolist(), weights[large].tolist()))
