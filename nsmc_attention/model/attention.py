"""The scoring functions of the self-attention, each the GluonNLP cell where there is one.

Shapes, defined once for the whole package: N reviews in a batch, T padded length in tokens, E embedding,
H hidden units per GRU direction, A units of the additive score, K heads, C classes.
"""

from .._runtime.mxnet_shim import import_mxnet

mxnet = import_mxnet()

from gluonnlp.model import DotProductAttentionCell, MLPAttentionCell, MultiHeadAttentionCell  # noqa: E402
from mxnet.gluon import HybridBlock, nn  # noqa: E402

HIDDEN_SCORE = -1e18


class AdditiveAttention(MLPAttentionCell):
    """GluonNLP's additive cell, the same function, with a backward pass that takes a third less time.

    The sum of each query with each key is a matrix product with 0 and 1 instead of a broadcast: the gradient
    then is a product too, where MXNet reduces a broadcast's gradient over its middle axes element by element
    (measured by `benchmarks/operators.py`; longer reviews gain more).
    """

    def _compute_score(self, F, query, key, mask=None):
        """(N, T, 2H), (N, T, 2H), (N, T, T) of 0 and 1 -> (N, T, T)."""
        query, key = self._query_mid_layer(query), self._key_mid_layer(key)  # (N, T, A)
        # every unit copied to each of T places: (A, T, A)
        copies = F.broadcast_like(F.expand_dims(F.eye(self._units), axis=1), key, lhs_axes=(1,), rhs_axes=(1,))
        queries = F.dot(query, copies)  # (N, T, T, A)
        ones = F.ones_like(F.slice_axis(query, axis=2, begin=0, end=1))  # (N, T, 1)
        keys = F.batch_dot(ones, F.reshape(key, shape=(0, 1, -1)))  # (N, T, T * A)
        pairs = self._act(queries + F.reshape_like(keys, queries))
        scores = F.reshape(self._attention_score(pairs), shape=(0, 0, 0))
        return scores if mask is None else F.where(mask, scores, HIDDEN_SCORE * F.ones_like(scores))


def additive(config, width):
    """score(q, k) = v . tanh(W q + U k + b), Bahdanau et al. 2015 (arXiv:1409.0473), appendix A.1.2."""
    # The cell's default activation is one Block shared by all cells: each gets its own here
    return AdditiveAttention(config.attention_units, act=nn.Activation("tanh"), dropout=config.attention_dropout)


def dot(config, width):
    """score(q, k) = q . k, Luong et al. 2015 (arXiv:1508.04025), equation 8, "dot"."""
    return DotProductAttentionCell(scaled=False, dropout=config.attention_dropout)


def scaled(config, width):
    """score(q, k) = q . k / sqrt(2H), Vaswani et al. 2017 (arXiv:1706.03762), equation 1."""
    return DotProductAttentionCell(scaled=True, dropout=config.attention_dropout)


def general(config, width):
    """score(q, k) = q . W k, Luong et al. 2015 (arXiv:1508.04025), equation 8, "general"."""
    return DotProductAttentionCell(
        units=width, luong_style=True, scaled=False, use_bias=False, dropout=config.attention_dropout
    )


def multihead(config, width):
    """K scaled dot products of projected q and k, Vaswani et al. 2017 (arXiv:1706.03762), section 3.2.2.

    The weights that the classifier returns are the mean over the heads.
    """
    base = DotProductAttentionCell(scaled=True, dropout=config.attention_dropout)
    return MultiHeadAttentionCell(base, width, width, width, config.attention_heads)


class UniformAttention(HybridBlock):
    """Looks at every token alike: what is left of attention when it has no choice."""

    def hybrid_forward(self, F, query, key, value, mask):
        """Called as GluonNLP's cells are; mask (N, T, T) of 0 and 1."""
        seen = F.maximum(F.sum(mask, axis=2, keepdims=True), F.ones_like(F.slice_axis(mask, axis=2, begin=0, end=1)))
        weights = F.broadcast_div(mask, seen)
        return F.batch_dot(weights, value), weights


def uniform(config, width):
    """The same weight for every token: the mean, for comparison (Wiegreffe & Pinter 2019, arXiv:1908.04626)."""
    return UniformAttention()


CELLS = {
    "additive": additive,
    "dot": dot,
    "scaled": scaled,
    "general": general,
    "multihead": multihead,
    "uniform": uniform,
}


def attention_cell(config, width):
    """Build the cell that config.attention names, for states of `width` = 2H units.

    Called as cell(query, key, value, mask) with (N, T, 2H) states and a (N, T, T) mask of 0 and 1, it
    answers the contexts (N, T, 2H) and the weights (N, T, T), for multihead (N, K, T, T).
    """
    return CELLS[config.attention](config, width)
