"""What all kinds of attention have in common."""

from dataclasses import dataclass, replace
from typing import Any

from ...settings import Settings, setting


class Attention(Settings):
    """Settings of one kind of attention."""

    @property
    def numbers_per_pair(self) -> int:
        """Numbers held for each pair of a query and a key: what bounds the longest review."""
        return 1

    def check_width(self, width: int, where: str) -> None:
        """Raise ConfigError where the attention cannot read states of `width` units."""

    def without_dropout(self) -> "Attention":
        """Return the settings of the same attention without dropout."""
        return self

    def cell(self, width: int) -> Any:
        """Build the cell for states of `width` units.

        Called as cell(query, key, value, mask) with states (N, T, D) and a mask (N, T, T) of 0 and 1, it returns
        the contexts (N, T, D) and the weights (N, T, T), of several heads (N, K, T, T).
        """
        raise NotImplementedError


@dataclass(frozen=True)
class ScoredAttention(Attention):
    """Attention whose weights are the softmax of a scoring function, which `kind` names."""

    dropout: float = setting(0.0, "dropout of the attention weights", low=0.0, high=0.95)

    def without_dropout(self) -> "ScoredAttention":
        return replace(self, dropout=0.0)
