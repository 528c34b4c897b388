"""The objective of a stage: the loss of a batch, the evaluation on the dev part, the metric that selects the epoch."""

from typing import Optional

import numpy
from numpy.typing import NDArray

from ..machine.aliases import Array, Device, Network
from ..machine.gluon import mxnet
from ..measure.metrics import evenness, headline
from ..training.stage import SMALLEST, Objective
from .batches import Batch, Batches

# What the error of a contribution weighs beside the cross entropy
ADDITIVITY = 0.1
# What the error of the gates weighs beside it
GATES = 0.5


class LabelsObjective(Objective):
    """Cross entropy with labels of 0 and 1, or with probabilities: of raw stars, of the network's own predictions.

    To it is added `penalty` times the redundancy of the attention's hops, and of batches with gates their error.
    """

    metric = "log_loss"

    def __init__(self, dev_batches: Optional[Batches], device: Device, penalty: float = 0.0):
        super().__init__(dev_batches, device)
        self.penalty = penalty

    def loss(self, network: Network, batch: Batch) -> Array:
        logits, weights, *others = network(*as_inputs(batch, self.device))
        loss = self.loss_of(logits, weights, batch)
        return loss if batch.gates is None else loss + GATES * gate_error(others[0], batch.gates)

    def loss_of(self, logits: Array, weights: Array, batch: Batch) -> Array:
        """Return the loss of what the network returned for a batch, (1,)."""
        loss = self.cross_entropy(logits, batch)
        return loss + self.penalty * redundancy(weights) if self.penalty else loss

    def cross_entropy(self, logits: Array, batch: Batch) -> Array:
        """(N, C) -> (1,), nats."""
        # as Gluon's SoftmaxCELoss, in half the time
        targets = mxnet.nd.array(numpy.stack([1 - batch.labels, batch.labels], axis=1), ctx=self.device)
        return -(logits.log_softmax() * targets).sum(axis=1).mean()

    def evaluate(self, network: Network) -> dict[str, float]:
        """Return `measure.metrics.headline`, and how evenly the attention is spread (`evenness`, 0 to 1)."""
        probability, token_weights = predict_batches(network, self.dev_batches, self.device)
        labels = self.dev_batches.labels.astype(int)
        return {**headline(labels, probability), "entropy": evenness(token_weights)}


class ErasureObjective(LabelsObjective):
    """Cross entropy with the network's own predictions, plus the divergence of its attention from the importance."""

    def loss_of(self, logits: Array, weights: Array, batch: Batch) -> Array:
        return super().loss_of(logits, weights, batch) + self.divergence(weights, batch.importance)

    def divergence(self, weights: Array, wanted: Optional[NDArray[numpy.float32]]) -> Array:
        """Return the mean over reviews of KL(importance || attention averaged over its queries or hops), (1,), nats."""
        nd = mxnet.nd
        importance = nd.array(wanted, ctx=self.device)  # (N, T)
        rows = nd.ones((len(importance), 1, weights.shape[1]), ctx=self.device)
        # rows of padding are 0
        counts = (weights.sum(axis=2) > 0).sum(axis=1, keepdims=True)
        attended = nd.batch_dot(rows, weights).reshape((0, -1)) / counts  # (N, T)
        gap = nd.log(importance + SMALLEST) - nd.log(attended + SMALLEST)
        return (importance * gap).sum(axis=1).mean()


class ContributionsObjective(LabelsObjective):
    """Cross entropy with the network's own predictions, plus the error of what a token is said to contribute.

    That is the distance of its contribution from the change of the log-odds when it is erased, squared up to 1 (Huber).
    """

    def loss(self, network: Network, batch: Batch) -> Array:
        assert batch.without is not None
        logits, _, contributions, *_ = network(*as_inputs(batch, self.device))
        left, *_ = network(*as_inputs(batch.without, self.device))
        said = contributions.pick(mxnet.nd.array(batch.erased, ctx=self.device), axis=1)
        error = odds_of(logits) - odds_of(left) - said
        return self.cross_entropy(logits, batch) + ADDITIVITY * mxnet.nd.smooth_l1(error, scalar=1).mean()


def gate_error(gates: Array, wanted: NDArray[numpy.float32]) -> Array:
    """Return the squared error of the gates (N, T) over the tokens whose wanted one is not NaN, by review, (1,)."""
    known, targets = (
        mxnet.nd.array(array, ctx=gates.context) for array in (~numpy.isnan(wanted), numpy.nan_to_num(wanted))
    )
    return (known * (gates - targets).square()).sum() / len(wanted)


def odds_of(logits: Array) -> Array:
    """(N, C) -> log-odds of positive (N,)."""
    return logits[:, 1] - logits[:, 0]


def redundancy(weights: Array) -> Array:
    """Return how much the rows of weights A (N, R, T) attend to the same tokens, (1,).

    The mean over reviews of ||A A^T - I||_F^2, Lin et al. 2017 (arXiv:1703.03130), equation 8: 0 where each row is on
    one token, and no two on the same.
    """
    gram = mxnet.nd.batch_dot(weights, weights, transpose_b=True)  # (N, R, R)
    gap = mxnet.nd.broadcast_sub(gram, mxnet.nd.eye(weights.shape[1], ctx=weights.context).expand_dims(0))
    return gap.square().sum(axis=(1, 2)).mean()


def as_inputs(batch: Batch, device: Device) -> tuple[Array, ...]:
    """Return the arrays of a batch as the network's inputs on a device."""
    ids = [batch.token_ids] if batch.ngram_ids is None else [batch.token_ids, batch.ngram_ids]
    token_ids, *ngram_ids = (mxnet.nd.array(array, ctx=device, dtype="int32") for array in ids)
    return token_ids, mxnet.nd.array(batch.valid_length, ctx=device), *ngram_ids


def predict_batches(
    network: Network, batches: Batches, device: Device
) -> tuple[NDArray[numpy.float64], list[NDArray[numpy.float32]]]:
    """Return the probability of positive (N,) of the reviews, in their order, and each one's token weights (T,)."""
    probability = numpy.zeros(len(batches.labels))
    token_weights = [numpy.zeros(length, dtype="float32") for length in batches.lengths]
    for members, batch in batches.in_order():
        logits, weights, *_ = network(*as_inputs(batch, device))
        probability[members] = logits.softmax()[:, 1].asnumpy()
        rows = weights.sum(axis=1).asnumpy()
        for member, row, length in zip(members, rows, batch.valid_length.astype(int)):
            token_weights[member] = row[:length] / row[:length].sum()
    return probability, token_weights


def ngram_evidence(network: Network, batches: Batches, device: Device) -> NDArray[numpy.float64]:
    """Return the n-grams' log-odds of the reviews as the last layer reads them, (N,), in their order."""
    odds = numpy.zeros(len(batches.labels))
    for members, batch in batches.in_order():
        features, _ = network.read(mxnet.nd, *as_inputs(batch, device))
        odds[members] = features[:, -1].asnumpy()
    return odds
