"""score(q, k) = v . tanh(W q + U k + b), Bahdanau et al. 2015 (arXiv:1409.0473), appendix A.1.2."""

from dataclasses import dataclass
from typing import Any

from ...settings import setting
from .base import ScoredAttention


@dataclass(frozen=True)
class Additive(ScoredAttention):
    """GluonNLP's `MLPAttentionCell` with a faster backward pass."""

    kind = "additive"
    units: int = setting(32, "units of the additive score (A)", low=1, high=512)

    @property
    def numbers_per_pair(self) -> int:
        return self.units

    def cell(self, width: int) -> Any:
        from .cells import AdditiveAttention, new_tanh

        # MLPAttentionCell's default activation is one Block shared by all cells
        return AdditiveAttention(self.units, act=new_tanh(), dropout=self.dropout)
