"""Scoring functions of the attention: settings of each kind, which build its cell.

To add one, write a class like `General` and add it to ATTENTIONS. Settings are read without MXNet; `cell` imports it.
"""

from typing import ClassVar

from ..errors import ConfigError
from ..machine.aliases import Network
from ..schema import Settings, setting


class Attention(Settings):
    """Settings of one kind of attention."""

    # axis of the rows of weights: "queries", the tokens, or "hops"
    rows: ClassVar[str] = "queries"

    @property
    def description(self) -> str:
        """Name in model cards."""
        return f"{self.kind} score"

    @property
    def penalty(self) -> float:
        """Weight of the `redundancy` of the rows in the loss (`classifier.stages`)."""
        return 0.0

    def pooled(self, width: int) -> int:
        """Return the size of the last layer's input for states of `width` units."""
        return width

    @property
    def numbers_per_pair(self) -> int:
        """Numbers held for each pair of a query and a key; they bound the longest review."""
        return 1

    def check_width(self, width: int, where: str) -> None:
        """Raise ConfigError if the attention cannot read states of `width` units."""

    def cell(self, width: int) -> Network:
        """Build the cell for states of `width` units. Imports MXNet.

        cell(query, key, value, mask) takes states (N, T, D) and a mask (N, T, T) of 0 and 1, and returns contexts (N,
        T, D) and weights (N, T, T), or (N, K, T, T) with several heads. If rows are hops, cell(key, value, mask) takes
        a mask (N, 1, T), and returns contexts M (N, R, D) and weights (N, R, T).
        """
        raise NotImplementedError


class Uniform(Attention):
    """Equal weights for all tokens: no attention, for comparison (Wiegreffe & Pinter 2019, arXiv:1908.04626)."""

    kind = "uniform"

    def cell(self, width: int) -> Network:
        from .blocks import UniformAttention

        return UniformAttention()


class ScoredAttention(Attention):
    """Attention whose weights are the softmax of a scoring function."""

    dropout: float = setting(0.0, "dropout of the attention weights", low=0.0, high=0.95)


class Additive(ScoredAttention):
    """score(q, k) = v . tanh(W q + U k + b), Bahdanau et al. 2015 (arXiv:1409.0473), appendix A.1.2."""

    kind = "additive"
    units: int = setting(32, "units of the additive score (A)", low=1, high=512)

    @property
    def numbers_per_pair(self) -> int:
        return self.units

    def cell(self, width: int) -> Network:
        from .blocks import AdditiveAttention

        return AdditiveAttention(self.units, self.dropout)


class Dot(ScoredAttention):
    """score(q, k) = q . k, Luong et al. 2015 (arXiv:1508.04025), section 3.1."""

    kind = "dot"
    scaled: ClassVar[bool] = False

    def cell(self, width: int) -> Network:
        from gluonnlp.model import DotProductAttentionCell

        return DotProductAttentionCell(scaled=self.scaled, dropout=self.dropout)


class Scaled(Dot):
    """score(q, k) = q . k / sqrt(D), Vaswani et al. 2017 (arXiv:1706.03762), equation 1."""

    kind = "scaled"
    scaled = True


class General(ScoredAttention):
    """score(q, k) = q . W k, Luong et al. 2015 (arXiv:1508.04025), section 3.1."""

    kind = "general"

    def cell(self, width: int) -> Network:
        from gluonnlp.model import DotProductAttentionCell

        return DotProductAttentionCell(width, luong_style=True, scaled=False, use_bias=False, dropout=self.dropout)


class Multihead(Scaled):
    """K scaled dot products of projected q and k, Vaswani et al. 2017, section 3.2.2.

    The classifier returns the mean of the heads' weights.
    """

    kind = "multihead"
    heads: int = setting(4, "heads; divides the units of a state", low=1)

    @property
    def numbers_per_pair(self) -> int:
        return self.heads

    def check_width(self, width: int, where: str) -> None:
        if width % self.heads:
            raise ConfigError(f"{where}.heads: expected a divisor of {width}, the units of a state, found {self.heads}")

    def cell(self, width: int) -> Network:
        from gluonnlp.model import MultiHeadAttentionCell

        return MultiHeadAttentionCell(super().cell(width), width, width, width, self.heads)


class Structured(ScoredAttention):
    """score_r(k) = w_r . tanh(W k) for R hops, Lin et al. 2017 (arXiv:1703.03130), equation 6.

    Structured self-attention: a hop has no query but a learnt w_r. The last layer reads the contexts of all hops, M = A H
    (equation 7). The penalty is that of equation 8.
    """

    kind = "structured"
    rows = "hops"
    units: int = setting(32, "units of the score (A)", low=1, high=512)
    hops: int = setting(4, "hops over a review, each with its own weights (R)", low=1, high=64)
    penalty: float = setting(0.01, "weight in the loss of hops that attend to the same tokens; 0: none", low=0.0)

    @property
    def description(self) -> str:
        return f"structured, {self.hops} hop{'s' * (self.hops > 1)}"

    def pooled(self, width: int) -> int:
        return self.hops * width

    def cell(self, width: int) -> Network:
        from .blocks import StructuredAttention

        return StructuredAttention(width, self.units, self.hops, self.dropout)


ATTENTIONS: dict[str, type[Attention]] = {
    kind.kind: kind for kind in (Additive, Dot, Scaled, General, Multihead, Structured, Uniform)
}
