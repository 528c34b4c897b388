"""Intervals of 90 % that hold on films nobody has seen, by how many reviews are given.

Split-conformal prediction on quantiles, Romano et al. 2019 (arXiv:1905.03222), equations 6 to 8: the quantiles of a
network are moved apart by as much as films that it was not trained on need.
"""

import math

import numpy

from ..._runtime.aliases import Numbers

# Share of the films whose stars are inside
COVERAGE = 0.9
# Numbers of reviews given for which a margin is found; between them it is interpolated
COUNTS = (1, 2, 3, 5, 8, 12, 20, 32, 64)

Floats = Numbers


def margin(low: Floats, high: Floats, stars: Floats) -> float:
    """Return what widens intervals so that a share COVERAGE of new films is inside; below 0 it narrows them.

    low, high and stars are (N,), of N films that the quantiles were not trained on; infinite for too few of them.
    """
    scores = numpy.sort(numpy.maximum(low - stars, stars - high))
    rank = math.ceil((len(scores) + 1) * COVERAGE)
    return float(scores[rank - 1]) if rank <= len(scores) else math.inf


def widened(quantiles: Floats, counts: Floats, margins: Floats, bounds: tuple[float, float]) -> Floats:
    """Return (N, 3): the quantiles of N films, the outer ones moved by the margins (of COUNTS) and within the bounds.

    A narrowed interval keeps the median inside.
    """
    low, middle, high = numpy.asarray(quantiles, dtype="float64").T
    more = numpy.interp(numpy.log(counts), numpy.log(COUNTS), margins)
    moved = numpy.stack([numpy.minimum(low - more, middle), middle, numpy.maximum(high + more, middle)], axis=1)
    return moved.clip(*bounds)


def inside(intervals: Floats, stars: Floats) -> float:
    """Return the share of stars (N,) within intervals (N, 3)."""
    return float(((intervals[:, 0] <= stars) & (stars <= intervals[:, 2])).mean())
