"""What was read of a picture: its lines, with the place of each letter."""

from dataclasses import dataclass
from typing import Any

import numpy
from numpy.typing import NDArray

from ...inference.matrices import rounded
from ...inference.notebook import shortened
from .boxes import Box
from .graphs import STRIP

# Letters of less probability are no letters; where a line has few beside signs, which photographs have too, it has to be
# larger
LEAST, FEW, LEAST_OF_FEW = 0.05, 3, 0.6
# A line that goes on below another one begins less than so many heights from its left, and so many below it, and is of
# about the same height
ASIDE, BELOW, ALIKE = 1.0, 0.9, 0.6


@dataclass(frozen=True, eq=False)
class Line:
    """A line of text in a picture.

    Attributes
    ----------
    text : str
        Its letters, T of them.
    box : Box
        Where it is: left, top, right, bottom in pixels, the last two exclusive.
    score : float
        Probability of a letter, the geometric mean over the line, 0 to 1: the decoder's, and where CTC reads
        otherwise that of both.
    weights : (T, S) float32
        Where the decoder looked while it wrote each letter; rows sum to 1 over S strips.
    edges : (S + 1,) float32
        Where the strips begin, and the last ends: pixels of the picture, from its left.
    """

    text: str
    box: Box
    score: float
    weights: NDArray[numpy.float32]
    edges: NDArray[numpy.float32]

    @property
    def legible(self) -> bool:
        """False for what is hardly text: a picture beside it, handwriting, noise."""
        is_long = sum(map(str.isalnum, self.text)) > FEW
        return bool(self.text) and self.score >= (LEAST if is_long else LEAST_OF_FEW)

    @property
    def places(self) -> NDArray[numpy.float32]:
        """Where each letter was read, (T,), pixels from the left: the middle of the weights."""
        middles = (self.edges[:-1] + self.edges[1:]) / 2
        return self.weights @ middles

    def to_dict(self, weights: bool = False) -> dict[str, Any]:
        """Return plain values for JSON; with weights, `weights` (T x S) and the `edges` of the strips (S + 1) too."""
        values = {"text": self.text, "box": list(self.box), "score": self.score, "places": rounded(self.places, 1)}
        return {**values, "weights": rounded(self.weights), "edges": rounded(self.edges, 1)} if weights else values


@dataclass(frozen=True, eq=False)
class Reading:
    """The lines of a picture, in reading order; `pixels` (height, width) uint8 is the picture in gray."""

    lines: tuple[Line, ...]
    pixels: NDArray[numpy.uint8]

    @property
    def text(self) -> str:
        """Its lines, with line ends between."""
        return "\n".join(line.text for line in self.lines)

    @property
    def paragraphs(self) -> list[list[Line]]:
        """Its lines in groups: a line that follows another one closely, as in a review that is wrapped, is in its group."""
        groups = list[list[Line]]()
        for line in self.lines:
            if groups and follows(groups[-1][-1].box, line.box):
                groups[-1].append(line)
            else:
                groups.append([line])
        return groups

    @property
    def weights(self) -> list[NDArray[numpy.float32]]:
        """Of each line, letters x strips, see `Line`."""
        return [line.weights for line in self.lines]

    def __repr__(self) -> str:
        count = f"{len(self.lines)} line{'s' * (len(self.lines) != 1)}"
        return f"Reading({count}: {shortened(self.text)})"

    def to_dict(self, weights: bool = False) -> dict[str, Any]:
        """Return plain values for JSON; see `Line.to_dict`."""
        height, width = self.pixels.shape
        return {"width": width, "height": height, "lines": [line.to_dict(weights) for line in self.lines]}

    def _repr_html_(self) -> str:
        from .display import reading_html

        return reading_html(self)


def follows(above: Box, below: Box) -> bool:
    """Return whether a line goes on in another one, as wrapped text does."""
    heights = sorted(box.bottom - box.top for box in (above, below))
    return (
        heights[0] >= ALIKE * heights[1]
        and above.top < below.top <= above.bottom + BELOW * heights[1]
        and abs(above.left - below.left) < ASIDE * heights[1]
    )


def edges_of(strips: int, left: float, scale: float) -> NDArray[numpy.float32]:
    """Return where strips of a line begin in a picture, which was made `scale` times as large."""
    edges: NDArray[numpy.float32] = (left + numpy.arange(strips + 1) * STRIP / scale).astype("float32")
    return edges
