"""Classification metrics by scikit-learn; takes arrays, knows nothing of networks or files."""

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
