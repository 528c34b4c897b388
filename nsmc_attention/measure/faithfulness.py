"""Faithfulness of the attention: does it point at the words that the prediction depends on?

Do weights rank the words like erasure, and like gradients (Kendall's tau-b; Jain & Wallace 2019, arXiv:1902.10186, section
4.1)? Does the prediction change without the words of the largest weights, and stay the same with only these words
(comprehensiveness and sufficiency, DeYoung et al. 2020, arXiv:1911.03429, equations 1 to 3)? Do signed values correlate with
the changes of the log-odds when a word is erased (Pearson), and do contributions sum to the log-odds?
"""

import math
from typing import Callable, Iterable, Mapping, Optional, Sequence

import numpy
from numpy.typing import ArrayLike, NDArray

from ..errors import DataError
from ..machine.aliases import Record
from ..text.encoding import Encoded
from .metrics import log_odds

# Shares of the tokens over which the ERASER benchmark averages
ERASED_SHARES = (0.01, 0.05, 0.10, 0.20, 0.50)
SIGNIFICANT = 0.05
MIN_TOKENS = 3
# Orders whose values have the sign of their effect on the log-odds
SIGNED = ("contribution", "gradient")
Weights = Sequence[ArrayLike]
Floats = NDArray[numpy.float64]
Mean = dict[str, Optional[float]]
# N reviews -> probabilities of positive (N,), as `classifier.predictor.TokenScorer`
Scorer = Callable[[Sequence[Encoded]], Floats]
ProgressCallback = Callable[[Iterable[int]], Iterable[int]]
# Reviews whose erasures are scored together, and the smallest probability: single precision has no smaller steps
REVIEWS_A_CHUNK, SMALLEST_PROBABILITY = 256, 1e-7


def faithfulness(
    score: Scorer,
    reviews: Sequence[Encoded],
    orders: Mapping[str, Weights],
    seed: int = 0,
    progress: ProgressCallback = iter,
) -> Record:
    """Compare the order of the words by attention with other orders, with erasure and with a random order.

    Parameters
    ----------
    score : callable
        list of Encoded -> (N,) probability of positive; NaN or any number for a review without tokens.
    reviews : list of Encoded
        Reviews of fewer than 3 tokens are left out; DataError if fewer than 2 remain.
    orders : dict of name to lists of (T,) arrays
        "attention", and others to compare it with; only `correlation` and `gap` use the signs. "gradient", the gradient
        x input of the log-odds (`classifier.engines`), is also a measure of importance, like erasure; "contribution" is
        the contribution of each token to the log-odds.

    Returns
    -------
    dict
        reviews, their number; tau: the `agreement` of each order with each measure of importance (erasure, gradient);
        orders: the `aopc` of each order and of erasure. With orders of SIGNED, correlation: the `correlation` of these
        with the changes by erasure, and of attention with the absolute changes. With contributions, gap: see `gap`.
    """
    long = [number for number, review in enumerate(reviews) if len(review) >= MIN_TOKENS]
    if len(long) < 2:
        raise DataError(f"faithfulness: expected at least 2 reviews of {MIN_TOKENS} tokens or more, found {len(long)}")
    reviews, random = [reviews[number] for number in long], numpy.random.RandomState(seed)
    ranked: dict[str, Weights] = {
        "attention": [],
        "random": [random.rand(len(review)) for review in reviews],
        **{name: [numpy.abs(weights[number]) for number in long] for name, weights in orders.items()},
    }
    changes = leave_one_out(score, reviews, progress)
    erased = [numpy.abs(change) for change in changes]
    measures = {"erasure": erased, **({"gradient": ranked["gradient"]} if "gradient" in ranked else {})}
    positive, rankings = score(reviews), {**ranked, "erasure": erased}
    signed = {name: [orders[name][number] for number in long] for name in SIGNED if name in orders}
    correlations = {name: correlation(values, changes) for name, values in signed.items()}
    return {
        "reviews": len(long),
        "tau": {
            name: {measure: agreement(order, values) for measure, values in measures.items() if measure != name}
            for name, order in ranked.items()
        },
        "orders": {name: aopc(score, reviews, order, positive) for name, order in rankings.items()},
        **({"correlation": {"attention": correlation(ranked["attention"], erased), **correlations}} if signed else {}),
        **({"gap": gap(positive, signed["contribution"])} if "contribution" in signed else {}),
    }


