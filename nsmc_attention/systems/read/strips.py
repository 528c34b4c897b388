"""Boxes in a picture, and lines as strips for a network: HEIGHT pixels high, ink 1 on a background of 0."""

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
EDGE_SPACE = 0.08  # Space around the ink of a line, as a share of its height
# Strips of background after each line, so that its reading does not depend on the length of the others in a batch
MARGIN = 4
FAINT_INK = 12  # Differences from the background, of 255, that are not amplified to full ink
LOW, SHORT = 10, 4  # A badge is higher than LOW pixels, and narrower than SHORT times its height


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
    """Return the bounding box of each group of boxes; `numbers` are the groups of the boxes."""
    result = numpy.repeat([[2**31] * 2 + [0] * 2], numbers.max(initial=-1) + 1, axis=0)
    for side in range(4):
        (numpy.minimum if side < RIGHT else numpy.maximum).at(result[:, side], numbers, boxes[:, side])
    return result


def differences(gray: Gray) -> NDArray[numpy.int16]:
    """Return the difference of each pixel (H, W) from the background, the median: 0 to 255."""
    return numpy.abs(gray.astype("int16") - numpy.int16(numpy.median(gray)))


def cut_out(gray: Gray, box: tuple[int, int, int, int], edges: Sequence[float] = (EDGE_SPACE,) * 4) -> tuple[Gray, int]:
    """Return a box of a picture, extended by shares of its height and padded with the background, and its first column."""
    left, top, right, bottom = box
    height = bottom - top
    before, above, after, below = (round(edge * height) for edge in edges)
    crop = gray[max(0, top - above) : bottom + below, max(0, left - before) : right + after]
    missing = [(above - top, bottom + below - gray.shape[0]), (before - left, right + after - gray.shape[1])]
    padding = [(max(0, first), max(0, last)) for first, last in missing]
    return numpy.pad(crop, padding, constant_values=int(numpy.median(crop))), left - before


def ink(gray: Gray) -> Gray:
    """Return the differences from the background, scaled to 255 for the strongest ink, dark or light."""
    difference = differences(gray)
    return (difference * (255 / max(int(difference.max()), FAINT_INK))).astype("uint8")


def strips(gray: Gray) -> NDArray[numpy.float32]:
    """Return the strips (S, HEIGHT * STRIP), 0 to 1, of a line's picture (height, width) uint8, column by column."""
    from PIL import Image  # absent from an installation for prediction alone

    height, width = gray.shape
    columns = max(STRIP, round(width * HEIGHT / height))
    line = numpy.asarray(Image.fromarray(ink(gray)).resize((columns, HEIGHT), Image.Resampling.BILINEAR), "float32")
    padded = numpy.pad(line, ((0, 0), (0, -columns % STRIP)))
    return numpy.ascontiguousarray(padded.T).reshape(-1, STRIP * HEIGHT) / 255


def padded(lines: Sequence[NDArray[numpy.float32]], step: int = 1) -> tuple[Numbers, NDArray[numpy.int32]]:
    """Return strips (N, S, HEIGHT * STRIP) and source_length (N,) of N lines; S is a multiple of `step`."""
    lengths = numpy.array([len(line) for line in lines], dtype="int32")
    width = -(-(int(lengths.max()) + MARGIN) // step) * step
    batch = numpy.zeros((len(lines), width, HEIGHT * STRIP), dtype="float32")
    batch[numpy.arange(width) < lengths[:, None]] = numpy.concatenate(lines)
    return batch, lengths


def within(gray: Gray, box: Box) -> Box:
    """Return the box of a line, narrowed to its letters if the box is a badge around them."""
    left, top, right, bottom = box
    if not LOW < bottom - top < right - left < SHORT * (bottom - top):
        return box
    crop, row = gray[top:bottom, left:right], gray[(top + bottom) // 2]
    ink, third = differences(crop), (right - left) // 3
    around = numpy.abs(row[[max(0, left - 3), min(len(row), right + 3) - 1]] - numpy.median(crop))
    if 2 * min(around.min(), ink.max() - ink[[1, -2], third:-third].max()) < ink.max():
        return box
    labels, _ = ndimage.label(2 * ink > ink.max())
    columns = numpy.flatnonzero((labels * ~numpy.isin(labels, labels[:, [0, -1]])).any(axis=0))
    return box._replace(left=left + int(columns[0]), right=left + int(columns[-1]) + 1) if len(columns) else box
