"""Labels as numbers: 0 and 1, or words, of which one is the positive, beside neutral ones and degrees."""

import re
from collections.abc import Collection, Iterable, Sequence
from typing import Optional

from ..errors import DataError, list_names
from ..tables.columns import names_of
from .stars import LONGEST_CELL, Where, has_ratings, is_blank

# (negative, positive), as `plain_label` writes them
OPINIONS = (
    "negative/positive neg/pos 부정/긍정 부정적/긍정적 나쁨/좋음 혹평/호평 비추천/추천 비추/추천 bad/good 싫어요/좋아요 "
    "불만족/만족 불만/만족 별로/좋음 dislike/like 👎/👍"
)
PAIRS = [tuple(pair.split("/")) for pair in f"0/1 {OPINIONS} false/true no/yes n/y n/p -1/1".split()]
# What each opinion says, and what says neither
POLARITY = {word: side for pair in OPINIONS.split() for side, word in enumerate(pair.split("/"))}
NEUTRAL = set(
    "중립 중립적 보통 neutral neu 무난 무난함 중간 mixed 그저그럼 그저그래요 애매 애매함 복합 복합적 혼합 😐".split()
)
DEGREE = re.compile(
    r"(매우|아주|몹시|약간|다소|조금|대체로|강한|약한|very|slightly|somewhat|strongly|mostly|weakly|highly|extremely)[\s_-]?"
)
# Names without spaces, signs and case of columns of any cells, and of cells that are labels
NAMES = names_of("labels") | {"label", "sentiment", "라벨", "레이블", "감성"}
WEAK_NAMES = names_of("weak_labels")


def plain_label(value: object) -> str:
    """Return a label as its text in lower case: "1" of 1, 1.0, "1.0", "+1" and " 1 "."""
    return re.sub(r"^\+?(-?\d+)(\.0+)?$", r"\1", str(value).strip().casefold())


def side_of(label: str) -> Optional[int]:
    """Return the side of a word by itself, whatever its degree: 1, 0, or None for another word."""
    return POLARITY.get(label, POLARITY.get(DEGREE.sub("", label, count=1)))


def sides_of(labels: Iterable[object], positive: object = None) -> Optional[dict[str, int]]:
    """Return {plain label: 1 if it is positive, 0 if it is not}; None where that is not known.

    Known are words that say it by themselves, the PAIRS, and two labels of which `positive` is one.
    """
    plain = set(map(plain_label, labels))
    if positive is not None:
        wanted = plain_label(positive)
        return {label: int(label == wanted) for label in plain} if wanted in plain and len(plain) < 3 else None
    sides = {label: side for label in plain if (side := side_of(label)) is not None}
    if len(sides) == len(plain):
        return sides
    pair = next((pair for pair in PAIRS if plain <= set(pair)), None)
    return {label: pair.index(label) for label in plain} if pair else None


def neutral_of(labels: Collection[str], positive: Optional[str] = None) -> set[str]:
    """Return the labels that are neutral: words as 중립 and 보통 but `positive`, and the 0 of -1, 0 and 1."""
    if set(labels) == {"-1", "0", "1"} and positive is None:
        return {"0"}
    return {label for label in labels if "".join(label.split()) in NEUTRAL and label != plain_label(positive)}


def polarities(
    cells: Sequence[str], positive: Optional[str] = None, where: Where = "row {}".format
) -> list[Optional[int]]:
    """Return 1 for each positive label, 0 for each negative one and None for a neutral one, or a cell without a label.

    Degrees, as 매우 긍정, count as the label. `positive` is the positive one of two others. DataError, with the row of the
    first label that does not go with those before it.
    """
    plain = ["" if is_blank(cell) else plain_label(cell) for cell in cells]
    neutral = neutral_of(set(plain) - {""}, positive)
    known = dict.fromkeys(label for label in plain if label and label not in neutral)
    if (sides := sides_of(known, positive)) is None:
        labels = list(known)
        # the first that does not go with those before it
        odd = (n for n in range(len(labels)) if (n > 1 if positive else sides_of(labels[: n + 1]) is None))
        raise DataError(f"{where(plain.index(labels[next(odd, 0)]))}: {unknown(labels, positive)}")
    return [sides.get(label) for label in plain]


def unknown(labels: Sequence[str], positive: Optional[str]) -> str:
    """Return a message on labels of which none is known to be the positive one: what is expected, and what to do."""
    found = f"found {list_names(repr(label[:20]) for label in labels)}"
    if positive is not None:
        return f"expected two labels, {positive[:20]!r} and another, {found}; leave the cells of others blank"
    advice = "leave the cells blank that are neither"
    if set(labels) == {"0", "1", "2"}:
        advice = "which one is neutral is not known: write 부정, 중립 and 긍정, or leave its cells blank"
    elif len(labels) == 2:
        advice = "name the positive one by positive (--positive)"
    elif has_ratings(labels):
        advice = "if these are stars, name the column by stars_column (--stars-column)"
    return f"expected labels 0 and 1, negative and positive, or 부정 and 긍정, {found}; {advice}"


def is_labels(cells: Sequence[str], opinions: bool = False) -> bool:
    """Return whether a column has two labels or more and nothing else, all known; of `opinions`, none as 0 and yes."""
    if any(len(cell) > LONGEST_CELL for cell in cells):
        return False
    plain = {plain_label(cell) for cell in cells if not is_blank(cell)}
    known = plain - neutral_of(plain)
    sides = sides_of(known) or {}
    return set(sides.values()) == {0, 1} and (not opinions or None not in map(side_of, known))
