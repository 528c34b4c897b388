"""Decisions from an editor's probabilities: the tags that are believed, the spaces that follow, and the text of these.

Most of what people type is as they meant it, other than in training, so a change needs a least probability (docs/restore.md).
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, Optional

import numpy
from numpy.typing import NDArray

from ..sequences.characters import KEEP, SPACE, codes_of, text_of

# All probabilities of the correctors, in their order (`correctors`). A mistake of the list
SURE_CHANGE = 0.99
# The most that a change may get from MeCab's costs: it never becomes as sure as the list
MOST_SURE = SURE_CHANGE - 0.01
# The share of the junctions' log-odds that a text with spaces gets; one without gets all of them and MORE_CHANGES, as it lacks more
# spaces than the editor is used to
SHARE, MORE_CHANGES = 0.35, 0.8
# The least of a changed letter and of a changed space, where the caller names none
CERTAIN_TAG, CERTAIN_SPACE = 0.7, 0.6
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
    tags, of_tags = believed_tags(tags, certainty, least)
    # float32 as a change's probability is given, so that both are compared to the same least one
    spaces = spaces.astype("float32")
    of_other = numpy.where(had_space, 1 - spaces, spaces)
    changes = of_other.astype("float64") >= (CERTAIN_SPACE if least is None else least)
    has_space, of_spaces = had_space ^ changes, numpy.where(changes, of_other, 1 - of_other)
    logs = [numpy.log(numpy.maximum(each, SMALLEST_SHARE)) for each in (of_tags, of_spaces)]
    return Decisions(tags, had_space, has_space, of_tags, of_spaces, sum(logs))


def believed_tags(tags: Tags, certainty: Probabilities, least: Optional[float]) -> tuple[Tags, Probabilities]:
    """Return the tags (S,), KEEP where another has less than the least probability, and the probability of each."""
    believed = (tags == KEEP) | (certainty.astype("float64") >= (CERTAIN_TAG if least is None else least))
    return numpy.where(believed, tags, KEEP), numpy.where(believed, certainty, 1 - certainty)


class Spaced(NamedTuple):
    """A text with the spaces that were decided, its letters being as they were.

    `places` are those of its characters in the text before, `certainty` has a value for each of that; `letters` are its
    own among those of the decisions, of which `replaced` are to change, and `score` is the log-probability of all.
    """

    text: str
    places: NDArray[numpy.int64]
    certainty: NDArray[numpy.float32]
    letters: slice
    replaced: int
    score: float


def with_spaces(texts: Sequence[str], decided: Decisions) -> Iterator[Spaced]:
    """Yield each text with its decided spaces; all texts are read at once, which is faster."""
    codes = codes_of("".join(texts))
    letters = numpy.flatnonzero(codes != ord(SPACE))
    certainty = numpy.ones(len(codes), dtype="float32")
    certainty[letters] = decided.certainty
    origins = numpy.repeat(letters, decided.has_space + 1)
    codes = codes[origins]
    # the second of two is the space behind the first
    codes[1:][origins[1:] == origins[:-1]] = ord(SPACE)
    joined, ends = text_of(codes), numpy.cumsum([0, *map(len, texts)])
    # where each text begins among all characters, among the letters, and among the characters with the decided spaces
    begins, of_letters, of_joined = (
        each.tolist() for each in (ends, *(numpy.searchsorted(a, ends) for a in (letters, origins)))
    )
    replaced = numpy.add.reduceat(decided.tags != KEEP, of_letters[:-1], dtype="int64").tolist()
    scores = numpy.add.reduceat(decided.log_probability, of_letters[:-1]).tolist()
    for number, (begin, end) in enumerate(zip(begins, begins[1:])):
        first = of_joined[number]
        text = joined[first : of_joined[number + 1]].rstrip()
        places = origins[first : first + len(text)] - begin
        own = slice(of_letters[number], of_letters[number + 1])
        yield Spaced(text, places, certainty[begin:end], own, replaced[number], scores[number])
