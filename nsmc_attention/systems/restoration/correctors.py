"""Correctors of an editor's output, in the order in which they run: each sees the changes of those before it.

    the editor -> neighbours -> listed mistakes -> words of the dictionary -> spaces at junctions -> `decisions.decide`

What conventions ask for and what is not Korean (`conventions`), and texts that are right (`allowed`), then stay as typed. Every
probability by which one of them overrules another stands in `decisions`.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy
from numpy.typing import NDArray

from ..._runtime.aliases import Numbers
from ...text.tokenizers import has_dictionary
from ..sequences.characters import SPACE
from .decisions import MORE, SHARE, believed_tags, joint
from .junctions import RestorerCharacters, with_log_odds
from .mistakes import with_known_mistakes_righted
from .rescoring import rescored
from .tags import odds_at_junctions


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
    """Give neighbours that both change the larger probability of the two."""
    return draft._replace(certainty=joint(draft.tags, draft.certainty, draft.ends))


def listed_mistakes(draft: Draft) -> Draft:
    """Write what the list says, whatever the editor would."""
    tags, certainty = with_known_mistakes_righted(draft.texts, draft.tags, draft.certainty, draft.characters)
    return draft._replace(tags=tags, certainty=certainty)


def dictionary_words(draft: Draft) -> Draft:
    """Weigh each change by what its words cost in MeCab's dictionary."""
    follows = draft.spaces >= 0.5
    return draft._replace(certainty=rescored(draft.letters, draft.tags, draft.certainty, follows, draft.characters))


def spaces_at_junctions(draft: Draft) -> Draft:
    """Add to each space the log-odds of the junctions, where the bundle has some, of what the tags make of the letters."""
    junctions = draft.characters.junctions
    if not junctions or not has_dictionary():
        return draft
    # whatever is asked for, so that a space has one probability
    believed, _ = believed_tags(draft.tags, draft.certainty, None)
    odds = odds_at_junctions(junctions, draft.letters, believed, draft.characters)
    spaced = numpy.repeat([SPACE in text for text in draft.texts], [*map(len, draft.letters)])
    return draft._replace(spaces=with_log_odds(draft.spaces, added(odds, spaced)))


def added(found: Numbers, spaced: NDArray[numpy.bool_]) -> Numbers:
    """Return what of log-odds (S,) is added to an editor's, by whether the text of each has spaces: they say more."""
    return numpy.where(spaced, SHARE * found, found + MORE)


Corrector = Callable[[Draft], Draft]
CORRECTORS: tuple[Corrector, ...] = (neighbours, listed_mistakes, dictionary_words, spaces_at_junctions)


def corrected(draft: Draft) -> Draft:
    """Return what all correctors make of a draft, one after the other."""
    for corrector in CORRECTORS:
        draft = corrector(draft)
    return draft
