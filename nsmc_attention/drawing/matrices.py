"""Attention weights with any axes as matrices with named rows and columns, for pictures and pages."""

from typing import Any, NamedTuple, Optional, Sequence

import numpy
from numpy.typing import ArrayLike

from ..errors import DataError
from ..machine.aliases import Numbers
from ..network.graphs import AXES

NO_HEADS = "expected the heads of an encoder that is a transformer, found another encoder; take a bundle that has one"


class Matrix(NamedTuple):
    """Weights (Q, K) of queries (rows) and keys (columns), with a name for each row and column.

    `rows` is the kind of the rows, "query" or "hop". `starts` are the keys, from 1 on, that begin a word between white space.
    """

    weights: Numbers
    queries: list[str]
    keys: list[str]
    title: str
    rows: str = "query"
    starts: Sequence[int] = ()


def matrices(
    weights: ArrayLike,
    tokens: Sequence[str],
    queries: Optional[Sequence[str]] = None,
    axes: Sequence[str] = AXES,
    title: Optional[str] = None,
) -> list[Matrix]:
    """Split weights (see `draw_heatmap`) into Matrices by head, layer or step; rows that are not queries get numbers ("hop 1")."""
    weights, keys, names = numpy.asarray(weights), list(tokens), [*axes]
    if weights.ndim == len(names) == 1:
        weights, names = weights[None], ["mean", *names]
    if not keys:
        raise DataError("heatmap: expected at least one token, found none; is the review blank?")
    rows, axis = list(keys if queries is None else queries), "query"
    if weights.ndim == len(names) and names[-2] != "queries":
        rows, axis = [numbered(names[-2], row) for row in range(weights.shape[-2])], singular(names[-2])
    if weights.ndim != len(names) or weights.shape[-2:] != (len(rows), len(keys)):
        raise DataError(
            f"heatmap: expected weights of {len(rows)} x {len(keys)} for {len(rows)} queries and {len(keys)} tokens "
            f"(axes {', '.join(names)}), found {weights.shape}"
        )
    return [
        Matrix(weights[index], rows, keys, ", ".join(filter(None, [title, *map(numbered, names, index)])), axis)
        for index in numpy.ndindex(*weights.shape[:-2])
    ]


def numbered(axis: str, index: int) -> str:
    return f"{singular(axis)} {index + 1}"


def singular(axis: str) -> str:
    return axis.rstrip("s")


def rounded(values: ArrayLike, digits: int = 4) -> Any:
    """Return numbers as lists for JSON, rounded to `digits`."""
    return numpy.asarray(values, dtype="float64").round(digits).tolist()
