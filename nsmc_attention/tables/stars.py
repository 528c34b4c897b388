"""Stars as people write them: cells of a table to numbers, and the column that has them.

    "★★★★☆", "8/10", "5점 만점에 4점", "별 다섯개", "4.0" -> (number, of how many) -> Stars of one scale

Needs neither pandas nor a network. What a cell may look like is in `star`, which column is taken in `star_columns`.
"""

import re
import unicodedata
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Optional

from ..errors import ColumnError, DataError, list_names
from .columns import names_of

FILLED, HOLLOW = "★⭐🌟✭", "☆✩"
# Cells that say that there is no rating, without spaces
BLANK = {"", "-", "–", "—", ".", "n/a", "na", "null", "none", "nan", "<na>", "없음", "해당없음", "무응답", "미평가"}
BLANK |= {"평가없음", "별점없음", "평점없음", "notrated", "unrated", "norating"}
# Denominators that scales have
SCALES = (4, 5, 7, 10, 20, 100)
# The shares of a scale up to which stars are negative, and from which they are positive: 2 and 4 of 5, 4 and 8 of 10
FEW, MANY = 0.4, 0.8
# Names without spaces, signs and case; those of WEAK names are taken only where the cells are stars
NAMES = names_of("stars")
WEAK = names_of("weak_stars")
ENDINGS = re.compile("(rating|stars?|별점|평점)s?$")
# Parts of a name that say that numbers are something else
OTHERS = re.compile(
    r"추천|좋아요|공감|조회|나이|연령|번호|순번|순위|수량|가격|회차|길이|날짜|연도|년도|요일|분기|일자|시간|계절|[^점]수$|^[년월일시층]$|라벨|레이블|감성|감정"
    r"|likes?$|views?$|helpful|votes?$|thumb|count|^n$|num|age$|year|month|quarter|week|^day|hour|date|rank|id$|idx|index|^no$"
    r"|length|size|qty|quantity|price|version|cluster|topic|label|sentiment|class|target|season|episode|group|unnamed|avg|average|mean|평균"
)
WORDS = dict(zip("하나 한 둘 두 셋 세 넷 네 다섯 one two three four five".split(), "11223344512345"))
NUMBER = r"(\d{1,3}(?:[.,]\d{1,4})?)"
BEFORE = r"(?:(?:별점|평점|점수|만족도|rating|rated|score|별|stars?)\s*[:은는이=]?\s*)?"
UNIT = r"\s*(?:점|개|stars?|points?|pts?)?\s*"
SCALE = r"(\d{1,3})(?:\.0)?"
# Forms with a denominator: (number, denominator), and the other way round
OUT_OF = [
    re.compile(rf"{BEFORE}{NUMBER}{UNIT}(?:/|out of|of)\s*{SCALE}{UNIT}"),
    re.compile(rf"{BEFORE}{NUMBER}{UNIT}[(,]?\s*/?{SCALE}\s*점?\s*만점\s*\)?"),
]
FULL = [
    re.compile(rf"{BEFORE}\(?{SCALE}\s*점?\s*만점\)?\s*(?:에서|에|중에|중|기준으로|기준|으로)?\s*:?\s*{NUMBER}{UNIT}"),
    re.compile(rf"{BEFORE}{SCALE}\s*[점개]\s*(?:중에서|중에|중)\s*{NUMBER}{UNIT}"),
]
PERCENT = re.compile(rf"{BEFORE}{NUMBER}\s*(?:%|퍼센트|프로)")
PLAIN = re.compile(rf"{BEFORE}\+?{NUMBER}{UNIT}(반)?")
# The scale in a column's name: "평점(10점 만점)", "rating (1-5)", "rating_of_10"
NAMED_SCALE = re.compile(
    r"(?:[01]\s*[-~–]\s*|/\s*|out\s*of\s*|of_)(4|5|7|10|20|100)\s*점?\s*\)?$|(5|7|10|100)\s*점\s*(?:만점|척도|\))"
)
# Rows by which a column of an unknown name is known, and the largest share of 0: more are counts of something
FEWEST, ZEROS = 5, 0.2
# Letters of a cell with stars; a number, and of how many it is
LONGEST = 40
Pair = Optional[tuple[float, Optional[int]]]


