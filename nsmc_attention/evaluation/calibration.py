"""Calibrated probabilities: the network's log-odds scaled, and combined with those of the n-grams.

Fitted on the dev part and put into the last layer, so that prediction costs nothing more.
"""

from typing import Any, Optional

import numpy
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit, logit

from ..model.parameters import NGRAM_TABLE
from .metrics import headline

# The last layer of either network
LAST_WEIGHT, LAST_BIAS = ("output.weight", "dense.weight"), ("output.bias", "dense.bias")
RANGE = (0.2, 5.0)


def calibration(odds: Any, labels: Any, wide: Optional[NDArray[Any]] = None) -> dict[str, Any]:
    """Fit the weights of the network's log-odds (N,) and of the n-grams' (wide), on the dev part with its labels (N,).

    Without n-grams by one temperature (Guo et al. 2017, arXiv:1706.04599, section 4.2), which changes no label; with
    them by the logistic regression of the labels on both log-odds (stacking). Returns scale of the network's log-odds,
    wide_scale (0 without), bias; `before` (the network alone) and `after`, the `headline` metrics.
    """
    from sklearn.linear_model import LogisticRegression

    if wide is None:
        scale, wide_scale, bias = 1 / temperature(odds, labels), 0.0, 0.0
        after = expit(scale * odds)
    else:
        # three parameters, thousands of reviews: the penalty does not matter
        model = LogisticRegression(C=100.0).fit(numpy.stack([odds, wide], axis=1), labels)
        scale, wide_scale, bias = map(float, (*model.coef_[0], model.intercept_[0]))
        after = expit(scale * odds + wide_scale * wide + bias)
    return {
        "scale": scale,
        "wide_scale": wide_scale,
        "bias": bias,
        "before": headline(labels, expit(odds)),
        "after": headline(labels, after),
    }


def calibrated(arrays: dict[str, NDArray[Any]], found: dict[str, Any]) -> dict[str, NDArray[Any]]:
    """Return {name: array} of a network's parameters with the `calibration` in its last layer."""
    changed = dict(arrays)
    halves = numpy.array([-0.5, 0.5])
    for name in arrays:
        if name in LAST_WEIGHT:
            changed[name] = (arrays[name] * found["scale"]).astype("float32")
            if NGRAM_TABLE in arrays:
                changed[name][:, -1] = found["wide_scale"] * halves
        elif name in LAST_BIAS:
            changed[name] = (arrays[name] * found["scale"] + found["bias"] * halves).astype("float32")
    return changed


def log_odds(probability: NDArray[numpy.float64]) -> NDArray[numpy.float64]:
    return logit(numpy.clip(probability, 1e-12, 1 - 1e-12))


def temperature(odds: NDArray[Any], labels: ArrayLike) -> float:
    """Return the divisor of the log-odds (N,), within RANGE, that gives these labels (N,) the smallest log loss."""
    from scipy.optimize import minimize_scalar

    signs = 2 * numpy.asarray(labels) - 1

    def loss(logarithm: float) -> float:
        return numpy.logaddexp(0, -signs * odds / numpy.exp(logarithm)).mean()

    return float(numpy.exp(minimize_scalar(loss, bounds=numpy.log(RANGE), method="bounded").x))
