"""What a restorer decides to change, and what it leaves as typed.

Most of what people type is as they meant it, other than in training, so a change needs a least probability (docs/restore.md).
Words that are not Korean, addresses and tags stay, and what conventions ask for.

conventions.tsv has a rule a row, with its reason: signs between words, numerals with their units. Its pattern has a `_` where
a space may be: `joined`, there is none; `apart`, there is one; `always`, it stays as typed; `typed`, it does in a text whose
spaces say how its writer meant it. slang.txt has words that no dictionary has; those of two letters stay where a word begins.

A text stays as typed unless one of its changes is likely: 감정이입, 보여주다 and 볼만하다 are correct with and without a space.
Logistic regressions combine the spelling rules (allowed.tsv), the editor's probability and usage.json: the log-odds of a
space and the counts of three letters in 576,833 raw reviews. recipes/usage.py writes it, and prints WEIGHTS.
"""

import json
import math
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import chain
from operator import mul
from pathlib import Path
from typing import Any, NamedTuple, Optional

import numpy
from numpy.typing import NDArray

from ...machine.files import read_rows
from ...text.hangul import FINALS, FIRST, parts
from ...text.tokenizers import has_dictionary, mecab_tags
from ..sequences.characters import DELETE, END, KEEP, SPACE, Characters, codes_of
from .junctions import NEAREST_SHARE, Junctions, hash_of

HERE = Path(__file__).parent
# A text says how its writer spaces words if it has one space for so many characters, but those of NO_WORD, or is short
SPARSE, SHORT_TEXT, NO_WORD = 7, 8, re.compile("[~<>/A-Za-z]+")
# A text of which at least so many spaces, and at least this share of them, are within words is read without any
FEWEST_WRONG, WRONG_SHARE = 2, 0.2
SYLLABLES = range(FIRST, ord("힣") + 1, len(FINALS))
# Syllables whose final laughs (닼, and before ㅎ 닿), and what they are without it; 부엌 and 녘 are words
LAUGHS = {final: {chr(one + FINALS.index(final)): chr(one) for one in SYLLABLES} for final in "ㅋㅎ"}
LAUGHING = re.compile(
    f"(?<!부)[{''.join(LAUGHS['ㅋ'].keys() - {'녘'})}]|[{''.join(LAUGHS['ㅎ'].keys() - set('좋놓낳넣쌓'))}](?=ㅎ)"
)
HANGUL = "\u1100-\u11ff\u3131-\u318e가-힣"
# A letter or digit that is not Hangul, and the rest of its word
FOREIGN_LETTER = rf"[^\W{HANGUL}]"
REST = rf"(?:[^\s{HANGUL}]*{FOREIGN_LETTER})?"
KOREAN = re.compile(f"[{HANGUL}]+")
# Addresses, tags (#영화, @name) and words
PROTECTED = re.compile(rf"(?:https?://|www\.)\S+|(?:#|(?<!\w)@)\w+{REST}|{FOREIGN_LETTER}{REST}", re.IGNORECASE)
# Between texts that are searched at once: no clean text has one
LINE = "\n"
# Found in an address or a tag, to which nothing may be joined
SEPARATE = re.compile(rf"[#@{HANGUL}]|//|www\.", re.IGNORECASE)

