"""Misspellings as people type them: edits that a text may suffer, of which all are made or some are drawn.

A kind of misspelling is a function: a text and a position in it -> the edits that are possible there. Texts are clean
(`encoding.clean`) and stay so.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import numpy

from ...machine.files import read_rows
from ...text.hangul import FINALS, joined, parts

# Finals and vowels that are often confused: 있 for 잇, 재 for 제
SIMPLER_FINALS = {"ㅆ": "ㅅ", "ㅈ": "ㅅ", "ㅌ": "ㅅ", "ㅀ": "ㄹ", "ㄶ": "ㄴ"}
OTHER_VOWELS = {"ㅐ": "ㅔ", "ㅔ": "ㅐ", "ㅚ": "ㅙ", "ㅙ": "ㅚ"}
# What a final is where the next syllable begins with a vowel: what stays, and what is heard with the vowel
HEARD = {
    **{final: ("", final) for final in "ㄱㄲㄴㄷㄹㅁㅂㅅㅆㅈㅊㅋㅌㅍ"},
    **{final: ("", heard) for final, heard in ("ㅎㅇ", "ㄶㄴ", "ㅀㄹ")},
    **{final: (stays, heard) for final, stays, heard in ("ㄺㄹㄱ", "ㄻㄹㅁ", "ㄵㄴㅈ", "ㄼㄹㅂ", "ㅄㅂㅅ", "ㄾㄹㅌ")},
}
# The same before ㅣ
PALATAL = {"ㄷ": "ㅈ", "ㅌ": "ㅊ"}
# The letters that are typed with the shift key, and the same keys without it
SHIFTED, PLAIN_LETTERS = "ㄲㄸㅃㅆㅉㅒㅖ", "ㄱㄷㅂㅅㅈㅐㅔ"
SHIFTED_KEYS = dict(zip(SHIFTED + PLAIN_LETTERS, PLAIN_LETTERS + SHIFTED))
# The rows of the Korean keyboard, by hand: consonants on the left, vowels on the right
NEIGHBOURS = {
    letter: "".join(row[max(0, position - 1) : position] + row[position + 1 : position + 2])
    for row in ("ㅂㅈㄷㄱㅅ", "ㅁㄴㅇㄹㅎ", "ㅋㅌㅊㅍ", "ㅛㅕㅑㅐㅔ", "ㅗㅓㅏㅣ", "ㅠㅜㅡ")
    for position, letter in enumerate(row)
}
# Words that are written for one another
CONFUSED = (("않", "안"), ("되", "돼"), ("데", "대"), ("로서", "로써"), ("어떻게", "어떡해"), ("예요", "에요"))
# ㅢ, ㅖ and ㅟ as they are often said and typed; what a consonant becomes after a ㄹ or a stop
PLAIN_VOWELS = {"ㅢ": "ㅣ", "ㅖ": "ㅔ", "ㅟ": "ㅣ", "ㅝ": "ㅓ", "ㅘ": "ㅏ"}
TENSING, TENSE = "ㄹㄱㅂㅅㅆㄷㅈ", dict(zip("ㄱㄷㅂㅅㅈ", "ㄲㄸㅃㅆㅉ"))


class Edit(NamedTuple):
    """text[start:end] becomes `replacement`."""

    start: int
    end: int
    replacement: str


@lru_cache(maxsize=1)
def known_mistakes() -> list[dict[str, str]]:
    """Return the words that many write in a way that is never right (오랫만에, 몇일, 할께요, 되서): mistakes.tsv.

    No wrong form may be right elsewhere, as 건들이 is in 사건들이. `righted` says where `correctors` decides it without the editor:
    "anywhere", at the "start" of a word, where the dictionary finds it "cheaper", as it may also be of two words, or "nowhere".
    """
    return list(read_rows(Path(__file__).parent / "mistakes.tsv"))


Kind = Callable[[str, int], list[Edit]]
# {letter: those that may be written in its position}
Letters = Mapping[str, str]
NONE: Letters = {}


def lost_spaces(text: str, position: int) -> list[Edit]:
    """정말재미있는영화."""
    return [Edit(position, position + 1, "")] if text[position].isspace() else []


def added_spaces(text: str, position: int) -> list[Edit]:
    """재미 있는 영 화."""
    return [Edit(position, position, " ")] if within_word(text, position) else []


def moved_spaces(text: str, position: int) -> list[Edit]:
    """정말 재미있 는영화: a space one position to the left or right."""
    if not re.match(r"\w\w \w\w", text[max(0, position - 2) : position + 3]):
        return []
    before, after = text[position - 1], text[position + 1]
    return [Edit(position - 1, position + 1, " " + before), Edit(position, position + 2, after + " ")]


def stretched(text: str, position: int) -> list[Edit]:
    """재밌어어어: the last syllable of a word without a final is said longer."""
    initial, vowel, final = parts(text[position])
    if not initial or final or re.match(r"\w", text[position + 1 : position + 2]):
        return []
    return [Edit(position + 1, position + 1, joined("ㅇ", vowel) * times) for times in (1, 2, 3)]


def tensed(text: str, position: int) -> list[Edit]:
    """할게 as 할께, 볼 것 as 볼 껏: the consonant after a ㄹ or a stop is said tense."""
    final, (initial, vowel, last) = parts(text[:position].rstrip()[-1:])[2], parts(text[position])
    if final and final in TENSING and initial in TENSE:
        return [Edit(position, position + 1, joined(TENSE[initial], vowel, last))]
    return []


def liaison(text: str, position: int) -> list[Edit]:
    """좋아 as 조아, 재밌어 as 재미써, 굳이 as 구지: as it is heard."""
    (initial, vowel, final), (begins, second, last) = parts(text[position]), parts(text[position + 1 : position + 2])
    if begins != "ㅇ" or final not in HEARD:
        return []
    stays, heard = HEARD[final]
    heard = PALATAL.get(heard, heard) if second == "ㅣ" else heard
    return [Edit(position, position + 2, joined(initial, vowel, stays) + joined(heard, second, last))]


def confused_words(text: str, position: int) -> list[Edit]:
    """안 for 않, 되 for 돼, and the other way round."""
    pairs = (pair[::turn] for pair in CONFUSED for turn in (1, -1))
    return [Edit(position, position + len(one), other) for one, other in pairs if text.startswith(one, position)]


def mistakes(text: str, position: int) -> list[Edit]:
    """오랫만에, 몇일, 할께요, 되서."""
    rows = [row for row in known_mistakes() if text.startswith(row["right"], position)]
    return [Edit(position, position + len(row["right"]), row["wrong"]) for row in rows]


def exchanged_syllables(text: str, position: int) -> list[Edit]:
    """영화 as 화영: two neighbours within a word."""
    if not within_word(text, position) or text[position] == text[position - 1]:
        return []
    return [Edit(position - 1, position + 1, text[position] + text[position - 1])]


def within_word(text: str, position: int) -> bool:
    """Return whether there are Hangul syllables on both sides of a position."""
    return position > 0 and "가" <= text[position - 1] <= "힣" and "가" <= text[position] <= "힣"


def other_letters(initials: Letters = NONE, vowels: Letters = NONE, finals: Letters = NONE) -> Kind:
    """Return the kind that replaces a letter of a syllable by another one of its table."""

    @lru_cache(maxsize=None)
    def other_syllables(character: str) -> tuple[str, ...]:
        initial, vowel, final = parts(character)
        others = [joined(letter, vowel, final) for letter in initials.get(initial, "")]
        others += [joined(initial, letter, final) for letter in vowels.get(vowel, "")]
        # ㄸ, ㅃ and ㅉ are no finals
        others += [joined(initial, vowel, letter) for letter in finals.get(final, "") if letter in FINALS]
        return tuple(others)

    return lambda text, position: [Edit(position, position + 1, other) for other in other_syllables(text[position])]


# What is typed by hand; the last one is kept from training
KINDS: dict[str, Kind] = {
    "lost_spaces": lost_spaces,
    "added_spaces": added_spaces,
    "moved_spaces": moved_spaces,
    "stretched": stretched,
    # 재미있었다 as 재미잇엇다
    "finals": other_letters(finals=SIMPLER_FINALS),
    "vowels": other_letters(vowels=OTHER_VOWELS),
    "liaison": liaison,
    "confused_words": confused_words,
    "mistakes": mistakes,
    # 갔다 as 갓다, 진짜 as 진자, and 자 as 짜: the shift key forgotten or held
    "shift_key": other_letters(SHIFTED_KEYS, SHIFTED_KEYS, SHIFTED_KEYS),
    # 정말 as 정만: a key beside the right one
    "neighbouring_keys": other_letters(NEIGHBOURS, NEIGHBOURS, NEIGHBOURS),
    "exchanged_syllables": exchanged_syllables,
    "tensed": tensed,
    # 희망 as 히망, 계속 as 게속: a diphthong without its glide
    "plain_vowels": other_letters(vowels=PLAIN_VOWELS),
}

# Of the texts of `typed`: the share that is left as it is, is misspelt, has other spaces; of the misspelt ones the share
# that has a kind, of the others that without any space and that with spaces in wrong places
UNTOUCHED, MISSPELT, SPACED, KIND_SHARE, ALL_LOST, MISPLACED = 0.1, 0.75, 0.8, 0.3, 0.4, 0.3
# The share of the places of known mistakes, which are few, that a misspelt text has wrong
MISTAKEN = 0.5
# The largest share of the places that a kind changes: some people never write ㅆ, nobody exchanges all syllables
MOST_NOISE = {
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

# Of the texts of `slipped` the shares with no, one and two misspellings; how often each kind is drawn
SLIPS = 0.35, 0.5, 0.15
SLIP_KINDS = {"lost_spaces": 30, "added_spaces": 15, "moved_spaces": 3, "stretched": 2, "finals": 8, "vowels": 8}
SLIP_KINDS |= {"liaison": 5, "confused_words": 6, "mistakes": 5, "shift_key": 6, "neighbouring_keys": 5, "tensed": 4}
SLIP_KINDS |= {"exchanged_syllables": 3}


def edited(text: str, edits: Iterable[Edit]) -> str:
    """Return the text with the edits made, from the left; one that begins within an earlier one, or with it, is not."""
    pieces, last, end = [], -1, 0
    for edit in sorted(edits, key=lambda edit: edit[:2]):
        if edit.start >= end and edit.start > last:
            pieces += [text[end : edit.start], edit.replacement]
            last, end = edit.start, edit.end
    return "".join([*pieces, text[end:]])


def edits(text: str, kind: Kind) -> Iterator[Edit]:
    """Yield all edits of a kind that are possible in a text."""
    return chain.from_iterable(kind(text, position) for position in range(len(text)))


def noisy(text: str, rates: dict[str, float], random: numpy.random.RandomState) -> str:
    """Return the text with some misspellings: of each kind of `rates`, that share of the places, each with one edit.

    Kinds are applied one after the other, so that 좋아 may become 조아 and then 조 아.
    """
    for name, rate in rates.items():
        drawn = numpy.flatnonzero(random.random_sample(len(text)) < rate).tolist()
        possible = [choices for choices in (KINDS[name](text, position) for position in drawn) if choices]
        if possible:
            text = edited(text, [choices[random.randint(len(choices))] for choices in possible])
    return text


def typed(text: str, random: numpy.random.RandomState, most: Mapping[str, float] = MOST_NOISE) -> str:
    """Return the text as somebody may have typed it: one in ten as it is, others without their spaces or misspelt.

    Spaces are lost, added and moved in most; three in four texts have misspellings too, of a few kinds each, rare or
    everywhere. Of kinds other than MOST_NOISE all texts but the untouched have some.
    """
    drawn = random.random_sample(4)
    if drawn[0] < UNTOUCHED:
        return text
    rates = {}
    if drawn[1] < MISSPELT or most is not MOST_NOISE:
        chosen = [name for name in most if random.random_sample() < KIND_SHARE]
        for name in chosen or [str(random.choice(list(most)))]:
            rates[name] = most[name] * random.random_sample() ** 2
        if most is MOST_NOISE:
            rates["mistakes"] = MISTAKEN
    if drawn[2] < SPACED or not rates:
        rates["lost_spaces"] = 1.0 if drawn[3] < ALL_LOST else random.random_sample()
        if random.random_sample() < MISPLACED:
            rates["added_spaces"], rates["moved_spaces"] = 0.1 * random.random_sample(2)
    return noisy(text, rates, random)


def slipped(text: str, random: numpy.random.RandomState) -> str:
    """Return the text as most people may have typed it: with no, one or two misspellings."""
    kinds, shares = list(SLIP_KINDS), numpy.cumsum([*SLIP_KINDS.values()]) / sum(SLIP_KINDS.values())
    for _ in range(int(numpy.searchsorted(numpy.cumsum(SLIPS), random.random_sample()))):
        kind = KINDS[kinds[int(numpy.searchsorted(shares, random.random_sample(), "right"))]]
        if possible := list(edits(text, kind)):
            text = edited(text, [possible[random.randint(len(possible))]])
    return text
