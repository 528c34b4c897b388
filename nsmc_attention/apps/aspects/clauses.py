"""A clean text cut into clauses, each with the aspects that it names by a list of words.

Each morpheme is a letter. Patterns of letters cut after sentences, commas, endings by which another statement follows
(-지만, -고) and words that take an aspect out of it (빼고), and between aspects with words of their own.
"""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import groupby, starmap
from pathlib import Path
from typing import Any, NamedTuple, Optional

from ...classifier.prediction import TYPES
from ...corpora.data import read_pairs
from ...errors import DataError, list_names
from ...machine.files import read_rows
from ...text.encoding import clean
from ...text.hangul import composed
from ...text.tokenizers import Span, align, joined_morphemes, morphemes

FOLDER, NONE = Path(__file__).parent, "-"
GOODS = {row["stem"]: row["kind"][0] for row in read_rows(FOLDER / "goods.tsv")}
FORMS = {row["form"]: row["kind"] for row in sorted(read_rows(FOLDER / "forms.tsv"), key=lambda row: -len(row["form"]))}
PATTERNS = {kind: re.compile("|".join(form for form in FORMS if FORMS[form] == kind)) for kind in FORMS.values()}
# Letters of tags, others are w: @ is an aspect, x ends a word like 빼고, o is 만, d is 데; t and r come before a noun (좋은,
# 볼); endings have the first letter of their kind in forms.tsv, a capital if they are written with their verb
LETTERS = dict(zip("JX JKS JKG JKB MM XSN VCP NP SC SF EF VX EC J V N".split(), "jkghmppp,..vcpun"))
WORDS = {("만", "JX"): "o", ("데", "NNB"): "d"}
PRESENT, STOPS, EMPTY = ("은", "는", "ᆫ", "던"), frozenset(".!?…~;ㅋㅎㅠㅜ"), "@jkghmpcobase,"
# The end of a clause, but not in 보고 싶다 or 좋은 데가; an ending that 다 can replace; what sets a noun apart
CUT = re.compile(r"(?:[x.,]|[basBAS](?!v)|(?<=t)d(?![jkghp])|[eE](?![jkghpuvBASE]))[j.,]*")
JOINING, APART = re.compile("[basdBAS][j,.]*$"), re.compile("[@p][jo]")
# A word that praises (p) or blames (b) goods: n before it turns it round, and d, f (blame by itself) or, of blame, s after it
WORTH, LACK = re.compile("(n?)([pb])([^pb]{0,3}d|(?<=b)[^pb]{0,3}s|[^pb]?(?:n(?![pb])|f))?|f"), re.compile("[.]?d")
Pairs = tuple[tuple[str, str], ...]
Morphemes = tuple[list[tuple[str, str]], list[Span]]


class Words(NamedTuple):
    """{word in small letters: its aspect}, what matches one, and whether the classifier was trained on other texts."""

    aspects: dict[str, str]
    pattern: "re.Pattern[str]"
    goods: bool


def read_words(words: Any) -> Pairs:
    """Read (word, aspect), - for none, of a path or DataFrame with such columns; () for None. DataError if wrong."""
    option, table, name = "words:", words, "DataFrame"
    if isinstance(words, (str, Path)):
        option, table, name = "--aspects-file", Path(words), str(words)
    try:
        aspects = {} if words is None else read_pairs(table, ("word", "aspect"), clean)
    except DataError as problem:
        raise DataError(f"{option} {problem}; expected a table with the columns word and aspect") from problem
    if (outputs := TYPES.keys() & aspects.values()) or (words is not None and not aspects):
        raise DataError(f"{option} {name}: expected aspects that are no output columns, found {list_names(outputs)}")
    return tuple(aspects.items())


def words_of(pairs: Pairs, goods: bool) -> Words:
    # the longest word counts; by first letters, which is twice as fast
    groups = groupby(sorted(dict(pairs), key=lambda word: (word[0], -len(word))), lambda word: re.escape(word[0]))
    known = (f"{first}(?:{'|'.join(re.escape(word[1:]) for word in group)})" for first, group in groups)
    return Words(dict(pairs), re.compile("|".join(known), re.IGNORECASE), goods)


FILM_WORDS = words_of(read_words(FOLDER / "aspects.tsv"), goods=False)


