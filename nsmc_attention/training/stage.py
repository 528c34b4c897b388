"""A stage of a training: batches and an objective; `loop` trains it."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, Generic, Iterator, Optional, TypeVar

import numpy
from numpy.typing import NDArray

from ..machine.aliases import Array, Device, Network
from ..schema import LoopConfig

# Added to weights before their logarithm is taken
SMALLEST_WEIGHT = 1e-6
# The "epoch" whose random numbers the dev part uses: no real epoch has this number
DEV_STREAM = 2**31 - 1
BatchT = TypeVar("BatchT")


class Objective(ABC):
    """The objective of a stage, evaluated on `dev_batches`.

    `metric` names the figure of `evaluate` that selects the epoch; smaller is better. `seed` is for SeededBatches.
    """

    metric: str

    def __init__(self, dev_batches: Any, device: Device, seed: int = 0):
        self.dev_batches, self.device, self.seed = dev_batches, device, seed

    @abstractmethod
    def loss(self, network: Network, batch: Any) -> Array:
        """Return the mean loss of a batch, an NDArray (1,); called while gradients are recorded."""

    @abstractmethod
    def evaluate(self, network: Network) -> dict[str, float]:
        """Return figures of the dev part by name, including `metric`."""


class SeededBatches(ABC, Generic[BatchT]):
    """Batches with random content, drawn again in each epoch from (seed, epoch) alone."""

    @abstractmethod
    def drawn(self, random: numpy.random.RandomState, shuffled: bool) -> Iterator[BatchT]:
        """Yield the batches of one pass over all items, in a random order if `shuffled`."""

    def epoch(self, seed: int, epoch: int) -> Iterator[BatchT]:
        return self.drawn(numpy.random.RandomState([seed, epoch]), shuffled=True)

    def in_order(self, seed: int) -> Iterator[BatchT]:
        """Yield the batches of the dev part, the same at each call."""
        return self.drawn(numpy.random.RandomState([seed, DEV_STREAM]), shuffled=False)


@dataclass(frozen=True)
class Stage:
    """A part of a training, with the settings of `training.<name>`.

    `len(batches)` is the number of batches in an epoch; `batches.epoch(seed, epoch)` yields them in an order that depends
    only on both. `epochs` is the largest number of epochs, `learning_rate` the rate after warm-up. After `patience` epochs
    without a better dev metric the stage ends, and the best epoch is kept; None keeps the last epoch.
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
    """Yield batches of positions of items with similar keys, in a random order, or by key if `random` is None."""
    order = numpy.argsort(keys, kind="stable")
    count = -(-len(order) // size)
    for number in (random.permutation(count) if random else numpy.arange(count)).tolist():
        yield order[number * size : (number + 1) * size]


def hold_out(count: int, settings: LoopConfig, most: int) -> tuple[list[int], list[int]]:
    """Split positions of texts into the training part and a dev part of at most `most`, by the seed alone."""
    order = numpy.random.RandomState(settings.seed).permutation(count).tolist()
    size = min(most, max(1, round(count * settings.dev_fraction)))
    return sorted(order[size:]), order[:size]