# Marks that end a sentence
ENDS = ".,!?…"
# The title of a work, with the spaces that it has: <나홀로 집에>, '늑대와춤을', not the words of somebody: '정말재미있다'고
QUOTED = re.compile(r"""[<〈《「『][^>〉》」』\n]{2,20}[>〉》」』]|['"‘“][^\s'"’”.,!?]{2,20}['"’”](?! ?[고라하했])""")
# What NOUN and INFINITIVE are in allowed.tsv: tags, and syllables that end a verb's form in 아 or 어 (좋아라 is another)
TERMS = {
    "NOUN": "NN[GP]|XR|XPN|UNKNOWN",
    "INFINITIVE": f"[{''.join(one for one in map(chr, SYLLABLES) if parts(one)[1] in 'ㅏㅓㅐㅕㅘㅝㅔ' and one != '라')}]",
}
# For each kind of change: a constant, and the weight of the log-odds of its probability. For a space, then those of whether the
# rules allow both forms, of the log-odds of this change in reviews, and (added spaces only) of whether the rules require it
WEIGHTS: dict[str, tuple[float, ...]] = {
    "letter": (0.0, 1.0),
    "added": (-0.66, 0.74, -2.59, 0.29, 0.3),
    "removed": (-1.13, 0.79, -5.0, 0.31),
}
# A text is changed if the log-odds of one change are at least LIKELY; spaces with log-odds below UNLIKELY never change
LIKELY, UNLIKELY = {"letter": 1.75, "added": 2.5, "removed": 1.75}, -2.5
# The maximum log-odds of a probability; the length of counted sequences; the factor of log(1 + count) in usage.json
LARGEST, TRIGRAM, SCALE = 7.0, 3, 10
# The least probability of a changed letter and of a changed space, where the caller names none
CERTAIN_TAG, CERTAIN_SPACE = 0.5, 0.6
SMALLEST_SHARE = 1e-9
Tags = NDArray[numpy.int32]
Flags = NDArray[numpy.bool_]
# float32 as the network computes them, float64 with log-odds added
Probabilities = NDArray[numpy.floating[Any]]


class Decisions(NamedTuple):
    """An editor's tag of each character (S,), and whether a space follows it there and then; of one text, or of many."""

    tags: Tags
    had_space: Flags
    has_space: Flags
    of_tags: Probabilities
    of_spaces: Probabilities
    log_probability: Probabilities

    def part(self, own: slice) -> "Decisions":
        """Return the decisions on some of the characters."""
        return Decisions._make(each[own] for each in self)

    @property
    def changes(self) -> Flags:
        """(S,), whether a character changes, or the space after it."""
        return (self.tags != KEEP) | (self.has_space != self.had_space)

    @property
    def certainty(self) -> Probabilities:
        """The least probability of what changes at each character, 1 where nothing does."""
        of_tags = numpy.where(self.tags != KEEP, self.of_tags, 1)
        return numpy.where(self.has_space != self.had_space, numpy.minimum(of_tags, self.of_spaces), of_tags)


def decide(
    had_space: Flags, tags: Tags, certainty: Probabilities, spaces: Probabilities, least: Optional[float] = None
) -> Decisions:
    """Return the decisions for characters (S,) by an editor's outputs; changes have at least the `least` probability.

    Where None, it is CERTAIN_TAG or CERTAIN_SPACE. `spaces` (S,) are the network's probabilities of a space.
    """
    believed = believed_tags(tags, certainty, least)
    tags, of_tags = numpy.where(believed, tags, KEEP), numpy.where(believed, certainty, 1 - certainty)
    # float32 as a change's probability is given, so that both are compared to the same least one
    spaces = spaces.astype("float32")
    of_other = numpy.where(had_space, 1 - spaces, spaces)
    changes = of_other.astype("float64") >= (CERTAIN_SPACE if least is None else least)
    has_space, of_spaces = had_space ^ changes, numpy.where(changes, of_other, 1 - of_other)
    logs = [numpy.log(numpy.maximum(each, SMALLEST_SHARE)) for each in (of_tags, of_spaces)]
    return Decisions(tags, had_space, has_space, of_tags, of_spaces, sum(logs))


def believed_tags(tags: Tags, certainty: Probabilities, least: Optional[float] = None) -> Flags:
    """Return which of the tags (S,) are KEEP or have at least the least probability."""
    return (tags == KEEP) | (certainty.astype("float64") >= (CERTAIN_TAG if least is None else least))


def read_as(text: str) -> str:
    """Return a text as the editor is to read it, of the same length: without the finals that laugh."""
    return LAUGHING.sub(lambda match: LAUGHS["ㅋ"].get(match[0]) or LAUGHS["ㅎ"][match[0]], text)


@lru_cache(maxsize=1)
def rules() -> list[tuple[str, "re.Pattern[str]"]]:
    """Return the name of each rule, and its pattern, whose groups are the spaces."""
    rows = read_rows(HERE / "conventions.tsv")
    return [(row["what"], re.compile(row["pattern"].replace("_", "( ?)"))) for row in rows]


