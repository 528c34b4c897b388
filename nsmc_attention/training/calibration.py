"""Probabilities that mean what they say: the network's log-odds scaled, and joined with the wide part's.

What is found on the dev part goes into the last layer and the table, so it costs nothing at prediction.
"""
import numpy
from scipy.special import expit, logit

from ..metrics import headline
from ..model.parameters import NGRAM_TABLE

# The last layer of either network
LAST_WEIGHT, LAST_BIAS = ("output.weight", "dense.weight"), ("output.bias", "dense.bias")
RANGE = (0.2, 5.0)


def calibration(probability, labels, wide=None):
    """Find how much the network's log-odds, and the wide part's, are worth.

    Without a wide part by one temperature (Guo et al. 2017, arXiv:1706.04599, section 4.2), which changes no
    label; with one by the logistic regression of the labels on both log-odds.

    Parameters
    ----------
    probability : (N,) float
        Of positive, by the network alone, of the dev part.
    labels : (N,) int
    wide : (N,) float or None
        Log-odds of the same reviews by the wide part.

    Returns
    -------
    dict
        scale of the network's log-odds, wide_scale (0 without), bias; under `before` (the network alone) and
        `after` the dev part's accuracy, f1, log_loss and ece.
    """
    if wide is None:
        scale, wide_scale, bias, wide = 1 / temperature(probability, labels), 0.0, 0.0, 0.0
    else:
        scale, wide_scale, bias = joined(log_odds(probability), wide, labels)
    after = expit(scale * log_odds(probability) + wide_scale * wide + bias)
    return {"scale": scale, "wide_scale": wide_scale, "bias": bias,
            "before": headline(labels, probability), "after": headline(labels, after)}


def calibrated(arrays, found, table=None):
    """Answer {name: array} of a network's parameters with the `calibration` in them, and with a table of n-grams."""
    changed = dict(arrays)
    for name in arrays:
        if name in LAST_WEIGHT:
            changed[name] = arrays[name] * numpy.float32(found["scale"])
        elif name in LAST_BIAS:
            half = found["bias"] / 2
            changed[name] = (arrays[name] * found["scale"] + numpy.array([-half, half])).astype("float32")
    if table is not None:
        changed[NGRAM_TABLE] = table * numpy.array([found["wide_scale"], 1], dtype="float32")
    return changed


def log_odds(probability):
    return logit(numpy.clip(probability, 1e-12, 1 - 1e-12))


def joined(deep, wide, labels):
    """Answer (scale, wide_scale, bias) of the log-odds that explain the labels best."""
    from sklearn.linear_model import LogisticRegression

    # three numbers of thousands of reviews: a penalty that does not matter
    model = LogisticRegression(C=100.0).fit(numpy.stack([deep, wide], axis=1), labels)
    return (*map(float, model.coef_[0]), float(model.intercept_[0]))


def temperature(probability, labels):
    """Answer the divisor of the log-odds, within RANGE, that gives these labels the smallest log loss.

    Parameters
    ----------
    probability : (N,) float
        Of the label 1.
    labels : (N,) int
    """
    from scipy.optimize import minimize_scalar

    odds, signs = log_odds(probability), 2 * numpy.asarray(labels) - 1

    def loss(logarithm):
        return numpy.logaddexp(0, -signs * odds / numpy.exp(logarithm)).mean()

    return float(numpy.exp(minimize_scalar(loss, bounds=numpy.log(RANGE), method="bounded").x))
