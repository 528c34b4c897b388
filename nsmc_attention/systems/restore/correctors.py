"""Correctors of an editor's output, in the order in which they run: each sees the changes of those before it.

    the editor -> listed mistakes -> words of the dictionary -> spaces at junctions -> `decisions.decide`

What conventions ask for, what is not Korean and texts that are right then stay as typed (`as_typed`). Every probability by
which one of them overrules another stands in `decisions`.
"""

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from operator import ne
from typing import NamedTuple

import numpy
from numpy.typing import NDArray

from ...machine.aliases import Numbers
from ...text.hangul import parts
from ...text.tokenizers import has_dictionary, path_cost
from ..sequences.characters import DELETE, END, KEEP, SPACE, UNKNOWN, Characters, aligned, edit_distance, split_spaces
from .as_typed import LINE, letter_numbers
from .decisions import MORE_CHANGES, MOST_SURE, SHARE, SURE_CHANGE, believed_tags
from .junctions import Junctions, RestorerCharacters, with_log_odds
from .noise import known_mistakes

# Share of the source's characters that may change, and how many always may
CHANGED, ALWAYS = 0.4, 2


def tags_of(source: str, target: str, characters: Characters) -> tuple[list[int], list[bool]]:
    """Return for each character of a source without its spaces its tag, and whether a space follows it in the target.

    A tag is KEEP, DELETE, or the id of another character. What is put in, or cannot be written, is left as it is.
    """
    letters, _ = split_spaces(source)
    wanted, follows = split_spaces(target)
    tags, spaces = [], [False] * len(letters)
    # no noise leaves a character out: with enough in the source, each of the target has one
    for place, other in aligned(letters, wanted, left_out=len(letters) + len(wanted) + 1):
        known = other >= 0 and wanted[other] != letters[place] and wanted[other] in characters.ids
        tags.append(DELETE if other < 0 else characters.ids[wanted[other]] if known else KEEP)
        if other >= 0:
            spaces[place] = follows[other]
    return tags, spaces


def tagged(letters: str, tags: Sequence[int], spaces: Sequence[bool], characters: Characters) -> tuple[str, list[int]]:
    """Return the text that tags make of the characters of a source without its spaces, the inverse of `tags_of`.

    Also the place among these of what each character of the text was made of. The space after a character that is left
    out is set all the same, never two. A character that no network can read is kept, whatever its tag.
    """
    # what each character becomes, with the space behind it
    units = [letter + SPACE if space else letter for letter, space in zip(letters, spaces)]
    for place, (letter, tag) in enumerate(zip(letters, tags)):
        if tag != KEEP and characters.can_read(letter):
            if tag > END:
                units[place] = characters.character(tag) + units[place][1:]
            elif tag == DELETE:
                before = next(filter(None, reversed(units[:place])), SPACE)
                units[place] = "" if before.endswith(SPACE) else units[place][1:]
    text = "".join(units).rstrip()
    return text, [place for place, unit in enumerate(units) for _ in unit][: len(text)]


def written(ids: Iterable[int], places: Iterable[int], letters: str, characters: Characters) -> tuple[str, list[int]]:
    """Return the text that a writer's ids up to END say, and which of the ids each of its characters is.

    An unknown character is the one of the source that was attended to most: `places` are those of the attended
    characters in `letters`, the source without its spaces. No space begins or ends the text, or follows another.
    """
    kept, steps = list[str](), list[int]()
    for step, (number, place) in enumerate(zip(ids, places)):
        if number == END:
            break
        if number > END:
            character = characters.character(number)
        elif number == UNKNOWN and place < len(letters):
            character = letters[place]
        else:
            continue
        if character != SPACE or kept and kept[-1] != SPACE:
            kept.append(character)
            steps.append(step)
    text = "".join(kept).rstrip()
    return text, steps[: len(text)]


def most_changed(letters: str) -> float:
    """Return how many of the characters of a source without its spaces may be put in, left out or replaced."""
    return ALWAYS + CHANGED * len(letters)


def within_bound(source: str, text: str) -> bool:
    """Return whether a text can be what the source was meant to be, by its characters without the spaces."""
    one, other = (side.replace(SPACE, "") for side in (source, text))
    most = most_changed(one)
    return abs(len(one) - len(other)) <= most and edit_distance(one, other) <= most


def character_error(restored: str, target: str) -> float:
    """Return the edits that turn a text into the right one, divided by the characters of that, spaces included."""
    return edit_distance(restored, target) / max(1, len(target)) if restored != target else 0.0


