"""Stars as people write them: cells of a table to numbers, and the column that has them.

    "★★★★☆", "8/10", "5점 만점에 4점", "4.0" -> (number, of how many) -> Stars of one scale

`star` reads a cell, `scale_shown` finds the scale of plain numbers, `star_columns` finds the column.
"""

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Optional

from ..errors import DataError
from ..tables.columns import names_of

FILLED_SIGNS, HOLLOW = "★⭐🌟✭", "☆✩"
SIGNS = str.maketrans("", "", FILLED_SIGNS + HOLLOW)
HOLLOW_AS_FILLED = str.maketrans(HOLLOW, "★★")
# Variants of a sign, and what has no width
INVISIBLE = str.maketrans("", "", "\ufe0e\ufe0f\u200b\ufeff")
# Cells that say that there is no rating, without spaces
BLANK = frozenset(
    ("", *"- – — . n/a na null none nan <na> 없음 해당없음 무응답 미평가 평가없음 별점없음 평점없음".split())
)
SCALES = (*range(3, 11), 100)
# The shares of a scale up to which stars are negative, and from which they are positive: 2 and 4 of 5, 4 and 8 of 10
FEW_OF, MANY_OF = 0.4, 0.8
# Names without spaces, signs and case; those of WEAK names are taken only where the cells are numbers
NAMES, WEAK = names_of("stars"), names_of("weak_stars")
ENDINGS = re.compile("(rating|stars?|별점|평점)s?$")
# Parts of a name that say that numbers are something else
OTHERS = re.compile(
    r"추천|좋아요|공감|조회|나이|연령|번호|순번|순위|수량|가격|회차|길이|날짜|연도|년도|요일|분기|일자|시간|계절|[^점]수$|^[년월일시층]$|라벨|레이블|감성|감정"
    r"|likes?$|views?$|helpful|votes?$|thumb|count|^n$|num|age$|year|month|quarter|week|^day|hour|date|rank|id$|idx|index|^no$"
    r"|length|size|qty|quantity|price|version|cluster|topic|label|sentiment|class|target|season|episode|group|unnamed|avg|average|mean|평균"
)
NUMBER, SCALE = r"(?P<number>\d{1,3}(?:[.,]\d{1,4})?)", r"(?P<scale>\d{1,3})(?:\.0)?"
BEFORE, UNIT = "(?:(?:별점|평점|점수|만족도|별|rating|rated|score) ?:? ?)?", "(?: ?(?:점|개|stars?|points?))?"
FORMS = (
    re.compile(f"{BEFORE}{NUMBER}{UNIT}(?P<scale>)"),
    re.compile(f"{BEFORE}{NUMBER}{UNIT} ?(?:/|out of) ?{SCALE}{UNIT}"),
    re.compile(rf"{BEFORE}{NUMBER}{UNIT}[ (/]{{1,3}}{SCALE} ?점? ?만점\)?"),
    re.compile(f"{BEFORE}{SCALE} ?점 ?만점 ?(?:에서|에|중에|중)? ?{NUMBER}{UNIT}"),
)
# The scale in a column's name without spaces: "평점(10점만점)", "rating(1-5)", "rating_of_10"
SCALE_IN_NAME = re.compile(r"(?:(?<!\d)[01][-~–]|/|outof|of_)(\d{1,3})점?[)\]]?$|(\d{1,3})점(?:만점|척도|\))")
# Letters of a cell with stars, and of a column's name that are read
LONGEST_CELL, LONGEST_NAME = 40, 100
# Rows by which a column of an unknown name is known, and the largest share of 0: more are counts of something
FEWEST_CELLS, ZEROS = 5, 0.2
# Rows from which a column of 1 to 4 without a 5 may have a scale of 4, and the share that each of its numbers has then
SEVERAL_STARS, OFTEN = 30, 0.05
MEND = "mend it, or leave it blank"
Pair = Optional[tuple[float, Optional[int]]]


