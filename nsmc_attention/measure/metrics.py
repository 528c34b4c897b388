"""Classification metrics by scikit-learn; takes arrays, knows nothing of networks or files."""

from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import Any, Optional

import numpy
from numpy.typing import ArrayLike, NDArray

from ..machine.aliases import Record
from ..network.parameters import NGRAM_TABLE, Arrays

# Those that trainings and comparisons keep
HEADLINE = ("accuracy", "f1", "log_loss", "ece")


def metrics(labels: ArrayLike, probability: ArrayLike) -> Record:
    """Score (N,) probabilities of `positive` against (N,) labels of 0 and 1; positive from 0.5 on.

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
    """Return those `metrics` that HEADLINE names."""
    figures = metrics(labels, probability)
    return {name: figures[name] for name in HEADLINE}


def share_interval(share: float, count: int) -> tuple[float, float]:
    """Return the 95 % interval (Wilson 1927) of a share, 0 to 1, that was measured on `count` reviews."""
    from scipy.stats import binomtest

    bounds = binomtest(round(share * count), count).proportion_ci(method="wilson")
    return float(bounds.low), float(bounds.high)


def expected_calibration_error(labels: NDArray[Any], probability: NDArray[Any], bins: int = 15) -> float:
    """Mean gap between confidence and accuracy over equal-width bins of confidence, weighted by their size.

    Guo et al. 2017 (arXiv:1706.04599), equation 3, with 15 bins as there. Confidence lies in 0.5..1.
    """
    confidence = numpy.maximum(probability, 1 - probability)
    correct = (probability >= 0.5) == (labels == 1)
    bin_of = numpy.minimum((confidence * bins).astype(int), bins - 1)
    weight = numpy.bincount(bin_of, minlength=bins)
    gap = numpy.bincount(bin_of, correct - confidence, minlength=bins)
    return float(numpy.abs(gap).sum() / weight.sum())


def evenness(token_weights: Iterable[ArrayLike]) -> float:
    """Return how evenly (T,) weights are spread: their entropy divided by that of equal ones, averaged over reviews.

    0 (all on one token) to 1 (all tokens equal); reviews of one token are left out.
    """
    from scipy.stats import entropy

    arrays = [numpy.asarray(weights, dtype="float64") for weights in token_weights]
    shares = [entropy(weights, base=len(weights)) for weights in arrays if len(weights) > 1]
    # float32 weights sum to 1 only nearly
    return float(numpy.clip(shares, 0, 1).mean()) if shares else 1.0


def overlap(weights: Iterable[ArrayLike]) -> float:
    """Return how far the hops (R, T) of a review attend to the same tokens, 0 to 1 (all equal), averaged over reviews.

    The mean over all pairs of hops of their histogram intersection (Swain & Ballard 1991); 0 of a single hop.
    """
    reviews = [numpy.asarray(hops, dtype="float64") for hops in weights]
    shared = [numpy.minimum(a, b).sum() for hops in reviews if hops.shape[1] > 1 for a, b in combinations(hops, 2)]
    return float(numpy.mean(shared)) if shared else 0.0


Floats = NDArray[numpy.float64]
# The last layer of either network
LAST_WEIGHT, LAST_BIAS = ("output.weight", "dense.weight"), ("output.bias", "dense.bias")
RANGE = (0.2, 5.0)
# The curvature of the prior of `fit_stacking`, as that of about 40 undecided reviews with log-odds of 1
PRIOR_STRENGTH = 10.0
# A dev part of fewer reviews says little: n-grams are cross-fitted on the training part, and a warning tells it
FEW_DEV = 200


def calibration(odds: Floats, labels: ArrayLike, wide: Optional[Floats] = None, wide_alone: float = 1.0) -> Record:
    """Fit the weights of the network's log-odds (N,) and of the n-grams' (wide), on the dev part with its labels (N,).

    Without n-grams by one temperature (Guo et al. 2017, arXiv:1706.04599, section 4.2), which changes no label; with
    them by `fit_stacking`, whose prior is the network as it is and half of what the n-grams' log-odds are worth by
    themselves (`wide_alone`). Returns scale of the network's log-odds, wide_scale (0 without), bias; `before` (the
    network alone) and `after`, the `headline` metrics.
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
    """Return weights of K log-odds (N, K), none below 0, and a bias, by logistic regression on the labels (N,).

    A Gaussian prior of PRIOR_STRENGTH holds each weight near its `prior` and the bias near 0: a few reviews hardly move
    them, and thousands decide. Without it, and with weights below 0, five dev reviews could reverse a model.
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
    """Return {name: array} of a network's parameters with the `calibration` in its last layer."""
    changed = dict(arrays)
    halves = numpy.array([-0.5, 0.5])
    for name in arrays:
        if name in LAST_WEIGHT:
            changed[name] = (arrays[name] * fitted["scale"]).astype("float32")
            if NGRAM_TABLE in arrays:
                changed[name][:, -1] = fitted["wide_scale"] * halves
        elif name in LAST_BIAS:
            changed[name] = (arrays[name] * fitted["scale"] + fitted["bias"] * halves).astype("float32")
    return changed


def log_odds(probability: ArrayLike, smallest: float = 1e-12) -> Floats:
    """Return the log-odds of probabilities, which count as no less than `smallest` and as much below 1."""
    clipped = numpy.clip(probability, smallest, 1 - smallest)
    return numpy.asarray(numpy.log(clipped) - numpy.log1p(-clipped))


def temperature(odds: Floats, labels: ArrayLike) -> float:
    """Return the divisor of the log-odds (N,), within RANGE, that gives these labels (N,) the smallest log loss."""
    from scipy.optimize import minimize_scalar

    margins = (2 * numpy.asarray(labels) - 1) * odds
    logarithm = minimize_scalar(
        lambda power: numpy.logaddexp(0, -margins / numpy.exp(power)).mean(), bounds=numpy.log(RANGE), method="bounded"
    ).x
    return float(numpy.exp(logarithm))
