"""Parts of a text that a restorer copies unchanged: words in other letters, addresses and tags."""

import re

import numpy
from numpy.typing import NDArray

from .characters import KEEP, SPACE

HANGUL = "\u1100-\u11ff\u3131-\u318e가-힣"
# A letter or digit that is not Hangul, and the rest of its word
LETTER = rf"[^\W{HANGUL}]"
REST = rf"(?:[^\s{HANGUL}]*{LETTER})?"
KOREAN = re.compile(f"[{HANGUL}]")
# Addresses, tags (#영화, @name) and words
PROTECTED = re.compile(rf"(?:https?://|www\.)\S+|(?:#|(?<!\w)@)\w+{REST}|{LETTER}{REST}", re.IGNORECASE)

# Found in an address or a tag, to which nothing may be joined
SEPARATE = re.compile(rf"[#@{HANGUL}]|//|www\.", re.IGNORECASE)


def keep_foreign(
    text: str, tags: NDArray[numpy.int64], follows: NDArray[numpy.bool_]
) -> tuple[NDArray[numpy.int64], NDArray[numpy.bool_]]:
    """Return an editor's tags and spaces, with KEEP and no new space inside the protected parts of a clean text.

    A space of the text stays between two words that are not Korean, and around addresses and tags.
    """
    # the number of the protected part that each character is in, 0 for none; negative for an address or a tag
    owner = numpy.zeros(len(text), dtype="int64")
    for number, match in enumerate(PROTECTED.finditer(text), 1):
        owner[slice(*match.span())] = -number if SEPARATE.search(match[0]) else number
    if not owner.any():
        return tags, follows
    letters = [place for place, character in enumerate(text) if character != SPACE]
    has_space = numpy.array([text.startswith(SPACE, place + 1) for place in letters])
    korean = numpy.array([bool(KOREAN.match(text, place)) for place in letters]) & (owner[letters] == 0)
    left, right = owner[letters], numpy.append(owner[letters][1:], 0)
    keeps_space = (left < 0) | (right < 0) | ((left > 0) | (right > 0)) & ~korean & ~numpy.append(korean[1:], False)
    inside = (left == right) & (left != 0)
    return numpy.where(left != 0, KEEP, tags), follows & ~inside | has_space & keeps_space


def keeps_foreign(source: str, text: str) -> bool:
    """Return whether a text has all protected parts of its source, in order."""
    return PROTECTED.findall(source) == PROTECTED.findall(text)
