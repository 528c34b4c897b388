"""Classification metrics by scikit-learn, calibration and log-odds, on arrays; independent of networks and files."""

from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import Any, Optional

import numpy
from numpy.typing import ArrayLike, NDArray

from ..machine.aliases import Record
from ..network.parameters import NGRAM_TABLE, Arrays

# Metrics that trainings and comparisons report
HEADLINE = ("accuracy", "f1", "log_loss", "ece")


def metrics(labels: ArrayLike, probability: ArrayLike) -> Record:
    """Score probabilities of positive (N,) against labels (N,) of 0 and 1; the threshold is 0.5.

    Returns n; accuracy, f1, precision, recall (of positive), roc_auc (None if all labels are the same), log_loss
    (nats), ece as floats; confusion as [[true negative, false positive], [false negative, true positive]].
    """
    from sklearn import metrics as score

    labels, probability = numpy.asarray(labels), numpy.asarray(probability, dtype="float64")
    predicted = probability >= 0.5
    precision, recall, f1, _ = score.precision_recall_fscore_support(
        labels, predicted, average="binary", zero_division=0
    )
    return {
        "n": len(labels),
        "accuracy": float(score.accuracy_score(labels, predicted)),
        "f1": float(f1),
        "precision": float(precision),
        "recall": float(recall),
        "roc_auc": float(score.roc_auc_score(labels, probability)) if len(set(labels.tolist())) == 2 else None,
        "log_loss": float(score.log_loss(labels, probability, labels=[0, 1])),
        "ece": expected_calibration_error(labels, probability),
        "confusion": score.confusion_matrix(labels, predicted, labels=[0, 1]).tolist(),
    }


def headline(labels: ArrayLike, probability: ArrayLike) -> dict[str, float]:
    """Return the `metrics` of HEADLINE."""
    figures = metrics(labels, probability)
    return {name: figures[name] for name in HEADLINE}


def share_interval(share: float, count: int) -> tuple[float, float]:
    """Return the 95 % interval (Wilson 1927) of a share, 0..1, measured on `count` reviews."""
    from scipy.stats import binomtest

    bounds = binomtest(round(share * count), count).proportion_ci(method="wilson")
    return float(bounds.low), float(bounds.high)


def expected_calibration_error(labels: NDArray[Any], probability: NDArray[Any], bins: int = 15) -> float:
    """Return the mean gap between confidence and accuracy over equal-width bins of confidence, weighted by their size.

    Guo et al. 2017 (arXiv:1706.04599), equation 3, with 15 bins as in the paper. Confidence lies in 0.5..1.
    """
    confidence = numpy.maximum(probability, 1 - probability)
    correct = (probability >= 0.5) == (labels == 1)
    bin_of = numpy.minimum((confidence * bins).astype(int), bins - 1)
    weight = numpy.bincount(bin_of, minlength=bins)
    gap = numpy.bincount(bin_of, correct - confidence, minlength=bins)
    return float(numpy.abs(gap).sum() / weight.sum())


def evenness(token_weights: Iterable[ArrayLike]) -> float:
    """Return the normalized entropy of weights (T,), divided by that of equal weights, averaged over reviews.

    0 (one token has all weight) to 1 (equal weights); reviews of one token are left out.
    """
    from scipy.stats import entropy

    arrays = [numpy.asarray(weights, dtype="float64") for weights in token_weights]
    shares = [entropy(weights, base=len(weights)) for weights in arrays if len(weights) > 1]
    # float32 weights sum to 1 only nearly
    return float(numpy.clip(shares, 0, 1).mean()) if shares else 1.0


def overlap(weights: Iterable[ArrayLike]) -> float:
    """Return the overlap of the hops (R, T) of a review, 0 to 1 (all hops equal), averaged over reviews.

    The mean histogram intersection (Swain & Ballard 1991) over all pairs of hops; 0 for a single hop.
    """
    reviews = [numpy.asarray(hops, dtype="float64") for hops in weights]
    shared = [numpy.minimum(a, b).sum() for hops in reviews if hops.shape[1] > 1 for a, b in combinations(hops, 2)]
    return float(numpy.mean(shared)) if shared else 0.0


