"""The wide part: logistic regression on character n-grams, fitted by scikit-learn and kept as a table.

A network that generalizes and a model that memorizes make different mistakes (wide & deep, Cheng et al. 2016,
arXiv:1606.07792). Trained together, the n-grams soon overfit (docs/accuracy.md).
"""

from collections.abc import Sequence
from typing import Any

import numpy
from numpy.typing import NDArray
from scipy import sparse

from ..text.ngrams import SMALLEST, ngram_ids

# Inverse strength of the L2 penalty, and largest number of solver steps: more change no reported digit
STRENGTH, STEPS = 4.0, 60
PIECE = 4096
FOLDS = 5


def fit_wide(token_lists: Sequence[Sequence[str]], labels: NDArray[Any], buckets: int) -> NDArray[numpy.float32]:
    """Fit the table to lists of tokens and their labels, 0 or 1; both labels have the same total weight.

    A review's features are TF-IDF of its n-grams, each present or not, divided by their L2 norm. Returns (buckets, 2)
    float32: for each n-gram its weight times its inverse document frequency, and the square of that frequency. The
    log-odds of a review are the sum of the first divided by the root of the sum of the second.
    """
    from sklearn.linear_model import LogisticRegression

    present = presence(token_lists, buckets)
    documents = numpy.asarray(present.sum(axis=0)).ravel()
    # as scikit-learn smooths it
    idf = numpy.log((1 + len(labels)) / (1 + documents)) + 1
    features = present @ sparse.diags(idf.astype("float32"))
    norm = numpy.sqrt(numpy.maximum(present @ idf**2, 1))
    model = LogisticRegression(C=STRENGTH, max_iter=STEPS, class_weight="balanced")
    model.fit(sparse.diags((1 / norm).astype("float32")) @ features, labels)
    # n-grams of no review have no weight and do not add to the norm
    seen = documents > 0
    table = numpy.stack([model.coef_[0] * idf * seen, idf**2 * seen], axis=1)
    return table.astype("float32")


def cross_fitted_log_odds(
    token_lists: Sequence[Sequence[str]], labels: NDArray[Any], buckets: int
) -> NDArray[numpy.float64]:
    """Return the log-odds (N,) of each list of tokens by a table fitted to the other folds; both labels have 2 at least."""
    from sklearn.model_selection import StratifiedKFold

    odds = numpy.zeros(len(labels))
    folds = StratifiedKFold(min(FOLDS, int(numpy.bincount(labels).min())), shuffle=True, random_state=0)
    for known, held_out in folds.split(odds, labels):
        table = fit_wide([token_lists[i] for i in known], labels[known], buckets)
        odds[held_out] = log_odds(table, [token_lists[i] for i in held_out])
    return odds


def presence(token_lists: Sequence[Sequence[str]], buckets: int) -> Any:
    """Return the sparse matrix (N, buckets), float32: 1 where a review has an n-gram."""
    matrices = []
    for start in range(0, len(token_lists), PIECE):
        piece = token_lists[start : start + PIECE]
        numbers = ngram_ids(piece, buckets, max(map(len, piece)))
        inside = numpy.nonzero(numbers)
        ones = numpy.ones(len(inside[0]), dtype="float32")
        matrices.append(sparse.csr_matrix((ones, (inside[0], numbers[inside])), shape=(len(piece), buckets)))
    return sparse.vstack(matrices)


def log_odds(table: NDArray[numpy.float32], token_lists: Sequence[Sequence[str]]) -> NDArray[numpy.float64]:
    """Return the log-odds (N,) of each list of tokens by the table."""
    present = presence(token_lists, len(table))
    return (present @ table[:, 0]) / numpy.sqrt(numpy.maximum(present @ table[:, 1], SMALLEST))
