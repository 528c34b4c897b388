"""The table of n-grams: logistic regression on character n-grams, fitted by scikit-learn and kept as a table.

A network that generalizes and a model that memorizes make different mistakes (wide & deep, Cheng et al. 2016,
arXiv:1606.07792). Trained together, the n-grams soon overfit (docs/accuracy.md).
"""

from collections.abc import Sequence
from typing import NamedTuple, Optional

import numpy
from numpy.typing import NDArray
from scipy import sparse

from ..text.ngrams import SMALLEST_SQUARE, ngram_ids

# Inverse strength of the L2 penalty, and largest number of solver steps: with factors, 60 cost 0.2 points of accuracy
STRENGTH, FIT_STEPS = 4.0, 300
# Reviews whose n-grams are hashed at a time
CHUNK = 4096
# Factor of a feature that makes the penalty on its weight negligible
UNPENALIZED = 10.0
FOLDS = 5
Factors = Sequence[NDArray[numpy.float32]]


class NgramTable(NamedTuple):
    """The table of `fit_table`, and the factor that calibrates its log-odds when they are used alone."""

    table: NDArray[numpy.float32]
    worth: float


def fit_table(
    token_lists: Sequence[Sequence[str]], labels: NDArray[numpy.int64], buckets: int, factors: Optional[Factors] = None
) -> NDArray[numpy.float32]:
    """Fit the table to lists of tokens and their labels, 0 or 1; both labels have the same total weight.

    A review's features are the TF-IDF of its n-grams (binary counts), divided by their L2 norm and multiplied by the
    factor of the token where the n-gram begins; `factors` has an array (T,) for each review. Returns (buckets, 2)
    float32: each n-gram's weight times its inverse document frequency (IDF), and the squared IDF. The log-odds of a
    review are the sum of the first, times the factors, divided by the root of the sum of the second.
    """
    from sklearn.linear_model import LogisticRegression

    weighted = presence(token_lists, buckets, factors)
    documents = numpy.asarray(ones(weighted).sum(axis=0)).ravel()
    # as scikit-learn smooths it
    idf = numpy.log((1 + len(labels)) / (1 + documents)) + 1
    model = LogisticRegression(C=STRENGTH, max_iter=FIT_STEPS, class_weight="balanced")
    model.fit(tfidf(weighted, idf), labels)
    # n-grams of no review have no weight and do not add to the norm
    seen = documents > 0
    table = numpy.stack([model.coef_[0] * idf * seen, idf**2 * seen], axis=1)
    return table.astype("float32")


def continue_table(
    table: NDArray[numpy.float32],
    token_lists: Sequence[Sequence[str]],
    labels: NDArray[numpy.int64],
    odds: NDArray[numpy.float64],
    factors: Optional[Factors] = None,
) -> tuple[NDArray[numpy.float64], float, float, NDArray[numpy.float64]]:
    """Fit a change of a table's weights, beside the log-odds (N,) of a model that has the table.

    A logistic regression on both penalizes the change alone, so that the table is its prior. Returns the change
    (buckets,), the weight of the log-odds, a bias, and the regression's cross-fitted log-odds (N,).
    """
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import cross_val_predict

    idf, buckets = numpy.sqrt(table[:, 1]), len(table)
    features = tfidf(presence(token_lists, buckets, factors), idf).tocsc()
    # only few of a million buckets occur
    used = numpy.flatnonzero(features.getnnz(axis=0))
    both = sparse.hstack([features[:, used], sparse.csr_matrix(UNPENALIZED * odds[:, None])]).tocsr()
    model = LogisticRegression(C=STRENGTH, max_iter=FIT_STEPS)
    together = cross_val_predict(model, both, labels, cv=FOLDS, method="decision_function")
    weights, change = model.fit(both, labels).coef_[0], numpy.zeros(buckets)
    change[used] = weights[:-1] * idf[used]
    return change, float(UNPENALIZED * weights[-1]), float(model.intercept_[0]), together


def ones(weighted: sparse.csr_matrix) -> sparse.csr_matrix:
    """Return `presence` without factors; factors of 0 become 1 too."""
    return sparse.csr_matrix((numpy.ones_like(weighted.data), weighted.indices, weighted.indptr), weighted.shape)


def tfidf(weighted: sparse.csr_matrix, idf: NDArray[numpy.float64]) -> sparse.csr_matrix:
    """Return the features (N, buckets) of `presence`, divided by the L2 norm that they have without factors."""
    norm = numpy.sqrt(numpy.maximum(ones(weighted) @ idf**2, 1))
    return sparse.diags((1 / norm).astype("float32")) @ weighted @ sparse.diags(idf.astype("float32"))


def cross_fitted_log_odds(
    token_lists: Sequence[Sequence[str]], labels: NDArray[numpy.int64], buckets: int
) -> NDArray[numpy.float64]:
    """Return log-odds (N,) by tables fitted to the other folds; each label needs at least 2 reviews."""
    from sklearn.model_selection import StratifiedKFold

    odds = numpy.zeros(len(labels))
    folds = StratifiedKFold(min(FOLDS, int(numpy.bincount(labels).min())), shuffle=True, random_state=0)
    for others, held_out in folds.split(odds, labels):
        table = fit_table([token_lists[i] for i in others], labels[others], buckets)
        odds[held_out] = log_odds(table, [token_lists[i] for i in held_out])
    return odds


def presence(
    token_lists: Sequence[Sequence[str]], buckets: int, factors: Optional[Factors] = None
) -> sparse.csr_matrix:
    """Return a sparse matrix (N, buckets), float32: 1, or the token's factor, for each n-gram of a review."""
    matrices = []
    for start in range(0, len(token_lists), CHUNK):
        chunk = token_lists[start : start + CHUNK]
        numbers = ngram_ids(chunk, buckets, max(map(len, chunk)))
        values = numpy.ones(numbers.shape[:2], dtype="float32")
        for row, factor in zip(values, factors[start : start + CHUNK] if factors else ()):
            row[: len(factor)] = factor
        rows, tokens, _ = inside = numpy.nonzero(numbers)
        matrix = (values[rows, tokens], (rows, numbers[inside]))
        matrices.append(sparse.csr_matrix(matrix, shape=(len(chunk), buckets)))
    return sparse.vstack(matrices)


def log_odds(table: NDArray[numpy.float32], token_lists: Sequence[Sequence[str]]) -> NDArray[numpy.float64]:
    """Return the log-odds (N,) of each list of tokens by the table."""
    present = presence(token_lists, len(table))
    return (present @ table[:, 0]) / numpy.sqrt(numpy.maximum(present @ table[:, 1], SMALLEST_SQUARE))
