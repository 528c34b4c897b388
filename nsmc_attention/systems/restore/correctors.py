"""Correctors of an editor's output: each sees the changes of those before it.

The editor -> words of the dictionary -> listed mistakes -> spaces at junctions -> `as_typed.decide`.
"""

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from operator import mul, ne
from typing import NamedTuple

import numpy
from numpy.typing import NDArray

from ...machine.aliases import Numbers
from ...machine.files import read_rows
from ...text.hangul import parts
from ...text.tokenizers import has_dictionary, path_cost
from ..sequences.characters import DELETE, END, KEEP, SPACE, UNKNOWN, Characters, aligned, edit_distance, split_spaces
from .as_typed import HERE, LINE, believed_tags, letter_numbers, of_letters, of_probability
from .junctions import Junctions, RestorerCharacters, with_log_odds
from .noise import known_mistakes

# Share of the source's characters that may change, and how many always may
CHANGED, ALWAYS = 0.4, 2
# The probability of a mistake of the list; the most that a change gets from MeCab's costs, which is never as sure
SURE_CHANGE, MOST_SURE = 0.99, 0.98
# The share of the junctions' log-odds that a text with spaces gets; one without gets all and MORE_CHANGES, as it lacks more
SHARE, MORE_CHANGES = 0.35, 1.2


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
    """Return the text that tags make of a source without its spaces, and the place of what each character was made of.

    The inverse of `tags_of`. The space after a character that is left out is set all the same, never two. A character that
    no network can read is kept, whatever its tag.
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


# The log-odds that letters change: a constant, then the weights of the editor's log-odds, of the cost saved in the dictionary
# (1,000 units, MOST_COST at most), of the mean log count of letters as typed and as changed, and of a letter that is left out
LETTERS = (-2.27, 0.62, 0.32, -0.44, 0.46, -1.82)
MOST_COST = 3.0
# Words on each side of a change that are read with it, and most letters of them
WORDS, MOST_LETTERS = 1, 20


class Draft(NamedTuple):
    """A batch of clean texts, of S characters without their spaces, and what is to become of these.

    `letters` are the texts without spaces, and `ends` where each ends among the S. Of each character, `had_space` says whether
    a space is behind it, `tags` int32 what is written in its place, `certainty` how probable that is, `spaces` a space behind it.
    """

    texts: list[str]
    letters: list[str]
    ends: NDArray[numpy.int64]
    had_space: NDArray[numpy.bool_]
    tags: NDArray[numpy.int32]
    certainty: NDArray[numpy.float32]
    spaces: Numbers
    characters: RestorerCharacters


def listed_mistakes(draft: Draft) -> Draft:
    """Write what the list says, whatever the editor would: 되서, 몇일 and 할께요 are never right, but too rare to be learnt.

    mistakes.tsv says which are righted: those of equal length that are not also found across two words, or whose word costs
    less in the dictionary then (작품이였다, not 고양이였다). The letters of a mistake that are right are kept; one that the
    characters lack is left to the editor.
    """
    text, tags, certainty = LINE.join(draft.texts), draft.tags.copy(), draft.certainty.copy()
    ids, numbers, (pattern, rows) = draft.characters.ids, letter_numbers(text), mistaken()
    for match in pattern.finditer(text):
        wrong = match[0].replace(SPACE, "")
        row = rows[wrong]
        if row["righted"] == "cheaper" and not is_cheaper(text, match, row["right"]):
            continue
        right = [KEEP if one == other else ids.get(other) for one, other in zip(wrong, row["right"].replace(SPACE, ""))]
        own = slice(numbers[match.start()], numbers[match.start()] + len(wrong))
        if None not in right:
            tags[own] = right
            certainty[own] = numpy.where(tags[own] == KEEP, 1, numpy.maximum(certainty[own], SURE_CHANGE))
    return draft._replace(tags=tags, certainty=certainty)


@lru_cache(maxsize=1)
def mistaken() -> tuple["re.Pattern[str]", dict[str, dict[str, str]]]:
    """Return the pattern of all mistakes, with their spaces and without, and {letters of a mistake: its row}.

    Each form begins with a letter, so that the search skips all places with other letters. Those of ends.tsv are no noise of
    training, and some are wrong before some letters alone.
    """
    rows = [row for row in [*known_mistakes(), *read_rows(HERE / "ends.tsv")] if row["righted"] != "nowhere"]
    forms = defaultdict[str, list[str]](list)
    for row in sorted(rows, key=lambda row: -len(row["wrong"])):
        begin = r"(?<!\w.)" if row["righted"] == "start" else ""
        behind = f"(?={row['behind']})" if row.get("behind") else ""
        forms[row["wrong"][0]].append(begin + row["wrong"][1:].replace(SPACE, f"{SPACE}?") + behind)
    pattern = "|".join(f"{first}(?:{'|'.join(others)})" for first, others in forms.items())
    return re.compile(pattern, re.MULTILINE), {row["wrong"].replace(SPACE, ""): row for row in rows}


def is_cheaper(text: str, match: "re.Match[str]", right: str) -> bool:
    """Return whether the word that a match is in costs less in MeCab's dictionary with the right letters, False without one."""
    begin = max(text.rfind(gap, 0, match.start()) for gap in (SPACE, LINE)) + 1
    word, place = text[begin:].split(maxsplit=1)[0], match.start() - begin
    return has_dictionary() and path_cost(word[:place] + right + word[place + len(right) :]) < path_cost(word)


