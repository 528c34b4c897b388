"""Division of a clean text into clauses, with the aspects that a list of words names in each.

Each morpheme becomes a letter. Patterns of letters divide the text after sentences, commas, connective endings (-지만, -고)
and words that exclude an aspect (빼고), and between aspects that have words of their own.
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
# Letters of tags, w for all others: @ is an aspect, x the end of a word like 빼고, o 만, d 데; t and r precede a noun (좋은,
# 볼); an ending has the first letter of its kind in forms.tsv, a capital if it is in one morpheme with its verb
LETTERS = dict(zip("JX JKS JKG JKB MM XSN VCP NP SC SF EF VX EC J V N".split(), "jkghmppp,..vcpun"))
WORDS = {("만", "JX"): "o", ("데", "NNB"): "d"}
PRESENT, STOPS, EMPTY = ("은", "는", "ᆫ", "던"), frozenset(".!?…~;ㅋㅎㅠㅜ"), "@jkghmpcobase,"
# End of a clause, except in 보고 싶다 and 좋은 데가; an ending that 다 can replace; particles that set a noun apart
CUT = re.compile(r"(?:[x.,]|[basBAS](?!v)|(?<=t)d(?![jkghp])|[eE](?![jkghpuvBASE]))[j.,]*")
JOINING, APART = re.compile("[basdBAS][j,.]*$"), re.compile("[@p][jo]")
# A word that praises (p) or blames (b) goods, negated by n before it, by d or f (which blames alone) after it, or blame by s
WORTH, LACK = re.compile("(n?)([pb])([^pb]{0,3}d|(?<=b)[^pb]{0,3}s|[^pb]?(?:n(?![pb])|f))?|f"), re.compile("[.]?d")
Pairs = tuple[tuple[str, str], ...]
Morphemes = tuple[list[tuple[str, str]], list[Span]]


class Words(NamedTuple):
    """Aspects by lowercase word, the pattern of all words, and whether the texts are about goods, not films."""

    aspects: dict[str, str]
    pattern: "re.Pattern[str]"
    goods: bool


def read_words(words: Any) -> Pairs:
    """Read pairs (word, aspect), - for no aspect, from a path or DataFrame, () for None; DataError for other columns."""
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
    # longest words first; grouping by the first letter doubles the speed
    groups = groupby(sorted(dict(pairs), key=lambda word: (word[0], -len(word))), lambda word: re.escape(word[0]))
    patterns = (f"{first}(?:{'|'.join(re.escape(word[1:]) for word in group)})" for first, group in groups)
    return Words(dict(pairs), re.compile("|".join(patterns), re.IGNORECASE), goods)


FILM_WORDS = words_of(read_words(FOLDER / "aspects.tsv"), goods=False)


class Clause(NamedTuple):
    """A clause: characters start to end, its aspects, and the letter of its ending, o for an aspect with 만.

    As a separate text, 영상은 화려한데 becomes 영상 화려하다: without the morphemes that begin at `left_out`, with `tail` for
    the ending. For goods, this text has no aspects and no words of GOODS; `worth` is their praise minus their blame.
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
    """Return the letter of a mecab-ko-dic morpheme and its stem: B and 화려하 for 화려한데."""
    (*stems, form), tags = zip(*joined_morphemes(surface, features))
    stem = surface[: -len(form)] if surface.endswith(form) else composed("".join(stems))
    first, last, kind = tags[0], tags[-1], FORMS.get(form, "")
    if (last == "EC" and kind in ("but", "and", "so", "end")) or (last == "ETN" and kind == "end"):
        return kind[0] if first in ("EC", "ETN", "VCP") else kind[0].upper(), stem
    letter = "." if STOPS.issuperset(surface) else WORDS.get((surface, last), "")
    if letter or last == "ETM":
        return letter or ("t" if form in PRESENT else "r"), stem
    return LETTERS.get(first) or LETTERS.get(first[0], "w"), stem


def placed_morphemes(text: str) -> Morphemes:
    """Return (surface, features) of each morpheme of a clean text, and their spans."""
    pairs = morphemes(text)
    return pairs, align(text, [surface for surface, _ in pairs])


