"""The parts of a training file."""

import numpy

from ...training.config import LoopConfig


def hold_out(count: int, settings: LoopConfig, most: int) -> tuple[list[int], list[int]]:
    """Divide positions of texts into those to train on and, at most so many, the dev part; the seed alone decides."""
    order = numpy.random.RandomState(settings.seed).permutation(count).tolist()
    size = min(most, max(1, round(count * settings.dev_fraction)))
    return sorted(order[size:]), order[:size]
