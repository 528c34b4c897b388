"""What a restorer decides to change, and what it leaves as typed.

Most of what people type is as they meant it, other than in training, so a change needs a least probability (docs/restore.md).
Words that are not Korean, addresses and tags stay, and what conventions.tsv asks for. Its patterns have a `_` where a space may
be: `joined`, there is none; `apart`, there is one; `always`, it stays as typed; `typed`, it does in a text whose spaces say how
its writer meant it. slang.txt has words that no dictionary has; those of two letters stay where a word begins.

A text stays as typed unless one of its changes is likely: 감정이입, 보여주다 and 볼만하다 are correct with and without a space.
Boosted trees (trees.py) decide by the editor's probability, the spelling rules (allowed.tsv), MeCab, and the spaces and counts of
three letters in 576,833 raw reviews (usage.json). A change of a space must also be likely by a logistic regression (WEIGHTS).
"""

import json
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
from ...text.tokenizers import has_dictionary, mecab_tags, path_cost
from ..sequences.characters import DELETE, END, KEEP, SPACE, Characters, codes_of
from .junctions import NEAREST_SHARE, Junctions, hash_of
from .trees import packaged_trees

HERE = Path(__file__).parent
# A text says how its writer spaces words if it has one space for so many characters, but those of NO_WORD, or is short
SPARSE, SHORT_TEXT, NO_WORD = 7, 8, re.compile("[~<>/A-Za-z]+")
SYLLABLES = range(FIRST, ord("힣") + 1, len(FINALS))
# Syllables whose final laughs (닼, and before ㅎ 닿), and what they are without it; 부엌 and 녘 are words
LAUGHS = {final: {chr(one + FINALS.index(final)): chr(one) for one in SYLLABLES} for final in "ㅋㅎ"}
LAUGHING = re.compile(
    f"(?<!부)[{''.join(LAUGHS['ㅋ'].keys() - {'녘'})}]|[{''.join(LAUGHS['ㅎ'].keys() - set('좋놓낳넣쌓'))}](?=ㅎ)"
)
HANGUL = "\u1100-\u11ff\u3131-\u318e가-힣"
FOREIGN_LETTER = rf"[^\W{HANGUL}]"  # A letter or digit that is not Hangul, and the rest of its word
REST = rf"(?:[^\s{HANGUL}]*{FOREIGN_LETTER})?"
KOREAN = re.compile(f"[{HANGUL}]+")
# Addresses, tags (#영화, @name) and words
PROTECTED = re.compile(rf"(?:https?://|www\.)\S+|(?:#|(?<!\w)@)\w+{REST}|{FOREIGN_LETTER}{REST}", re.IGNORECASE)
LINE = "\n"  # Between texts that are searched at once: no clean text has one
# Found in an address or a tag, to which nothing may be joined
SEPARATE = re.compile(rf"[#@{HANGUL}]|//|www\.", re.IGNORECASE)
ENDS = ".,!?…"  # Marks that end a sentence
# The title of a work, with the spaces that it has: <나홀로 집에>, '늑대와춤을', not the words of somebody: '정말재미있다'고
QUOTED = re.compile(r"""[<〈《「『][^>〉》」』\n]{2,20}[>〉》」』]|['"‘“][^\s'"’”.,!?]{2,20}['"’”](?! ?[고라하했])""")
# What NOUN and INFINITIVE are in allowed.tsv: tags, and syllables that end a verb's form in 아 or 어 (좋아라 is another)
TERMS = {
    "NOUN": "NN[GP]|XR|XPN|UNKNOWN",
    "INFINITIVE": f"[{''.join(one for one in map(chr, SYLLABLES) if parts(one)[1] in 'ㅏㅓㅐㅕㅘㅝㅔ' and one != '라')}]",
}
# Of an added and a removed space a constant, and the weights of the log-odds of its probability, of whether the rules allow both
# forms, of the log-odds of this change in reviews, and (added spaces only) of whether the rules require it
WEIGHTS: dict[str, tuple[float, ...]] = {"added": (-1.06, 0.74, -2.59, 0.29, 0.3), "removed": (-0.03, 0.79, -5.0, 0.31)}
# A text is changed if the log-odds of one change are at least LIKELY; spaces with log-odds below UNLIKELY never change
LIKELY, UNLIKELY = {"letter": 2.0, "added": 1.95, "removed": 1.5}, -2.5
# The maximum log-odds of a probability; letters on each side of a change that MeCab reads with it and without; the length of
# counted sequences; the factor of log(1 + count) in usage.json
LARGEST, NEAR, TRIGRAM, SCALE = 7.0, 8, 3, 10
# The least probability of a changed letter and of a changed space, where the caller names none
CERTAIN_TAG, CERTAIN_SPACE = 0.5, 0.6
SMALLEST_SHARE = 1e-9
Tags = NDArray[numpy.int32]
Flags = NDArray[numpy.bool_]
Probabilities = NDArray[numpy.floating[Any]]  # float32 as the network computes them, float64 with log-odds added


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
    text, tags = LINE.join(texts), decided.tags.copy()
    numbers, follows, sure = letter_numbers(text), decided.has_space.copy(), decided.of_spaces.copy()
    typed = (codes_of(text) != codes_of(LINE.join(read)))[numpy.diff(numbers, prepend=-1) > 0]
    tags[typed] = KEEP  # a letter that was read as another one is not changed
    tells = numpy.repeat([*map(is_telling, texts)], [len(each) - each.count(SPACE) for each in texts])
    for match in chain(QUOTED.finditer(text), slang().finditer(text)):
        first, last = numbers[match.start()], numbers[match.end() - 1]
        typed[first:last] |= tells[first:last]
        if match.re is slang():
            # letters that would change together stay together
            while last + 1 < len(tags) and tags[last] != KEEP != tags[last + 1]:
                last += 1
            tags[first : last + 1] = KEEP
    for what, pattern in rules():  # the groups are spaces
        for start, _ in chain.from_iterable(match.regs[1:] for match in pattern.finditer(text)):
            letter = numbers[start - 1]
            if what in ("joined", "apart"):
                follows[letter], sure[letter] = what == "apart", 1
            else:
                typed[letter] |= what == "always" or tells[letter]
    return decided._replace(tags=tags, has_space=numpy.where(typed, decided.had_space, follows), of_spaces=sure)