def dictionary_words(draft: Draft) -> Draft:
    """Correct the probability of each letter that changes by what the words cost in MeCab's dictionary, and by usage.

    A noisy channel (Kernighan et al. 1990): an editor knows how people mistype, the dictionary 800,000 words. The cost of a
    path through its lattice is a negative log-probability. Raw reviews say how usual three letters are (`as_typed.usage`).
    Neighbours that change are one change. recipes/usage.py fits the weights of this logistic regression, for an editor that
    proposes more than it finds likely (`recipes.blended --bolder`).
    """
    certainty, (constant, *weights) = draft.certainty.copy(), LETTERS
    for first, last, values in evidence_of_letters(draft):
        odds = constant + sum(map(mul, weights, values)) if values else -numpy.inf
        certainty[first:last] = min(1 / (1 + math.exp(-odds)), MOST_SURE)
    return draft._replace(certainty=certainty)


def evidence_of_letters(draft: Draft) -> Iterator[tuple[int, int, list[float]]]:
    """Yield where each run of letters that change together begins and ends, and its evidence (see LETTERS); none if impossible."""
    tags, characters, follows, letters = draft.tags, draft.characters, draft.spaces >= 0.5, "".join(draft.letters)
    cost = path_cost if has_dictionary() else len
    for first, last, begin, end in runs_of_changes(tags != KEEP, draft.ends):
        own = words_around(first, last, max(begin, first - MOST_LETTERS), min(end, last + MOST_LETTERS), follows)
        changed, spaces = tags[own].tolist(), follows[own].tolist()
        kept = [*changed[: first - own.start], *[KEEP] * (last - first), *changed[last - own.start :]]
        before, after = (cost(tagged(letters[own], choice, spaces, characters)[0]) for choice in (kept, changed))
        cheaper = min(max((before - after) / 1000, -MOST_COST), MOST_COST)
        # a lone syllable is mistyped in one of its three parts: 짦은 is not 젊은
        one, other = parts(letters[first]), parts(characters.character(int(tags[first])) if tags[first] > END else "")
        alone = numpy.count_nonzero(tags[max(begin, first - 1) : min(end, last + 1)]) == 1
        unlike = alone and any(one) and any(other) and sum(map(ne, one, other)) > 1
        surest = of_probability(float(draft.certainty[first:last].max()))
        usual = of_letters(letters[begin:end], tags[begin:end].tolist(), first - begin, last - begin, characters)
        yield first, last, [] if unlike else [surest, cheaper, *usual, DELETE in tags[first:last]]


def runs_of_changes(doubtful: NDArray[numpy.bool_], ends: NDArray[numpy.int64]) -> Iterator[tuple[int, int, int, int]]:
    """Yield where each run of neighbours that change begins and ends, and its text does."""
    places = numpy.flatnonzero(doubtful)
    of_text = numpy.searchsorted(ends, places, "right")
    new = numpy.append(places[:1] >= 0, (numpy.diff(places) > 1) | (numpy.diff(of_text) > 0))
    firsts, lasts = places[new], places[numpy.append(new[1:], places[:1] >= 0)] + 1
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
    return spaces_at_junctions(listed_mistakes(dictionary_words(draft)))
