"""Letters to numbers and back, for `read`: a syllable is spelt by its initial, vowel and final.

A network has three softmaxes in place of one over thousands of syllables: the first over the initials and all that is no
syllable, the others over vowels and finals and "none". The log-probability of a letter is the sum of its three parts'.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy
from numpy.typing import NDArray

from ..._runtime.aliases import Numbers
from ...text.hangul import FINALS, INITIALS, VOWELS, parts
from ..sequences.characters import END, Characters
from .graphs import FINAL_PARTS, VOWEL_PARTS


@dataclass(frozen=True)
class Letters(Characters):
    """The letters that can be read; of the ids that are none, PADDING is CTC's blank."""

    @property
    def sizes(self) -> tuple[int, ...]:
        """The arguments of a config's `network`: ids (V) and parts (P)."""
        return len(self), self.count

    @property
    def count(self) -> int:
        """The number of parts (P) of all three kinds."""
        return self.firsts + VOWEL_PARTS + FINAL_PARTS

    @property
    def starts(self) -> tuple[int, int, int]:
        """The number of the first of each kind of parts."""
        return 0, self.firsts, self.firsts + VOWEL_PARTS

    @property
    def firsts(self) -> int:
        """The number of initials and of letters that have none, special ids included."""
        return len(INITIALS) + END + 1 + sum(not parts(letter)[0] for letter in self.known)

    @cached_property
    def table(self) -> NDArray[numpy.int64]:
        """The parts of each id, (V, 3), as numbers from 0 to P - 1."""
        (_, vowels, finals), sign = self.starts, len(INITIALS)
        rows = []
        for letter in [*[""] * (END + 1), *self.known]:
            initial, vowel, final = parts(letter) if letter else ("", "", "")
            if initial:
                own = INITIALS.index(initial), vowels + VOWELS.index(vowel), finals + FINALS.index(final)
            else:
                own = sign, finals - 1, self.count - 1
                sign += 1
            rows.append(own)
        return numpy.array(rows)

    def log_probability(self, of_parts: Numbers) -> Numbers:
        """(..., P) -> (..., V)."""
        first, second, third = (of_parts[..., column] for column in self.table.T)
        total: Numbers = first + second + third
        return total

    def text(self, ids: Iterable[int]) -> str:
        """Return the letters of ids; of those that are none, nothing."""
        return "".join(self.known[number - END - 1] for number in ids if number > END)
