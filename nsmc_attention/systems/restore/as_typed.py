"""What a restorer decides to change, and what it leaves as typed.

Most of what people type is as they meant it, other than in training, so a change needs a least probability (docs/restore.md).
Words that are not Korean, addresses and tags stay, and what conventions ask for.

conventions.tsv has a rule a row, with its reason: signs between words, numerals with their units. Its pattern has a `_` where
a space may be: `joined`, there is none; `apart`, there is one; `always`, it stays as typed; `typed`, it does in a text whose
spaces say how its writer meant it.

A text stays as typed unless one of its changes is likely: 감정이입, 보여주다 and 볼만하다 are correct with and without a space.
Boosted trees (trees.json) combine the spelling rules (allowed.tsv), the editor's probability and usage.json: the log-odds of a
space and the counts of three letters in 576,833 raw reviews. recipes/usage.py writes both.
"""

import json
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple, Optional

import numpy
from numpy.typing import NDArray

from ...machine.aliases import Numbers
from ...machine.files import read_rows
from ...text.hangul import INITIALS, joined
from ...text.tokenizers import has_dictionary, mecab_tags, path_cost
from ..sequences.characters import DELETE, END, KEEP, SPACE, Characters, codes_of
from .junctions import NEAREST_SHARE, Junctions, hash_of
from .trees import packaged_trees

HERE = Path(__file__).parent
# A text says how its writer spaces words if it has one space for so many characters, but those of NO_WORD, or is short
SPARSE, SHORT_TEXT, NO_WORD = 7, 8, re.compile("[~<>/A-Za-z]+")
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
    "INFINITIVE": f"[{''.join(joined(one, vowel) for one in INITIALS for vowel in 'ㅏㅓㅐㅕㅘㅝㅔ' if one + vowel != 'ㄹㅏ')}]",
}
# The tags of morphemes, as evidence
TAGS = "NNG NNP NNB NNBC NP NR XR XPN MM MAG MAJ IC UNKNOWN SL SN SF SY XSN JK JX JC VV VA VX VCP VCN XSV XSA E"
# A text is changed if the log-odds of one change are at least LIKELY; a space never changes if they are so much less
LIKELY, UNLIKELY = {"letter": 1.65, "added": 2.4, "removed": 1.3}, -4.5
# The maximum log-odds of a probability; letters on each side of a change that MeCab reads with it and without; the length of
# counted sequences; the factor of log(1 + count) in usage.json
LARGEST, NEAR, TRIGRAM, SCALE = 7.0, 8, 3, 10
# The least probability of a changed letter and of a changed space, where the caller names none
CERTAIN_TAG, CERTAIN_SPACE = 0.5, 0.6
SMALLEST_SHARE = 1e-9
Tags = NDArray[numpy.int32]
Ends = NDArray[numpy.int64]
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


@lru_cache(maxsize=1)
def rules() -> list[tuple[str, "re.Pattern[str]"]]:
    """Return the name of each rule, and its pattern, whose groups are the spaces."""
    return [
        (row["what"], re.compile(row["pattern"].replace("_", "( ?)"))) for row in read_rows(HERE / "conventions.tsv")
    ]


def keep_conventions(decided: Decisions, texts: Sequence[str]) -> Decisions:
    """Return decisions without those that the conventions forbid."""
    text, follows, sure = LINE.join(texts), decided.has_space.copy(), decided.of_spaces.copy()
    numbers, typed = letter_numbers(text), numpy.zeros(len(follows), "bool")
    tells = numpy.repeat([*map(is_telling, texts)], [len(each) - each.count(SPACE) for each in texts])
    for match in QUOTED.finditer(text):
        own = slice(numbers[match.start()], numbers[match.end() - 1])
        typed[own] |= tells[own]
    for what, pattern in rules():
        # the groups of a rule are its spaces
        for start, _ in chain.from_iterable(match.regs[1:] for match in pattern.finditer(text)):
            letter = numbers[start - 1]
            if what in ("joined", "apart"):
                follows[letter], sure[letter] = what == "apart", 1
            else:
                typed[letter] |= what == "always" or tells[letter]
    return decided._replace(has_space=numpy.where(typed, decided.had_space, follows), of_spaces=sure)


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


def keep_right_texts(texts: Sequence[str], decided: Decisions, read: Probabilities, ends: Ends) -> Decisions:
    """Return the decisions on clean texts, without all changes of a text if none is likely, and else without unlikely spaces."""
    likely = likelihood(texts, decided, read, ends)
    tags, follows = decided.tags.copy(), numpy.where(likely[1] < UNLIKELY, decided.had_space, decided.has_space)
    for _, own in checked_texts(texts, decided, ends):
        if not (likely[:, own] >= 0).any():
            tags[own], follows[own] = KEEP, decided.had_space[own]
    return decided._replace(tags=tags, has_space=follows)


