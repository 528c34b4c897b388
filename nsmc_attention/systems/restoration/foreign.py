"""Parts of a text that a restorer copies unchanged: words in other letters, addresses and tags; and names, if in doubt."""

import re
from collections.abc import Iterable, Sequence

import numpy
from numpy.typing import NDArray

from ...text.tokenizers import has_dictionary, mecab_tags
from ..sequences.characters import KEEP, SPACE, codes_of
from .decisions import CERTAIN_OF_NOUN, Decisions, Probabilities

RANGES = (0x1100, 0x11FF), (0x3131, 0x318E), (0xAC00, 0xD7A3)
HANGUL = "".join(f"{chr(first)}-{chr(last)}" for first, last in RANGES)
# A letter or digit that is not Hangul, and the rest of its word
LETTER = rf"[^\W{HANGUL}]"
REST = rf"(?:[^\s{HANGUL}]*{LETTER})?"
KOREAN = re.compile(f"[{HANGUL}]+")
# Addresses, tags (#영화, @name) and words
PROTECTED = re.compile(rf"(?:https?://|www\.)\S+|(?:#|(?<!\w)@)\w+{REST}|{LETTER}{REST}", re.IGNORECASE)

# Long nouns of the dictionary, proper ones too
NOUNS, LONG_NOUN = ("NNG", "NNP"), 3

# Between texts that are searched at once: no clean text has one
LINE = "\n"
# Found in an address or a tag, to which nothing may be joined
SEPARATE = re.compile(rf"[#@{HANGUL}]|//|www\.", re.IGNORECASE)


def keep_protected(decided: Decisions, texts: Sequence[str], starts: Sequence[int]) -> Decisions:
    """Return decisions without those that would change names in doubt, or what is not Korean.

    They are those of the characters of clean texts, of which each has its first one at one of `starts`.
    """
    tags = decided.tags.copy()
    doubtful = numpy.flatnonzero((tags != KEEP) & (decided.of_tags < CERTAIN_OF_NOUN))
    for number in numpy.unique(numpy.searchsorted(starts, doubtful, "right") - 1).tolist():
        own = slice(starts[number], None if number + 1 == len(starts) else starts[number + 1])
        tags[own] = keep_names(texts[number], tags[own], decided.of_tags[own])
    tags, follows = keep_foreign(texts, tags, decided.has_space)
    return decided._replace(tags=tags, has_space=follows)


def keep_foreign(
    texts: Sequence[str], tags: NDArray[numpy.int32], follows: NDArray[numpy.bool_]
) -> tuple[NDArray[numpy.int32], NDArray[numpy.bool_]]:
    """Return an editor's tags and spaces (S,), with KEEP and no new space inside the protected parts of clean texts.

    A space of a text stays between two words that are not Korean, and around addresses and tags.
    """
    text = LINE.join(texts)
    protected = list(PROTECTED.finditer(text))
    if not protected:
        return tags, follows
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
    return numpy.where(owner != 0, KEEP, tags), follows & ~inside | has_space & keeps_space


def keep_names(text: str, tags: NDArray[numpy.int32], certainty: Probabilities) -> NDArray[numpy.int32]:
    """Return an editor's tags, with KEEP in long nouns that mecab-ko-dic has unless they are CERTAIN_OF_NOUN.

    Names and their misspellings are too rare among the training sentences to be told apart, and few misspellings are nouns
    of three syllables. Without MeCab and its dictionary the tags are as they were.
    """
    doubtful = (tags != KEEP) & (certainty < CERTAIN_OF_NOUN)
    if not doubtful.any() or not has_dictionary():
        return tags
    nouns = places_in(
        text, ((start, end) for start, end, tag in mecab_tags(text) if tag in NOUNS and end - start >= LONG_NOUN)
    )
    return numpy.where(doubtful & nouns[codes_of(text) != ord(SPACE)], KEEP, tags)


def places_in(text: str, spans: Iterable[tuple[int, int]]) -> NDArray[numpy.bool_]:
    """Return of each character of a text whether it is in one of the spans."""
    inside = numpy.zeros(len(text), dtype="bool")
    for start, end in spans:
        inside[start:end] = True
    return inside


def keeps_foreign(source: str, text: str) -> bool:
    """Return whether a text has all protected parts of its source, in order."""
    return PROTECTED.findall(source) == PROTECTED.findall(text)
