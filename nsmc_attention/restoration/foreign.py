"""What a restorer leaves as it is: texts without Hangul and, within Korean, words in other letters, addresses and tags."""

import re

import numpy
from numpy.typing import NDArray

from .characters import KEEP, SPACE

HANGUL = "\u1100-\u11ff\u3131-\u318e가-힣"
# A character of a word or number; up to the last one of the characters that follow without a space or Hangul
LETTER = rf"[^\W{HANGUL}]"
REST = rf"(?:[^\s{HANGUL}]*{LETTER})?"
KOREAN = re.compile(f"[{HANGUL}]")
# Addresses, tags (#영화, @name) and words
KEPT = re.compile(rf"(?:https?://|www\.)\S+|(?:#|(?<!\w)@)\w+{REST}|{LETTER}{REST}", re.IGNORECASE)

# What shows that it is an address or a tag
CLOSED = re.compile(rf"[#@{HANGUL}]|//|www\.", re.IGNORECASE)


def keep_foreign(
    text: str, tags: NDArray[numpy.int64], follows: NDArray[numpy.bool_]
) -> tuple[NDArray[numpy.int64], NDArray[numpy.bool_]]:
    """Return an editor's tags and spaces, KEEP and no space within what is kept of a clean text.

    Between two words that are no Korean, and around addresses and tags, a space of the text stays.
    """
    # of each character: 0, or the number of what it belongs to, negative if nothing may be joined to that
    owner = numpy.zeros(len(text), dtype="int64")
    for number, kept in enumerate(KEPT.finditer(text), 1):
        owner[slice(*kept.span())] = -number if CLOSED.search(kept[0]) else number
    if not owner.any():
        return tags, follows
    letters = [place for place, character in enumerate(text) if character != SPACE]
    own = numpy.array([text.startswith(SPACE, place + 1) for place in letters])
    korean = numpy.array([bool(KOREAN.match(text, place)) for place in letters]) & (owner[letters] == 0)
    left, right = owner[letters], numpy.append(owner[letters][1:], 0)
    stays = (left < 0) | (right < 0) | ((left > 0) | (right > 0)) & ~korean & ~numpy.append(korean[1:], False)
    inside = (left == right) & (left != 0)
    return numpy.where(left != 0, KEEP, tags), follows & ~inside | own & stays


def keeps_foreign(source: str, text: str) -> bool:
    """Return whether a text has the words, addresses and tags of its source that are to be kept."""
    return KEPT.findall(source) == KEPT.findall(text)
