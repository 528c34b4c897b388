"""The vocabulary of characters, with every Hangul syllable as its letters, and the edits between two texts.

A source has no space characters; instead, each of its characters has a mark for a following space. The ids of a
frequent character and of its letters are rows of one embedding table; the network reads the sum of these rows.
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

# Special ids, and the tags that keep or delete a character; any other tag is the id of its replacement
PADDING, UNKNOWN, BEGIN, END = range(4)
KEEP, DELETE = 0, 1
SPACE = " "
# Rows of the embedding table after the characters: the letters of syllables and the mark of a space
LETTERS = len(INITIALS) + len(VOWELS) + len(FINALS) + 1


Self = TypeVar("Self", bound="Characters")


@dataclass(frozen=True)
class Characters:
    """The characters that a network can write, in the order of their ids; the first, after END, is the space."""

    known: tuple[str, ...]

    @classmethod
    def of(cls: type[Self], texts: Iterable[str], min_count: int) -> Self:
        """Return the characters that occur at least `min_count` times, in descending order of count."""
        counts = Counter(character for text in texts for character in text if character != SPACE)
        common = (character for character in counts if counts[character] >= min_count)
        return cls((SPACE, *sorted(common, key=lambda character: (-counts[character], character))))

    @classmethod
    def from_json(cls: type[Self], content: Union[str, bytes], where: object = "vocab.json") -> Self:
        """Read the content of vocab.json; `where` is its path for messages, BundleError if it is not from `to_json`."""
        values = read_json(content, where, BundleError, "a list of characters")
        return cls.from_dict(values if isinstance(values, dict) else {}, where)

    @classmethod
    def from_dict(cls: type[Self], values: Mapping[str, Any], where: object) -> Self:
        """Return the characters of a `to_dict`; BundleError if their list is missing or has no space first."""
        characters = values.get("characters")
        if not isinstance(characters, list) or characters[:1] != [SPACE]:
            raise BundleError(f"{where}: expected a list of characters, a space first, found something else")
        return cls(tuple(characters))

    @classmethod
    def read(cls: type[Self], content: bytes, path: Path, manifest: Manifest, config: object) -> Self:
        """Read a bundle's characters; BundleError if their number differs from the manifest's."""
        characters = cls.from_json(content, path)
        check_count(characters, path, manifest)
        return characters

    def to_dict(self) -> Record:
        return {"characters": self.known}

    def to_json(self) -> str:
        return json.dumps(self.to_dict(), ensure_ascii=False)

    def __len__(self) -> int:
        """Return the number of output ids (V), including the special ones."""
        return END + 1 + len(self.known)

    @property
    def rows(self) -> int:
        """Number of rows of the embedding table."""
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
        """Id of each code point; the last entry is UNKNOWN, for all code points beyond the table."""
        codes = codes_of("".join(self.known))
        table = numpy.full(codes.max() + 2, UNKNOWN, dtype="int32")
        table[codes] = numpy.arange(END + 1, len(self))
        return table

    def numbers(self, codes: NDArray[numpy.int64]) -> NDArray[numpy.int32]:
        """Return the ids (S, ROWS) of S code points, without marks of spaces."""
        rows = numpy.full((len(codes), ROWS), PADDING, dtype="int32")
        rows[:, 0] = self.id_table[numpy.minimum(codes, len(self.id_table) - 1)]
        numbers = codes - FIRST
        syllables = (numbers >= 0) & (numbers < len(INITIALS) * len(VOWELS) * len(FINALS))
        onset, final = numpy.divmod(numbers[syllables], len(FINALS))
        vowels = len(self) + len(INITIALS)
        rows[syllables, 1] = len(self) + onset // len(VOWELS)
        rows[syllables, 2] = vowels + onset % len(VOWELS)
        rows[syllables, 3] = vowels + len(VOWELS) + final
        return rows

    def can_read(self, character: str) -> bool:
        """Return whether a character differs from UNKNOWN for a network: a syllable, or in the vocabulary."""
        return character in self.ids or bool(parts(character)[0])

    def batch(self, texts: Sequence[str], step: int = 1) -> tuple[NDArray[numpy.int32], NDArray[numpy.int32]]:
        """Return source_ids (N, S, ROWS) and source_length (N,) of N clean texts; S is a multiple of `step`."""
        lengths = numpy.array([len(text) - text.count(SPACE) for text in texts], "int32")
        width = -(-int(lengths.max()) // step) * step
        ids = numpy.full((len(texts), width, ROWS), PADDING, dtype="int32")
        # joining adds no space mark, because no text begins or ends with a space
        ids[numpy.arange(width) < lengths[:, None]] = self.source("".join(texts))
        return ids, lengths

    def source(self, text: str) -> NDArray[numpy.int32]:
        """Return the ids (S, ROWS) of a clean text with S characters besides spaces."""
        codes = codes_of(text)
        letters = codes != ord(SPACE)
        rows = self.numbers(codes[letters])
        rows[numpy.append(~letters[1:], False)[letters], -1] = self.rows - 1
        return rows

    def target(self, text: str) -> list[int]:
        """Return the ids of all characters of a text, including spaces, and END."""
        return [*(self.ids.get(character, UNKNOWN) for character in text), END]

    def character(self, number: int) -> str:
        """Return the character with an id above END."""
        return self.known[number - END - 1]


def codes_of(text: str) -> NDArray[numpy.int64]:
    """Return the code point of each character."""
    return numpy.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4").astype("int64")


def text_of(codes: NDArray[numpy.int64]) -> str:
    """Return the text of code points, the inverse of `codes_of`."""
    return codes.astype("<u4").tobytes().decode("utf-32-le", "surrogatepass")


def split_spaces(text: str) -> tuple[str, list[bool]]:
    """Return the characters of a text without its spaces, and for each whether a space follows."""
    positions = [position for position, character in enumerate(text) if character != SPACE]
    follows = [text[position + 1 : position + 2] == SPACE for position in positions]
    return "".join(map(text.__getitem__, positions)), follows


def edit_costs(source: str, target: str, insertion: int = 1) -> list[list[int]]:
    """Return the least cost of turning the first i characters of the source into the first j of the target, [i][j].

    Levenshtein 1966; deletions and substitutions cost 1, insertions `insertion`.
    """
    costs = [[insertion * j for j in range(len(target) + 1)]]
    for i, source_character in enumerate(source, 1):
        above, row = costs[-1], [i]
        for j, character in enumerate(target, 1):
            row.append(min(above[j] + 1, row[-1] + insertion, above[j - 1] + (source_character != character)))
        costs.append(row)
    return costs


def edit_distance(source: str, target: str) -> int:
    """Return the smallest number of insertions, deletions and substitutions."""
    return edit_costs(source, target)[-1][-1]


def aligned(source: str, target: str, left_out: int = 1) -> list[tuple[int, int]]:
    """Return pairs of indices (source, target) of two texts without spaces, by the least edit cost.

    A source character without a counterpart is paired with -1; a target character without one is in no pair and costs
    `left_out` edits. Texts of equal length are aligned character by character.
    """
    if len(source) == len(target):
        return [(index, index) for index in range(len(source))]
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
