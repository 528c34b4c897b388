"""Blocks that GluonNLP lacks, and faster forms of its own. Imports MXNet."""

from functools import partial

from ..machine.aliases import Array, Operators
from ..machine.gluon import HybridBlock, gluonnlp, nn, rnn
from . import operators

MASKED_SCORE = -1e18


class Bidirectional(HybridBlock):
    """A GRU layer in each direction; neither reads padding before a token.

    MXNet's `bidirectional=True` starts the backward direction in the padding (apache/mxnet#19323), so the backward
    layer reads each review reversed within its own length.
    """

    def __init__(self, hidden_size: int) -> None:
        super().__init__()
        with self.name_scope():
            self.forward_gru = rnn.GRU(hidden_size, layout="TNC")
            self.backward_gru = rnn.GRU(hidden_size, layout="TNC")

    def hybrid_forward(self, F: Operators, embedded: Array, valid_length: Array) -> Array:
        """(T, N, E), (N,) float32 -> (T, N, 2H); states at padding are not zero, mask them."""
        forward, backward = layers = [self.forward_gru, self.backward_gru]
        # MXNet infers the size of the input only through its own operator
        if operators.in_use() and forward.l0_i2h_weight.shape[1]:
            return operators.gru(F, embedded, valid_length, layers)
        reverse = partial(F.SequenceReverse, sequence_length=valid_length, use_sequence_length=True)
        states = forward(embedded), reverse(backward(reverse(embedded)))
        # concat takes six times as long; on matrices twice as long, and each backward pass on a CPU leaks 1.8 kB
        return F.reshape(F.stack(*states, axis=2), shape=(0, 0, -1))


def masked_softmax(F: Operators, scores: Array, mask: Array) -> Array:
    """Return the softmax of scores (N, S) over the positions whose mask is 1; 0 elsewhere."""
    return F.softmax(F.where(mask, scores, MASKED_SCORE * F.ones_like(scores)), axis=1) * mask


def listed(arrays: object) -> list[Array]:
    """Return the output of a Block, one array or several, as a list."""
    return list(arrays) if isinstance(arrays, (list, tuple)) else [arrays]


class AdditiveAttention(gluonnlp.model.MLPAttentionCell):
    """GluonNLP's additive cell, computed by an operator of `operators` if in use (benchmarks/speed/README.md).

    MLPAttentionCell is the reference: tests/network/test_attention.py compares contexts, weights and gradients.
    """

    def __init__(self, units: int, dropout: float) -> None:
        # the default activation is one Block shared by all cells
        super().__init__(units, act=nn.Activation("tanh"), dropout=dropout)

    def _compute_weight(self, F: Operators, query: Array, key: Array, mask: Array = None) -> Array:
        """(N, T, D), (N, T, D), (N, T, T) of 0 and 1 -> (N, T, T)."""
        layers = self._query_mid_layer, self._key_mid_layer, self._attention_score
        # MXNet infers the size of the states only through its own operators
        if not operators.in_use() or query is not key or mask is None or not layers[0].weight.shape[1]:
            return super()._compute_weight(F, query, key, mask)
        parameters = layers[0].weight, layers[0].bias, layers[1].weight, layers[2].weight
        values = [operators.value(F, parameter, key) for parameter in parameters]
        return self._dropout_layer(F.nsmc_additive_weights(key, *values, F.BlockGrad(mask)))


class StructuredAttention(HybridBlock):
    """R hops over the states of a review: A = softmax(W2 tanh(W1 H^T)), M = A H, Lin et al. 2017, equations 6 and 7."""

    def __init__(self, width: int, units: int, hops: int, dropout: float) -> None:
        super().__init__()
        with self.name_scope():
            self.hidden = nn.Dense(units, in_units=width, use_bias=False, flatten=False)
            self.activation = nn.Activation("tanh")
            self.score = nn.Dense(hops, in_units=units, use_bias=False, flatten=False)
            self.dropout = nn.Dropout(dropout)

    def hybrid_forward(self, F: Operators, key: Array, value: Array, mask: Array) -> Array:
        """(N, T, D), (N, T, D), mask (N, 1, T) of 0 and 1 -> M (N, R, D), A (N, R, T).

        Each hop's weights are not negative, sum to 1 over the tokens and are 0 on padding.
        """
        scores = F.transpose(self.score(self.activation(self.hidden(key))), axes=(0, 2, 1))  # (N, R, T)
        weights = F.softmax(F.broadcast_add(scores, (mask - 1) * -MASKED_SCORE), axis=-1)
        weights = self.dropout(weights)
        return F.batch_dot(weights, value), weights


class UniformAttention(HybridBlock):
    """Equal weights for all tokens; called like GluonNLP's cells."""

    def hybrid_forward(self, F: Operators, query: Array, key: Array, value: Array, mask: Array) -> Array:
        # rows of padding have no token: divided by 1, they stay 0
        weights = F.broadcast_div(mask, F.maximum(F.sum(mask, axis=2, keepdims=True), 1))
        return F.batch_dot(weights, value), weights


class WindowValues(HybridBlock):
    """tanh of a Dense layer on embeddings of a token and `reach` neighbours on either side, zeros beyond the ends."""

    def __init__(self, embedding_size: int, units: int, reach: int) -> None:
        super().__init__()
        self.reach = reach
        with self.name_scope():
            self.dense = nn.Dense(units, in_units=(2 * reach + 1) * embedding_size, flatten=False, activation="tanh")

    def hybrid_forward(self, F: Operators, embedded: Array) -> Array:
        """(N, T, E), 0 on padding -> (N, T, V)."""
        if not self.reach:
            return self.dense(embedded)
        edge = [0 * F.slice_axis(embedded, axis=1, begin=0, end=1)] * self.reach
        padded, last = F.concat(*edge, embedded, *edge, dim=1), 2 * self.reach
        # from the token `reach` positions before each token to the one `reach` positions after it
        shifted = [F.slice_axis(padded, axis=1, begin=i, end=i - last or None) for i in range(last + 1)]
        return self.dense(F.concat(*shifted, dim=2))