def letter_numbers(text: str) -> NDArray[numpy.int64]:
    """Return the number, from 0, of the letter at each place of joined texts, or of the one before."""
    codes = codes_of(text)
    return numpy.cumsum((codes != ord(SPACE)) & (codes != ord(LINE))) - 1


def is_telling(text: str) -> bool:
    """Return whether the spaces of a text say how its writer meant it."""
    return text.count(SPACE) * SPARSE + SHORT_TEXT >= len(NO_WORD.sub("", text))


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
    changes = list(evidence(text, decided))
    weighed = [(number, kind, odds) for (number, kind, _), odds in zip(changes, log_odds(changes))]
    if all(odds < LIKELY[kind] for _, kind, odds in weighed):
        return decided._replace(tags=numpy.full_like(decided.tags, KEEP), has_space=decided.had_space)
    follows = decided.has_space.copy()
    unlikely = [number for number, kind, odds in weighed if kind != "letter" and odds < UNLIKELY]
    follows[unlikely] = decided.had_space[unlikely]
    return decided._replace(has_space=follows)


def evidence(text: str, decided: Decisions) -> Iterator[tuple[int, str, list[float]]]:
    """Yield the number of the letter, the kind and the evidence of each change to a text: of a space that of WEIGHTS comes first."""
    odds, sure = log_odds_of(decided.of_tags).tolist(), log_odds_of(decided.of_spaces).tolist()
    edited = numpy.flatnonzero(decided.tags != KEEP).tolist()
    yield from ((number, "letter", [odds[number]]) for number in edited)
    changed = numpy.flatnonzero(decided.has_space[:-1] != decided.had_space[:-1]).tolist()
    if not changed:
        return
    letters, morphemes, had = text.replace(SPACE, ""), [(-1, "")] * len(text), [True, *decided.had_space.tolist()]
    for number, (start, end, tag) in enumerate(mecab_tags(text)):
        morphemes[start:end] = [(number, tag)] * (end - start)
    places, tags = [place for place, character in enumerate(text) if character != SPACE], dict(morphemes)
    usual, whole = [0.0, *usage().log_odds([letters]).tolist(), 0.0], [len(letters), len(letters) / len(text)]
    for number in changed:
        place, beside, put_in = places[number], places[number + 1], bool(decided.has_space[number])
        (one, tag), (other, after), sign = morphemes[place], morphemes[beside], 1 if put_in else -1
        is_open = space_is_open(text, place, beside, morphemes, put_in)
        # a dependent noun (42항), or what 안 or 못 denies
        apart = not is_open and (after.startswith("NNB") or tag == "MAG" and text[place] in "안못")
        values = [sure[number], is_open, sign * usual[number + 1], apart, usual[number], usual[number + 2]]
        others = max((sure[each] for each in changed if each != number), default=-LARGEST)
        values += [*whole, len(edited), len(changed), others]
        left, right = letters[max(0, number + 1 - NEAR) : number + 1], letters[number + 1 : number + 1 + NEAR]
        costs = [path_cost(each) / 1000 for each in (left + right, left + SPACE + right)]
        values += [costs[0] - costs[1], *(cost / len(left + right) for cost in costs), one == other]
        values += [morphemes.count((one, tag)), morphemes.count((other, after)), morphemes[:place].count((one, tag))]
        values += [had[number::-1].index(True), [*had[number + 2 :], True].index(True)]
        around = tag.split("+")[-1], after.split("+")[0], tags.get(one - 1, ""), tags.get(other + 1, "")
        values += [int.from_bytes(each[:3].ljust(3).encode(), "big") for each in around]  # near for kindred tags
        yield number, "added" if put_in else "removed", values


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


