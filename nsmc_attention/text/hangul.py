"""Hangul syllables and their letters."""

import re
import unicodedata

INITIALS, VOWELS = "ㄱㄲㄴㄷㄸㄹㅁㅂㅃㅅㅆㅇㅈㅉㅊㅋㅌㅍㅎ", "ㅏㅐㅑㅒㅓㅔㅕㅖㅗㅘㅙㅚㅛㅜㅝㅞㅟㅠㅡㅢㅣ"
FINALS = ("", *"ㄱㄲㄳㄴㄵㄶㄷㄹㄺㄻㄼㄽㄾㄿㅀㅁㅂㅄㅅㅆㅇㅈㅊㅋㅌㅍㅎ")
FIRST = ord("가")
# A syllable or a letter (jamo), also of half width
HANGUL = re.compile("[가-힣ㄱ-ㅣᄀ-ᇿ\uffa0-\uffdc]")


def parts(syllable: str) -> tuple[str, str, str]:
    """Split a Hangul syllable into initial, vowel and final; ("", "", "") for another character."""
    if not "가" <= syllable <= "힣":
        return "", "", ""
    rest, final = divmod(ord(syllable) - FIRST, len(FINALS))
    initial, vowel = divmod(rest, len(VOWELS))
    return INITIALS[initial], VOWELS[vowel], FINALS[final]


def joined(initial: str, vowel: str, final: str = "") -> str:
    """Join an initial, a vowel and a final to a syllable, the inverse of `parts`."""
    number = INITIALS.index(initial) * len(VOWELS) + VOWELS.index(vowel)
    return chr(FIRST + number * len(FINALS) + FINALS.index(final))


MOST_MARKS = 30
# Characters that decompose to two marks, although their combining class is 0
DOUBLE_MARKS = frozenset("\u0f73\u0f75\u0f81")
# A decomposed letter has at most 3 marks, a mark 2: FEW_MARKS in a row decompose to at most MOST_MARKS
FEW_MARKS = (MOST_MARKS - 3) // 2


def composed(text: str) -> str:
    """Return the text in NFC, with at most MOST_MARKS combining marks in a row, counted in NFD."""
    # the sample has at least one of more than FEW_MARKS marks in a row
    sample = text[FEW_MARKS :: FEW_MARKS + 1]
    has_many = any(map(unicodedata.combining, sample)) or not DOUBLE_MARKS.isdisjoint(sample)
    return unicodedata.normalize("NFC", stream_safe(text) if has_many else text)


def stream_safe(text: str) -> str:
    """Return the text in NFD (character by character), without marks beyond MOST_MARKS in a row."""
    letters, run = [], 0
    for character in text:
        for letter in unicodedata.normalize("NFD", character):
            run = run + 1 if unicodedata.combining(letter) else 0
            if run <= MOST_MARKS:
                letters.append(letter)
    return "".join(letters)
