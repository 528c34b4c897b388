"""The Transformer: layers of self-attention and feed-forward units, Vaswani et al. 2017 (arXiv:1706.03762).

GluonNLP's cells only have their layer norm after each residual; MXNet's operators for the attention are the same.
Shapes: N reviews, T padded length, E embedding, D units of a state, K heads, L layers. Imports MXNet.
"""

from typing import Any

import numpy
from numpy.typing import NDArray

from ..machine.aliases import Array, Network, Operators
from ..machine.gluon import HybridBlock, mxnet, nn
from .operators import Dropout

# Tokens at this distance and beyond share a bias
FARTHEST = 16
# Initial bias of a head's neighbour, which gives it e^4 times the weight of any other token
NEIGHBOUR_BIAS = 4.0


class LayerNorm(nn.LayerNorm):
    """Ba et al. 2016 (arXiv:1607.06450): (..., D) -> (..., D) with mean beta and variance gamma ** 2 over the units."""

    def __init__(self, units: int) -> None:
        super().__init__(in_channels=units)


class SelfAttention(HybridBlock):
    """K scaled dot products of the states with themselves, section 3.2.2; a query sees only the first keys.

    `relative` adds a bias for each distance and head to the scores: Raffel et al. 2020 (arXiv:1910.10683), section 2.1,
    here one for each layer, and for each distance up to FARTHEST. Each head begins with its own neighbour, see
    `neighbours`.
    """

    def __init__(self, units: int, heads: int, dropout: float, relative: bool = False) -> None:
        super().__init__()
        self.heads = heads
        with self.name_scope():
            if relative:
                initial = mxnet.init.Constant(mxnet.nd.array(neighbours(heads)))
                self.distances = self.params.get("distances", shape=(2 * FARTHEST + 1, heads), init=initial)
            # queries, keys and values of a head side by side, as MXNet's operators read them
            self.projection = nn.Dense(3 * units, in_units=units, flatten=False)
            self.dropout = Dropout(dropout)
            self.output = nn.Dense(units, in_units=units, flatten=False)

    def hybrid_forward(self, F: Operators, states: Array, visible: Array, distances: Array = None) -> Array:
        """(T, N, D), visible (N, T) int32 -> contexts (T, N, D), weights (N, K, T, T).

        Query i of a review attends to its first `visible` keys, at least one; other scores are minus infinity. `visible`
        is the number of tokens to exclude padding, and i + 1 for a causal mask.
        """
        projected = self.projection(states)
        scores = F.contrib.interleaved_matmul_selfatt_qk(projected, heads=self.heads)  # (N * K, T, T)
        if distances is not None:
            scores = self.with_distances(F, scores, F.contrib.arange_like(states, axis=0), distances)
        by_head = F.broadcast_axis(F.expand_dims(visible, axis=1), axis=1, size=self.heads)
        weights = F.softmax(scores, length=F.reshape(by_head, shape=(-1, 0), reverse=True), use_length=True, axis=-1)
        contexts = F.contrib.interleaved_matmul_selfatt_valatt(projected, self.dropout(weights), heads=self.heads)
        return self.output(contexts), F.reshape(weights, shape=(-1, self.heads, 0, 0), reverse=True)

    def with_distances(self, F: Operators, scores: Array, places: Array, distances: Array) -> Array:
        """Add the biases of the distances from query to key to the scores (N * K, T, T)."""
        steps = F.broadcast_sub(F.expand_dims(places, axis=0), F.expand_dims(places, axis=1))  # (T, T)
        rows = F.cast(F.clip(steps, -FARTHEST, FARTHEST) + FARTHEST, dtype="int32")
        biases = F.transpose(F.Embedding(rows, distances, 2 * FARTHEST + 1, self.heads), axes=(2, 0, 1))  # (K, T, T)
        scores = F.reshape(scores, shape=(-1, self.heads, 0, 0), reverse=True)
        scores = F.broadcast_add(scores, F.expand_dims(biases, axis=0))
        return F.reshape(scores, shape=(-1, 0, 0), reverse=True)