@dataclass(frozen=True)
class Stars:
    """The stars of a column: `numbers`, None for cells that have none, each of `scale`.

    `written` says whether the scale is written in the cells or the column's name; if not, the numbers show it.
    """

    numbers: list[Optional[float]]
    scale: int
    written: bool

    @property
    def labels(self) -> list[Optional[int]]:
        """1 for many stars, 0 for few, None for the middle and for cells without stars."""
        few, many = FEW_OF * self.scale + 1e-6, MANY_OF * self.scale - 1e-6
        return [None if number is None or few < number < many else int(number >= many) for number in self.numbers]

    def in_words(self) -> str:
        """Return which scale was taken, and from where on stars are positive."""
        few, many = (f"{self.scale * share:g}" for share in (FEW_OF, MANY_OF))
        reason = " (no number is above 5)" if not self.written and self.scale == 5 else ""
        return f"of {self.scale}{reason}, up to {few} negative, from {many} on positive, the middle left out"


@lru_cache(maxsize=4096)
def star(cell: str) -> Pair:
    """Return a cell's number and of how many it is, None where it does not say; None for what is no number of stars."""
    if len(cell) > LONGEST_CELL:
        return None
    text = " ".join(unicodedata.normalize("NFKC", cell).translate(INVISIBLE).split()).casefold().replace("%", "/100")
    filled, hollow = (sum(map(text.count, signs)) for signs in (FILLED_SIGNS, HOLLOW))
    if filled or hollow:
        return of_signs(filled, hollow, text.translate(SIGNS).strip(" ()[]"))
    for form in FORMS:
        if written := form.fullmatch(text):
            number, scale = float(written["number"].replace(",", ".")), int(written["scale"] or 0)
            return (number, scale or None) if not scale or number <= scale and scale in SCALES else None
    return None


def of_signs(filled: int, hollow: int, rest: str) -> Pair:
    """Return the number of stars written as signs; the `rest` of the cell may be the number again."""
    total, again = filled + hollow, star(rest) if rest else None
    # "★ 4.5" has a sign for the word
    if again and total == 1:
        return again
    if rest and (again is None or again[0] != filled) or total > 10 or hollow and total not in (5, 10):
        return None
    return float(filled), 5 if total <= 5 else 10


def is_blank(cell: str) -> bool:
    """Return whether a cell has no rating, or says so."""
    return "".join(cell.split()).casefold() in BLANK


def of_reviews(cells: Sequence[str], written: Iterable[bool]) -> list[str]:
    """Return the cells beside texts; one in a row without a text, as of totals, is blank unless a review has it too."""
    known = {cell for cell, text in zip(cells, written) if text}
    return [cell if text or cell in known else "" for cell, text in zip(cells, written)]


# Says where the cell in a row stands; rows are counted from 0
Where = Callable[[int], str]


def pairs_of(cells: Sequence[str], where: Where = str) -> list[Pair]:
    """Return `star` of each cell, None for a blank one; DataError, with its row, for one that is no star."""
    # where no cell has another one, a hollow star is a star
    signs = {} if any(sign in cell for cell in cells for sign in FILLED_SIGNS) else HOLLOW_AS_FILLED
    pairs: list[Pair] = []
    for row, cell in enumerate(cells):
        pairs.append(None if is_blank(cell) else star(cell.translate(signs)))
        if pairs[-1] is None and not is_blank(cell):
            raise DataError(f"{where(row)}: expected 1 to 5 or 1 to 10 stars, found {cell[:20]!r}; {MEND}")
    return pairs


def stars_of(cells: Sequence[str], name: str = "", where: Where = str, open_scale: bool = False) -> Stars:
    """Return the stars of a column's cells, all of the scale that its `name` or a cell says, else that which they show.

    DataError, with the row, for a cell that is no star or of another scale, and where the scale is open, unless with
    `open_scale` the largest number is to do.
    """
    pairs = pairs_of(cells, where)
    numbers = [pair and pair[0] for pair in pairs]
    filled = [pair[0] for pair in pairs if pair]
    said = scale_of_name(name) or next((pair[1] for pair in pairs if pair and pair[1]), None)
    scale = said or (scale_shown(filled) if filled else 5) or (math.ceil(max(filled)) if open_scale else None)
    if scale is None:
        raise DataError(f"{where(numbers.index(max(filled)))}: {open_scale_of(max(filled))}")
    for row, pair in enumerate(pairs):
        if pair and (pair[0] > scale or pair[1] not in (None, scale)):
            raise DataError(f"{where(row)}: expected stars of {scale}, found {cells[row][:20]!r}; {MEND}")
    return Stars(numbers, scale, said is not None)


