"""Thin straight rules, as of tables and below links, which are painted over where letters touch them."""

from collections.abc import Iterator
from typing import Any

import numpy

from .layout import EDGE, MOST, Mask
from .strips import Gray

# In pixels: rules are longer than WIDE or HIGH (a line of ㅠㅠㅠ is wide) and at most THICK, and their ends, which may be
# corners, have CORNER. Their sides have the same gray, within ALIKE, along a share PLAIN
WIDE, HIGH, THICK, CORNER, ALIKE, PLAIN = 256, 64, 3, 24, 10, 0.25


def without_rules(gray: Gray, contrast: Gray) -> Gray:
    """Return a picture without the rules that something touches, known by its `framed_contrast`; a copy if any."""
    edges, turns = contrast[1:-1, 1:-1] >= EDGE, list[tuple[Any, int]]([(numpy.asarray, WIDE), (numpy.transpose, HIGH)])
    edges &= edges.mean() <= MOST
    rules = [(turn, rule) for turn, long in turns for rule in touched_rules(turn(gray), turn(edges), long)]
    clear = gray.copy() if rules else gray
    for turn, (first, last, left, right, paper) in rules:
        rows = turn(clear)[first - 1 : last + 2, left:right]
        crossed = (numpy.abs(rows[[0, -1]].astype("int16") - paper) > EDGE).all(axis=0)
        rows[1:-1, ~crossed] = paper
    return clear


def touched_rules(gray: Gray, edges: Mask, long: int) -> Iterator[tuple[int, int, int, int, int]]:
    """Yield the first and last row, first column, end and background of each touched rule from left to right."""
    for row, left, right in long_runs(edges, long):
        inner = slice(left + CORNER, right - CORNER)
        for thick in range(1, THICK + 1):
            for first, last in ((row - thick + 1, row), (row + 1, row + thick)):
                if first >= 2 and last + 1 < len(edges) and edges[[first - 2, last + 1], inner].any():
                    above, *own, below = gray[first - 1 : last + 2, left:right].astype("int16")
                    plain = (abs(above - below) <= ALIKE) & (abs(own - above) >= EDGE).all(axis=0)
                    if plain.mean() >= PLAIN:
                        yield first, last, left, right, int(numpy.median(above[plain]))


def long_runs(edges: Mask, long: int) -> list[tuple[int, int, int]]:
    """Return the row, the first column and the end of long runs of edges."""
    padded = numpy.pad(edges, ((0, 0), (1, 1)))
    ends = numpy.flatnonzero(padded.ravel()[1:] != padded.ravel()[:-1]).reshape(-1, 2)
    rows, columns = numpy.divmod(ends[ends[:, 1] - ends[:, 0] > long], padded.shape[1])
    return list(zip(rows[:, 0].tolist(), *columns.T.tolist()))
