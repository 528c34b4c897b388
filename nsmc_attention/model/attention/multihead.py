"""K scaled dot products of projected q and k, Vaswani et al. 2017 (arXiv:1706.03762), section 3.2.2."""

from dataclasses import dataclass
from typing import Any

from ...errors import ConfigError
from ...settings import setting
from .base import ScoredAttention


@dataclass(frozen=True)
class Multihead(ScoredAttention):
    """GluonNLP's `MultiHeadAttentionCell`; the classifier returns the mean of the heads' weights."""

    kind = "multihead"
    heads: int = setting(4, "heads; divides the units of a state", low=1)

    @property
    def numbers_per_pair(self) -> int:
        return self.heads

    def cell(self, width: int) -> Any:
        from .cells import DotProductAttentionCell, MultiHeadAttentionCell

        base = DotProductAttentionCell(scaled=True, dropout=self.dropout)
        return MultiHeadAttentionCell(base, width, width, width, self.heads)

    def check_width(self, width: int, where: str) -> None:
        if width % self.heads:
            raise ConfigError(f"{where}.heads: expected a divisor of {width}, the units of a state, found {self.heads}")
