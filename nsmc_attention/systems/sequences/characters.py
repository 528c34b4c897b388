"""Characters to numbers and back, every Hangul syllable being known by its letters; and the edits between two texts.

A source is its characters without the spaces, each with a mark whether a space follows it. The number of a character
that is common enough to be written, and those of its letters, are rows of one table, whose sum the network reads.
"""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar, Union

import numpy
from numpy.typing import NDArray

from ...bundle import Manifest, check_count
from ...errors import BundleError
from ...machine.aliases import Record
from ...machine.files import read_json
from ...text.hangul import FINALS, FIRST, INITIALS, VOWELS, parts
from . import ROWS

# Ids that are no characters. What a tag says of a character that is not replaced: keep it, or leave it out
PADDING, UNKNOWN, BEGIN, END = range(4)
KEEP, DELETE = 0, 1
SPACE = " "
# Rows of the table beyond those of the characters: the letters of syllables, and the mark of a space
LETTERS = len(INITIALS) + len(VOWELS) + len(FINALS) + 1


Self = TypeVar("Self", bound="Characters")


@dataclass(frozen=True)
class Characters:
    """The characters that can be written, in the order of their ids, which begin after END with the space's."""

    known: tuple[str, ...]

    @classmethod
    def of(cls: type[Self], texts: Iterable[str], min_count: int) -> Self:
        """Return the characters that are at least as frequent as `min_count`, by falling count."""
        counts = Counter(character for text in texts for character in text if character != SPACE)
        common = (character for character in counts if counts[character] >= min_count)
        return cls((SPACE, *sorted(common, key=lambda character: (-counts[character], character))))

    @classmethod
    def from_json(cls: type[Self], content: Union[str, bytes], where: object = "vocab.json") -> Self:
        """Read what `to_json` wrote; BundleError if it is something else."""
        values = read_json(content, where, BundleError, "a list of characters")
        return cls.from_dict(values if isinstance(values, dict) else {}, where)

    @classmethod
    def from_dict(cls: type[Self], values: Mapping[str, Any], where: object) -> Self:
        """Return the characters of `to_dict`; BundleError if it is something else."""
        characters = values.get("characters")
        if not isinstance(characters, list) or characters[:1] != [SPACE]:
            raise BundleError(f"{where}: expected a list of characters, a space first, found something else")
        return cls(tuple(characters))

    @classmethod
    def read(cls: type[Self], content: bytes, path: Path, manifest: Manifest, config: object) -> Self:
        """Read those of a bundle; BundleError if they are not as many as its manifest says."""
        characters = cls.from_json(content, path)
        check_count(characters, path, manifest)
        return characters

    def to_dict(self) -> Record:
        return {"characters": self.known}

    def to_json(self) -> str:
        return json.dumps(self.to_dict(), ensure_ascii=False)

    def __len__(self) -> int:
        """The number of ids (V) that can be written, special ones included."""
        return END + 1 + len(self.known)

    @property
    def rows(self) -> int:
        """The number of rows of the table that is read."""
        return len(self) + LETTERS

    @property
    def sizes(self) -> tuple[int, ...]:
        """The arguments of a config's `network`."""
        return (self.rows, len(self))

    @cached_property
    def ids(self) -> dict[str, int]:
        return {character: number for number, character in enumerate(self.known, END + 1)}

    @cached_property
    def id_table(self) -> NDArray[numpy.int32]:
        """The ids of code points in their order; the last one is that of all others."""
        codes = codes_of("".join(self.known))
        table = numpy.full(codes.max() + 2, UNKNOWN, dtype="int32")
        table[codes] = numpy.arange(END + 1, len(self))
        return table

    def numbers(self, codes: NDArray[numpy.int64]) -> NDArray[numpy.int32]:
        """Return (S, ROWS), the rows of S characters by their code points, without marks of spaces."""
        rows = numpy.full((len(codes), ROWS), PADDING, dtype="int32")
        rows[:, 0] = self.id_table[numpy.minimum(codes, len(self.id_table) - 1)]
        numbers = codes - FIRST
        syllables = (numbers >= 0) & (numbers < len(INITIALS) * len(VOWELS) * len(FINALS))
        rest, final = numpy.divmod(numbers[syllables], len(FINALS))
        vowels = len(self) + len(INITIALS)
        rows[syllables, 1] = len(self) + rest // len(VOWELS)
        rows[syllables, 2] = vowels + rest % len(VOWELS)
        rows[syllables, 3] = vowels + len(VOWELS) + final
        return rows

    def can_read(self, character: str) -> bool:
        """Return whether a network can tell a character from others: a syllable, or one of the training sentences."""
        return character in self.ids or bool(parts(character)[0])

    def batch(self, texts: Sequence[str], step: int = 1) -> tuple[NDArray[numpy.int32], NDArray[numpy.int32]]:
        """Return source_ids (N, S, ROWS) and source_length (N,) of N clean texts, S being a multiple of `step`."""
        lengths = numpy.array([len(text) - text.count(SPACE) for text in texts], "int32")
        width = -(-int(lengths.max()) // step) * step
        ids = numpy.full((len(texts), width, ROWS), PADDING, dtype="int32")
        # no text begins or ends with a space
        ids[numpy.arange(width) < lengths[:, None]] = self.source("".join(texts))
        return ids, lengths

    def source(self, text: str) -> NDArray[numpy.int32]:
        """Return (S, ROWS) of a clean text of S characters that are no spaces."""
        codes = codes_of(text)
        letters = codes != ord(SPACE)
        rows = self.numbers(codes[letters])
        rows[numpy.append(~letters[1:], False)[letters], -1] = self.rows - 1
        return rows

    def target(self, text: str) -> list[int]:
        """Return the ids of all characters of a text, spaces among them, and END."""
        return [*(self.ids.get(character, UNKNOWN) for character in text), END]

    def character(self, number: int) -> str:
        """Return the character of an id after END."""
        return self.known[number - END - 1]


def codes_of(text: str) -> NDArray[numpy.int64]:
    """Return the code point of each character."""
    return numpy.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4").astype("int64")


def text_of(codes: NDArray[numpy.int64]) -> str:
    """Return the text of code points, the inverse of `codes_of`."""
    return codes.astype("<u4").tobytes().decode("utf-32-le", "surrogatepass")


def split_spaces(text: str) -> tuple[str, list[bool]]:
    """Return the characters of a text without its spaces, and of each whether a space follows."""
    places = [place for place, character in enumerate(text) if character != SPACE]
    return "".join(map(text.__getitem__, places)), [text[place + 1 : place + 2] == SPACE for place in places]


def edit_costs(source: str, target: str, put_in: int = 1) -> list[list[int]]:
    """Return the edits that turn the first i characters of the source into the first j of the target, [i][j].

    Levenshtein 1966; to put a character in counts as `put_in` edits.
    """
    costs = [[put_in * j for j in range(len(target) + 1)]]
    for i, one in enumerate(source, 1):
        before, row = costs[-1], [i]
        for j, other in enumerate(target, 1):
            row.append(min(before[j] + 1, row[-1] + put_in, before[j - 1] + (one != other)))
        costs.append(row)
    return costs


def edit_distance(source: str, target: str) -> int:
    """Return the fewest characters to put in, leave out or replace."""
    return edit_costs(source, target)[-1][-1]


def aligned(source: str, target: str, left_out: int = 1) -> list[tuple[int, int]]:
    """Return pairs of places of two texts without spaces, (source, target), by the fewest edits.

    A place of the source that was put in has -1 as its target; a place of the target that is not in
    the source is in no pair, and costs `left_out` edits. Texts of the same length are taken to be changed in place.
    """
    if len(source) == len(target):
        return [(place, place) for place in range(len(source))]
    costs = edit_costs(source, target, left_out)
    pairs, i, j = [], len(source), len(target)
    while i:
        if j and costs[i][j] == costs[i - 1][j - 1] + (source[i - 1] != target[j - 1]):
            i, j = i - 1, j - 1
            pairs.append((i, j))
        elif costs[i][j] == costs[i - 1][j] + 1:
            i -= 1
            pairs.append((i, -1))
        else:
            j -= 1
    return pairs[::-1]
