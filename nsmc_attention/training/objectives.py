"""What a stage trains for: the loss of a batch, the evaluation on the dev part, the metric that selects the epoch."""

from abc import ABC, abstractmethod
from typing import Any

import numpy
from numpy.typing import NDArray

from .._runtime.mxnet_shim import import_mxnet
from ..evaluation.attention_statistics import evenness
from ..evaluation.metrics import headline
from .batches import Batch, Batches
from .distributed.communicator import SINGLE, SingleWorker

mxnet = import_mxnet()

# Added to weights before their logarithm is taken
SMALLEST = 1e-6


class Objective(ABC):
    """What a stage trains for, evaluated on `dev_batches` (training.batches.Batches) by the workers of a group.

    `metric` names the figure of `evaluate` that selects the epoch; smaller is better.
    """

    metric: str

    def __init__(self, dev_batches: Any, device: Any, group: SingleWorker = SINGLE):
        self.dev_batches, self.device, self.group = dev_batches, device, group

    @abstractmethod
    def loss(self, network: Any, batch: Any) -> Any:
        """Return the mean loss of a batch, (1,) NDArray; called while gradients are recorded."""

    @abstractmethod
    def evaluate(self, network: Any) -> dict[str, float]:
        """Return figures of the dev part by name, `metric` among them."""


class LabelsObjective(Objective):
    """Cross entropy with labels of 0 and 1, or with probabilities: of raw stars, of the network's own predictions."""

    metric = "log_loss"

    def loss(self, network: Any, batch: Batch) -> Any:
        return self.cross_entropy(network(*as_inputs(batch, self.device))[0], batch)

    def cross_entropy(self, logits: Any, batch: Batch) -> Any:
        """(N, C) -> (1,), nats."""
        positive = mxnet.nd.array(batch.labels, ctx=self.device)
        targets = mxnet.nd.stack(1 - positive, positive, axis=1)
        return mxnet.gluon.loss.SoftmaxCELoss(sparse_label=False)(logits, targets).mean()

    def evaluate(self, network: Any) -> dict[str, float]:
        """Return `evaluation.metrics.headline`, and how evenly the attention is spread (`evenness`, 0 to 1)."""
        probability, token_weights = predict_batches(network, self.dev_batches, self.device, self.group)
        labels = self.dev_batches.labels.astype(int)
        return {**headline(labels, probability), "entropy": evenness(token_weights)}


class ErasureObjective(LabelsObjective):
    """Cross entropy with the network's own predictions, plus the divergence of its attention from the importance."""

    def loss(self, network: Any, batch: Batch) -> Any:
        logits, weights, *_ = network(*as_inputs(batch, self.device))
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


def as_inputs(batch: Batch, device: Any) -> tuple[Any, ...]:
    """Return the arrays of a batch as the network's inputs on a device."""
    ids = [batch.token_ids] if batch.ngram_ids is None else [batch.token_ids, batch.ngram_ids]
    token_ids, *ngram_ids = (mxnet.nd.array(array, ctx=device, dtype="int32") for array in ids)
    return token_ids, mxnet.nd.array(batch.valid_length, ctx=device), *ngram_ids


def predict_batches(
    network: Any, batches: Batches, device: Any, group: SingleWorker = SINGLE
) -> tuple[NDArray[numpy.float64], list[NDArray[numpy.float32]]]:
    """Return the probability of positive (N,) of the reviews, in their order, and each one's token weights (T,)."""
    probability = numpy.zeros(len(batches.labels))
    token_weights = [numpy.zeros(length, dtype="float32") for length in batches.lengths]
    for members, batch in group.shard_batches(batches.in_order()):
        logits, weights, *_ = network(*as_inputs(batch, device))
        probability[members] = logits.softmax()[:, 1].asnumpy()
        rows = weights.sum(axis=1).asnumpy()
        for member, row, length in zip(members, rows, batch.valid_length.astype(int)):
            token_weights[member] = row[:length] / row[:length].sum()
    probability, *token_weights = group.all_reduce([probability, *token_weights])
    return probability, token_weights
