"""Attention rollout: from the weights of a Transformer's heads to one weight a token.

Pure arithmetic on arrays; `explain` gives it the heads and the weights of one review.
"""

from typing import Any

import numpy
from numpy.typing import NDArray


def rollout(heads: NDArray[Any], weights: NDArray[Any]) -> NDArray[Any]:
    """Carry weights of the last layer's states down to the tokens.

    Abnar & Zuidema 2020 (arXiv:2005.00928), section 3, equation 1: rollout(l) = A(l) rollout(l - 1), rollout(0) = I. A is
    0.5 W + 0.5 I, of the mean W of a layer's heads and the identity for the residual connection. The product of weights
    and rollout(L) is taken from the top down, so that no T x T matrices are multiplied.

    Parameters
    ----------
    heads : (L, K, T, T)
        The first layer first; rows sum to 1.
    weights : (T,) or (Q, T)
        Non-negative: what is put on each state. The identity (T, T) gives the rollout itself.

    Returns
    -------
    (T,) or (Q, T)
        Non-negative; of each row the same sum as the weights.
    """
    for layer in numpy.mean(heads, axis=1)[::-1]:
        weights = (weights @ layer + weights) / 2
    return weights
