"""Boosted trees that decide which letters and spaces change: trees.json, which recipes/trees.py writes, as plain arrays."""

import json
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy
from numpy.typing import NDArray

from ...machine.aliases import Numbers


class Trees(NamedTuple):
    """T trees (Friedman 2001) of at most C conditions, that a feature is at most a threshold, and L leaves; shorter ones are padded.

    `paths` (T, C, L) say which conditions lead to a leaf, `lengths` (T, 1, L) how many: 1 must hold, -1 must not, 0 is elsewhere.
    """

    paths: Numbers
    lengths: Numbers
    constant: Numbers
    features: NDArray[numpy.int64]
    thresholds: Numbers
    values: Numbers

    def log_odds(self, rows: Numbers) -> Numbers:
        """Return (N,), the log-odds that changes are right: the values of the leaves that their features (N, F) lead to."""
        held = numpy.where(rows[:, self.features] <= self.thresholds, 1, -1).astype("float32")
        met = numpy.matmul(held.transpose(1, 0, 2), self.paths)  # (T, N, L)
        reached = (met == self.lengths).argmax(2)
        # each row is summed alone, so that its log-odds are the same whatever is beside it
        return self.constant + self.values[numpy.arange(len(reached)), reached.T].sum(1)


@lru_cache(maxsize=None)
def packaged_trees(kind: str) -> Trees:
    """Return the trees of a kind of change: "letter", "added" or "removed"."""
    stored = json.loads(Path(__file__).with_suffix(".json").read_bytes())[kind]
    paths = numpy.array(stored.pop("paths"), "float32")
    return Trees(paths, numpy.abs(paths).sum(1, keepdims=True), **{name: numpy.array(stored[name]) for name in stored})