def scale_shown(numbers: Sequence[float]) -> Optional[int]:
    """Return the scale that numbers show: 5, or 10 for 8 to 10; None where it is open.

    It is for a largest number of 6 or 7, for 1 to 4 or fewer if each is frequent, and for labels and shares of 1.
    """
    largest, counts = max(numbers), Counter(numbers)
    if largest > 7:
        return 10 if largest <= 10 else None
    steps = [counts[step] for step in range(1, int(largest) + 1)]
    whole, least = sum(steps) + counts[0] == len(numbers), OFTEN * len(numbers)
    frequent = whole and len(numbers) >= SEVERAL_STARS and min(steps, default=0) >= least
    coded = largest <= 2 and counts[0] or largest <= 1 and not whole
    return None if largest > 5 or coded or (1 < largest < 5 and frequent) else 5


def open_scale_of(largest: float) -> str:
    """Return a message on numbers with an open scale, by the largest of them: what is expected, and what to do."""
    top = 100 if largest > 10 else math.ceil(largest)
    advice = f"{'mend it, or ' * (top == 100)}write the scale into the column's name, as 만족도 (1-{top})"
    if largest <= 2:
        advice = "if these are labels, name the column by label_column (--label-column)"
    return f"expected stars of 5 or 10, found {largest:g} as the largest number; {advice}"


def scale_of_name(name: str) -> Optional[int]:
    """Return the scale that a column's name has, as "평점(10점 만점)" and "rating (1-5)" have."""
    found = SCALE_IN_NAME.search(squeezed(name))
    scale = int(found[1] or found[2]) if found else None
    return scale if scale in SCALES else None


def squeezed(name: str) -> str:
    """Return the beginning of a column's name in lower case, without spaces."""
    return "".join(unicodedata.normalize("NFKC", name[:LONGEST_NAME]).casefold().split())


def plain_name(name: str) -> str:
    """Return a column's name in lower case without spaces, signs, its scale and what is in brackets."""
    return re.sub(r"\([^()]*\)|\[[^][]*\]|[\W_]", "", SCALE_IN_NAME.sub("", squeezed(name)))


def star_columns(
    columns: Mapping[str, Sequence[str]], exclude: Collection[Optional[str]] = ()
) -> tuple[list[str], str]:
    """Return the columns that could have the stars, and by which they are known: "name" or "cells"."""
    names = {name: plain_name(name) for name in columns if name not in exclude}
    called, weak = ([name for name in names if names[name] in known] for known in (NAMES, WEAK))
    others = [name for name in names if name not in (*called, *weak) and not OTHERS.search(names[name])]
    for candidates in (called, weak, [name for name in others if ENDINGS.search(names[name])]):
        if rated := [name for name in candidates if has_ratings(columns[name])]:
            return rated, "name"
    # so that the refusal says what is wrong with the cells
    if named := [name for name in called if any(map(str.strip, columns[name]))]:
        return named, "name"
    return [name for name in others if looks_rated(columns[name])], "cells"


def ratings(cells: Sequence[str]) -> list[tuple[float, Optional[int]]]:
    """Return `star` of each cell that is not blank; [] where one of them is no rating."""
    try:
        return [pair for pair in pairs_of(cells) if pair]
    except DataError:
        return []


def has_ratings(cells: Sequence[str]) -> bool:
    """Return whether a column has nothing but ratings, their scale may be open; not labels as 0, 1 and 2."""
    return any(number > 2 or scale for number, scale in ratings(cells))


def looks_rated(cells: Sequence[str]) -> bool:
    """Return whether a column of any name has stars: written as such, or whole and half numbers up to 5 or 10.

    Not an index, nor a count of something, most of which are 0, nor percentages.
    """
    pairs = ratings(cells)
    scales = {scale for _, scale in pairs}
    if len(pairs) < FEWEST_CELLS or scales != {None}:
        return len(pairs) >= FEWEST_CELLS and scales in ({5}, {10})
    numbers = [number for number, _ in pairs]
    different = sorted(set(numbers))
    rising = numbers in (different, different[::-1])
    if len(different) < 3 or different[-1] not in (5, 10) or rising or any(2 * number % 1 for number in different):
        return False
    return different[0] >= 1 or (different[-1] == 5 and numbers.count(0) <= ZEROS * len(numbers))
