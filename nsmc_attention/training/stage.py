"""A stage of a training: batches, and the objective that it trains for. Knows nothing of MXNet's loop, see `loop`."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, Generic, Iterator, Optional, TypeVar

import numpy
from numpy.typing import NDArray

from ..machine.aliases import Array, Device, Network
from ..schema import LoopConfig

# Added to weights before their logarithm is taken
SMALLEST_WEIGHT = 1e-6
# Which of the random numbers of a seed are drawn for the dev part: no epoch has this number
DEV_STREAM = 2**31 - 1
BatchT = TypeVar("BatchT")


class Objective(ABC):
    """The objective of a stage, evaluated on `dev_batches`.

    `metric` names the figure of `evaluate` that selects the epoch; smaller is better. A seed decides what SeededBatches draw.
    """

    metric: str

    def __init__(self, dev_batches: Any, device: Device, seed: int = 0):
        self.dev_batches, self.device, self.seed = dev_batches, device, seed

    @abstractmethod
    def loss(self, network: Network, batch: Any) -> Array:
        """Return the mean loss of a batch, (1,) NDArray; called while gradients are recorded."""

    @abstractmethod
    def evaluate(self, network: Network) -> dict[str, float]:
        """Return figures of the dev part by name, `metric` among them."""


class SeededBatches(ABC, Generic[BatchT]):
    """Batches whose content is drawn anew in each epoch, which (seed, epoch) alone decides."""

    @abstractmethod
    def drawn(self, random: numpy.random.RandomState, shuffled: bool) -> Iterator[BatchT]:
        """Yield the batches of a pass over all items, in a random order where they are shuffled."""

    def epoch(self, seed: int, epoch: int) -> Iterator[BatchT]:
        return self.drawn(numpy.random.RandomState([seed, epoch]), shuffled=True)

    def in_order(self, seed: int) -> Iterator[BatchT]:
        """Yield the batches of the dev part, the same at each call."""
        return self.drawn(numpy.random.RandomState([seed, DEV_STREAM]), shuffled=False)


@dataclass(frozen=True)
class Stage:
    """A part of a training, with the settings of `training.<name>`.

    `batches` have the length of an epoch, and `epoch(seed, epoch)` yields one in an order that both alone decide.
    `epochs` is the largest number of passes over them, `learning_rate` the largest one, after warm-up. After `patience`
    epochs without a better dev metric the stage ends and the best epoch is kept; with None, the last.
    """

    name: str
    objective: Objective
    batches: Any
    epochs: int
    learning_rate: float
    patience: Optional[int] = None


def similar_batches(
    keys: Any, size: int, random: Optional[numpy.random.RandomState] = None
) -> Iterator[NDArray[numpy.int64]]:
    """Yield positions of items with similar keys, `size` a batch, batches in a random order; None: by key."""
    order = numpy.argsort(keys, kind="stable")
    count = -(-len(order) // size)
    for number in (random.permutation(count) if random else numpy.arange(count)).tolist():
        yield order[number * size : (number + 1) * size]


def hold_out(count: int, settings: LoopConfig, most: int) -> tuple[list[int], list[int]]:
    """Divide positions of texts into those to train on and, at most so many, the dev part; the seed alone decides."""
    order = numpy.random.RandomState(settings.seed).permutation(count).tolist()
    size = min(most, max(1, round(count * settings.dev_fraction)))
    return sorted(order[size:]), order[:size]