class Sublayers(HybridBlock):
    """Base class of encoder and decoder layers: self-attention, and two dense layers with GELU at each position.

    GELU: Hendrycks & Gimpel 2016 (arXiv:1606.08415). Each sublayer has a residual and a layer norm: after the sum (post)
    as in the paper, or before the sublayer (pre; Xiong et al. 2020, arXiv:2002.04745).
    """

    def __init__(self, settings: Any) -> None:
        super().__init__()
        self.norm_first = settings.norm == "pre"
        with self.name_scope():
            relative = settings.positions == "relative"
            self.attention = SelfAttention(settings.units, settings.heads, settings.dropout, relative)
            self.attention_norm = LayerNorm(settings.units)
            self.widen = nn.Dense(settings.feed_forward, in_units=settings.units, flatten=False)
            self.narrow = nn.Dense(settings.units, in_units=settings.feed_forward, flatten=False)
            self.forward_norm = LayerNorm(settings.units)
            self.dropout = Dropout(settings.dropout)

    def pre_norm(self, norm: Network, states: Array) -> Array:
        """Return the input of a sublayer."""
        return norm(states) if self.norm_first else states

    def add_and_norm(self, norm: Network, states: Array, update: Array) -> Array:
        """Return the sum of the states and the output of a sublayer."""
        states = states + self.dropout(update)
        return states if self.norm_first else norm(states)

    def feed_forward(self, F: Operators, states: Array) -> Array:
        hidden = self.widen(self.pre_norm(self.forward_norm, states))
        # exact, as in BERT
        return self.add_and_norm(self.forward_norm, states, self.narrow(F.LeakyReLU(hidden, act_type="gelu")))


class Layer(Sublayers):
    """Self-attention to all tokens but padding, then the feed-forward units."""

    def hybrid_forward(self, F: Operators, states: Array, visible: Array) -> Array:
        """(T, N, D), (N, T) -> states (T, N, D), weights (N, K, T, T)."""
        contexts, weights = self.attention(self.pre_norm(self.attention_norm, states), visible)
        states = self.add_and_norm(self.attention_norm, states, contexts)
        return self.feed_forward(F, states), weights


class Layered(HybridBlock):
    """Base class: embeddings with positions, and L layers of one class."""

    layer: Any

    def __init__(self, settings: Any, embedding_size: int, max_length: int) -> None:
        super().__init__()
        self.units, self.rows = settings.units, max_length
        self.layers: list[Any] = []
        with self.name_scope():
            self.project = None
            if embedding_size != settings.units:
                self.project = nn.Dense(settings.units, in_units=embedding_size, use_bias=False, flatten=False)
            if settings.positions == "learned":
                self.positions = self.params.get("positions", shape=(max_length, settings.units))
            self.norm = LayerNorm(settings.units)
            self.norm_first = settings.norm == "pre"
            self.dropout = Dropout(settings.dropout)
            for number in range(settings.layers):
                layer = self.layer(settings)
                self.register_child(layer, f"layer{number}")
                self.layers.append(layer)

    def placed(self, F: Operators, embedded: Array, places: Array, positions: Array, axis: int) -> Array:
        """Return the first states: the embeddings plus the rows of their places (T,), if positions are learned."""
        # the embedding is scaled as in section 3.4
        states = (self.project(embedded) if self.project else embedded) * self.units**0.5
        if positions is not None:
            rows = F.Embedding(places, positions, self.rows, self.units)
            states = F.broadcast_add(states, F.expand_dims(rows, axis=axis))
        return self.dropout(states if self.norm_first else self.norm(states))


class Transformer(Layered):
    """Embeddings with their positions, through L layers."""

    layer = Layer

    def hybrid_forward(self, F: Operators, embedded: Array, valid_length: Array, positions: Array = None) -> Array:
        """(T, N, E), (N,) -> states (T, N, D) and all weights (N, L, K, T, T), whose rows sum to 1 over the tokens.

        Padding does not influence tokens; its states and rows are meaningless.
        """
        places = F.contrib.arange_like(embedded, axis=0)  # (T,)
        states = self.placed(F, embedded, places, positions, axis=1)
        no_places = F.reshape(F.zeros_like(places), shape=(1, -1))
        visible = F.cast(F.broadcast_add(F.reshape(valid_length, shape=(-1, 1)), no_places), dtype="int32")
        weights = []
        for layer in self.layers:
            states, rows = layer(states, visible)
            weights.append(rows)
        return self.norm(states) if self.norm_first else states, F.stack(*weights, axis=1)


def neighbours(heads: int) -> NDArray[numpy.float32]:
    """Return the initial biases (2 * FARTHEST + 1, heads): NEIGHBOUR_BIAS for one distance of each head, else 0.

    Heads begin with the token before, the token after, the second before and so on, which they would have to learn first
    in a short training (docs/language.md).
    """
    biases = numpy.zeros((2 * FARTHEST + 1, heads), dtype="float32")
    for head in range(heads):
        step = head // 2 % FARTHEST + 1
        biases[FARTHEST + (step if head % 2 else -step), head] = NEIGHBOUR_BIAS
    return biases