# Log-odds = EDITOR_WEIGHT * the editor's + COST_WEIGHT * (the cost saved / 1000, from -MOST_COST to MOST_COST) + BIAS
EDITOR_WEIGHT, COST_WEIGHT, MOST_COST, BIAS = 0.62, 0.72, 3.0, -0.98
# Words on each side of a change that are read with it, and most letters of them
WORDS, MOST_LETTERS = 1, 20

# At the end of a word alone: 에요 after what is no place or time (어디 가세요? 학교에요), and at that of a sentence 안 되
NO_PLACE = (
    "최고 별로 강추 비추 얼마 누구 뭐 정도 영화 드라마 만화 배우 노래 이야기 얘기 친구 여자 남자 가수 천재 캐릭터 분위기 "
    "쓰레기 난리 스토리 코미디 연기 재미"
)
ENDS = {f"{noun}에요": (f"{noun}예요", "[.!?~ ]") for noun in NO_PLACE.split()}
ENDS |= {f"{word}되": (f"{word}돼", "[.!?~]") for word in "안잘못"}
ENDS |= {f"{word}슴": (f"{word}음", "[.!?~ ㅋㅎㅠ]") for word in "있없했됐었았였겠밌웠렸졌"}


class Draft(NamedTuple):
    """A batch of clean texts, of S characters without their spaces, and what is to become of these.

    `letters` are the texts without spaces, and `ends` where each ends among the S. `tags` (S,) int32 says what is written in the
    place of each character, `certainty` (S,) the probability of that, `spaces` (S,) that of a space behind it.
    """

    texts: list[str]
    letters: list[str]
    ends: NDArray[numpy.int64]
    tags: NDArray[numpy.int32]
    certainty: NDArray[numpy.float32]
    spaces: Numbers
    characters: RestorerCharacters


def listed_mistakes(draft: Draft) -> Draft:
    """Write what the list says, whatever the editor would: 되서, 몇일 and 할께요 are never right, but too rare to be learnt.

    mistakes.tsv says which are righted: those of equal length that are not also found across two words. How often these
    are wrong: benchmarks/restoration/README.md. The letters of a mistake that are right are kept; one that the characters
    lack is left to the editor.
    """
    text = LINE.join(draft.texts)
    mistakes = list(mistaken().finditer(text))
    if not mistakes:
        return draft
    tags, certainty = draft.tags.copy(), draft.certainty.copy()
    ids, numbers = draft.characters.ids, letter_numbers(text)
    for match in mistakes:
        wrong = match[0].replace(SPACE, "")
        right = [KEEP if one == other else ids.get(other) for one, other in zip(wrong, right_forms()[wrong])]
        own = slice(numbers[match.start()], numbers[match.start()] + len(wrong))
        if None not in right:
            tags[own] = right
            certainty[own] = numpy.where(tags[own] == KEEP, 1, numpy.maximum(certainty[own], SURE_CHANGE))
    return draft._replace(tags=tags, certainty=certainty)


def pairs_at(place: str) -> list[tuple[str, str]]:
    """Return (right form, wrong form), with spaces, of the mistakes that are corrected "anywhere" or at a "start"."""
    found = [(mistake.right, mistake.wrong) for mistake in known_mistakes() if mistake.righted == place]
    return [*found, ("되었", "돼었")] if place == "anywhere" else found


@lru_cache(maxsize=1)
def right_forms() -> dict[str, str]:
    """Return {wrong: right} letters, both without spaces."""
    listed = {wrong: right for right, wrong in [*pairs_at("anywhere"), *pairs_at("start")]}
    bare = {wrong.replace(SPACE, ""): right.replace(SPACE, "") for wrong, right in listed.items()}
    return {**bare, **{wrong: right for wrong, (right, _) in ENDS.items()}}


@lru_cache(maxsize=1)
def mistaken() -> "re.Pattern[str]":
    """Return the pattern of all mistakes, with their spaces and without.

    Each form begins with a letter, so that the search skips all places with other letters.
    """
    forms = [wrong.replace(SPACE, f"{SPACE}?") for _, wrong in pairs_at("anywhere")]
    forms += [rf"{wrong}(?<!\w{wrong})" for _, wrong in pairs_at("start")]
    forms += [rf"{wrong[:-1]}{SPACE}?{wrong[-1]}(?={mark}|$)" for wrong, (_, mark) in ENDS.items()]
    return re.compile("|".join(forms), re.MULTILINE)


