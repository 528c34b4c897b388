"""The picture of a line as what a network reads: HEIGHT pixels high, ink 1 on a background of 0, cut in strips."""

from collections.abc import Sequence

import numpy
from numpy.typing import NDArray
from PIL import Image

from ..._runtime.aliases import Numbers
from .boxes import Gray, differences
from .graphs import HEIGHT, STRIP

# Strips of background behind each line: with them, what is read of it does not depend on how long the others are
MARGIN = 4
# A difference from the background, of 255, that is no ink
FAINT = 12


def ink(gray: Gray) -> Gray:
    """Return how far each pixel is from the background: 0 to 255 at the strongest ink, dark on light or not."""
    difference = differences(gray)
    return (difference * (255 / max(int(difference.max()), FAINT))).astype("uint8")


def strips(gray: Gray) -> NDArray[numpy.float32]:
    """Return the picture of a line (height, width), uint8, as (S, HEIGHT * STRIP), 0 to 1, each strip column by column."""
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
