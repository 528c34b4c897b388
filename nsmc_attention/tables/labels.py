"""Labels as numbers: 0 and 1, or words, of which one is the positive.

`positive_of` is for columns of two labels; `polarities` also reads neutral ones and degrees, and `is_labels` knows a
column of labels by its cells.
"""

import re
from collections.abc import Sequence
from typing import Any, Iterable, Optional

from ..errors import DataError, list_names
from .columns import names_of
from .stars import LONGEST, is_blank

# (negative, positive), as `plain_label` writes them
OPINIONS = (
    "negative/positive neg/pos 부정/긍정 부정적/긍정적 나쁨/좋음 혹평/호평 비추천/추천 비추/추천 bad/good 싫어요/좋아요 "
    "불만족/만족 불만/만족 별로/좋음 dislike/like 👎/👍"
)
SIGNS = "n/p -/+ -1/1"
PAIRS = [tuple(pair.split("/")) for pair in f"0/1 {OPINIONS} false/true no/yes n/y {SIGNS}".split()]
EXPECTED = "expected labels 0 and 1, negative and positive, or 부정 and 긍정"
# What each opinion says, and what says neither
POLARITY = {word: side for pair in OPINIONS.split() for side, word in enumerate(pair.split("/"))}
NEUTRAL = set(
    "중립 중립적 보통 neutral neu 무난 무난함 중간 mixed 그저그럼 그저그래요 애매 애매함 복합 복합적 혼합 😐".split()
)
DEGREE = re.compile(
    r"(매우|아주|몹시|약간|다소|조금|대체로|강한|약한|very|slightly|somewhat|strongly|mostly|weakly|highly|extremely)[\s_-]*"
)
# Names of columns of labels beside those of `tables.LABEL_COLUMNS`, without spaces, signs and case; of any cells, and of
# cells that are labels
NAMES = names_of("labels")
WEAK_NAMES = names_of("weak_labels")
# Parts of the name of a column whose 0 and 1 are no opinions
FLAG = re.compile(
    r"^is|^has|verified|photo|image|사진|구매|광고|spam|스팸|gender|성별|여부$|id$|index|split|train|test"
)


def plain_label(value: object) -> str:
    """Return a label as its text in lower case: "1" of 1, 1.0, "1.0", "+1" and " 1 "."""
    return re.sub(r"^\+?(-?\d+)(\.0+)?$", r"\1", str(value).strip().casefold())


def first_unknown(labels: list[str]) -> int:
    """Return the row, from 1, of the first label that is in no pair with those before it."""
    known = [set(pair) for pair in PAIRS]
    for row, label in enumerate(map(plain_label, labels), start=1):
        if not (known := [pair for pair in known if label in pair]):
            return row
    return len(labels)


def positive_of(values: Iterable[Any], positive: Any = None) -> Any:
    """Return the positive one of a column's labels: a pair that is known, or `positive` where it is one of two.

    `values` are one or two different labels, each any number of times, as str, int, float or bool. The result is as it is
    there; where only the negative one is there, it is the known counterpart as str. `positive` wins over what is known.
    DataError for more than two labels, two of which neither is known to be the positive one, or no `positive` among them.
    """
    labels: dict[str, Any] = {}
    for value in values:
        labels.setdefault(plain_label(value), value)
    names = list_names(repr(name[:20]) for name in labels)
    if positive is not None:
        wanted, advice = plain_label(positive), "; leave the cells of the others blank" if len(labels) > 2 else ""
        if wanted not in labels or len(labels) > 2:
            raise DataError(f"expected two labels, {str(positive)[:20]!r} and another, found {names}{advice}")
        return labels[wanted]
    if (pair := next((pair for pair in PAIRS if labels and set(labels) <= set(pair)), None)) is None:
        raise DataError(f"{EXPECTED}, found {names}{advice_for(set(labels))}")
    return labels.get(pair[1], pair[1])


def advice_for(labels: set[str]) -> str:
    """Return what to do about labels of which none is known to be the positive one."""
    if labels == {"0", "1", "2"}:
        return "; which one is neutral is not known: write 부정, 중립 and 긍정, or leave its cells blank"
    if len(labels) == 2:
        return "; name the positive one by positive (--positive)"
    return "; leave the cells blank that are neither" if len(labels) > 2 else ""


def polarities(values: Sequence[str], positive: Optional[str] = None) -> tuple[list[Optional[int]], int]:
    """Return 1 for each positive label, 0 for each negative one and None for others; and how many are neutral.

    Neutral are words as 중립 and 보통, and the 0 of -1, 0 and 1; others with None are cells without a label. Degrees, as
    매우 긍정, count as the label. `positive` is the positive one of two others. DataError as `positive_of`.
    """
    plain = list(map(plain_label, values))
    known = {label for label in plain if not is_blank(label) or label == "-" and "+" in plain}
    wanted = None if positive is None else plain_label(positive)
    neutral = {label for label in known if re.sub(r"\s", "", label) in NEUTRAL and label != wanted}
    if known == {"-1", "0", "1"} and positive is None:
        neutral = {"0"}
    sides = sides_of(known - neutral, positive)
    return [sides.get(label) for label in plain], sum(label in neutral for label in plain)


def sides_of(labels: set[str], positive: Optional[str]) -> dict[str, int]:
    """Return {label: 1 or 0}; DataError as `positive_of`."""
    if positive is None and labels and all(side_of(label) is not None for label in labels):
        return {label: side for label in labels if (side := side_of(label)) is not None}
    chosen = plain_label(positive_of(sorted(labels), positive)) if labels else None
    return {label: int(label == chosen) for label in labels}


def side_of(label: str) -> Optional[int]:
    """Return what a word says by itself, whatever its degree: 1, 0, or None for another one."""
    return POLARITY.get(label, POLARITY.get(DEGREE.sub("", label, count=1)))


def is_labels(cells: Sequence[str], opinions: bool = False) -> bool:
    """Return whether a column has two labels or more and nothing else, all known; of `opinions`, none as 0 and yes."""
    if any(len(cell) > LONGEST for cell in cells):
        return False
    plain = set(map(plain_label, cells))
    known = {label for label in plain if not is_blank(label)} - NEUTRAL
    if opinions:
        sides = set(map(side_of, known))
        return sides == {0, 1}
    try:
        return set(polarities(sorted(plain))[0]) >= {0, 1}
    except DataError:
        return False