Floats = NDArray[numpy.float64]
# Parameters of the last layer of both networks
LAST_WEIGHT, LAST_BIAS = ("output.weight", "dense.weight"), ("output.bias", "dense.bias")
TEMPERATURES = (0.2, 5.0)
# Curvature of the prior of `fit_stacking`, equal to that of about 40 undecided reviews with log-odds of 1
PRIOR_STRENGTH = 10.0
# Smallest reliable dev part; below it, n-grams are cross-fitted on the training part, and a warning is given
FEW_DEV = 200


def calibration(odds: Floats, labels: ArrayLike, wide: Optional[Floats] = None, wide_alone: float = 1.0) -> Record:
    """Fit the weights of the network's log-odds (N,) and the n-grams' (`wide`) to the labels (N,) of the dev part.

    Without n-grams, one temperature (Guo et al. 2017, arXiv:1706.04599, section 4.2), which changes no label; otherwise
    `fit_stacking` with prior 1 for the network and half of `wide_alone`, the n-grams' best weight without the network.
    Returns scale (of the network), wide_scale (0 without n-grams), bias, and `headline` metrics: `before`, `after`.
    """
    from scipy.special import expit

    if wide is None:
        scale, wide_scale, bias = 1 / temperature(odds, labels), 0.0, 0.0
        after = expit(scale * odds)
    else:
        (scale, wide_scale), bias = fit_stacking(numpy.stack([odds, wide], axis=1), labels, [1.0, wide_alone / 2])
        after = expit(scale * odds + wide_scale * wide + bias)
    return {
        "scale": scale,
        "wide_scale": wide_scale,
        "bias": bias,
        "before": headline(labels, expit(odds)),
        "after": headline(labels, after),
    }


def fit_stacking(odds: Floats, labels: ArrayLike, prior: Sequence[float]) -> tuple[list[float], float]:
    """Fit non-negative weights of K log-odds (N, K), and a bias, by logistic regression on the labels (N,).

    A Gaussian prior of PRIOR_STRENGTH holds each weight near its `prior` and the bias near 0: a few reviews hardly change
    them, thousands do. Without the prior and the bound, five dev reviews could reverse a model.
    """
    from scipy.optimize import minimize
    from scipy.special import expit

    signs, expected = 2 * numpy.asarray(labels) - 1, numpy.array([*prior, 0.0])
    features = numpy.column_stack([odds, numpy.ones(len(signs))])

    def loss(weights: Floats) -> tuple[float, Floats]:
        margins, distance = signs * (features @ weights), weights - expected
        value = numpy.logaddexp(0, -margins).sum() + PRIOR_STRENGTH / 2 * distance @ distance
        return float(value), PRIOR_STRENGTH * distance - features.T @ (signs * expit(-margins))

    bounds = [*((0, None) for _ in prior), (None, None)]
    *weights, bias = minimize(loss, expected, jac=True, method="L-BFGS-B", bounds=bounds).x.tolist()
    return weights, bias


def calibrated(arrays: Arrays, fitted: Record) -> Arrays:
    """Apply a `calibration` to the last layer of a network's parameters, {name: array}."""
    calibrated_arrays = dict(arrays)
    halves = numpy.array([-0.5, 0.5])
    for name in arrays:
        if name in LAST_WEIGHT:
            calibrated_arrays[name] = (arrays[name] * fitted["scale"]).astype("float32")
            if NGRAM_TABLE in arrays:
                calibrated_arrays[name][:, -1] = fitted["wide_scale"] * halves
        elif name in LAST_BIAS:
            calibrated_arrays[name] = (arrays[name] * fitted["scale"] + fitted["bias"] * halves).astype("float32")
    return calibrated_arrays


def log_odds(probability: ArrayLike, smallest: float = 1e-12) -> Floats:
    """Return the log-odds of probabilities, clipped to `smallest` and 1 - `smallest`."""
    clipped = numpy.clip(probability, smallest, 1 - smallest)
    return numpy.asarray(numpy.log(clipped) - numpy.log1p(-clipped))


def temperature(odds: Floats, labels: ArrayLike) -> float:
    """Return the divisor of log-odds (N,), within TEMPERATURES, that minimizes the log loss of the labels (N,)."""
    from scipy.optimize import minimize_scalar

    margins = (2 * numpy.asarray(labels) - 1) * odds
    bounds = numpy.log(TEMPERATURES)
    logarithm = minimize_scalar(
        lambda power: numpy.logaddexp(0, -margins / numpy.exp(power)).mean(), bounds=bounds, method="bounded"
    ).x
    return float(numpy.exp(logarithm))