def leave_one_out(score: Scorer, reviews: Sequence[Encoded], progress: ProgressCallback = iter) -> list[Floats]:
    """Erase each token in turn; return the changes (T,) float64 of each review. No review may be empty.

    The log-odds of the review less those without the token, above 0 if the token speaks for positive; the log-odds without
    the only token are 0. Li, Monroe & Jurafsky 2016 (arXiv:1612.08220), section 3. `progress` wraps the loop, as tqdm does.
    """
    odds = log_odds(score(reviews), SMALLEST_PROBABILITY)
    changes: list[Floats] = []
    for start in progress(range(0, len(reviews), REVIEWS_A_CHUNK)):
        chunk = reviews[start : start + REVIEWS_A_CHUNK]
        erased = [review.without(position) for review in chunk for position in range(len(review))]
        lengths = [len(review) for review in chunk]
        remaining = numpy.nan_to_num(log_odds(score(erased), SMALLEST_PROBABILITY))
        change = numpy.repeat(odds[start : start + REVIEWS_A_CHUNK], lengths) - remaining
        changes.extend(numpy.split(change, numpy.cumsum(lengths)[:-1]))
    return changes


def shares(changes: Floats) -> Floats:
    """Return the absolute changes divided by their sum; equal shares if all are 0."""
    importance = numpy.abs(changes) if numpy.any(changes) else numpy.ones(len(changes))
    return importance / importance.sum()


def agreement(weights: Weights, others: Weights) -> Mean:
    """Return mean, low and high (95 % interval), sd and significant (share of p < 0.05) of Kendall's tau-b over reviews.

    Tau is undefined if all weights of a review are equal; figures are None if it is defined for fewer than two reviews.
    """
    from scipy.stats import kendalltau

    tests = [kendalltau(*pair) for pair in zip(weights, others)]
    taus = numpy.array([test.statistic for test in tests])
    defined = taus[~numpy.isnan(taus)]
    return {
        **mean_of(defined),
        "sd": float(defined.std(ddof=1)) if len(defined) > 1 else None,
        "significant": float(numpy.mean([test.pvalue < SIGNIFICANT for test in tests])),
    }


def correlation(values: Weights, others: Weights) -> Optional[float]:
    """Return Pearson's correlation over all tokens of all reviews; None if one side is constant."""
    x, y = (numpy.concatenate([*map(numpy.asarray, side)]).astype("float64") for side in (values, others))
    return float(numpy.corrcoef(x, y)[0, 1]) if x.std() and y.std() else None


def gap(probability: ArrayLike, contributions: Weights) -> float:
    """Return the largest difference between log-odds, from probabilities (N,), and sums of contributions with the best bias.

    Single precision rounds probabilities near 1: log-odds of 10 are exact to 0.001.
    """
    sums = [numpy.sum(values, dtype="float64") for values in contributions]
    biases = log_odds(numpy.asarray(probability, dtype="float64"), SMALLEST_PROBABILITY) - sums
    return float(biases.max() - biases.min()) / 2


def mean_of(values: Floats) -> Mean:
    """Return the mean over reviews and its 95 % interval as mean, low and high."""
    if len(values) < 2:
        return {"mean": None, "low": None, "high": None}
    mean, half = float(values.mean()), float(1.96 * values.std(ddof=1) / math.sqrt(len(values)))
    return {"mean": mean, "low": mean - half, "high": mean + half}


def aopc(score: Scorer, reviews: Sequence[Encoded], weights: Weights, positive: Floats) -> dict[str, Mean]:
    """Return `mean_of` comprehensiveness (higher is better) and sufficiency (lower is better), averaged over ERASED_SHARES.

    Both are changes of the predicted label's probability; `positive` (N,) are the reviews' probabilities of positive.
    """
    drops: dict[str, list[Floats]] = {"comprehensiveness": [], "sufficiency": []}
    for share in ERASED_SHARES:
        orders = (numpy.argsort(-numpy.asarray(values), kind="stable").tolist() for values in weights)
        top = [set(order[: math.ceil(share * len(order))]) for order in orders]
        for name, keep in (("comprehensiveness", False), ("sufficiency", True)):
            remaining = [
                review.take([position for position in range(len(review)) if (position in positions) is keep])
                for review, positions in zip(reviews, top)
            ]
            # without tokens both labels are equally likely
            probability = numpy.nan_to_num(score(remaining), nan=0.5)
            drops[name].append(numpy.where(positive >= 0.5, positive - probability, probability - positive))
    return {name: mean_of(numpy.mean(values, axis=0)) for name, values in drops.items()}