@lru_cache(maxsize=1)
def slang() -> "re.Pattern[str]":
    words = sorted((HERE / "slang.txt").read_text(encoding="utf-8").split(), key=len, reverse=True)
    long, short = ("|".join(word for word in words if (len(word) > 2) == is_long) for is_long in (True, False))
    # most places are skipped by their first letter
    return re.compile(f"(?=[{''.join({word[0] for word in words})}])(?:{long}|(?<![가-힣])(?:{short}))")


def keep_conventions(decided: Decisions, texts: Sequence[str], read: Sequence[str]) -> Decisions:
    """Return decisions without those that the conventions forbid; `read` are the texts as the editor read them."""
    text = LINE.join(texts)
    numbers = letter_numbers(text)
    tags, follows, sure = decided.tags.copy(), decided.has_space.copy(), decided.of_spaces.copy()
    # a letter that was read as another one is not changed
    codes = codes_of(text)
    typed = (codes != codes_of(LINE.join(read)))[are_letters(codes)]
    tags[typed] = KEEP
    tells = numpy.repeat([*map(is_telling, texts)], [len(each) - each.count(SPACE) for each in texts])
    for match in chain(QUOTED.finditer(text), slang().finditer(text)):
        first, last = numbers[match.start()], numbers[match.end() - 1]
        typed[first:last] |= tells[first:last]
        if match.re is slang():
            # letters that would change together stay together
            while last + 1 < len(tags) and tags[last] != KEEP != tags[last + 1]:
                last += 1
            tags[first : last + 1] = KEEP
    for what, place in gaps(text):
        letter = numbers[place]
        if what in ("joined", "apart"):
            follows[letter] = what == "apart"
            sure[letter] = 1
        else:
            typed[letter] |= what == "always" or tells[letter]
    return decided._replace(tags=tags, has_space=numpy.where(typed, decided.had_space, follows), of_spaces=sure)


def are_letters(codes: NDArray[numpy.int64]) -> NDArray[numpy.bool_]:
    """Return which of the code points of joined texts are neither a space nor a LINE."""
    return (codes != ord(SPACE)) & (codes != ord(LINE))


def letter_numbers(text: str) -> NDArray[numpy.int64]:
    """Return the number, from 0, of the letter at each place of joined texts, or of the one before."""
    return numpy.cumsum(are_letters(codes_of(text))) - 1


def is_telling(text: str) -> bool:
    """Return whether the spaces of a text say how its writer meant it."""
    return text.count(SPACE) * SPARSE + SHORT_TEXT >= len(NO_WORD.sub("", text))


def scattered(letters: Sequence[str], had_space: Flags, spaces: Probabilities) -> Flags:
    """Return (N,), whether a text has spaces anywhere: an editor takes some out of its words, where few people set one."""
    syllables = codes_of("".join(letters)) >= ord("가")
    wrong = had_space & (spaces < 0.5) & syllables & numpy.roll(syllables, -1)
    starts = numpy.cumsum([0, *map(len, letters[:-1])])
    had, taken = (numpy.add.reduceat(each.astype("int64"), starts) for each in (had_space, wrong))
    return (taken >= FEWEST_WRONG) & (taken >= WRONG_SHARE * had)


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
    text, tags, follows = LINE.join(texts), decided.tags.copy(), decided.has_space.copy()
    numbers = letter_numbers(text)
    for match in PROTECTED.finditer(text):
        start, end, separate = *match.span(), SEPARATE.search(match[0])
        first, last = numbers[start], numbers[end - 1]
        tags[first : last + 1], follows[first:last] = KEEP, False
        for letter, space, beside in ((first - 1, start - 1, start - 2), (last, end, end + 1)):
            if text[max(0, space) : space + 1] == SPACE and (separate or not KOREAN.match(text[beside])):
                follows[letter] = True
    return decided._replace(tags=tags, has_space=follows)


def keeps_foreign(source: str, text: str) -> bool:
    """Return whether a text has all protected parts of its source, in order."""
    return PROTECTED.findall(source) == PROTECTED.findall(text)


