"""Decisions from an editor's probabilities: the tags that are believed, and the spaces that follow.

Most of what people type is as they meant it, other than in training, so a change needs a least probability (docs/restore.md).
"""

from typing import Any, NamedTuple, Optional

import numpy
from numpy.typing import NDArray

from ..sequences.characters import KEEP

# All probabilities of the correctors, in their order (`correctors`). A mistake of the list
SURE_CHANGE = 0.99
# The most that a change may get from MeCab's costs: it never becomes as sure as the list
MOST_SURE = SURE_CHANGE - 0.01
# The share of the junctions' log-odds that a text with spaces gets; one without gets all of them and MORE_CHANGES, as it lacks more
# spaces than the editor is used to
SHARE, MORE_CHANGES = 0.35, 0.8
# The least of a changed letter and of a changed space, where the caller names none
CERTAIN_TAG, CERTAIN_SPACE = 0.5, 0.6
SMALLEST_SHARE = 1e-9


Tags = NDArray[numpy.int32]
Flags = NDArray[numpy.bool_]
# float32 as the network computes them, float64 with log-odds added
Probabilities = NDArray[numpy.floating[Any]]


class Decisions(NamedTuple):
    """An editor's tag of each character (S,), and whether a space follows it there and then; of one text, or of many."""

    tags: Tags
    had_space: Flags
    has_space: Flags
    of_tags: Probabilities
    of_spaces: Probabilities
    log_probability: Probabilities

    def part(self, own: slice) -> "Decisions":
        """Return the decisions on some of the characters."""
        return Decisions._make(each[own] for each in self)

    @property
    def changes(self) -> Flags:
        """(S,), whether a character changes, or the space after it."""
        return (self.tags != KEEP) | (self.has_space != self.had_space)

    @property
    def certainty(self) -> Probabilities:
        """The least probability of what changes at each character, 1 where nothing does."""
        of_tags = numpy.where(self.tags != KEEP, self.of_tags, 1)
        return numpy.where(self.has_space != self.had_space, numpy.minimum(of_tags, self.of_spaces), of_tags)


def decide(
    had_space: Flags, tags: Tags, certainty: Probabilities, spaces: Probabilities, least: Optional[float] = None
) -> Decisions:
    """Return the decisions for characters (S,) by an editor's outputs; changes have at least the `least` probability.

    Where None, it is CERTAIN_TAG or CERTAIN_SPACE. `spaces` (S,) are the network's probabilities of a space.
    """
    believed = believed_tags(tags, certainty, least)
    tags, of_tags = numpy.where(believed, tags, KEEP), numpy.where(believed, certainty, 1 - certainty)
    # float32 as a change's probability is given, so that both are compared to the same least one
    spaces = spaces.astype("float32")
    of_other = numpy.where(had_space, 1 - spaces, spaces)
    changes = of_other.astype("float64") >= (CERTAIN_SPACE if least is None else least)
    has_space, of_spaces = had_space ^ changes, numpy.where(changes, of_other, 1 - of_other)
    logs = [numpy.log(numpy.maximum(each, SMALLEST_SHARE)) for each in (of_tags, of_spaces)]
    return Decisions(tags, had_space, has_space, of_tags, of_spaces, sum(logs))


def believed_tags(tags: Tags, certainty: Probabilities, least: Optional[float] = None) -> Flags:
    """Return which of the tags (S,) are KEEP or have at least the least probability."""
    return (tags == KEEP) | (certainty.astype("float64") >= (CERTAIN_TAG if least is None else least))
