"""A layer of a Transformer's decoder, Vaswani et al. 2017 (arXiv:1706.03762). Imports MXNet.

Shapes: N reviews, T padded length, S that of the source, D units of a state, K heads.
"""

from typing import Any

from ..._runtime.gluon import nn
from ..._runtime.mxnet_types import Array, Operators
from ...model.transformer import LayerNorm, Sublayers


class DecoderLayer(Sublayers):
    """Causal self-attention, attention to a source, then the feed-forward units; section 3.1.

    It reads T places after W earlier ones, of which it is given the keys and values: all of a target at once, or one.
    Here states are (N, T, D), and the heads have an axis of their own.
    """

    def __init__(self, settings: Any) -> None:
        super().__init__(settings)
        self.heads = settings.heads
        with self.name_scope():
            self.query = nn.Dense(settings.units, in_units=settings.units, flatten=False)
            self.output = nn.Dense(settings.units, in_units=settings.units, flatten=False)
            self.source_norm = LayerNorm(settings.units)

    def hybrid_forward(
        self, F: Operators, states: Array, written: Array, hidden: Array, source: Array, padding: Array
    ) -> Array:
        """(N, T, D) -> states (N, T, D), weights (N, K, T, W + T) and (N, K, T, S), keys and values of W + T places.

        `written` are the keys and values (N, K, W, D / K) of the places before, `source` those (N, K, S, D / K) of the
        source; `hidden` (1, 1, T, W + T) and `padding` (N, 1, 1, S) are added to the scores: minus infinity, or 0.
        """
        projected = self.attention.projection(self.pre_norm(self.attention_norm, states))
        query, *new = F.split(by_head(F, projected, self.heads), num_outputs=3, axis=3)
        keys, values = (F.concat(earlier, later, dim=2) for earlier, later in zip(written, new))
        contexts, weights = self.attend(F, query, keys, values, hidden)
        states = self.add_and_norm(self.attention_norm, states, self.attention.output(contexts))
        query = by_head(F, self.query(self.pre_norm(self.source_norm, states)), self.heads)
        contexts, of_source = self.attend(F, query, source[0], source[1], padding)
        states = self.add_and_norm(self.source_norm, states, self.output(contexts))
        return self.feed_forward(F, states), weights, of_source, keys, values

    def attend(self, F: Operators, query: Array, keys: Array, values: Array, hidden: Array) -> tuple[Array, Array]:
        """Return the contexts (N, T, D) and the weights of all heads, section 3.2.1."""
        scores = F.linalg.gemm2(F.contrib.div_sqrt_dim(query), keys, transpose_b=True)
        weights = F.softmax(F.broadcast_add(scores, hidden), axis=-1)
        contexts = F.linalg.gemm2(self.attention.dropout(weights), values)
        return F.reshape(F.transpose(contexts, axes=(0, 2, 1, 3)), shape=(0, 0, -1)), weights


def by_head(F: Operators, states: Array, heads: int) -> Array:
    """(N, T, D) -> (N, K, T, D / K)."""
    return F.transpose(F.reshape(states, shape=(0, 0, heads, -1)), axes=(0, 2, 1, 3))
