"""What a restorer leaves as typed: words that are not Korean, addresses and tags, and what conventions ask for.

conventions.tsv has a rule a row, with its reason: signs between words, numerals with their units. Its pattern has a `_` where a space may be: `joined`, there is none;
`apart`, there is one; `always`, it stays as typed; `typed`, it does in a text whose spaces say how its writer meant it.
slang.txt has words that no dictionary has; they stay as they are, those of two letters where a word begins.
"""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path

import numpy

from ..._io.reading import read_rows
from ...text.hangul import FINALS, FIRST
from ..sequences.characters import KEEP, SPACE, codes_of
from .decisions import Decisions

HERE = Path(__file__).parent
# A text says how its writer spaces words if it has one space for so many characters, but those of NO_WORD, or is short
SPARSE, SHORT, NO_WORD = 7, 8, re.compile("[~<>/A-Za-z]+")
SYLLABLES = range(FIRST, ord("힣") + 1, len(FINALS))
# Syllables whose final laughs (닼, and before ㅎ 닿), and what they are without it; 부엌 and 녘 are words
LAUGHS = {final: {chr(one + FINALS.index(final)): chr(one) for one in SYLLABLES} for final in "ㅋㅎ"}
LAUGHING = re.compile(
    f"(?<!부)[{''.join(LAUGHS['ㅋ'].keys() - {'녘'})}]|[{''.join(LAUGHS['ㅎ'].keys() - set('좋놓낳넣쌓'))}](?=ㅎ)"
)
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


def read_as(text: str) -> str:
    """Return a text as the editor is to read it, of the same length: without the finals that laugh."""
    return LAUGHING.sub(lambda match: LAUGHS["ㅋ"].get(match[0]) or LAUGHS["ㅎ"][match[0]], text)


@lru_cache(maxsize=1)
def rules() -> list[tuple[str, "re.Pattern[str]"]]:
    """Return what each rule says, and its pattern, whose groups are the spaces."""
    return [
        (row["what"], re.compile(row["pattern"].replace("_", "( ?)"))) for row in read_rows(HERE / "conventions.tsv")
    ]


@lru_cache(maxsize=1)
def slang() -> "re.Pattern[str]":
    words = sorted((HERE / "slang.txt").read_text(encoding="utf-8").split(), key=len, reverse=True)
    long, short = ("|".join(word for word in words if (len(word) > 2) == is_long) for is_long in (True, False))
    # most places are skipped by their first letter
    return re.compile(f"(?=[{''.join({word[0] for word in words})}])(?:{long}|(?<![가-힣])(?:{short}))")


def keep_conventions(decided: Decisions, texts: Sequence[str], read: Sequence[str]) -> Decisions:
    """Return decisions without those that the conventions forbid; `read` are the texts as the editor read them."""
    text = LINE.join(texts)
    codes = codes_of(text)
    is_letter = (codes != ord(SPACE)) & (codes != ord(LINE))
    letters, numbers = codes[is_letter], numpy.cumsum(is_letter)
    tags, follows, sure = decided.tags.copy(), decided.has_space.copy(), decided.of_spaces.copy()
    # a letter that was read as another one is not changed
    laughs = letters != codes_of(LINE.join(read))[is_letter]
    tags[laughs] = KEEP
    tells = numpy.repeat([*map(is_telling, texts)], [len(each) - each.count(SPACE) for each in texts])
    typed = laughs
    for start, end in (match.span() for match in slang().finditer(text)):
        first, last = numbers[start] - 1, numbers[end - 1] - 1
        typed[first:last] |= tells[first:last]
        # letters that would change together stay together
        while last + 1 < len(tags) and tags[last] != KEEP != tags[last + 1]:
            last += 1
        tags[first : last + 1] = KEEP
    for what, place in gaps(text):
        letter = numbers[place] - 1
        if what in ("joined", "apart"):
            follows[letter] = what == "apart"
            sure[letter] = 1
        else:
            typed[letter] |= what == "always" or tells[letter]
    return decided._replace(tags=tags, has_space=numpy.where(typed, decided.had_space, follows), of_spaces=sure)


def is_telling(text: str) -> bool:
    """Return whether the spaces of a text say how its writer meant it."""
    return text.count(SPACE) * SPARSE + SHORT >= len(NO_WORD.sub("", text))


def gaps(text: str) -> Iterator[tuple[str, int]]:
    """Yield what a rule says, and the place of the letter before the space, of each space of a rule in a text."""
    for what, pattern in rules():
        for match in pattern.finditer(text):
            for start, _ in match.regs[1:]:
                yield what, start - 1


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
