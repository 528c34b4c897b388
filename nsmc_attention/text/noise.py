"""Misspellings as people type them: functions, text -> text, that make every change they can."""

import re
import unicodedata
from typing import Callable

import numpy

# Finals and vowels that are often confused: 있 for 잇, 재 for 제
FINALS = {"\u11bb": "\u11ba", "\u11bd": "\u11ba", "\u11c0": "\u11ba", "\u11b6": "\u11af", "\u11ad": "\u11ab"}
VOWELS = {"\u1162": "\u1166", "\u1166": "\u1162", "\u116c": "\u116b", "\u116b": "\u116c"}
TIMES = 5


def no_spaces(text: str) -> str:
    """정말재미있는영화."""
    return "".join(text.split())


def longer_ends(text: str) -> str:
    """Laughter, crying and punctuation five times as long."""
    return re.sub(r"([ㅋㅎㅠㅜ!?.~])", lambda found: found[0] * TIMES, text)


def simpler_finals(text: str) -> str:
    """재미있었다 as 재미잇엇다."""
    return with_letters(text, FINALS)


def other_vowels(text: str) -> str:
    """ㅐ for ㅔ and ㅔ for ㅐ, ㅚ for ㅙ and ㅙ for ㅚ: 재미 as 제미."""
    return with_letters(text, VOWELS)


def with_letters(text: str, letters: dict[str, str]) -> str:
    """Return the text (NFC) with some of its letters (NFD jamo) replaced by others."""
    replaced = "".join(letters.get(letter, letter) for letter in unicodedata.normalize("NFD", text))
    return unicodedata.normalize("NFC", replaced)


WAYS: tuple[Callable[[str], str], ...] = (no_spaces, longer_ends, simpler_finals, other_vowels)


def misspelt(texts: list[str], share: float, seed: int) -> dict[int, str]:
    """Misspell a share of the texts, drawn by the seed, each in one of WAYS; return {index: misspelt text}."""
    random = numpy.random.RandomState(seed)
    chosen, ways = random.rand(len(texts)) < share, random.randint(len(WAYS), size=len(texts))
    return {index: WAYS[ways[index]](texts[index]) for index in numpy.flatnonzero(chosen).tolist()}
