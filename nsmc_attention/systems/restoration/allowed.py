"""Changes that the rules allow but do not require, or that are in doubt. A text without any other change stays as typed.

감정이입, 보여주다 and 볼만하다 are right with a space and without one. The editor learned one of the two and would change the
other. If a text also has a real error, the optional changes are made with it.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

import numpy

from ..._io.tab_separated import read_rows
from ...text.hangul import parts
from ...text.tokenizers import has_dictionary, mecab_tags
from ..sequences.characters import DELETE, KEEP, SPACE
from .conventions import SYLLABLES, is_telling
from .decisions import DOUBTED_GAP, DOUBTED_SPACE, DOUBTED_TAG, LIKELY, Decisions

# What begins a vowel that is drawn out, marks that end a sentence, titles behind a name, and tags of words in the dictionary
DRAWN, ENDS, TITLES, CONTENT = "ㅇ", ".,!?…", "씨님", ("NN", "MA", "VA")
# The title of a work, with the spaces that it has: <나홀로 집에>, '늑대와춤을', not the words of somebody: '정말재미있다'고
QUOTED = re.compile(r"""[<〈《「『][^>〉》」』]{2,20}[>〉》」』]|['"‘“][^\s'"’”.,!?]{2,20}['"’”](?! ?[고라하했])""")
# What NOUN and INFINITIVE are in allowed.tsv: tags, and syllables that end a verb's form in 아 or 어 (좋아라 is another)
TERMS = {
    "NOUN": "NN[GP]|XR|XPN|UNKNOWN",
    "INFINITIVE": f"[{''.join(one for one in map(chr, SYLLABLES) if parts(one)[1] in 'ㅏㅓㅐㅕㅘㅝㅔ' and one != '라')}]",
}
# The number of a morpheme in its text, and its tag
Morpheme = tuple[int, str]


def keep_right_texts(decided: Decisions, texts: Sequence[str], starts: Sequence[int]) -> Decisions:
    """Return the decisions, without changes to the texts that are right: those whose changes are all open.

    The decisions are for the letters of clean texts, each of which begins at one of `starts`. A text with few spaces does not show
    how its writer sets them. Without MeCab nothing is taken back.
    """
    replaced = decided.tags != KEEP
    changed = numpy.logical_or.reduceat(replaced | (decided.has_space != decided.had_space), starts)
    sure = numpy.logical_or.reduceat(replaced & (decided.of_tags >= LIKELY), starts)
    doubtful = numpy.flatnonzero(changed & ~sure).tolist()
    if not doubtful or not has_dictionary():
        return decided
    tags, follows, stops = decided.tags.copy(), decided.has_space.copy(), [*starts[1:], len(replaced)]
    for number in doubtful:
        text, own = texts[number], slice(starts[number], stops[number])
        if is_telling(text) and is_right(text, Decisions._make(each[own] for each in decided)):
            tags[own], follows[own] = KEEP, decided.had_space[own]
    return decided._replace(tags=tags, has_space=follows)


def is_right(text: str, decided: Decisions) -> bool:
    """Return whether all changes that were decided of a text are open."""
    morphemes = [(-1, "")] * len(text)
    for number, (start, end, tag) in enumerate(mecab_tags(text)):
        morphemes[start:end] = [(number, tag)] * (end - start)
    places = [place for place, character in enumerate(text) if character != SPACE]
    quoted = {place for title in QUOTED.finditer(text) for place in range(*title.span())}
    return all(
        letter_is_open(text, place, morphemes, tag, of_tag)
        for place, tag, of_tag in zip(places, decided.tags.tolist(), decided.of_tags.tolist())
        if tag != KEEP
    ) and all(
        place in quoted or space_is_open(text, place, beside, morphemes, has, of_space)
        for place, beside, had, has, of_space in zip(
            places, places[1:], decided.had_space.tolist(), decided.has_space.tolist(), decided.of_spaces.tolist()
        )
        if has != had
    )


def letter_is_open(text: str, place: int, morphemes: Sequence[Morpheme], tag: int, probability: float) -> bool:
    """Return whether a letter is in doubt: one that is left out, though no vowel is drawn out, or one of a dictionary's word."""
    if probability < DOUBTED_TAG:
        return True
    if tag == DELETE:
        (_, vowel, _), (initial, same, _) = parts(text[place - 1 : place]), parts(text[place])
        return initial != DRAWN or same != vowel or text[place] == "여"
    of_word = morphemes[place]
    return text[place] in TITLES or of_word[1].startswith(CONTENT) and morphemes.count(of_word) > 1


def space_is_open(
    text: str, place: int, beside: int, morphemes: Sequence[Morpheme], put_in: bool, probability: float
) -> bool:
    """Return whether a space between the letters at two places is in doubt, or may be there, and may not."""
    if probability < (DOUBTED_SPACE if put_in else DOUBTED_GAP):
        return True
    left, right = text[place], text[beside]
    if not (is_syllable(left) and is_syllable(right)):
        # only a mark that ends a Korean sentence, and stands where it should, asks for a space
        before = text[: place + 1].rstrip(ENDS)
        return not (put_in and left in ENDS and is_syllable(right) and is_syllable(before[-1:]))
    (number, tag), (other, after) = morphemes[place], morphemes[beside]
    last, first = tag.split("+")[-1], after.split("+")[0]
    if number == other or not put_in:
        return number == other or first == "MM" or last.startswith("NN") and right in "있없"
    return bool(allowed().match(f"{last} {first} {left}_{text[beside : beside + 2]}"))


@lru_cache(maxsize=1)
def allowed() -> "re.Pattern[str]":
    """Return the pattern of the rows of allowed.tsv: the tags before a space and behind it, and the letters around it."""
    rows = read_rows(Path(__file__).parent / "allowed.tsv")
    pattern = "|".join(f"(?:{row['before']}) (?:{row['after']}) {row['letters']}" for row in rows)
    return re.compile(re.sub("|".join(TERMS), lambda term: TERMS[term[0]], pattern))


def is_syllable(character: str) -> bool:
    return "가" <= character <= "힣"
