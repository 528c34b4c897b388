"""Places in a picture, cut out as strips for a network: HEIGHT pixels high, ink 1 on a background of 0."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy
from numpy.typing import NDArray
from scipy import ndimage

from ...machine.aliases import Numbers
from .settings import HEIGHT, STRIP

Gray = NDArray[numpy.uint8]
Boxes = NDArray[numpy.int64]
LEFT, TOP, RIGHT, BOTTOM = range(4)
EDGE_SPACE = 0.08  # Space around the ink of a line, as a share of its height, that it is cut out with
# Strips of background behind each line: with them, what is read of it does not depend on how long the others are
MARGIN = 4
FAINT_INK = 12  # A difference from the background, of 255, that is no ink
LOW, SHORT = 10, 4  # A badge is higher than so many pixels, and shorter than so many of its heights


class Box(NamedTuple):
    """A rectangle in pixels; right and bottom are exclusive."""

    left: int
    top: int
    right: int
    bottom: int


def sides(boxes: Boxes) -> tuple[Numbers, Numbers]:
    """Return the widths and heights of boxes."""
    return boxes[:, RIGHT] - boxes[:, LEFT], boxes[:, BOTTOM] - boxes[:, TOP]


def around(boxes: Boxes, numbers: Numbers) -> Boxes:
    """Return the box around each group of boxes."""
    result = numpy.repeat([[2**31] * 2 + [0] * 2], numbers.max(initial=-1) + 1, axis=0)
    for side in range(4):
        (numpy.minimum if side < RIGHT else numpy.maximum).at(result[:, side], numbers, boxes[:, side])
    return result


def differences(gray: Gray) -> NDArray[numpy.int16]:
    """Return how far each pixel (H, W) is from the background, the median, 0 to 255."""
    return numpy.abs(gray.astype("int16") - numpy.int16(numpy.median(gray)))


def cut_out(gray: Gray, box: tuple[int, int, int, int], edges: Sequence[float] = (EDGE_SPACE,) * 4) -> tuple[Gray, int]:
    """Return a box of a picture with edges, as shares of its height, and where it begins; beyond it, background."""
    left, top, right, bottom = box
    height = bottom - top
    before, above, behind, below = (round(edge * height) for edge in edges)
    own = gray[max(0, top - above) : bottom + below, max(0, left - before) : right + behind]
    missing = [(above - top, bottom + below - gray.shape[0]), (before - left, right + behind - gray.shape[1])]
    added = [(max(0, first), max(0, last)) for first, last in missing]
    return numpy.pad(own, added, constant_values=int(numpy.median(own))), left - before


def ink(gray: Gray) -> Gray:
    """Return how far each pixel is from the background: 0 to 255 at the strongest ink, dark on light or not."""
    difference = differences(gray)
    return (difference * (255 / max(int(difference.max()), FAINT_INK))).astype("uint8")


def strips(gray: Gray) -> NDArray[numpy.float32]:
    """Return a line's picture (height, width), uint8, as (S, HEIGHT * STRIP), 0 to 1, strips column by column."""
    from PIL import Image  # an installation for prediction alone has none

    height, width = gray.shape
    columns = max(STRIP, round(width * HEIGHT / height))
    line = numpy.asarray(Image.fromarray(ink(gray)).resize((columns, HEIGHT), Image.Resampling.BILINEAR), "float32")
    padded = numpy.pad(line, ((0, 0), (0, -columns % STRIP)))
    return numpy.ascontiguousarray(padded.T).reshape(-1, STRIP * HEIGHT) / 255


def padded(lines: Sequence[NDArray[numpy.float32]], step: int = 1) -> tuple[Numbers, NDArray[numpy.int32]]:
    """Return strips (N, S, HEIGHT * STRIP) and source_length (N,) of N lines, S being a multiple of `step`."""
    lengths = numpy.array([len(line) for line in lines], dtype="int32")
    width = -(-(int(lengths.max()) + MARGIN) // step) * step
    batch = numpy.zeros((len(lines), width, HEIGHT * STRIP), dtype="float32")
    batch[numpy.arange(width) < lengths[:, None]] = numpy.concatenate(lines)
    return batch, lengths


def within(gray: Gray, box: Box) -> Box:
    """Return the box of a line; in a badge that is no higher than a line, as wide as its letters."""
    left, top, right, bottom = box
    if not LOW < bottom - top < right - left < SHORT * (bottom - top):
        return box
    own, row = gray[top:bottom, left:right], gray[(top + bottom) // 2]
    ink, third = differences(own), (right - left) // 3
    around = numpy.abs(row[[max(0, left - 3), min(len(row), right + 3) - 1]] - numpy.median(own))
    if 2 * min(around.min(), ink.max() - ink[[1, -2], third:-third].max()) < ink.max():
        return box
    labels, _ = ndimage.label(2 * ink > ink.max())
    columns = numpy.flatnonzero((labels * ~numpy.isin(labels, labels[:, [0, -1]])).any(axis=0))
    return box._replace(left=left + int(columns[0]), right=left + int(columns[-1]) + 1) if len(columns) else box
