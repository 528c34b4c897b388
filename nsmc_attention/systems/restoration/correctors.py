"""Correctors of an editor's output, in the order in which they run: each sees the changes of those before it.

    the editor -> neighbours -> listed mistakes -> words of the dictionary -> spaces at junctions -> `decisions.decide`

What conventions ask for and what is not Korean (`conventions`), and texts that are right (`allowed`), then stay as typed. Every
probability by which one of them overrules another stands in `decisions`.
"""

import math
from collections.abc import Callable, Iterator
from operator import ne
from typing import NamedTuple

import numpy
from numpy.typing import NDArray

from ..._runtime.aliases import Numbers
from ...text.hangul import parts
from ...text.tokenizers import has_dictionary, path_cost
from ..sequences.characters import END, KEEP, SPACE
from .decisions import MORE, MOST, SHARE, SURE, believed_tags
from .junctions import RestorerCharacters, with_log_odds
from .mistakes import with_known_mistakes_righted
from .tags import tagged

# Log-odds = EDITOR_WEIGHT * the editor's + COST_WEIGHT * (the cost saved / 1000, from -MOST_COST to MOST_COST) + BIAS
EDITOR_WEIGHT, COST_WEIGHT, MOST_COST, BIAS = 0.62, 0.72, 3.0, -0.98
# Words on each side of a change that are read with it, and most letters of them
WORDS, MOST_LETTERS = 1, 20


class Draft(NamedTuple):
    """A batch of clean texts, of S characters without their spaces, and what is to become of these.

    `letters` are the texts without spaces, and `ends` where each ends among the S. `tags` (S,) int32 says what is written in the
    place of each character, `certainty` (S,) the probability of that, `spaces` (S,) that of a space behind it.
    """

    texts: list[str]
    letters: list[str]
    ends: NDArray[numpy.int64]
    tags: NDArray[numpy.int32]
    certainty: NDArray[numpy.float32]
    spaces: Numbers
    characters: RestorerCharacters


def neighbours(draft: Draft) -> Draft:
    """Give neighbours that both change the larger probability of the two.

    A misspelling may be of two characters: syllables exchanged, a final that is written with the next vowel.
    """
    changes, certainty = draft.tags != KEEP, draft.certainty
    both = changes[:-1] & changes[1:]
    both[draft.ends[:-1] - 1] = False
    larger = numpy.where(both, numpy.maximum(certainty[:-1], certainty[1:]), 0)
    of_both = numpy.maximum(numpy.append(larger, 0), numpy.append(0, larger))
    return draft._replace(certainty=numpy.maximum(certainty, of_both))


def listed_mistakes(draft: Draft) -> Draft:
    """Write what the list says, whatever the editor would."""
    tags, certainty = with_known_mistakes_righted(draft.texts, draft.tags, draft.certainty, draft.characters)
    return draft._replace(tags=tags, certainty=certainty)


def dictionary_words(draft: Draft) -> Draft:
    """Correct the probability of each letter that changes and is not SURE by what the words cost in MeCab's dictionary.

    A noisy channel (Kernighan et al. 1990): an editor knows how people mistype, and of words those in its sentences; the
    dictionary has 800,000. The cost of a path through its lattice is a negative log-probability: of words that are likelier
    the editor may be less sure, of others it must be surer. Neighbours that change are one change, as likely as the surest
    of them. The weights were fitted by logistic regression (benchmarks/restoration/README.md).
    """
    tags, characters, follows = draft.tags, draft.characters, draft.spaces >= 0.5
    doubtful = (tags != KEEP) & (draft.certainty < SURE)
    if not doubtful.any() or not has_dictionary():
        return draft
    certainty, letters = draft.certainty.copy(), "".join(draft.letters)
    for first, last, begin, end in runs_of_changes(doubtful, draft.ends):
        own = words_around(first, last, max(begin, first - MOST_LETTERS), min(end, last + MOST_LETTERS), follows)
        changed, spaces = tags[own].tolist(), follows[own].tolist()
        kept = [*changed[: first - own.start], *[KEEP] * (last - first), *changed[last - own.start :]]
        before, after = (path_cost(tagged(letters[own], choice, spaces, characters)[0]) for choice in (kept, changed))
        surest = float(draft.certainty[first:last].max())
        cheaper = min(max((before - after) / 1000, -MOST_COST), MOST_COST)
        odds = EDITOR_WEIGHT * math.log(surest / (1 - surest)) + COST_WEIGHT * cheaper + BIAS
        # a syllable is mistyped in one of its three parts
        one, other = parts(letters[first]), parts(characters.character(int(tags[first])) if tags[first] > END else "")
        alone = numpy.count_nonzero(tags[max(begin, first - 1) : min(end, last + 1)]) == 1
        unlike = alone and any(one) and any(other) and sum(map(ne, one, other)) > 1
        certainty[first:last] = 0 if unlike else min(1 / (1 + math.exp(-odds)), MOST)
    return draft._replace(certainty=certainty)


