"""Hangul syllables and their letters."""

import re
import unicodedata

INITIALS, VOWELS = "ㄱㄲㄴㄷㄸㄹㅁㅂㅃㅅㅆㅇㅈㅉㅊㅋㅌㅍㅎ", "ㅏㅐㅑㅒㅓㅔㅕㅖㅗㅘㅙㅚㅛㅜㅝㅞㅟㅠㅡㅢㅣ"
FINALS = ("", *"ㄱㄲㄳㄴㄵㄶㄷㄹㄺㄻㄼㄽㄾㄿㅀㅁㅂㅄㅅㅆㅇㅈㅊㅋㅌㅍㅎ")
FIRST = ord("가")
# A syllable or a letter, also one of half width
HANGUL = re.compile("[가-힣ㄱ-ㅣᄀ-ᇿ\uffa0-\uffdc]")


def parts(syllable: str) -> tuple[str, str, str]:
    """Return the initial, vowel and final of a Hangul syllable; three times nothing for another character."""
    if not "가" <= syllable <= "힣":
        return "", "", ""
    rest, final = divmod(ord(syllable) - FIRST, len(FINALS))
    initial, vowel = divmod(rest, len(VOWELS))
    return INITIALS[initial], VOWELS[vowel], FINALS[final]


def joined(initial: str, vowel: str, final: str = "") -> str:
    """Return the syllable of its parts, the inverse of `parts`."""
    number = INITIALS.index(initial) * len(VOWELS) + VOWELS.index(vowel)
    return chr(FIRST + number * len(FINALS) + FINALS.index(final))


MOST_MARKS = 30
# Two marks each when decomposed, although their combining class is 0
PAIRS = frozenset("\u0f73\u0f75\u0f81")
# A decomposed letter has at most 3 marks, a mark 2: at most FEW_MARKS in a row are never more than MOST_MARKS
FEW_MARKS = (MOST_MARKS - 3) // 2


def composed(text: str) -> str:
    """Return the text in NFC, with at most MOST_MARKS combining marks in a row, counted in NFD."""
    # of more than FEW_MARKS marks in a row, at least one is sampled
    sampled = text[FEW_MARKS :: FEW_MARKS + 1]
    many = any(map(unicodedata.combining, sampled)) or not PAIRS.isdisjoint(sampled)
    return unicodedata.normalize("NFC", stream_safe(text) if many else text)


def stream_safe(text: str) -> str:
    """Return the text in NFD (each character for itself), without the marks beyond MOST_MARKS in a row."""
    kept, run = [], 0
    for character in text:
        for letter in unicodedata.normalize("NFD", character):
            run = run + 1 if unicodedata.combining(letter) else 0
            if run <= MOST_MARKS:
                kept.append(letter)
    return "".join(kept)
