"""The weights of an encoder's heads as plain values for JSON, of texts whose grid of heads the page can draw."""

from typing import Any, Optional

from numpy.typing import NDArray

from ..errors import DataError
from ..inference.matrices import NO_HEADS
from ..visualization.page import rounded

# Rows and columns of the largest matrix that the page draws
LARGEST_MATRIX = 128
# Weights in one response: 0.9 MB of JSON, in whose making of 0.1 s nobody else gets an answer
MOST_WEIGHTS = 2**17


def head_values(heads: Optional[NDArray[Any]]) -> Any:
    """Return the weights (L, K, T, T) as lists, to four digits; DataError where there are none or too many."""
    if heads is None:
        raise DataError(f"heads: {NO_HEADS}")
    layers, count, tokens = heads.shape[:3]
    most = min(LARGEST_MATRIX, int((MOST_WEIGHTS / (layers * count)) ** 0.5))
    if tokens > most:
        raise DataError(
            f"heads: expected at most {most} tokens for {layers} layers of {count} heads, found {tokens}; "
            "send a part of the text"
        )
    return rounded(heads)
