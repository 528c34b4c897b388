"""Products of query and key: dot and general (Luong et al. 2015, arXiv:1508.04025, equation 8), and scaled."""

from dataclasses import dataclass
from typing import Any

from .base import ScoredAttention


@dataclass(frozen=True)
class Dot(ScoredAttention):
    """score(q, k) = q . k"""

    kind = "dot"

    def cell(self, width: int) -> Any:
        from .cells import DotProductAttentionCell

        return DotProductAttentionCell(scaled=False, dropout=self.dropout)


@dataclass(frozen=True)
class Scaled(ScoredAttention):
    """score(q, k) = q . k / sqrt(D), Vaswani et al. 2017 (arXiv:1706.03762), equation 1."""

    kind = "scaled"

    def cell(self, width: int) -> Any:
        from .cells import DotProductAttentionCell

        return DotProductAttentionCell(scaled=True, dropout=self.dropout)


@dataclass(frozen=True)
class General(ScoredAttention):
    """score(q, k) = q . W k"""

    kind = "general"

    def cell(self, width: int) -> Any:
        from .cells import DotProductAttentionCell

        return DotProductAttentionCell(
            units=width, luong_style=True, scaled=False, use_bias=False, dropout=self.dropout
        )