def dictionary_words(draft: Draft) -> Draft:
    """Correct the probability of each letter that changes and is not SURE_CHANGE by what the words cost in MeCab's dictionary.

    A noisy channel (Kernighan et al. 1990): an editor knows how people mistype, and of words those in its sentences; the
    dictionary has 800,000. The cost of a path through its lattice is a negative log-probability: of words that are likelier
    the editor may be less sure, of others it must be surer. Neighbours that change are one change, as likely as the surest
    of them. The weights were fitted by logistic regression (benchmarks/restoration/README.md).
    """
    tags, characters, follows = draft.tags, draft.characters, draft.spaces >= 0.5
    doubtful = (tags != KEEP) & (draft.certainty < SURE_CHANGE)
    if not doubtful.any() or not has_dictionary():
        return draft
    certainty, letters = draft.certainty.copy(), "".join(draft.letters)
    for first, last, begin, end in runs_of_changes(doubtful, draft.ends):
        own = words_around(first, last, max(begin, first - MOST_LETTERS), min(end, last + MOST_LETTERS), follows)
        changed, spaces = tags[own].tolist(), follows[own].tolist()
        kept = [*changed[: first - own.start], *[KEEP] * (last - first), *changed[last - own.start :]]
        before, after = (path_cost(tagged(letters[own], choice, spaces, characters)[0]) for choice in (kept, changed))
        surest = float(draft.certainty[first:last].max())
        cheaper = min(max((before - after) / 1000, -MOST_COST), MOST_COST)
        odds = EDITOR_WEIGHT * math.log(surest / (1 - surest)) + COST_WEIGHT * cheaper + BIAS
        # a lone syllable is mistyped in one of its three parts: 짦은 is not 젊은
        one, other = parts(letters[first]), parts(characters.character(int(tags[first])) if tags[first] > END else "")
        alone = numpy.count_nonzero(tags[max(begin, first - 1) : min(end, last + 1)]) == 1
        unlike = alone and any(one) and any(other) and sum(map(ne, one, other)) > 1
        certainty[first:last] = 0 if unlike else min(1 / (1 + math.exp(-odds)), MOST_SURE)
    return draft._replace(certainty=certainty)


def runs_of_changes(doubtful: NDArray[numpy.bool_], ends: NDArray[numpy.int64]) -> Iterator[tuple[int, int, int, int]]:
    """Yield where each run of neighbours that change begins and ends, and its text does."""
    places = numpy.flatnonzero(doubtful)
    of_text = numpy.searchsorted(ends, places, "right")
    new = numpy.append(True, (numpy.diff(places) > 1) | (numpy.diff(of_text) > 0))
    firsts, lasts = places[new], places[numpy.append(new[1:], True)] + 1
    owners = of_text[new]
    begins = numpy.append(0, ends)[owners]
    yield from zip(firsts.tolist(), lasts.tolist(), begins.tolist(), ends[owners].tolist())


def words_around(first: int, last: int, begin: int, end: int, follows: NDArray[numpy.bool_]) -> slice:
    """Return the words from `begin` to `end` that letters [first, last) are in, and WORDS on each side."""
    before = [begin, *(numpy.flatnonzero(follows[begin:first]) + begin + 1).tolist()]
    after = [*(numpy.flatnonzero(follows[last - 1 : end]) + last).tolist(), end]
    return slice(before[-1 - WORDS :][0], after[: 1 + WORDS][-1])


def spaces_at_junctions(draft: Draft) -> Draft:
    """Add to each space the log-odds of the junctions, where the bundle has some, of what the tags make of the letters."""
    if not draft.characters.junctions or not has_dictionary():
        return draft
    # whatever is asked for, so that a space has one probability
    believed = numpy.where(believed_tags(draft.tags, draft.certainty), draft.tags, KEEP)
    odds = odds_at_junctions(draft._replace(tags=believed), draft.characters.junctions)
    # a text with spaces gets less: they say more
    spaced = numpy.repeat([SPACE in text for text in draft.texts], [*map(len, draft.letters)])
    odds = numpy.where(spaced, SHARE * odds, odds + MORE_CHANGES)
    return draft._replace(spaces=with_log_odds(draft.spaces, odds))


def odds_at_junctions(draft: Draft, junctions: Junctions) -> NDArray[numpy.float64]:
    """Return (S,), the log-odds of a space after each character that the tags leave; NaN of a character that is left out."""
    tags, read, kept = draft.tags, list(draft.letters), numpy.ones(len(draft.tags), dtype="bool")
    # most texts have no letter to correct
    for number in numpy.unique(numpy.searchsorted(draft.ends, numpy.flatnonzero(tags), "right")).tolist():
        letters, end = draft.letters[number], draft.ends[number]
        own = slice(end - len(letters), end)
        read[number], places = tagged(letters, tags[own].tolist(), [False] * len(letters), draft.characters)
        kept[own] = False
        kept[own][places] = True
    odds = numpy.full(len(tags), numpy.nan)
    odds[kept] = junctions.log_odds(read)
    return odds


def corrected(draft: Draft) -> Draft:
    """Return a draft after all correctors, one after the other."""
    return spaces_at_junctions(dictionary_words(listed_mistakes(draft)))