def runs_of_changes(doubtful: NDArray[numpy.bool_], ends: NDArray[numpy.int64]) -> Iterator[tuple[int, int, int, int]]:
    """Yield where each run of neighbours that change begins and ends, and its text does."""
    places = numpy.flatnonzero(doubtful)
    of_text = numpy.searchsorted(ends, places, "right")
    new = numpy.append(True, (numpy.diff(places) > 1) | (numpy.diff(of_text) > 0))
    firsts, lasts = places[new], places[numpy.append(new[1:], True)] + 1
    owners = of_text[new]
    begins = numpy.append(0, ends)[owners]
    yield from zip(firsts.tolist(), lasts.tolist(), begins.tolist(), ends[owners].tolist())


def words_around(first: int, last: int, begin: int, end: int, follows: NDArray[numpy.bool_]) -> slice:
    """Return the words from `begin` to `end` that letters [first, last) are in, and WORDS on each side."""
    before = numpy.flatnonzero(follows[begin:first]) + begin + 1
    after = numpy.flatnonzero(follows[last - 1 : end]) + last
    low = before[-1 - WORDS] if len(before) > WORDS else begin
    high = after[WORDS] if len(after) > WORDS else end
    return slice(int(low), int(high))


def spaces_at_junctions(draft: Draft) -> Draft:
    """Add to each space the log-odds of the junctions, where the bundle has some, of what the tags make of the letters."""
    if not draft.characters.junctions or not has_dictionary():
        return draft
    # whatever is asked for, so that a space has one probability
    believed, _ = believed_tags(draft.tags, draft.certainty, None)
    odds = odds_at_junctions(draft._replace(tags=believed))
    spaced = numpy.repeat([SPACE in text for text in draft.texts], [*map(len, draft.letters)])
    return draft._replace(spaces=with_log_odds(draft.spaces, added(odds, spaced)))


def odds_at_junctions(draft: Draft) -> NDArray[numpy.float64]:
    """Return (S,), the log-odds of a space after each character, by the junctions of what the tags make of the letters.

    NaN where the junctions say nothing: of a character that is left out.
    """
    tags, read, kept = draft.tags, list(draft.letters), numpy.ones(len(draft.tags), dtype="bool")
    # most texts have no letter to correct
    for number in numpy.unique(numpy.searchsorted(draft.ends, numpy.flatnonzero(tags), "right")).tolist():
        letters, end = draft.letters[number], draft.ends[number]
        own = slice(end - len(letters), end)
        read[number], places = tagged(letters, tags[own].tolist(), [False] * len(letters), draft.characters)
        kept[own] = False
        kept[own][places] = True
    odds = numpy.full(len(tags), numpy.nan)
    if draft.characters.junctions:
        odds[kept] = draft.characters.junctions.log_odds(read)
    return odds


def added(odds: Numbers, spaced: NDArray[numpy.bool_]) -> Numbers:
    """Return what of log-odds (S,) is added to an editor's, by whether the text of each has spaces: they say more."""
    return numpy.where(spaced, SHARE * odds, odds + MORE)


Corrector = Callable[[Draft], Draft]
CORRECTORS: tuple[Corrector, ...] = (neighbours, listed_mistakes, dictionary_words, spaces_at_junctions)


def corrected(draft: Draft) -> Draft:
    """Return what all correctors make of a draft, one after the other."""
    for corrector in CORRECTORS:
        draft = corrector(draft)
    return draft
