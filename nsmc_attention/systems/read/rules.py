"""Removal of thin straight rules that touch letters, such as those of tables and below links."""

from collections.abc import Iterator
from typing import Any

import numpy

from .layout import EDGE, MOST, Mask
from .strips import Gray

# In pixels: least lengths of horizontal (a line of ㅠㅠㅠ is wide) and vertical rules, most thickness, length of ends that
# may be corners. The gray on both sides is equal within ALIKE along at least a share PLAIN
WIDE, HIGH, THICK, CORNER, ALIKE, PLAIN = 256, 64, 3, 24, 10, 0.25


def without_rules(gray: Gray, contrast: Gray) -> Gray:
    """Return a picture without rules that touch other ink, found by its `framed_contrast`; a copy if there are any."""
    edges, views = contrast[1:-1, 1:-1] >= EDGE, list[tuple[Any, int]]([(numpy.asarray, WIDE), (numpy.transpose, HIGH)])
    edges &= edges.mean() <= MOST
    rules = [(view, rule) for view, length in views for rule in touched_rules(view(gray), view(edges), length)]
    clear = gray.copy() if rules else gray
    for view, (first, last, left, right, paper) in rules:
        rows = view(clear)[first - 1 : last + 2, left:right]
        crossed = (numpy.abs(rows[[0, -1]].astype("int16") - paper) > EDGE).all(axis=0)
        rows[1:-1, ~crossed] = paper
    return clear


def touched_rules(gray: Gray, edges: Mask, length: int) -> Iterator[tuple[int, int, int, int, int]]:
    """Yield first row, last row, first column, end and background of each horizontal rule that touches other ink."""
    for row, left, right in long_runs(edges, length):
        inner = slice(left + CORNER, right - CORNER)
        for thick in range(1, THICK + 1):
            for first, last in ((row - thick + 1, row), (row + 1, row + thick)):
                if first >= 2 and last + 1 < len(edges) and edges[[first - 2, last + 1], inner].any():
                    above, *rule, below = gray[first - 1 : last + 2, left:right].astype("int16")
                    plain = (abs(above - below) <= ALIKE) & (abs(rule - above) >= EDGE).all(axis=0)
                    if plain.mean() >= PLAIN:
                        yield first, last, left, right, int(numpy.median(above[plain]))


def long_runs(edges: Mask, length: int) -> list[tuple[int, int, int]]:
    """Return row, first column and end of each horizontal run of edges longer than `length`."""
    padded = numpy.pad(edges, ((0, 0), (1, 1)))
    ends = numpy.flatnonzero(padded.ravel()[1:] != padded.ravel()[:-1]).reshape(-1, 2)
    rows, columns = numpy.divmod(ends[ends[:, 1] - ends[:, 0] > length], padded.shape[1])
    return list(zip(rows[:, 0].tolist(), *columns.T.tolist()))
