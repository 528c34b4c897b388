"""The parts of a training file, and batches of sequences of similar length."""

from typing import Any, Iterator, Optional

import numpy
from numpy.typing import NDArray

from ...schema import LoopConfig


def similar_batches(
    keys: Any, size: int, random: Optional[numpy.random.RandomState] = None
) -> Iterator[NDArray[numpy.int64]]:
    """Yield positions of items with similar keys, `size` a batch, the batches in an order drawn at random; None: by key."""
    order = numpy.argsort(keys, kind="stable")
    count = -(-len(order) // size)
    for number in (random.permutation(count) if random else numpy.arange(count)).tolist():
        yield order[number * size : (number + 1) * size]


def hold_out(count: int, settings: LoopConfig, most: int) -> tuple[list[int], list[int]]:
    """Divide positions of texts into those to train on and, at most so many, the dev part; the seed alone decides."""
    order = numpy.random.RandomState(settings.seed).permutation(count).tolist()
    size = min(most, max(1, round(count * settings.dev_fraction)))
    return sorted(order[size:]), order[:size]