@dataclass(frozen=True)
class Stars:
    """The stars of a column: `numbers`, None for cells that have none, each of `scale`, which is 5, 10 or another one.

    `written` says whether the scale is written in the cells or the column's name; if not, it is taken from the largest
    number. `blank` counts cells without a rating, of them `words` those that say so ("-", "없음", "N/A").
    """

    numbers: list[Optional[float]]
    scale: int
    written: bool
    blank: int = 0
    words: int = 0

    @property
    def labels(self) -> list[str]:
        """ "1" for many stars, "0" for few, "" for the middle and for cells without stars."""
        return ["" if number is None else self.label(number) for number in self.numbers]

    def label(self, number: float) -> str:
        share = number / self.scale
        return "1" if share >= MANY - 1e-6 else "0" if share <= FEW + 1e-6 else ""

    def in_words(self) -> str:
        """Return which scale was taken, and from where on stars are positive."""
        few, many = (f"{self.scale * share:g}" for share in (FEW, MANY))
        reason = " (no number is above 5)" if not self.written and self.scale == 5 else ""
        return f"of {self.scale}{reason}, up to {few} negative, from {many} on positive, the middle left out"


def star(cell: str) -> Pair:
    """Return a cell's number and of how many it is, None where it does not say; None for what is no number of stars.

    Hollow stars alone are (-N, 5): whether they are N stars or none depends on the other cells.
    """
    return read_star(cell) if len(cell) <= LONGEST else None


# a column has few different cells
@lru_cache(maxsize=4096)
def read_star(cell: str) -> Pair:
    text = normal(cell)
    filled, hollow = (sum(map(text.count, signs)) for signs in (FILLED, HOLLOW))
    if filled or hollow:
        return of_signs(filled, hollow, re.sub(f"[{FILLED}{HOLLOW}\\s]", "", text))
    for forms, places in ((FULL, (2, 1)), (OUT_OF, (1, 2))):
        if written := next(filter(None, (form.fullmatch(text) for form in forms)), None):
            number, scale = (decimal(written[place]) for place in places)
            return (number, int(scale)) if scale in SCALES and number <= scale else None
    if percent := PERCENT.fullmatch(text):
        return (decimal(percent[1]), 100) if decimal(percent[1]) <= 100 else None
    plain = PLAIN.fullmatch(text)
    return (decimal(plain[1]) + 0.5 * bool(plain[2]), None) if plain else None


def of_signs(filled: int, hollow: int, rest: str) -> Pair:
    """Return the number of stars written as signs, with the `rest` of the cell: half a star, or the number again."""
    if filled and rest == "½":
        return filled + 0.5, 5 if filled < 5 else 10
    total = filled + hollow
    again = star(rest.strip("()[]")) if rest else None
    if rest and again is None or total > 10:
        return None
    # "★ 4.5" has a sign for the word
    if again and (filled, hollow) == (1, 0):
        return again
    if again and again[0] != filled:
        return None
    if not filled:
        return -float(hollow), 5 if hollow <= 5 else 10
    return (float(filled), 5 if total <= 5 else 10) if not hollow or total in (5, 10) else None


def normal(cell: str) -> str:
    """Return a cell in lower case, with plain digits and signs, numbers written as words as digits."""
    # "½" would become "1⁄2"
    text = "".join(letter if letter == "½" else unicodedata.normalize("NFKC", letter) for letter in cell)
    text = re.sub("[\ufe0e\ufe0f\u200b-\u200d\ufeff]", "", text).strip().strip("\"'").strip().casefold()
    counted = re.sub(r"(?<=별)\s*(하나|둘|셋|넷|다섯|한|두|세|네)(?=\s*(?:개|$))", lambda word: WORDS[word[1]], text)
    counted = re.sub(r"^(한|두|세|네|다섯)(?=\s*개)", lambda word: WORDS[word[1]], counted)
    return re.sub(r"\b(one|two|three|four|five)(?=\s*(?:stars?\b|out of))", lambda word: WORDS[word[1]], counted)


