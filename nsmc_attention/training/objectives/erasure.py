"""Attention taught by erasure: it is trained to highlight the words that the prediction depends on."""

from typing import Any

from ..batches import Batch
from .labels import LabelsObjective, as_inputs, mxnet

# Added to weights before their logarithm is taken
SMALLEST = 1e-6


class ErasureObjective(LabelsObjective):
    """Cross entropy with the network's own predictions, plus the divergence of its attention from the importance."""

    def loss(self, network: Any, batch: Batch) -> Any:
        logits, weights = network(*as_inputs(batch, self.device))
        return self.cross_entropy(logits, batch) + self.divergence(weights, batch)

    def divergence(self, weights: Any, batch: Batch) -> Any:
        """Return the mean over reviews of KL(importance || attention averaged over its queries), (1,), nats."""
        nd = mxnet.nd
        importance = nd.array(batch.importance, ctx=self.device)  # (N, T)
        rows = nd.ones((len(batch.labels), 1, weights.shape[1]), ctx=self.device)
        lengths = nd.array(batch.valid_length, ctx=self.device).reshape((-1, 1))
        attended = nd.batch_dot(rows, weights).reshape((0, -1)) / lengths  # (N, T)
        gap = nd.log(importance + SMALLEST) - nd.log(attended + SMALLEST)
        return (importance * gap).sum(axis=1).mean()
