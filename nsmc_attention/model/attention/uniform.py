"""The same weight for every token: no attention, for comparison (Wiegreffe & Pinter 2019, arXiv:1908.04626)."""

from dataclasses import dataclass
from typing import Any

from .base import Attention


@dataclass(frozen=True)
class Uniform(Attention):
    """The mean over the tokens."""

    kind = "uniform"

    def cell(self, width: int) -> Any:
        from .cells import UniformAttention

        return UniformAttention()