def clauses(text: str, words: Words, placed: Optional[Morphemes] = None) -> list[Clause]:
    """Return the clauses of a clean text in order, separated by white space; [] for a text without aspects."""
    (pairs, spans), names = placed or placed_morphemes(text), dict[int, str]()
    starts, ends = (dict(zip(sides, range(len(spans)))) for sides in zip(*spans)) if spans else ({}, {})
    for match in words.pattern.finditer(text):
        first, last, name = starts.get(match.start()), ends.get(match.end()), words.aspects[match[0].lower()]
        if first is not None and last is not None and name != NONE:
            names.update(dict.fromkeys(range(first, last + 1), name))
    if not names:
        return []
    letters, stems = map(list, zip(*starmap(letter_of, pairs)))
    for index, letter in enumerate(letters[:-1]):
        if letter in "eE" and spans[index][1] == spans[index + 1][0]:
            letters[index] = "c"  # a sentence ends before a space
    letters = ["@" if index in names else letter for index, letter in enumerate(letters)]
    for m in PATTERNS["except"].finditer(text):
        first, last, noun = starts.get(m.start()), ends.get(m.end()), ends.get(len(text[: m.start()].rstrip()))
        if first is not None and last is not None and noun is not None and letters[noun] in "@jkghpnow":
            letters[first : last + 1] = "w" * (last - first) + "x"  # unlike 하지 말고, which has no noun before it
    forms = [joined_morphemes(*pair)[0][0] for pair in pairs] if words.goods else []
    worths = "".join(GOODS.get(form + after) or GOODS.get(form, ".") for form, after in zip(forms, [*forms[1:], ""]))
    code, parts, left_out = "".join(letters), list[Clause](), set[int]()
    omitted = {match.end() - 1 for match in APART.finditer(code)}.union(names if words.goods else ())
    for first, last, kind in joined(text, spans, code, names):
        nouns = [index for index in range(first, last) if index in names]
        ending = JOINING.search(code[first:last]) if nouns else None
        judgments = [m for m in WORTH.finditer(worths, first, last) if m.start(2) not in names or "d" in str(m[3])]
        omitted.update(range(first + ending.start(), last) if ending else (), *(range(*m.span()) for m in judgments))
        omitted.update(k for i in nouns if (lack := LACK.match(worths, i + 1, last)) for k in range(*lack.span()))
        worth = sum(1 if (m[2] == "p") ^ bool(m[1]) ^ bool(m[3]) else -1 for m in judgments)
        kind = "o" if "@o" in code[first:last] and kind != "x" else kind
        tail = tuple(filter(None, (stems[first + ending.start()], "다"))) if ending else ()
        aspects = tuple(dict.fromkeys(names[index] for index in nouns))
        parts.append(Clause(spans[first][0], spans[last - 1][1], aspects, kind, left_out, tail, worth))
    left_out.update(spans[index][0] for index in omitted)
    return parts


def joined(text: str, spans: Sequence[Span], code: str, names: dict[int, str]) -> list[tuple[int, int, str]]:
    """Return (first, last, kind) of the clauses, as indices of morphemes; each has words besides its aspect.

    A clause without such words joins the next (연기, / 음악 다 좋았다) or, at the end, the previous one (좋았어요 / 연기가); an
    effect without an aspect joins its cause (음악이 좋아서 / 두 번 봤다). "However" contrasts a clause with the previous one.
    """
    bounds, first, had_aspect, however = list[tuple[int, int, str]](), 0, False, PATTERNS["however"]
    kinds = {len(code): "", **dict.fromkeys(between(code, names), "")}
    kinds.update((match.end(), match[0][0].lower().replace("d", "b")) for match in CUT.finditer(code))
    for last in sorted(kinds):
        if (opening := however.match(text, spans[first][0])) and bounds:
            bounds[-1] = (*bounds[-1][:2], "b")
        bare = not code[first:last].strip(EMPTY) or (opening and opening.end() >= spans[last - 1][0])
        if bare and last < len(code):
            continue
        has_aspect = "@" in code[first:last]
        joins_cause = had_aspect and not has_aspect and bounds[-1][2] == "s"
        if bounds and (joins_cause or bare and has_aspect and not had_aspect):
            first, has_aspect = bounds.pop()[0], True
        bounds.append((first, last, kinds[last]))
        first, had_aspect = last, has_aspect
    return bounds


def between(code: str, names: dict[int, str]) -> Iterator[int]:
    """Yield the boundaries between aspects that have words of their own."""
    nouns = sorted(names)
    for noun, following in zip(nouns, nouns[1:]):
        words = (gap := code[noun + 1 : following]).lstrip(EMPTY)
        if names[noun] == names[following] or gap.endswith("g"):
            continue
        if words and gap[-1] in "tr" and gap[: -len(words)][-1:] not in ("k", "j"):
            yield following - len(words)  # 뛰어난 연기와 / 아름다운 음악
        elif words or (gap.endswith("h") and code[noun - 1 : noun] in ("t", "r", "m")):
            yield following  # 연기 최고 / 이야기 최악; 그냥 그런 이야기에 / 연기만 빛난다
