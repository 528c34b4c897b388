"""Hangul syllables and their letters."""

import re

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
