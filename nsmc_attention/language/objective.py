"""What a language model is trained on and for: reviews with hidden words, hidden anew in each epoch. Imports MXNet."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy
from numpy.typing import NDArray

from .._runtime.mxnet_shim import import_mxnet
from ..model.parameters import round_tables
from ..training.checkpoint import Progress
from ..training.loop import Stage
from ..training.objectives import Objective
from ..training.stage import run_stage
from .masking import Masker, Tokens
from .settings import LanguageConfig

mxnet = import_mxnet()

# Lengths in a batch differ by about so much, so that it is another batch in each epoch
JITTER = 2
# Hidden tokens of a batch are filled up to a multiple of this: MXNet plans its memory anew for each size
STEP = 64
# Which of the random numbers of a seed hide words of the dev part
DEV = 2**31 - 1


@dataclass(frozen=True)
class Hidden:
    """N reviews with M hidden tokens: the ids that were there, and 1 for each, 0 for what fills the batch up."""

    token_ids: NDArray[numpy.int32]  # (N, T)
    valid_length: NDArray[numpy.int64]  # (N,)
    places: NDArray[numpy.int64]  # (M,), t * N + n
    wanted: NDArray[numpy.int32]  # (M,)
    weights: NDArray[numpy.float32]  # (M,)


class HiddenBatches:
    """Reviews in batches of similar length, with words hidden by a Masker."""

    def __init__(self, tokens: Tokens, masker: Masker, batch_size: int):
        self.tokens, self.masker, self.batch_size = tokens, masker, batch_size

    def __len__(self) -> int:
        """Batches in an epoch."""
        return -(-len(self.tokens.lengths) // self.batch_size)

    def epoch(self, seed: int, epoch: int) -> Iterator[Hidden]:
        """Yield the batches of one epoch, which (seed, epoch) alone decides."""
        random = numpy.random.RandomState([seed, epoch])
        lengths = self.tokens.lengths
        order = numpy.argsort(lengths + random.random_sample(len(lengths)) * JITTER, kind="stable")
        for number in random.permutation(len(self)).tolist():
            yield self.batch(order[number * self.batch_size :][: self.batch_size], random)

    def in_order(self, seed: int) -> Iterator[tuple[NDArray[Any], Hidden]]:
        """Yield (members, batch) over all reviews once, the same way at each call."""
        random = numpy.random.RandomState([seed, DEV])
        order = numpy.argsort(self.tokens.lengths, kind="stable")
        for start in range(0, len(order), self.batch_size):
            members = order[start : start + self.batch_size]
            yield members, self.batch(members, random)

    def batch(self, members: NDArray[Any], random: numpy.random.RandomState) -> Hidden:
        ids, hidden, wanted = self.masker(self.tokens, members, random)
        rows, columns = hidden.nonzero()
        filled = -len(wanted) % STEP
        places = numpy.pad(columns * len(members) + rows, (0, filled))
        weights = numpy.pad(numpy.ones(len(wanted), dtype="float32"), (0, filled))
        return Hidden(ids, self.tokens.lengths[members], places, numpy.pad(wanted, (0, filled)), weights)


class MaskedObjective(Objective):
    """Cross entropy of the hidden tokens."""

    metric = "loss"

    def __init__(self, dev: HiddenBatches, device: Any, seed: int):
        super().__init__(dev, device)
        self.seed = seed

    def logits(self, network: Any, batch: Hidden) -> Any:
        nd = mxnet.nd
        ids, places = (nd.array(each, ctx=self.device, dtype="int32") for each in (batch.token_ids, batch.places))
        return network(ids, nd.array(batch.valid_length, ctx=self.device), places)[0]

    def losses(self, logits: Any, batch: Hidden) -> Any:
        """(M, V) -> (M,), nats."""
        wanted = mxnet.nd.array(batch.wanted, ctx=self.device)
        return mxnet.gluon.loss.SoftmaxCELoss()(logits, wanted)

    def loss(self, network: Any, batch: Hidden) -> Any:
        weights = mxnet.nd.array(batch.weights, ctx=self.device)
        return (self.losses(self.logits(network, batch), batch) * weights).sum() / float(batch.weights.sum())

    def evaluate(self, network: Any) -> dict[str, float]:
        """Return the mean loss, and the shares of hidden tokens that are the likeliest, and among the first five."""
        losses, ranks = (numpy.concatenate(each) for each in zip(*self.judged(network)))
        top = {"accuracy": float((ranks < 1).mean()), "among_five": float((ranks < 5).mean())}
        return {"loss": float(losses.mean()), **top}

    def judged(self, network: Any) -> Iterator[tuple[NDArray[Any], NDArray[Any]]]:
        """Yield of each dev batch the losses and ranks of its hidden tokens, as `HiddenBatches.in_order` has them."""
        for _, batch in self.dev_batches.in_order(self.seed):
            logits, count = self.logits(network, batch), int(batch.weights.sum())
            right = mxnet.nd.pick(logits, mxnet.nd.array(batch.wanted, ctx=self.device), keepdims=True)
            ranks = mxnet.nd.broadcast_greater(logits, right).sum(axis=1)
            yield self.losses(logits, batch).asnumpy()[:count], ranks.asnumpy()[:count]


@dataclass(frozen=True)
class LanguageModelTraining:
    """A training of a language model in the run folder `out`, on an mxnet context `device`; `draw` and `begin` as elsewhere."""

    config: LanguageConfig
    masker: Masker
    out: Path
    device: Any
    draw: Callable[[Progress, Stage, Path], None]
    quiet: bool = False
    begin: Callable[[Any], None] = lambda network: None

    def run(self, train: Tokens, dev: Tokens) -> tuple[Any, Progress, MaskedObjective]:
        """Train; return the network, the Progress and what judges it on the dev part."""
        settings = self.config.training
        objective = MaskedObjective(HiddenBatches(dev, self.masker, settings.batch_size), self.device, settings.seed)
        batches = HiddenBatches(train, self.masker, settings.batch_size)
        stage = Stage("language", objective, batches, settings.epochs, settings.learning_rate, settings.patience)
        network = self.new_network(objective, next(objective.dev_batches.in_order(settings.seed))[1])
        progress = run_stage(network, stage, settings, self.out, self.draw, self.quiet)
        round_tables(network)
        return network, progress, objective

    def new_network(self, objective: MaskedObjective, batch: Hidden) -> Any:
        """Build the network; one batch through it creates all its parameters."""
        mxnet.random.seed(self.config.training.seed)
        network = self.config.network(self.masker.vocabulary)
        network.initialize(mxnet.init.Xavier(), ctx=self.device)
        objective.loss(network, batch).wait_to_read()
        self.begin(network)
        network.hybridize(static_alloc=True)
        return network