def log_odds(changes: Sequence[tuple[int, str, list[float]]]) -> list[float]:
    """Return the log-odds of changes (number, kind, evidence): of spaces, if one is likely, the least of regression and trees."""
    weights = [WEIGHTS.get(kind, (0.0, 1.0)) for _, kind, _ in changes]
    odds = [constant + sum(map(mul, own, values)) for (constant, *own), (*_, values) in zip(weights, changes)]
    for kind in WEIGHTS if any(each >= LIKELY[kind] for each, (_, kind, _) in zip(odds, changes)) else ():
        if own := [place for place, change in enumerate(changes) if change[1] == kind]:
            trees = packaged_trees(kind).log_odds(numpy.array([changes[place][2] for place in own])).tolist()
            for place, other in zip(own, trees):
                odds[place] = min(odds[place], other)
    return odds


def log_odds_of(probabilities: Probabilities) -> NDArray[numpy.float64]:
    """Return the log-odds of probabilities, at most LARGEST and at least its negative."""
    near = numpy.clip(probabilities.astype("float64"), NEAREST_SHARE, 1 - NEAREST_SHARE)
    return numpy.clip(numpy.log(near / (1 - near)), -LARGEST, LARGEST)


def of_letters(letters: str, tags: Sequence[int], first: int, last: int, characters: Characters) -> Iterator[float]:
    """Yield mean, least and largest log count of three letters around letters [first, last), as typed and as the tags say."""
    units = [characters.character(tag) if tag > END else one * (tag != DELETE) for one, tag in zip(letters, tags)]
    for each in (letters, units):
        before, after = SPACE + "".join(each[:first]), "".join(each[last:]) + SPACE
        around = before[1 - TRIGRAM :] + "".join(each[first:last]) + after[: TRIGRAM - 1]
        keys = [around[start : start + TRIGRAM] for start in range(len(around) - TRIGRAM + 1)]
        counts = [usage().by_hash.get(hash_of(key), 0) / SCALE for key in keys] or [0.0]
        yield from (sum(counts) / len(counts), min(counts), max(counts))