def decimal(text: str) -> float:
    return float(text.replace(",", "."))


def is_blank(cell: str) -> bool:
    """Return whether a cell has no rating, or says so."""
    return re.sub(r"\s", "", cell).casefold() in BLANK


def stars_of(cells: Sequence[str], where: str = "", name: str = "") -> Stars:
    """Return the stars of a column's cells; its `name` may have the scale. DataError, with the row, for other cells.

    Cells that say of how many ("4/5", "★★★☆☆") are brought to one scale. Others take that scale, where it is one; if no
    cell says it, 5, or 10 where a number is larger than 5.
    """
    return Cells(cells, f"{where} " if where else "", scale_of_name(name)).stars()


@dataclass(frozen=True)
class Cells:
    """The cells of one column; `at` begins its messages, `named` is the scale that its name has."""

    cells: Sequence[str]
    at: str
    named: Optional[int]

    def stars(self) -> Stars:
        blank = list(map(is_blank, self.cells))
        pairs = [None if skipped else self.pair(row) for row, skipped in enumerate(blank)]
        pairs = self.with_hollow(pairs)
        known = {pair[1] for pair in pairs if pair and pair[1]}
        plain = [(pair[0], row) for row, pair in enumerate(pairs) if pair and pair[1] is None]
        usual = self.usual(plain, known)
        self.check_plain(plain, known, usual)
        scales = known | ({usual} if plain else set())
        scale = next(iter(scales)) if len(scales) == 1 else 10 if scales else 5
        numbers = [None if pair is None else pair[0] * scale / (pair[1] or usual) for pair in pairs]
        words = sum(skipped and bool(cell.strip()) for cell, skipped in zip(self.cells, blank))
        return Stars(numbers, scale, not plain or bool(known or self.named), sum(blank), words)

    def pair(self, row: int) -> Pair:
        """Return `star` of a cell; DataError for one that is no star, or a plain number that no scale has."""
        pair = star(self.cells[row])
        if pair and (pair[1] or pair[0] <= (self.named or 10)):
            return pair
        hundred = pair and not pair[1] and 10 < pair[0] <= 100
        advice = "of 100 points write 85/100" if hundred else "mend it, or leave it blank"
        raise self.problem(row, "1 to 5 or 1 to 10 stars", advice)

    def problem(self, row: int, expected: str, advice: str, beside: str = "") -> DataError:
        found = f"{self.cells[row][:20]!r}{beside}"
        return DataError(f"{self.at}row {row + 1}: expected {expected}, found {found}; {advice}")

    def with_hollow(self, pairs: list[Pair]) -> list[Pair]:
        """Return the pairs with hollow stars alone (below 0) as N stars, where no cell has others, or as none of 5."""
        if not (hollow := [(row, pair) for row, pair in enumerate(pairs) if pair and pair[0] < 0]):
            return pairs
        if len(hollow) == sum(pair is not None for pair in pairs) and len({pair for _, pair in hollow}) > 1:
            return [pair and (abs(pair[0]), pair[1]) for pair in pairs]
        for row, pair in hollow:
            if pair[0] not in (-5, -10):
                raise self.problem(row, "stars of one kind", "write ★★☆☆☆ for two of five")
        return [pair and (max(pair[0], 0.0), pair[1]) for pair in pairs]

    def usual(self, plain: list[tuple[float, int]], known: set[int]) -> int:
        """Return the scale of plain numbers."""
        if self.named:
            return self.named
        return next(iter(known)) if len(known) == 1 else 5 if max(plain, default=(0, 0))[0] <= 5 else 10

    def check_plain(self, plain: list[tuple[float, int]], known: set[int], usual: int) -> None:
        """Raise DataError where the scale of a plain number is open, or the numbers are shares of 1."""
        largest, row = max(plain, key=lambda pair: pair[0], default=(0, 0))
        if plain and (largest > usual or len(known) > 1) and known:
            written = next(cell for cell in self.cells if not is_blank(cell) and (star(cell) or (0, None))[1])
            beside = f" beside {written[:20]!r}"
            raise self.problem(row, "stars of one scale", "write of how many, as 4/5 or 8/10", beside)
        numbers = {number for number, _ in plain}
        if known or self.named or not numbers or largest > 2:
            return
        if numbers <= {0, 1, 2} and 0 in numbers:
            advice = "if these are labels, name the column by label_column (--label-column)"
            raise self.problem(row, "1 to 5 or 1 to 10 stars", advice, ", the largest number")
        if largest <= 1 and any(number % 1 for number in numbers):
            raise self.problem(row, "1 to 5 or 1 to 10 stars", "shares of 1 are not stars", ", the largest number")


