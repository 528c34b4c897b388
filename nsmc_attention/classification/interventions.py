"""Predictions with the attention weights replaced by uniform or permuted ones."""

from typing import Any

import numpy
from numpy.typing import NDArray

from ..inference.graphs import GluonGraph
from .gradients import BATCH, embed_batch


class ReplacedAttention:
    """Predicts with other attention weights of a `SelfAttentionClassifier`.

    Wiegreffe & Pinter 2019 (arXiv:1908.04626), section 3.1, for uniform weights; Jain & Wallace 2019
    (arXiv:1902.10186), section 4.2.1, for permuted ones, drawn by the seed. Of hops, each hop's own are replaced.
    """

    name, batch_size = "replaced", BATCH
    axes: tuple[str, ...] = ("keys",)

    def __init__(self, graph: GluonGraph, how: str, seed: int = 0):
        self.graph, self.how, self.random = graph, how, numpy.random.RandomState(seed)

    def __call__(self, *arrays: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return the probability of positive (N,) and the weights that it was predicted with (N, T)."""
        nd, network, valid_length = self.graph.mxnet.nd, self.graph.block, arrays[1]
        rows, mask, lengths = embed_batch(self.graph, arrays)
        weights = network.forward_embedded(nd, rows, mask, lengths)[1].asnumpy()
        if "queries" in network.axes:
            weights = weights.sum(axis=1, keepdims=True) / valid_length[:, None, None]
        for review, length in zip(weights, valid_length):
            for row in review:
                row[:length] = 1 / length if self.how == "uniform" else self.random.permutation(row[:length])
        logits = network.forward_with_weights(nd, rows, nd.array(weights, ctx=self.graph.device), lengths)
        return logits.softmax()[:, 1].asnumpy(), weights.mean(axis=1)
