"""Classification: cross entropy with the probability of positive, evaluated on the dev part."""

from typing import Any

import numpy
from numpy.typing import NDArray

from ..._runtime.mxnet_shim import import_mxnet
from ...evaluation.attention_statistics import evenness
from ...evaluation.metrics import headline
from ..batches import Batch, Batches
from ..distributed.communicator import SINGLE, SingleWorker
from .base import Objective

mxnet = import_mxnet()


class LabelsObjective(Objective):
    """Labels are 0 and 1, or probabilities between: the stars of a raw review, the network's own predictions."""

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


def as_inputs(batch: Batch, device: Any) -> tuple[Any, ...]:
    """Return the arrays of a batch as the network's inputs on a device."""
    arrays = (
        mxnet.nd.array(batch.token_ids, ctx=device, dtype="int32"),
        mxnet.nd.array(batch.valid_length, ctx=device),
    )
    ngrams = batch.ngram_ids
    return arrays if ngrams is None else (*arrays, mxnet.nd.array(ngrams, ctx=device, dtype="int32"))


def predict_batches(
    network: Any, batches: Batches, device: Any, group: SingleWorker = SINGLE
) -> tuple[NDArray[numpy.float64], list[NDArray[numpy.float32]]]:
    """Return the probability of positive (N,) of the reviews, in their order, and each one's token weights (T,)."""
    probability = numpy.zeros(len(batches.labels))
    token_weights = [numpy.zeros(length, dtype="float32") for length in batches.lengths.astype(int)]
    for members, batch in group.shard_batches(batches.in_order()):
        logits, weights = network(*as_inputs(batch, device))
        probability[members] = logits.softmax()[:, 1].asnumpy()
        rows = weights.sum(axis=1).asnumpy()
        for member, row, length in zip(members, rows, batch.valid_length.astype(int)):
            token_weights[member] = row[:length] / row[:length].sum()
    probability, *token_weights = group.all_reduce([probability, *token_weights])
    return probability, token_weights
