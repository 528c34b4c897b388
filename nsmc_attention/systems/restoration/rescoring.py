"""An editor's changes rescored with MeCab's dictionary: a noisy channel (Kernighan et al. 1990).

    letters, tags, their probabilities, spaces -> what the words would cost with and without each change -> probabilities

An editor knows how people mistype, and of words those in its sentences; the dictionary has 800,000. The cost of a path
through its lattice is a negative log-probability: of words that are likelier the editor may be less sure, of others it
must be surer. The weights were fitted by logistic regression (benchmarks/restoration/README.md).
"""

import math
from collections.abc import Iterator, Sequence
from operator import ne

import numpy
from numpy.typing import NDArray

from ...text.hangul import parts
from ...text.tokenizers import has_dictionary, path_cost
from ..sequences.characters import END, KEEP, Characters
from .decisions import MOST, SURE
from .tags import tagged

# Log-odds = EDITOR_WEIGHT * the editor's + COST_WEIGHT * (the cost saved / 1000, from -MOST_COST to MOST_COST) + BIAS
EDITOR_WEIGHT, COST_WEIGHT, MOST_COST, BIAS = 0.62, 0.72, 3.0, -0.98
# Words on each side of a change that are read with it, and most letters of them
WORDS, MOST_LETTERS = 1, 20


def rescored(
    texts: Sequence[str],
    tags: NDArray[numpy.int32],
    certainty: NDArray[numpy.float32],
    follows: NDArray[numpy.bool_],
    characters: Characters,
) -> NDArray[numpy.float32]:
    """Return the probability of each tag (S,): the editor's, corrected by MeCab where a letter changes and is not SURE.

    Neighbours that change are one change, as likely as the surest of them. `texts` are sources without spaces, of S characters
    together; `tags`, `certainty` and `follows` say what an editor would write in the place of each character, how sure it
    is, and whether a space follows.
    """
    doubtful = (tags != KEEP) & (certainty < SURE)
    if not doubtful.any() or not has_dictionary():
        return certainty
    found, letters = certainty.copy(), "".join(texts)
    for first, last, begin, end in changes(doubtful, numpy.cumsum([*map(len, texts)])):
        own = around(first, last, max(begin, first - MOST_LETTERS), min(end, last + MOST_LETTERS), follows)
        changed, spaces = tags[own].tolist(), follows[own].tolist()
        kept = [*changed[: first - own.start], *[KEEP] * (last - first), *changed[last - own.start :]]
        before, after = (path_cost(tagged(letters[own], choice, spaces, characters)[0]) for choice in (kept, changed))
        surest = float(certainty[first:last].max())
        cheaper = min(max((before - after) / 1000, -MOST_COST), MOST_COST)
        odds = EDITOR_WEIGHT * math.log(surest / (1 - surest)) + COST_WEIGHT * cheaper + BIAS
        # a syllable is mistyped in one of its three parts
        one, other = parts(letters[first]), parts(characters.character(int(tags[first])) if tags[first] > END else "")
        alone = numpy.count_nonzero(tags[max(begin, first - 1) : min(end, last + 1)]) == 1
        unlike = alone and any(one) and any(other) and sum(map(ne, one, other)) > 1
        found[first:last] = 0 if unlike else min(1 / (1 + math.exp(-odds)), MOST)
    return found


def changes(doubtful: NDArray[numpy.bool_], ends: NDArray[numpy.int64]) -> Iterator[tuple[int, int, int, int]]:
    """Yield where each run of neighbours that change begins and ends, and its text does."""
    places = numpy.flatnonzero(doubtful)
    of_text = numpy.searchsorted(ends, places, "right")
    new = numpy.append(True, (numpy.diff(places) > 1) | (numpy.diff(of_text) > 0))
    firsts, lasts = places[new], places[numpy.append(new[1:], True)] + 1
    owners = of_text[new]
    begins = numpy.append(0, ends)[owners]
    yield from zip(firsts.tolist(), lasts.tolist(), begins.tolist(), ends[owners].tolist())


def around(first: int, last: int, begin: int, end: int, follows: NDArray[numpy.bool_]) -> slice:
    """Return the words from `begin` to `end` that letters [first, last) are in, and WORDS on each side."""
    before = numpy.flatnonzero(follows[begin:first]) + begin + 1
    after = numpy.flatnonzero(follows[last - 1 : end]) + last
    low = before[-1 - WORDS] if len(before) > WORDS else begin
    high = after[WORDS] if len(after) > WORDS else end
    return slice(int(low), int(high))