class Clause(NamedTuple):
    """Characters start to end, the aspects named there, and the letter of its ending, o for one aspect and no other.

    By itself it is read as 영상 화려하다 for 영상은 화려한데: without morphemes that begin at `left_out`, with `tail` for the
    ending. Of goods the aspects are left out, and words of GOODS: `worth` is how many praise less how many blame.
    """

    start: int
    end: int
    names: tuple[str, ...]
    kind: str
    left_out: set[int]
    tail: tuple[str, ...]
    worth: int


@lru_cache(maxsize=2**14)
def letter_of(surface: str, features: str) -> tuple[str, str]:
    """Return the letter of a morpheme as mecab-ko-dic gives it, and its stem: of 화려한데 B and 화려하."""
    (*stems, form), tags = zip(*joined_morphemes(surface, features))
    stem = surface[: -len(form)] if surface.endswith(form) else composed("".join(stems))
    first, last, kind = tags[0], tags[-1], FORMS.get(form, "")
    if (last == "EC" and kind in ("but", "and", "so", "end")) or (last == "ETN" and kind == "end"):
        return kind[0] if first in ("EC", "ETN", "VCP") else kind[0].upper(), stem
    own = "." if STOPS.issuperset(surface) else WORDS.get((surface, last), "")
    if own or last == "ETM":
        return own or ("t" if form in PRESENT else "r"), stem
    return LETTERS.get(first) or LETTERS.get(first[0], "w"), stem


def placed_morphemes(text: str) -> Morphemes:
    """Find (surface, features) of each morpheme of a clean text, and their places."""
    pairs = morphemes(text)
    return pairs, align(text, [surface for surface, _ in pairs])


def clauses(text: str, words: Words, found: Optional[Morphemes] = None) -> list[Clause]:
    """Return the clauses of a clean text, in order, with white space between; none of a text that names no aspect."""
    (pairs, spans), names = found or placed_morphemes(text), dict[int, str]()
    starts, ends = (dict(zip(sides, range(len(spans)))) for sides in zip(*spans)) if spans else ({}, {})
    for each in words.pattern.finditer(text):
        first, last, name = starts.get(each.start()), ends.get(each.end()), words.aspects[each[0].lower()]
        if first is not None and last is not None and name != NONE:
            names.update(dict.fromkeys(range(first, last + 1), name))
    if not names:
        return []
    letters, stems = map(list, zip(*starmap(letter_of, pairs)))
    for place, letter in enumerate(letters[:-1]):
        if letter in "eE" and spans[place][1] == spans[place + 1][0]:
            letters[place] = "c"  # a sentence ends before a space
    letters = ["@" if place in names else letter for place, letter in enumerate(letters)]
    for each in PATTERNS["except"].finditer(text):
        first, last, noun = starts.get(each.start()), ends.get(each.end()), ends.get(len(text[: each.start()].rstrip()))
        if first is not None and last is not None and noun is not None and letters[noun] in "@jkghpnow":
            letters[first : last + 1] = "w" * (last - first) + "x"  # 하지 말고 takes nothing out
    forms = [joined_morphemes(*pair)[0][0] for pair in pairs] if words.goods else []
    worths = "".join(GOODS.get(one + two) or GOODS.get(one, ".") for one, two in zip(forms, [*forms[1:], ""]))
    code, parts, left_out = "".join(letters), list[Clause](), set[int]()
    out = {each.end() - 1 for each in APART.finditer(code)}.union(names if words.goods else ())
    for first, last, kind in joined(text, spans, code, names):
        own = [place for place in range(first, last) if place in names]
        ending = JOINING.search(code[first:last]) if own else None
        turned = [one for one in WORTH.finditer(worths, first, last) if one.start(2) not in names or "d" in str(one[3])]
        out.update(range(first + ending.start(), last) if ending else (), *(range(*each.span()) for each in turned))
        out.update(k for place in own if (lack := LACK.match(worths, place + 1, last)) for k in range(*lack.span()))
        worth = sum(1 if (each[2] == "p") ^ bool(each[1]) ^ bool(each[3]) else -1 for each in turned)
        kind = "o" if "@o" in code[first:last] and kind != "x" else kind
        tail = tuple(filter(None, (stems[first + ending.start()], "다"))) if ending else ()
        aspects = tuple(dict.fromkeys(names[place] for place in own))
        parts.append(Clause(spans[first][0], spans[last - 1][1], aspects, kind, left_out, tail, worth))
    left_out.update(spans[place][0] for place in out)
    return parts


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
