"""Labels as numbers: 0 and 1, or words, of which one is the positive."""

import re
from typing import Any, Iterable

from ..errors import DataError, list_names

# (negative, positive), as `plain_label` writes them
WORDS = "negative/positive neg/pos 부정/긍정 부정적/긍정적 나쁨/좋음 혹평/호평 비추천/추천 bad/good false/true no/yes"
PAIRS = [tuple(pair.split("/")) for pair in f"0/1 {WORDS} -1/1".split()]
EXPECTED = "expected labels 0 and 1, negative and positive, or 부정 and 긍정"


def plain_label(value: Any) -> str:
    """Return a label as its text in lower case: "1" of 1, 1.0, "1.0", "+1" and " 1 "."""
    return re.sub(r"^\+?(-?\d+)(\.0+)?$", r"\1", str(value).strip().casefold())


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
        wanted = plain_label(positive)
        if wanted not in labels or len(labels) > 2:
            raise DataError(f"expected two labels, {str(positive)[:20]!r} and another, found {names}")
        return labels[wanted]
    pair = next((pair for pair in PAIRS if labels and set(labels) <= set(pair)), None)
    if pair is None:
        advice = "; name the positive one by positive (--positive)" if len(labels) == 2 else ""
        raise DataError(f"{EXPECTED}, found {names}{advice}")
    return labels.get(pair[1], pair[1])