def keep_right_text(text: str, decided: Decisions) -> Decisions:
    """Return the decisions on a clean text without all changes if none is likely, and else without unlikely spaces.

    A text with few spaces is not checked, because it does not show how its writer sets spaces. Without MeCab, none is.
    """
    if not is_telling(text) or not has_dictionary():
        return decided
    weighed = [(place, kind, log_odds(kind, values)) for place, kind, values in evidence(text, decided)]
    if all(odds < LIKELY[kind] for _, kind, odds in weighed):
        return decided._replace(tags=numpy.full_like(decided.tags, KEEP), has_space=decided.had_space)
    follows = decided.has_space.copy()
    unlikely = [place for place, kind, odds in weighed if kind != "letter" and odds < UNLIKELY]
    follows[unlikely] = decided.had_space[unlikely]
    return decided._replace(has_space=follows)


def evidence(text: str, decided: Decisions) -> Iterator[tuple[int, str, list[float]]]:
    """Yield the number of the letter, the kind and the evidence (see WEIGHTS) of each change to a text."""
    morphemes = [(-1, "")] * len(text)
    for number, (start, end, tag) in enumerate(mecab_tags(text)):
        morphemes[start:end] = [(number, tag)] * (end - start)
    places = [place for place, character in enumerate(text) if character != SPACE]
    for number in numpy.flatnonzero(decided.tags != KEEP).tolist():
        yield number, "letter", [of_probability(float(decided.of_tags[number]))]
    changed = numpy.flatnonzero(decided.has_space[:-1] != decided.had_space[:-1]).tolist()
    spaces = usage().log_odds([text.replace(SPACE, "")]).tolist() if changed else []
    for number in changed:
        place, beside, put_in = places[number], places[number + 1], bool(decided.has_space[number])
        is_open = space_is_open(text, place, beside, morphemes, put_in)
        of_usage = spaces[number] * (1 if put_in else -1)
        weighed = [of_probability(float(decided.of_spaces[number])), is_open, of_usage]
        # a dependent noun (42항), or what 안 or 못 denies
        (_, tag), (_, after) = morphemes[place], morphemes[beside]
        apart = not is_open and (after.startswith("NNB") or tag == "MAG" and text[place] in "안못")
        yield number, *(("added", [*weighed, apart]) if put_in else ("removed", weighed))


def space_is_open(text: str, place: int, beside: int, morphemes: Sequence[tuple[int, str]], put_in: bool) -> bool:
    """Return whether the rules allow both a space and none between two places; of all, the morphemes' numbers and tags."""
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
    rows = read_rows(HERE / "allowed.tsv")
    pattern = "|".join(f"(?:{row['before']}) (?:{row['after']}) {row['letters']}" for row in rows)
    return re.compile(re.sub("|".join(TERMS), lambda term: TERMS[term[0]], pattern))


def is_syllable(character: str) -> bool:
    return "가" <= character <= "힣"


@lru_cache(maxsize=1)
def usage() -> Junctions:
    """Return the log-odds of spaces in raw reviews; keys of three letters have SCALE * log(1 + count)."""
    return Junctions.from_dict(json.loads((HERE / "usage.json").read_bytes()))


def log_odds(kind: str, evidence: Sequence[float]) -> float:
    """Return the log-odds that a change is correct; `evidence` has a value for each weight after the constant."""
    constant, *weights = WEIGHTS[kind]
    return constant + sum(map(mul, weights, evidence))


def of_probability(probability: float) -> float:
    return min(math.log(max(probability, NEAREST_SHARE) / max(1 - probability, NEAREST_SHARE)), LARGEST)


def of_letters(letters: str, tags: Sequence[int], first: int, last: int, characters: Characters) -> Iterator[float]:
    """Yield the mean log count of three letters around letters [first, last), as typed and as changed by the tags."""
    units = [
        characters.character(tag) if tag > END else "" if tag == DELETE else letter
        for letter, tag in zip(letters, tags)
    ]
    for each in (letters, units):
        before, after = SPACE + "".join(each[:first]), "".join(each[last:]) + SPACE
        around = before[1 - TRIGRAM :] + "".join(each[first:last]) + after[: TRIGRAM - 1]
        keys = [around[start : start + TRIGRAM] for start in range(len(around) - TRIGRAM + 1)]
        yield sum(usage().by_hash.get(hash_of(key), 0) for key in keys) / SCALE / max(1, len(keys))