def checked_texts(texts: Sequence[str], decided: Decisions, ends: Ends) -> Iterator[tuple[str, slice]]:
    """Yield the texts that change, and where their letters are of all (S,); `ends` (N,) are the ends of all texts' letters.

    A text with few spaces is not checked, because it does not show how its writer sets spaces. Without MeCab, none is.
    """
    changed = numpy.unique(numpy.searchsorted(ends, numpy.flatnonzero(decided.changes), "right"))
    for number in changed.tolist() if has_dictionary() else ():
        if is_telling(texts[number]):
            yield texts[number], slice(ends[number - 1] if number else 0, ends[number])


def likelihood(texts: Sequence[str], decided: Decisions, read: Probabilities, ends: Ends) -> NDArray[numpy.float64]:
    """Return how likely each change of a letter and of a space is (2, S): its log-odds less LIKELY, NaN where nothing changes.

    `read` (S,) are the network's own probabilities of a space.
    """
    found, places, rows = numpy.full((2, len(decided.tags)), numpy.nan), list[int](), list[list[float]]()
    letters = numpy.where(decided.tags != KEEP, log_odds_of(decided.of_tags) - LIKELY["letter"], numpy.nan)
    spaces = log_odds_of(read)
    for text, own in checked_texts(texts, decided, ends):
        found[0, own] = letters[own]
        for place, values in evidence_of_spaces(text, decided.part(own), spaces[own]):
            places.append(own.start + place)
            rows.append(values)
    if rows:
        least = numpy.where(decided.has_space[places], LIKELY["added"], LIKELY["removed"])
        found[1, places] = packaged_trees()["space"].log_odds(numpy.array(rows)) - least
    return found


def evidence_of_spaces(text: str, decided: Decisions, read: Numbers) -> Iterator[tuple[int, list[float]]]:
    """Yield the number of the letter before each space that changes, and the evidence for the change."""
    changed = numpy.flatnonzero(decided.has_space[:-1] != decided.had_space[:-1]).tolist()
    if not changed:
        return
    morphemes, letters = [(-1, 0, "")] * len(text), text.replace(SPACE, "")
    for number, (start, end, tag) in enumerate(mecab_tags(text)):
        morphemes[start:end] = [(number, end - start, tag)] * (end - start)
    places = [place for place, character in enumerate(text) if character != SPACE]
    usual, sure = [0.0, *usage().log_odds([letters]).tolist(), 0.0], log_odds_of(decided.of_spaces).tolist()
    rest = [len(letters), text.count(SPACE) / len(text), numpy.count_nonzero(decided.tags != KEEP)]
    for number in changed:
        place, beside, sign = places[number], places[number + 1], 1 if decided.has_space[number] else -1
        is_open = space_is_open(text, place, beside, morphemes, sign > 0)
        (one, size, _), (other, next_size, tag) = morphemes[place], morphemes[beside]
        left, right = letters[max(0, number + 1 - NEAR) : number + 1], letters[number + 1 : number + 1 + NEAR]
        saved = sign * (path_cost(left + right) - path_cost(left + SPACE + right))
        others = max((sure[each] for each in changed if each != number), default=-LARGEST)
        values = [sure[number], sign * read[number], sign, is_open, sign * usual[number + 1]]
        values += [*usual[number : number + 3 : 2], *rest, others, saved, one == other, size, next_size]
        yield number, [*values, TAGS.find(tag.split("+")[0])]


def space_is_open(text: str, place: int, beside: int, morphemes: Sequence[tuple[int, int, str]], put_in: bool) -> bool:
    """Return whether the rules allow both a space and none between two places; of all, the morphemes' numbers, sizes, tags."""
    left, right = text[place], text[beside]
    if not (is_syllable(left) and is_syllable(right)):
        # only a mark that ends a Korean sentence, and stands where it should, asks for a space
        before = text[: place + 1].rstrip(ENDS)
        return not (put_in and left in ENDS and is_syllable(right) and is_syllable(before[-1:]))
    (number, _, tag), (other, _, after) = morphemes[place], morphemes[beside]
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


def log_odds_of(probabilities: Probabilities) -> NDArray[numpy.float64]:
    """Return the log-odds of probabilities, at most LARGEST and at least its negative."""
    near = numpy.clip(probabilities.astype("float64"), NEAREST_SHARE, 1 - NEAREST_SHARE)
    return numpy.clip(numpy.log(near / (1 - near)), -LARGEST, LARGEST)


def of_letters(letters: str, tags: Sequence[int], first: int, last: int, characters: Characters) -> Iterator[float]:
    """Yield the mean and least log count of three letters around letters [first, last), as typed and as changed by the tags."""
    units = [
        characters.character(tag) if tag > END else "" if tag == DELETE else letter
        for letter, tag in zip(letters, tags)
    ]
    for each in (letters, units):
        before, after = SPACE + "".join(each[:first]), "".join(each[last:]) + SPACE
        around = before[1 - TRIGRAM :] + "".join(each[first:last]) + after[: TRIGRAM - 1]
        keys = [around[start : start + TRIGRAM] for start in range(len(around) - TRIGRAM + 1)]
        counts = [usage().by_hash.get(hash_of(key), 0) / SCALE for key in keys] or [0.0]
        yield from (sum(counts) / len(counts), min(counts))
