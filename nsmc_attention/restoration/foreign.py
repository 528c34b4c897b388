"""Parts of a text that a restorer copies unchanged: words in other letters, addresses and tags; and names, if in doubt."""

import re
from collections.abc import Iterable

import numpy
from numpy.typing import NDArray

from ..text.tokenizers import has_dictionary, mecab_tags
from .characters import KEEP, SPACE, codes_of
from .decisions import Decisions

HANGUL = "\u1100-\u11ff\u3131-\u318e가-힣"
# A letter or digit that is not Hangul, and the rest of its word
LETTER = rf"[^\W{HANGUL}]"
REST = rf"(?:[^\s{HANGUL}]*{LETTER})?"
KOREAN = re.compile(f"[{HANGUL}]+")
# Addresses, tags (#영화, @name) and words
PROTECTED = re.compile(rf"(?:https?://|www\.)\S+|(?:#|(?<!\w)@)\w+{REST}|{LETTER}{REST}", re.IGNORECASE)

# Long nouns of the dictionary, proper ones too, and the probability that a letter of theirs is changed with
NOUNS, LONG_NOUN, CERTAIN_OF_NOUN = ("NNG", "NNP"), 3, 0.99

# Found in an address or a tag, to which nothing may be joined
SEPARATE = re.compile(rf"[#@{HANGUL}]|//|www\.", re.IGNORECASE)


def keep_protected(decided: Decisions, parts: Iterable[tuple[str, slice]]) -> Decisions:
    """Return decisions without those that would change names in doubt, or what is not Korean, of clean texts.

    `parts` are those of the texts in which something is changed; other decisions stay.
    """
    tags, follows = decided.tags.copy(), decided.has_space.copy()
    for text, own in parts:
        names = keep_names(text, tags[own], decided.of_tags[own])
        tags[own], follows[own] = keep_foreign(text, names, follows[own])
    return decided._replace(tags=tags, has_space=follows)


def keep_foreign(
    text: str, tags: NDArray[numpy.int64], follows: NDArray[numpy.bool_]
) -> tuple[NDArray[numpy.int64], NDArray[numpy.bool_]]:
    """Return an editor's tags and spaces, with KEEP and no new space inside the protected parts of a clean text.

    A space of the text stays between two words that are not Korean, and around addresses and tags.
    """
    protected = list(PROTECTED.finditer(text))
    if not protected:
        return tags, follows
    # the number of the protected part that each character is in, 0 for none; negative for an address or a tag
    owner = numpy.zeros(len(text), dtype="int64")
    for number, match in enumerate(protected, 1):
        owner[slice(*match.span())] = -number if SEPARATE.search(match[0]) else number
    is_letter = codes_of(text) != ord(SPACE)
    letters, has_space = numpy.flatnonzero(is_letter), numpy.append(~is_letter[1:], False)[is_letter]
    korean = places_in(text, (match.span() for match in KOREAN.finditer(text)))[letters] & (owner[letters] == 0)
    left, right = owner[letters], numpy.append(owner[letters][1:], 0)
    keeps_space = (left < 0) | (right < 0) | ((left > 0) | (right > 0)) & ~korean & ~numpy.append(korean[1:], False)
    inside = (left == right) & (left != 0)
    return numpy.where(left != 0, KEEP, tags), follows & ~inside | has_space & keeps_space


def keep_names(text: str, tags: NDArray[numpy.int64], certainty: NDArray[numpy.float32]) -> NDArray[numpy.int64]:
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