def scale_of_name(name: str) -> Optional[int]:
    """Return the scale that a column's name has, as "평점(10점 만점)" and "rating (1-5)" have."""
    scale = NAMED_SCALE.search(unicodedata.normalize("NFKC", name).casefold().strip())
    return int(scale[1] or scale[2]) if scale else None


def plain_name(name: str) -> str:
    """Return a column's name without case, spaces, signs and what is in brackets."""
    text = unicodedata.normalize("NFKC", name).casefold()
    return re.sub(r"[\W_]", "", re.sub(r"[(\[].*?[)\]]", "", text))


def star_column(columns: Mapping[str, Sequence[str]], exclude: Collection[str] = ()) -> Optional[str]:
    """Return the column that has the stars, by its name or else by its cells; None where there is none.

    ColumnError, which names them, where two could be it.
    """
    names, _ = star_columns(columns, exclude)
    if len(names) > 1:
        advice = f"choose by stars_column (--stars-column {names[0]!r})"
        raise ColumnError(f"expected one column of stars, found {list_names(names)}; {advice}", columns)
    return names[0] if names else None


def star_columns(columns: Mapping[str, Sequence[str]], exclude: Collection[str] = ()) -> tuple[list[str], str]:
    """Return the columns that could have the stars, and by which they are known: "name" or "cells"."""
    names = {name: plain_name(name) for name in columns if name not in exclude}
    called = [name for name, plain in names.items() if plain in NAMES | WEAK]
    others = [name for name, plain in names.items() if name not in called and not OTHERS.search(plain)]
    for candidates in (called, [name for name in others if ENDINGS.search(names[name])]):
        if rated := [name for name in candidates if has_stars(columns[name])]:
            return rated, "name"
    # so that a cell is refused that is no star
    if named := [name for name in called if names[name] in NAMES and any(map(str.strip, columns[name]))]:
        return named, "name"
    return [name for name in others if looks_rated(columns[name])], "cells"


def has_stars(cells: Sequence[str]) -> bool:
    """Return whether each cell of a column has stars or says that it has none, and one has some."""
    try:
        return any(number is not None for number in stars_of(cells).numbers)
    except DataError:
        return False


def looks_rated(cells: Sequence[str]) -> bool:
    """Return whether a column of any name has stars: written as such, or whole and half numbers up to 5 or 10.

    Not an index, nor a count of something, most of which are 0.
    """
    filled = [cell for cell in cells if not is_blank(cell)]
    # cheap, for columns of texts
    if len(filled) < FEWEST or not star(filled[0]) or not has_stars(filled):
        return False
    pairs = list(map(star, filled))
    if all(pair and pair[1] for pair in pairs):
        return True
    numbers = [pair[0] for pair in pairs if pair]
    different, rising = sorted(set(numbers)), numbers == sorted(set(numbers)) or numbers == sorted(set(numbers))[::-1]
    if len(different) < 3 or different[-1] not in (5, 10) or rising or any(2 * number % 1 for number in different):
        return False
    return different[0] >= 1 or (different[-1] == 5 and numbers.count(0) <= ZEROS * len(numbers))
