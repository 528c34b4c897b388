"""Parts of a text that a restorer copies unchanged: words in other letters, addresses and tags."""

import re
from collections.abc import Sequence

import numpy

from ..sequences.characters import KEEP, SPACE, codes_of
from .decisions import Decisions

RANGES = (0x1100, 0x11FF), (0x3131, 0x318E), (0xAC00, 0xD7A3)
HANGUL = "".join(f"{chr(first)}-{chr(last)}" for first, last in RANGES)
# A letter or digit that is not Hangul, and the rest of its word
LETTER = rf"[^\W{HANGUL}]"
REST = rf"(?:[^\s{HANGUL}]*{LETTER})?"
KOREAN = re.compile(f"[{HANGUL}]+")
# Addresses, tags (#영화, @name) and words
PROTECTED = re.compile(rf"(?:https?://|www\.)\S+|(?:#|(?<!\w)@)\w+{REST}|{LETTER}{REST}", re.IGNORECASE)

# Between texts that are searched at once: no clean text has one
LINE = "\n"
# Found in an address or a tag, to which nothing may be joined
SEPARATE = re.compile(rf"[#@{HANGUL}]|//|www\.", re.IGNORECASE)


def keep_foreign(decided: Decisions, texts: Sequence[str]) -> Decisions:
    """Return the decisions of clean texts with KEEP and no new space inside their protected parts.

    A space of a text stays between two words that are not Korean, and around addresses and tags.
    """
    text = LINE.join(texts)
    protected = list(PROTECTED.finditer(text))
    if not protected:
        return decided
    # the number of the protected part that each character is in, 0 for none; negative for an address or a tag
    owner = numpy.zeros(len(text), dtype="int64")
    for number, match in enumerate(protected, 1):
        owner[slice(*match.span())] = -number if SEPARATE.search(match[0]) else number
    codes = codes_of(text)
    is_letter = (codes != ord(SPACE)) & (codes != ord(LINE))
    owner, has_space = owner[is_letter], numpy.append(codes[1:] == ord(SPACE), False)[is_letter]
    is_hangul = numpy.logical_or.reduce([(codes >= first) & (codes <= last) for first, last in RANGES])
    korean = is_hangul[is_letter] & (owner == 0)
    right = numpy.append(owner[1:], 0)
    keeps_space = (owner < 0) | (right < 0) | ((owner > 0) | (right > 0)) & ~korean & ~numpy.append(korean[1:], False)
    inside = (owner == right) & (owner != 0)
    tags = numpy.where(owner != 0, KEEP, decided.tags)
    return decided._replace(tags=tags, has_space=decided.has_space & ~inside | has_space & keeps_space)


def keeps_foreign(source: str, text: str) -> bool:
    """Return whether a text has all protected parts of its source, in order."""
    return PROTECTED.findall(source) == PROTECTED.findall(text)
