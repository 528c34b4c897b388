"""Misspellings as people type them: edits that a text may suffer, of which all are made or some are drawn.

A kind of misspelling is a function: a text and a place in it -> the edits that are possible there. Texts are clean
(`encoding.clean`) and stay so.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from itertools import chain
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
# ㅢ, ㅖ and ㅟ as they are often said and typed; what a consonant becomes after a ㄹ or a stop, and a stop before a nasal
PLAIN_VOWELS = {"ㅢ": "ㅣ", "ㅖ": "ㅔ", "ㅟ": "ㅣ", "ㅝ": "ㅓ", "ㅘ": "ㅏ"}
TENSING, TENSE = "ㄹㄱㅂㅅㅆㄷㅈ", dict(zip("ㄱㄷㅂㅅㅈ", "ㄲㄸㅃㅆㅉ"))
NASAL = {"ㅂ": "ㅁ", "ㅄ": "ㅁ", "ㄱ": "ㅇ", "ㄲ": "ㅇ", "ㅅ": "ㄴ", "ㅆ": "ㄴ", "ㄷ": "ㄴ", "ㅈ": "ㄴ"}
TIMES, FIRST, LAST = 5, ord("가"), ord("힣")


class Edit(NamedTuple):
    """text[start:end] becomes `replacement`."""

    start: int
    end: int
    replacement: str


Kind = Callable[[str, int], list[Edit]]
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


def lost_spaces(text: str, place: int) -> list[Edit]:
    """정말재미있는영화."""
    return [Edit(place, place + 1, "")] if text[place].isspace() else []


def added_spaces(text: str, place: int) -> list[Edit]:
    """재미 있는 영 화."""
    return [Edit(place, place, " ")] if within_word(text, place) else []


def moved_spaces(text: str, place: int) -> list[Edit]:
    """정말 재미있 는영화: a space one place to the left or right."""
    if not re.match(r"\w\w \w\w", text[max(0, place - 2) : place + 3]):
        return []
    before, after = text[place - 1], text[place + 1]
    return [Edit(place - 1, place + 1, " " + before), Edit(place, place + 2, after + " ")]


def longer_ends_of(text: str, place: int) -> list[Edit]:
    """Laughter, crying and punctuation five times as long."""
    return [Edit(place, place + 1, text[place] * TIMES)] if text[place] in "ㅋㅎㅠㅜ!?.~" else []


def stretched(text: str, place: int) -> list[Edit]:
    """재밌어어어: the last syllable of a word without a final is said longer."""
    initial, vowel, final = parts(text[place])
    if not initial or final or re.match(r"\w", text[place + 1 : place + 2]):
        return []
    return [Edit(place + 1, place + 1, joined("ㅇ", vowel) * times) for times in (1, 2, 3)]


def finals(text: str, place: int) -> list[Edit]:
    """재미있었다 as 재미잇엇다."""
    return replaced(text, place, simpler_final)


def vowels(text: str, place: int) -> list[Edit]:
    """ㅐ for ㅔ and ㅔ for ㅐ, ㅚ for ㅙ and ㅙ for ㅚ: 재미 as 제미."""
    return replaced(text, place, other_vowel)


def shift_key(text: str, place: int) -> list[Edit]:
    """갔다 as 갓다, 진짜 as 진자, and 자 as 짜: the shift key forgotten or held."""
    return replaced(text, place, shifted)


def neighbouring_keys(text: str, place: int) -> list[Edit]:
    """정말 as 정만: a key beside the right one."""
    return replaced(text, place, beside)


def plain_vowels(text: str, place: int) -> list[Edit]:
    """희망 as 히망, 계속 as 게속: a diphthong without its glide."""
    return replaced(text, place, without_glide)


def tensed(text: str, place: int) -> list[Edit]:
    """할게 as 할께, 볼 것 as 볼 껏: the consonant after a ㄹ or a stop is said tense."""
    final, (initial, vowel, last) = before(text, place), parts(text[place])
    if final and final in TENSING and initial in TENSE:
        return [Edit(place, place + 1, joined(TENSE[initial], vowel, last))]
    return []


def assimilated(text: str, place: int) -> list[Edit]:
    """합니다 as 함니다, 작년 as 장년: a stop before a nasal is said as one."""
    (initial, vowel, final), following = parts(text[place]), parts(text[place + 1 : place + 2])[0]
    if final in NASAL and following in ("ㄴ", "ㅁ"):
        return [Edit(place, place + 1, joined(initial, vowel, NASAL[final]))]
    return []


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


def without_glide(one: str, two: str, three: str) -> list[Letters]:
    return [(one, PLAIN_VOWELS.get(two, two), three)]


def liaison(text: str, place: int) -> list[Edit]:
    """좋아 as 조아, 재밌어 as 재미써, 많이 as 마니: as it is heard."""
    (initial, vowel, final), (begins, second, last) = parts(text[place]), parts(text[place + 1 : place + 2])
    if begins != "ㅇ" or final not in HEARD:
        return []
    stays, heard = HEARD[final]
    return [Edit(place, place + 2, joined(initial, vowel, stays) + joined(heard, second, last))]


def confused_words(text: str, place: int) -> list[Edit]:
    """안 for 않, 되 for 돼, and the other way round."""
    pairs = (pair[::turn] for pair in CONFUSED for turn in (1, -1))
    return [Edit(place, place + len(one), other) for one, other in pairs if text.startswith(one, place)]


def exchanged_syllables(text: str, place: int) -> list[Edit]:
    """영화 as 화영: two neighbours within a word."""
    if not within_word(text, place) or text[place] == text[place - 1]:
        return []
    return [Edit(place - 1, place + 1, text[place] + text[place - 1])]


def before(text: str, place: int) -> str:
    """Return the final of the syllable before a place, a space between them or not."""
    return parts(text[:place].rstrip()[-1:])[2]


def within_word(text: str, place: int) -> bool:
    """Return whether there are Hangul syllables on both sides of a place."""
    return place > 0 and "가" <= text[place - 1] <= "힣" and "가" <= text[place] <= "힣"


def replaced(text: str, place: int, change: Change) -> list[Edit]:
    """Return the edits of a syllable to the other ones that `change` makes of its letters."""
    return [Edit(place, place + 1, other) for other in other_syllables(text[place], change)]


@lru_cache(maxsize=None)
def other_syllables(character: str, change: Change) -> tuple[str, ...]:
    letters = parts(character)
    others = [joined(*each) for each in change(*letters)] if letters[0] else []
    return tuple(other for other in dict.fromkeys(others) if other != character)


# What is typed by hand; the last two are kept from training, so that there is a noise that was not trained on
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
        tensed,
        plain_vowels,
        assimilated,
    )
}


# Of the texts of `typed`: the share that is left as it is, is misspelt, has other spaces; of the misspelt ones the share
# that has a kind, of the others that without any space and that with spaces in wrong places
UNTOUCHED, MISSPELT, SPACED, KIND_SHARE, ALL_LOST, MISPLACED = 0.1, 0.75, 0.8, 0.3, 0.4, 0.3
# The largest share of the places that a kind changes: some people never write ㅆ, nobody exchanges all syllables
MOST = {
    "stretched": 0.4,
    "finals": 1.0,
    "vowels": 1.0,
    "liaison": 1.0,
    "confused_words": 1.0,
    "tensed": 0.6,
    "shift_key": 0.2,
    "neighbouring_keys": 0.1,
    "exchanged_syllables": 0.3,
}
UNSEEN = {"plain_vowels": 1.0, "assimilated": 1.0}


def edited(text: str, edits: Iterable[Edit]) -> str:
    """Return the text with the edits made, from the left; one that begins within an earlier one, or with it, is not."""
    pieces, last, end = [], -1, 0
    for edit in sorted(edits, key=lambda each: each[:2]):
        if edit.start >= end and edit.start > last:
            pieces += [text[end : edit.start], edit.replacement]
            last, end = edit.start, edit.end
    return "".join([*pieces, text[end:]])


def edits(text: str, kind: Kind) -> Iterator[Edit]:
    """Yield all edits of a kind that are possible in a text."""
    return chain.from_iterable(kind(text, place) for place in range(len(text)))


def noisy(text: str, rates: dict[str, float], random: numpy.random.RandomState) -> str:
    """Return the text with some misspellings: of each kind of `rates`, that share of the places, each with one edit.

    Kinds are applied one after the other, so that 좋아 may become 조아 and then 조 아.
    """
    for name, rate in rates.items():
        drawn = numpy.flatnonzero(random.random_sample(len(text)) < rate).tolist()
        possible = [found for found in (KINDS[name](text, place) for place in drawn) if found]
        if possible:
            text = edited(text, [found[random.randint(len(found))] for found in possible])
    return text


def typed(text: str, random: numpy.random.RandomState, unseen: bool = False) -> str:
    """Return the text as somebody may have typed it: one in ten as it is, others without their spaces or misspelt.

    Spaces are lost, added and moved in most; three in four texts have misspellings too, of a few kinds each, rare or
    everywhere. With `unseen` all of these are of the kinds of UNSEEN, which are not trained on.
    """
    drawn = random.random_sample(4)
    if drawn[0] < UNTOUCHED:
        return text
    rates = {}
    if drawn[1] < MISSPELT or unseen:
        most = UNSEEN if unseen else MOST
        chosen = [name for name in most if random.random_sample() < KIND_SHARE]
        for name in chosen or [str(random.choice(list(most)))]:
            rates[name] = most[name] * random.random_sample() ** 2
    if drawn[2] < SPACED or not rates:
        rates["lost_spaces"] = 1.0 if drawn[3] < ALL_LOST else random.random_sample()
        if random.random_sample() < MISPLACED:
            rates["added_spaces"], rates["moved_spaces"] = 0.1 * random.random_sample(2)
    return noisy(text, rates, random)


def no_spaces(text: str) -> str:
    """정말재미있는영화."""
    return edited(text, edits(text, lost_spaces))


def longer_ends(text: str) -> str:
    """Laughter, crying and punctuation five times as long."""
    return edited(text, edits(text, longer_ends_of))


def simpler_finals(text: str) -> str:
    """재미있었다 as 재미잇엇다."""
    return edited(text, edits(text, finals))


def other_vowels(text: str) -> str:
    """ㅐ for ㅔ and ㅔ for ㅐ, ㅚ for ㅙ and ㅙ for ㅚ: 재미 as 제미."""
    return edited(text, edits(text, vowels))


WAYS: tuple[Callable[[str], str], ...] = (no_spaces, longer_ends, simpler_finals, other_vowels)


def misspelt(texts: list[str], share: float, seed: int) -> dict[int, str]:
    """Misspell a share of the texts, drawn by the seed, each in one of WAYS; return {index: misspelt text}."""
    random = numpy.random.RandomState(seed)
    chosen, ways = random.rand(len(texts)) < share, random.randint(len(WAYS), size=len(texts))
    return {index: WAYS[ways[index]](texts[index]) for index in numpy.flatnonzero(chosen).tolist()}
