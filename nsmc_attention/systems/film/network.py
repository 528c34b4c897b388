"""The film network: vectors of a film's reviews in, quantiles of its mean stars out. Imports MXNet.

Hierarchical attention, Yang et al. 2016 (N16-1174), section 2.2, with the classifier's encoder for the word level. The
reviews of a film have no order, so they are pooled as a set, Ilse et al. 2018 (arXiv:1802.04712), equations 7 and 8.
Shapes: N films, S reviews per film, M reviews in total, F features of a review, D units of its value.
"""

from typing import Any

from ...machine.aliases import Array, Arrays, Operators
from ...machine.gluon import Block, HybridBlock, mxnet, nn
from ...network.blocks import masked_softmax


class ReviewScorer(HybridBlock):
    """The score and the value of each review."""

    def __init__(self, inputs: int, settings: Any) -> None:
        super().__init__()
        self.inputs = {"vectors": ("N", inputs)}
        self.attends = settings.attention.kind != "uniform"
        with self.name_scope():
            self.mean, self.unit = standardization(self, inputs)
            self.value = nn.Dense(settings.units, in_units=inputs, activation="tanh")
            if self.attends:
                units = settings.attention.units
                self.key = nn.Dense(units, in_units=inputs, activation="tanh")
                self.score = nn.Dense(1, in_units=units, use_bias=False)

    def hybrid_forward(self, F: Operators, vectors: Array, mean: Array, unit: Array) -> Array:
        """(M, F) -> scores (M,), values (M, D).

        score(h) = u . tanh(W h + b), Yang et al. 2016, equations 8 and 9; 0 without attention.
        """
        vectors = F.broadcast_div(F.broadcast_sub(vectors, mean), unit)
        values = self.value(vectors)
        scores = self.score(self.key(vectors)) if self.attends else F.sum(values * 0, axis=1, keepdims=True)
        return F.squeeze(scores, axis=1), values


class FilmReader(HybridBlock):
    """The quantiles of a film's stars, from its pooled reviews."""

    def __init__(self, settings: Any) -> None:
        super().__init__()
        self.inputs = {"pooled": ("N", 2 * settings.units), "counts": ("N", 1)}
        with self.name_scope():
            self.mean, self.unit = standardization(self, 1)
            self.dropout = nn.Dropout(settings.dropout)
            self.hidden = nn.Dense(settings.output_units, in_units=2 * settings.units + 1, activation="relu")
            self.output = nn.Dense(3, in_units=settings.output_units)

    def hybrid_forward(self, F: Operators, pooled: Array, counts: Array, mean: Array, unit: Array) -> Array:
        """(N, 2 D), number of reviews (N, 1) -> the quantiles (N, 3), in increasing order."""
        standard_error = F.ones_like(counts) / F.sqrt(counts)
        outputs = self.output(self.hidden(F.concat(self.dropout(pooled), standard_error, dim=1)))
        middle, below, above = (F.slice_axis(outputs, axis=1, begin=n, end=n + 1) for n in range(3))
        quantiles = F.concat(middle - F.exp(below), middle, middle + F.exp(above), dim=1)
        return F.broadcast_add(F.broadcast_mul(quantiles, unit), mean)


def standardization(block: Any, size: int) -> tuple[Any, Any]:
    """Create two untrained parameters (1, size) of a block: mean and standard deviation over the training films."""
    names = {"mean": "zeros", "unit": "ones"}
    mean, unit = (block.params.get(name, shape=(1, size), init=init, grad_req="null") for name, init in names.items())
    return mean, unit


class FilmNetwork(Block):
    """The whole network for training; prediction calls its parts, so that a film may have any number of reviews."""

    def __init__(self, inputs: int, settings: Any) -> None:
        super().__init__()
        self.reviews, self.film = ReviewScorer(inputs, settings), FilmReader(settings)
        self.parts = (self.reviews, self.film)
        self.weights_dropout = nn.Dropout(getattr(settings.attention, "dropout", 0.0))

    def forward(self, vectors: Array, mask: Array) -> Arrays:
        """(N, S, F), (N, S) of 0 and 1 -> the quantiles (N, 3) and the weights of the reviews (N, S).

        The pooled vector (N, 2 D) is the weighted mean of the values followed by their plain mean.
        """
        nd, counts = mxnet.nd, mask.sum(axis=1, keepdims=True)
        scores, values = self.reviews(vectors.reshape((-3, 0)))
        weights = masked_softmax(nd, scores.reshape(mask.shape), mask)
        pooling = nd.stack(self.weights_dropout(weights), mask / counts, axis=1)  # (N, 2, S)
        pooled = nd.batch_dot(pooling, values.reshape((*mask.shape, -1)))
        return self.film(pooled.reshape((0, -1)), counts), weights
