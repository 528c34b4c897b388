"""Places in a picture, and what is cut out of it there."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy
from numpy.typing import NDArray

Gray = NDArray[numpy.uint8]
# Space around the ink of a line, as a share of its height, that it is cut out with
EDGE = 0.08


class Box(NamedTuple):
    """A rectangle in pixels; right and bottom are exclusive."""

    left: int
    top: int
    right: int
    bottom: int


def differences(gray: Gray) -> NDArray[numpy.int16]:
    """Return how far each pixel (H, W) is from the background, the median, 0 to 255."""
    return numpy.abs(gray.astype("int16") - numpy.int16(numpy.median(gray)))


def cut_out(gray: Gray, box: tuple[int, int, int, int], edges: Sequence[float] = (EDGE,) * 4) -> tuple[Gray, int]:
    """Return a box of a picture with edges, as shares of its height, and where its left is; beyond the picture, background."""
    left, top, right, bottom = box
    height = bottom - top
    before, above, behind, below = (round(edge * height) for edge in edges)
    own = gray[max(0, top - above) : bottom + below, max(0, left - before) : right + behind]
    missing = [(above - top, bottom + below - gray.shape[0]), (before - left, right + behind - gray.shape[1])]
    around = [(max(0, first), max(0, last)) for first, last in missing]
    return numpy.pad(own, around, constant_values=int(numpy.median(own))), left - before
