"""Predictions with the attention weights replaced by uniform or permuted ones."""

from typing import Any

import numpy
from numpy.typing import NDArray

from .gradients import embed_batch

BATCH = 64


class ReplacedAttention:
    """Predicts with other attention weights, called like the engines of `engines`.

    Wiegreffe & Pinter 2019 (arXiv:1908.04626), section 3.1, for uniform weights; Jain & Wallace 2019
    (arXiv:1902.10186), section 4.2.1, for permuted ones, drawn by the seed. The network is a `SelfAttentionClassifier`.
    """

    name, batch_size = "replaced", BATCH
    axes: tuple[str, ...] = ("keys",)

    def __init__(self, network: Any, device: Any, how: str, seed: int = 0):
        from .._runtime.mxnet_shim import import_mxnet

        self.mxnet, self.network, self.device, self.how = import_mxnet(), network, device, how
        self.random = numpy.random.RandomState(seed)

    def __call__(self, *arrays: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return the probability of positive (N,) and the weights that it was predicted with (N, T)."""
        nd, network, valid_length = self.mxnet.nd, self.network, arrays[1]
        rows, mask, lengths = embed_batch(nd, network, self.device, arrays)
        own = (
            network.forward_embedded(nd, rows, mask, lengths)[1].sum(axis=1).asnumpy() / valid_length[:, None]
        )  # (N, T)
        weights = numpy.zeros_like(own)
        for row, original, length in zip(weights, own, valid_length):
            row[:length] = 1 / length if self.how == "uniform" else self.random.permutation(original[:length])
        logits = network.forward_with_weights(nd, rows, nd.array(weights[:, None, :], ctx=self.device), lengths)
        return logits.softmax()[:, 1].asnumpy(), weights
