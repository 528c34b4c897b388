"""Classification metrics by scikit-learn; takes arrays, knows nothing of networks or files."""

from collections.abc import Iterable
from itertools import combinations

import numpy
from numpy.typing import ArrayLike, NDArray

from ..machine.aliases import Record

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


def expected_calibration_error(
    labels: NDArray[numpy.int64], probability: NDArray[numpy.float64], bins: int = 15
) -> float:
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
    arrays = [numpy.asarray(weights, dtype="float64") for weights in token_weights]
    shares = [entropy(weights) / numpy.log(len(weights)) for weights in arrays if len(weights) > 1]
    # float32 weights sum to 1 only nearly
    return float(numpy.clip(shares, 0, 1).mean()) if shares else 1.0


def entropy(weights: ArrayLike) -> float:
    """Return the entropy, in nats, of weights that sum to 1."""
    weights = numpy.asarray(weights, dtype="float64")
    inside = weights[weights > 0]
    return float(-(inside * numpy.log(inside)).sum())


def overlap(weights: Iterable[ArrayLike]) -> float:
    """Return how far the hops (R, T) of a review attend to the same tokens, averaged over reviews of several tokens.

    The mean over all pairs of hops of the sum over the tokens of the smaller of their weights: the histogram intersection
    of Swain & Ballard 1991. 0 (no token in common, or a single hop) to 1 (all hops equal).
    """
    reviews = [numpy.asarray(hops, dtype="float64") for hops in weights]
    shared = [numpy.minimum(a, b).sum() for hops in reviews if hops.shape[1] > 1 for a, b in combinations(hops, 2)]
    return float(numpy.mean(shared)) if shared else 0.0
