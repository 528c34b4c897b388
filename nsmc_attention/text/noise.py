"""Misspellings as people type them: edits that a text may suffer, of which all are made or some are drawn.

A kind of misspelling is a function, text -> its possible edits. Texts are in NFC and stay so.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from itertools import product
from typing import NamedTuple

import numpy

INITIALS, VOWELS = "ㄱㄲㄴㄷㄸㄹㅁㅂㅃㅅㅆㅇㅈㅉㅊㅋㅌㅍㅎ", "ㅏㅐㅑㅒㅓㅔㅕㅖㅗㅘㅙㅚㅛㅜㅝㅞㅟㅠㅡㅢㅣ"
FINALS = ("", *"ㄱㄲㄳㄴㄵㄶㄷㄹㄺㄻㄼㄽㄾㄿㅀㅁㅂㅄㅅㅆㅇㅈㅊㅋㅌㅍㅎ")
# Finals and vowels that are often confused: 있 for 잇, 재 for 제
SIMPLER_FINALS = {"ㅆ": "ㅅ", "ㅈ": "ㅅ", "ㅌ": "ㅅ", "ㅀ": "ㄹ", "ㄶ": "ㄴ"}
OTHER_VOWELS = {"ㅐ": "ㅔ", "ㅔ": "ㅐ", "ㅚ": "ㅙ", "ㅙ": "ㅚ"}
# What a final is where the next syllable begins with a vowel: what stays, and what is heard with the vowel
HEARD = {
    **{final: ("", final) for final in "ㄱㄲㄴㄷㄹㅁㅂㅅㅆㅈㅊㅋㅌㅍ"},
    "ㅎ": ("", "ㅇ"),
    "ㄶ": ("", "ㄴ"),
    "ㅀ": ("", "ㄹ"),
    "ㄺ": ("ㄹ", "ㄱ"),
    "ㄻ": ("ㄹ", "ㅁ"),
    "ㄵ": ("ㄴ", "ㅈ"),
    "ㄼ": ("ㄹ", "ㅂ"),
    "ㅄ": ("ㅂ", "ㅅ"),
    "ㄾ": ("ㄹ", "ㅌ"),
}
# The letters that are typed with the shift key, and the same keys without it
SHIFTED = dict(zip("ㄲㄸㅃㅆㅉㅒㅖ", "ㄱㄷㅂㅅㅈㅐㅔ"))
UNSHIFTED = {plain: shifted for shifted, plain in SHIFTED.items()}
# The rows of the Korean keyboard, by hand: consonants on the left, vowels on the right
ROWS = ("ㅂㅈㄷㄱㅅ", "ㅁㄴㅇㄹㅎ", "ㅋㅌㅊㅍ", "ㅛㅕㅑㅐㅔ", "ㅗㅓㅏㅣ", "ㅠㅜㅡ")
NEIGHBOURS = {
    letter: "".join(row[max(0, place - 1) : place] + row[place + 1 : place + 2])
    for row in ROWS
    for place, letter in enumerate(row)
}
# Words that are written for one another
CONFUSED = (("않", "안"), ("되", "돼"), ("데", "대"), ("로서", "로써"), ("어떻게", "어떡해"))
TIMES, FIRST, LAST = 5, ord("가"), ord("힣")


class Edit(NamedTuple):
    """text[start:end] becomes `replacement`."""

    start: int
    end: int
    replacement: str


Kind = Callable[[str], Iterator[Edit]]
# From the letters of a syllable to those of others
Letters = tuple[str, str, str]
Change = Callable[[str, str, str], Iterable[Letters]]


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


def lost_spaces(text: str) -> Iterator[Edit]:
    """정말재미있는영화."""
    return (Edit(found.start(), found.end(), "") for found in re.finditer(r"\s+", text))


def added_spaces(text: str) -> Iterator[Edit]:
    """재미 있는 영 화."""
    return (Edit(place, place, " ") for place in range(1, len(text)) if within_word(text, place))


def moved_spaces(text: str) -> Iterator[Edit]:
    """정말 재미있 는영화: a space one place to the left or right."""
    for place in (found.start() for found in re.finditer(r"(?<=\w\w) (?=\w\w)", text)):
        yield Edit(place - 1, place + 1, " " + text[place - 1])
        yield Edit(place, place + 2, text[place + 1] + " ")


def longer_ends_of(text: str) -> Iterator[Edit]:
    """Laughter, crying and punctuation five times as long."""
    found = re.finditer(r"[ㅋㅎㅠㅜ!?.~]", text)
    return (Edit(each.start(), each.end(), each[0] * TIMES) for each in found)


def stretched(text: str) -> Iterator[Edit]:
    """재밌어어어: the last syllable of a word without a final is said longer."""
    for found in re.finditer(r"\w(?!\w)", text):
        initial, vowel, final = parts(found[0])
        if initial and not final:
            for times in (1, 2, 3):
                yield Edit(found.end(), found.end(), joined("ㅇ", vowel) * times)


def finals(text: str) -> Iterator[Edit]:
    """재미있었다 as 재미잇엇다."""
    return replaced_letters(text, simpler_final)


def vowels(text: str) -> Iterator[Edit]:
    """ㅐ for ㅔ and ㅔ for ㅐ, ㅚ for ㅙ and ㅙ for ㅚ: 재미 as 제미."""
    return replaced_letters(text, other_vowel)


def shift_key(text: str) -> Iterator[Edit]:
    """갔다 as 갓다, 진짜 as 진자, and 자 as 짜: the shift key forgotten or held."""
    return replaced_letters(text, shifted)


def neighbouring_keys(text: str) -> Iterator[Edit]:
    """정말 as 정만: a key beside the right one."""
    return replaced_letters(text, beside)


def simpler_final(one: str, two: str, three: str) -> list[Letters]:
    return [(one, two, SIMPLER_FINALS.get(three, three))]


def other_vowel(one: str, two: str, three: str) -> list[Letters]:
    return [(one, OTHER_VOWELS.get(two, two), three)]


def shifted(one: str, two: str, three: str) -> list[Letters]:
    keys = {**SHIFTED, **UNSHIFTED}
    # ㄸ, ㅃ and ㅉ are no finals
    final = keys.get(three, three)
    return [
        (keys.get(one, one), two, three),
        (one, keys.get(two, two), three),
        *([(one, two, final)] * (final in FINALS)),
    ]


def beside(one: str, two: str, three: str) -> list[Letters]:
    return [
        *((key, two, three) for key in NEIGHBOURS.get(one, "")),
        *((one, key, three) for key in NEIGHBOURS.get(two, "")),
        *((one, two, key) for key in NEIGHBOURS.get(three, "")),
    ]


def liaison(text: str) -> Iterator[Edit]:
    """좋아 as 조아, 재밌어 as 재미써, 많이 as 마니: as it is heard."""
    for place, (one, other) in enumerate(zip(text, text[1:])):
        (initial, vowel, final), (begins, second, last) = parts(one), parts(other)
        if begins == "ㅇ" and final in HEARD:
            stays, heard = HEARD[final]
            yield Edit(place, place + 2, joined(initial, vowel, stays) + joined(heard, second, last))


def confused_words(text: str) -> Iterator[Edit]:
    """안 for 않, 되 for 돼, and the other way round."""
    for pair, turned in product(CONFUSED, (False, True)):
        one, other = pair[::-1] if turned else pair
        yield from (Edit(found.start(), found.end(), other) for found in re.finditer(one, text))


def exchanged_syllables(text: str) -> Iterator[Edit]:
    """영화 as 화영: two neighbours within a word."""
    for place in range(1, len(text)):
        if within_word(text, place) and text[place] != text[place - 1]:
            yield Edit(place - 1, place + 1, text[place] + text[place - 1])


def within_word(text: str, place: int) -> bool:
    """Return whether there are Hangul syllables on both sides of a place."""
    return "가" <= text[place - 1] <= "힣" and "가" <= text[place] <= "힣"


def replaced_letters(text: str, change: Change) -> Iterator[Edit]:
    """Yield for each syllable the edits to the other ones that `change` makes of its letters."""
    for place, character in enumerate(text):
        for other in other_syllables(character, change):
            yield Edit(place, place + 1, other)


@lru_cache(maxsize=None)
def other_syllables(character: str, change: Change) -> tuple[str, ...]:
    letters = parts(character)
    others = [joined(*each) for each in change(*letters)] if letters[0] else []
    return tuple(other for other in dict.fromkeys(others) if other != character)


# What is typed by hand; the last three are kept from training where a noise that was not trained on is wanted
KINDS: dict[str, Kind] = {
    each.__name__: each
    for each in (
        lost_spaces,
        added_spaces,
        moved_spaces,
        stretched,
        finals,
        vowels,
        liaison,
        confused_words,
        shift_key,
        neighbouring_keys,
        exchanged_syllables,
    )
}


def edited(text: str, edits: Iterable[Edit]) -> str:
    """Return the text with the edits made, from the left; one that begins within an earlier one, or with it, is not."""
    pieces, last, end = [], -1, 0
    for edit in sorted(edits, key=lambda each: each[:2]):
        if edit.start >= end and edit.start > last:
            pieces += [text[end : edit.start], edit.replacement]
            last, end = edit.start, edit.end
    return "".join([*pieces, text[end:]])


def noisy(text: str, rates: dict[str, float], random: numpy.random.RandomState) -> str:
    """Return the text with some misspellings: of each kind of `rates`, that share of the places, each with one edit.

    Kinds are applied one after the other, so that 좋아 may become 조아 and then 조 아.
    """
    for name, rate in rates.items():
        places: dict[int, list[Edit]] = {}
        for edit in KINDS[name](text):
            places.setdefault(edit.start, []).append(edit)
        drawn = random.rand(len(places)) < rate
        chosen = [edits for edits, taken in zip(places.values(), drawn) if taken]
        text = edited(text, [edits[random.randint(len(edits))] for edits in chosen])
    return text


def no_spaces(text: str) -> str:
    """정말재미있는영화."""
    return edited(text, lost_spaces(text))


def longer_ends(text: str) -> str:
    """Laughter, crying and punctuation five times as long."""
    return edited(text, longer_ends_of(text))


def simpler_finals(text: str) -> str:
    """재미있었다 as 재미잇엇다."""
    return edited(text, finals(text))


def other_vowels(text: str) -> str:
    """ㅐ for ㅔ and ㅔ for ㅐ, ㅚ for ㅙ and ㅙ for ㅚ: 재미 as 제미."""
    return edited(text, vowels(text))


WAYS: tuple[Callable[[str], str], ...] = (no_spaces, longer_ends, simpler_finals, other_vowels)


def misspelt(texts: list[str], share: float, seed: int) -> dict[int, str]:
    """Misspell a share of the texts, drawn by the seed, each in one of WAYS; return {index: misspelt text}."""
    random = numpy.random.RandomState(seed)
    chosen, ways = random.rand(len(texts)) < share, random.randint(len(WAYS), size=len(texts))
    return {index: WAYS[ways[index]](texts[index]) for index in numpy.flatnonzero(chosen).tolist()}
