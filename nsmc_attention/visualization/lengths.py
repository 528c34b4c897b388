"""How the error of restorers grows with the length of the text."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Union

import numpy
from numpy.typing import NDArray

from ..drawing.figure import new_figure, save_figure
from ..errors import DataError
from ..evaluation.faithfulness import mean_of

# Each bin begins after the one before and includes its own number, in characters
BINS = (10, 20, 30, 45, 60, 90, 140)
# Of the bin's width: how far curves are beside each other, so that intervals do not hide each other
ASIDE = 0.06
MARKERS = "osD^v<>"
Records = Mapping[str, Sequence[tuple[int, float]]]


def save_lengths(
    records: Records, path: Union[str, Path], measure: str = "character error", bins: Sequence[int] = BINS
) -> None:
    """Draw the mean error by the length of the source for several restorers, with 95 % intervals; see `save_figure`.

    Parameters
    ----------
    records : {name: [(length, error), ...]}
        Of each text the characters of its source, and its error: the character error, or 1 where it was not restored
        exactly. DataError if there is none.
    bins : increasing lengths
        The last characters of each bin. Those of fewer than 2 texts of a restorer are left out, longer texts too.
    """
    if not any(records.values()):
        raise DataError(f"{path}: expected the errors of at least one text, found none")
    with new_figure((1.1 * len(bins) + 1.5, 4)) as (figure, grid):
        axes = grid[0, 0]
        for number, (name, pairs) in enumerate(records.items()):
            draw_errors(axes, by_bin(pairs, bins), ASIDE * (number - (len(records) - 1) / 2), MARKERS[number % 7], name)
        starts = [1, *(last + 1 for last in bins)]
        axes.set_xticks(range(len(bins)), [f"{first}–{last}" for first, last in zip(starts, bins)])
        axes.set(xlabel="characters of the source", ylabel=f"{measure} (mean, 95 % interval)", ylim=(0, None))
        axes.grid(axis="y", alpha=0.3)
        axes.legend(fontsize=9)
    save_figure(figure, path)


def by_bin(pairs: Sequence[tuple[int, float]], bins: Sequence[int]) -> list[tuple[int, Mapping[str, Any]]]:
    """Return (bin, `mean_of` its errors) for each bin that has them."""
    lengths: NDArray[Any] = numpy.array([length for length, _ in pairs])
    errors: NDArray[Any] = numpy.array([error for _, error in pairs], dtype="float64")
    places = numpy.searchsorted(bins, lengths)
    means = [(place, mean_of(errors[places == place])) for place in range(len(bins))]
    return [(place, mean) for place, mean in means if mean["mean"] is not None]


def draw_errors(
    axes: Any, means: Sequence[tuple[int, Mapping[str, Any]]], aside: float, marker: str, name: str
) -> None:
    """Draw one curve, its points a little aside."""
    middle = [mean["mean"] for _, mean in means]
    # an error is never below 0
    below = [mean["mean"] - max(0.0, mean["low"]) for _, mean in means]
    above = [mean["high"] - mean["mean"] for _, mean in means]
    places = [place + aside for place, _ in means]
    axes.errorbar(places, middle, yerr=[below, above], fmt=f"{marker}-", markersize=4, capsize=3, label=name)
