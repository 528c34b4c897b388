"""Decisions from an editor's probabilities: the tags that are believed, and the spaces that follow.

An editor changes what it is so sure of: most of what people type is as they meant it, other than in training. The shares
were chosen on the dev part of the packaged editor (docs/restore.md).
"""

from typing import Any

import numpy
from numpy.typing import NDArray

from .characters import KEEP, PADDING

CERTAIN_TAG, CERTAIN_SPACE = 0.7, 0.6
SMALLEST = 1e-9


def believed_tags(tags: NDArray[Any], certainty: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the tags (N, S), KEEP where another is not certain, and the log-probability of each decision."""
    believed = (tags == KEEP) | (certainty >= CERTAIN_TAG)
    return numpy.where(believed, tags, KEEP), log_probability(believed, certainty)


def space_follows(source_ids: NDArray[Any], spaces: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return whether a space follows each character (N, S), and the log-probability of each decision.

    `spaces` (N, S) are the network's probabilities of a space. One of the source stays, and one that it lacks stays out,
    unless the network is certain of the other.
    """
    # the last of a character's rows marks the space that follows it
    follows = spaces > numpy.where(source_ids[:, :, -1] != PADDING, 1 - CERTAIN_SPACE, CERTAIN_SPACE)
    return follows, log_probability(follows, spaces)


def log_probability(decided: NDArray[Any], probability: NDArray[Any]) -> NDArray[Any]:
    return numpy.log(numpy.maximum(numpy.where(decided, probability, 1 - probability), SMALLEST))
