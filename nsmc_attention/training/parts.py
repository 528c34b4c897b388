"""The tokenized reviews of a training. Read without MXNet."""

from dataclasses import dataclass, replace
from typing import Any, Optional

import pandas
from numpy.typing import NDArray


@dataclass(frozen=True)
class Part:
    """Tokenized reviews without the blank ones.

    Attributes
    ----------
    token_lists : list of list of str
    labels : (N,) array
        The probability of positive: 0 or 1, or of raw reviews (stars - 1) / 9.
    frame : DataFrame
        The reviews themselves, row by row.
    """

    token_lists: list[list[str]]
    labels: NDArray[Any]
    frame: pandas.DataFrame

    def take(self, members: list[int]) -> "Part":
        """Return the Part of these positions, in the order of the file."""
        members = sorted(members)
        return Part([self.token_lists[i] for i in members], self.labels[members], self.frame.iloc[members])

    def in_units(self, encoder: Any) -> "Part":
        """Return the Part with the vocabulary's units in place of words."""
        return replace(self, token_lists=[encoder.units(tokens) for tokens in self.token_lists])


@dataclass(frozen=True)
class Parts:
    """The reviews of a training; `misspelt` is the training part with some reviews misspelt."""

    train: Part
    dev: Part
    misspelt: Part
    stars: Optional[Part] = None

    def in_units(self, encoder: Any) -> "Parts":
        return Parts(**{name: part and part.in_units(encoder) for name, part in vars(self).items()})
