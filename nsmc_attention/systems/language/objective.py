"""The objective of a language model: predict tokens of reviews, masked differently in each epoch. Imports MXNet."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Optional

import numpy
from numpy.typing import NDArray

from ...machine.aliases import Array, Arrays, Network, Numbers
from ...machine.gluon import mxnet
from ...network.parameters import round_tables
from ...training.checkpoint import Progress
from ...training.runs import Run
from ...training.stage import Objective, SeededBatches, Stage, similar_batches
from ...training.task import Beginning, initialize
from .model import Masker, Tokens
from .settings import LanguageConfig

# Noise in tokens on the lengths by which reviews are sorted, so that each epoch has other batches
LENGTH_JITTER = 2
# The number of hidden tokens of a batch is padded to a multiple of this, because MXNet plans memory for each new size
HIDDEN_STEP = 64


@dataclass(frozen=True)
class MaskedBatch:
    """N reviews with M hidden tokens, and the ids of these tokens as targets."""

    token_ids: NDArray[numpy.int32]  # (N, T)
    valid_length: NDArray[numpy.int64]  # (N,)
    places: NDArray[numpy.int64]  # (M,), t * N + n
    targets: NDArray[numpy.int32]  # (M,)
    weights: NDArray[numpy.float32]  # (M,), 1 for a hidden token, 0 for padding


class MaskedBatches(SeededBatches[MaskedBatch]):
    """Batches of reviews of similar length, with tokens hidden by a Masker."""

    def __init__(self, tokens: Tokens, masker: Masker, batch_size: int):
        self.tokens, self.masker, self.batch_size = tokens, masker, batch_size

    def __len__(self) -> int:
        """Return the number of batches per epoch."""
        return -(-len(self.tokens.lengths) // self.batch_size)

    def drawn(self, random: numpy.random.RandomState, shuffled: bool) -> Iterator[MaskedBatch]:
        lengths = self.tokens.lengths
        keys = lengths + random.random_sample(len(lengths)) * LENGTH_JITTER if shuffled else lengths
        for members in similar_batches(keys, self.batch_size, random if shuffled else None):
            yield self.batch(members, random)

    def batch(self, members: Numbers, random: numpy.random.RandomState) -> MaskedBatch:
        ids, hidden, targets = self.masker(self.tokens, members, random)
        rows, columns = hidden.nonzero()
        padding = -len(targets) % HIDDEN_STEP
        places = numpy.pad(columns * len(members) + rows, (0, padding))
        weights = numpy.pad(numpy.ones(len(targets), dtype="float32"), (0, padding))
        return MaskedBatch(ids, self.tokens.lengths[members], places, numpy.pad(targets, (0, padding)), weights)


class MaskedObjective(Objective):
    """Cross entropy of the hidden tokens."""

    metric = "loss"

    def logits(self, network: Network, batch: MaskedBatch) -> Arrays:
        nd = mxnet.nd
        ids, places = (nd.array(ids, ctx=self.device, dtype="int32") for ids in (batch.token_ids, batch.places))
        return network(ids, nd.array(batch.valid_length, ctx=self.device), places)[0]

    def losses(self, logits: Array, batch: MaskedBatch) -> Any:
        """(M, V) -> (M,), nats."""
        return mxnet.gluon.loss.SoftmaxCELoss()(logits, mxnet.nd.array(batch.targets, ctx=self.device))

    def loss(self, network: Network, batch: MaskedBatch) -> Arrays:
        weights = mxnet.nd.array(batch.weights, ctx=self.device)
        return (self.losses(self.logits(network, batch), batch) * weights).sum() / float(batch.weights.sum())

    def evaluate(self, network: Network) -> dict[str, float]:
        """Return the mean loss and the shares of hidden tokens ranked first and among the first five."""
        nd, losses, ranks = mxnet.nd, list[Numbers](), list[Numbers]()
        for batch in self.dev_batches.in_order(self.seed):
            logits, count = self.logits(network, batch), int(batch.weights.sum())
            target_logits = nd.pick(logits, nd.array(batch.targets, ctx=self.device), keepdims=True)
            losses.append(self.losses(logits, batch).asnumpy()[:count])
            ranks.append(nd.broadcast_greater(logits, target_logits).sum(axis=1).asnumpy()[:count])
        rank = numpy.concatenate(ranks)
        shares = {"accuracy": float((rank < 1).mean()), "among_five": float((rank < 5).mean())}
        return {"loss": float(numpy.concatenate(losses).mean()), **shares}


def train_network(
    config: LanguageConfig, masker: Masker, run: Run, train: Tokens, dev: Tokens, begin: Optional[Beginning] = None
) -> tuple[Network, Progress, dict[str, float]]:
    """Train a network; return it, its Progress and the metrics of the dev part.

    `begin` changes the initial parameters.
    """
    settings, size = config.training, config.training.batch_size
    objective = MaskedObjective(MaskedBatches(dev, masker, size), run.context, settings.seed)
    network, batches = new_network(config, objective, begin), MaskedBatches(train, masker, size)
    stage = Stage("language", objective, batches, settings.epochs, settings.learning_rate, settings.patience)
    progress = run.fit(network, stage, settings)
    round_tables(network)
    return network, progress, objective.evaluate(network)


def new_network(config: LanguageConfig, objective: MaskedObjective, begin: Optional[Beginning] = None) -> Network:
    """Build the network, with all parameters initialized by a forward pass of a dev batch."""
    batch = next(objective.dev_batches.in_order(objective.seed))
    network = config.network(objective.dev_batches.masker.vocabulary)
    initialize(network, config.training.seed, objective.device, lambda: objective.loss(network, batch), begin)
    network.hybridize(static_alloc=True)
    return network
