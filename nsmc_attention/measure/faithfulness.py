"""Faithfulness of the attention: does it point at the words that the prediction depends on?

Is the order of the weights that by erasure, and by gradients (Kendall's tau-b; Jain & Wallace 2019, arXiv:1902.10186,
section 4.1)? Does the prediction change without the words of the largest weights, and stay with them alone
(comprehensiveness and sufficiency, DeYoung et al. 2020, arXiv:1911.03429, equations 1 to 3)? Are values with a sign the
changes of the log-odds when a word is erased (Pearson's correlation), and do those that are to add up to the log-odds do so?
"""

import math
from typing import Callable, Iterable, Mapping, Optional, Sequence

import numpy
from numpy.typing import ArrayLike, NDArray

from ..errors import DataError
from ..machine.aliases import Record
from ..text.encoding import Encoded
from .metrics import log_odds

# Shares of the tokens over which ERASER averages
ERASED_SHARES = (0.01, 0.05, 0.10, 0.20, 0.50)
SIGNIFICANT = 0.05
MIN_TOKENS = 3
# Orders whose values have the sign of what they do to the log-odds
SIGNED = ("contribution", "gradient")
Weights = Sequence[ArrayLike]
Floats = NDArray[numpy.float64]
Mean = dict[str, Optional[float]]
# (N,) probability of positive of N reviews, as `classifier.predictor.TokenScorer`
Scorer = Callable[[Sequence[Encoded]], Floats]
ProgressCallback = Callable[[Iterable[int]], Iterable[int]]
# Reviews whose erasures are scored together, and what a probability is at least: single precision knows no less
REVIEWS_A_PIECE, SMALLEST_SIZE = 256, 1e-7


def faithfulness(
    score: Scorer,
    reviews: Sequence[Encoded],
    orders: Mapping[str, Weights],
    seed: int = 0,
    progress: ProgressCallback = iter,
) -> Record:
    """Measure the weights of attention, and beside them other orders of the words, erasure and a random order.

    Parameters
    ----------
    score : callable
        list of Encoded -> (N,) probability of positive; NaN or any number for one without tokens.
    reviews : list of Encoded
        Those of fewer than 3 tokens are left out; DataError if fewer than 2 remain.
    orders : dict of name to lists of (T,) arrays
        "attention", and others to compare it with; only `correlation` and `gap` use the signs. "gradient", the gradient
        x input of the log-odds (`classifier.engines`), is also a measure of importance, as erasure is;
        "contribution" is what each token adds to the log-odds.

    Returns
    -------
    dict
        reviews; tau: the `agreement` of each order with each measure of importance (erasure, gradient); orders: the
        `aopc` of each order and of erasure's. With some of SIGNED, correlation: the `correlation` of these with the
        changes by erasure, and of attention with the absolute ones. With contributions, gap: see `gap`.
    """
    kept = [number for number, review in enumerate(reviews) if len(review) >= MIN_TOKENS]
    if len(kept) < 2:
        raise DataError(f"faithfulness: expected at least 2 reviews of {MIN_TOKENS} tokens or more, found {len(kept)}")
    reviews, random = [reviews[number] for number in kept], numpy.random.RandomState(seed)
    ranked: dict[str, Weights] = {
        "attention": [],
        "random": [random.rand(len(review)) for review in reviews],
        **{name: [numpy.abs(weights[number]) for number in kept] for name, weights in orders.items()},
    }
    changes = leave_one_out(score, reviews, progress)
    erased = [numpy.abs(change) for change in changes]
    measures = {"erasure": erased, **({"gradient": ranked["gradient"]} if "gradient" in ranked else {})}
    whole = score(reviews)
    signed = {name: [orders[name][number] for number in kept] for name in SIGNED if name in orders}
    correlations = {name: correlation(values, changes) for name, values in signed.items()}
    return {
        "reviews": len(kept),
        "tau": {
            name: {measure: agreement(order, values) for measure, values in measures.items() if measure != name}
            for name, order in ranked.items()
        },
        "orders": {name: aopc(score, reviews, order, whole) for name, order in {**ranked, "erasure": erased}.items()},
        **({"correlation": {"attention": correlation(ranked["attention"], erased), **correlations}} if signed else {}),
        **({"gap": gap(whole, signed["contribution"])} if "contribution" in signed else {}),
    }


def leave_one_out(score: Scorer, reviews: Sequence[Encoded], progress: ProgressCallback = iter) -> list[Floats]:
    """Erase each token in turn; return (T,) float64 for each review, none of which is empty.

    Log-odds of the review (of a single token) less those without the token: above 0 if it speaks for positive. Li,
    Monroe & Jurafsky 2016 (arXiv:1612.08220), section 3. `progress` wraps the iterable of the loop, as tqdm does.
    """
    whole = log_odds(score(reviews), SMALLEST_SIZE)
    changes: list[Floats] = []
    for start in progress(range(0, len(reviews), REVIEWS_A_PIECE)):
        piece = reviews[start : start + REVIEWS_A_PIECE]
        without = [review.without(position) for review in piece for position in range(len(review))]
        lengths = [len(review) for review in piece]
        left = numpy.nan_to_num(log_odds(score(without), SMALLEST_SIZE))
        change = numpy.repeat(whole[start : start + REVIEWS_A_PIECE], lengths) - left
        changes.extend(numpy.split(change, numpy.cumsum(lengths)[:-1]))
    return changes


def shares(changes: Floats) -> Floats:
    """Return the absolute changes divided by their sum; equal shares if all are 0."""
    importance = numpy.abs(changes) if numpy.any(changes) else numpy.ones(len(changes))
    return importance / importance.sum()


def agreement(ones: Weights, others: Weights) -> Mean:
    """Return mean, low and high (95 % interval), sd and significant (share of p < 0.05) of Kendall's tau-b over reviews.

    Tau is undefined where all weights of a review are equal; None if fewer than two reviews have one.
    """
    from scipy.stats import kendalltau

    tests = [kendalltau(one, other) for one, other in zip(ones, others)]
    taus = numpy.array([test.statistic for test in tests])
    defined = taus[~numpy.isnan(taus)]
    return {
        **mean_of(defined),
        "sd": float(defined.std(ddof=1)) if len(defined) > 1 else None,
        "significant": float(numpy.mean([test.pvalue < SIGNIFICANT for test in tests])),
    }


def correlation(ones: Weights, others: Weights) -> Optional[float]:
    """Return Pearson's correlation over all tokens of all reviews; None where one side is constant."""
    one, other = (numpy.concatenate([*map(numpy.asarray, side)]).astype("float64") for side in (ones, others))
    return float(numpy.corrcoef(one, other)[0, 1]) if one.std() and other.std() else None


def gap(whole: ArrayLike, contributions: Weights) -> float:
    """Return how far the log-odds of the probabilities of positive (N,) are from the best bias and the sums, at most.

    Near 1, single precision rounds a probability: log-odds of 10 to 0.001.
    """
    sums = [numpy.sum(values, dtype="float64") for values in contributions]
    biases = log_odds(numpy.asarray(whole, dtype="float64"), SMALLEST_SIZE) - sums
    return float(biases.max() - biases.min()) / 2


def mean_of(values: Floats) -> Mean:
    """Return mean, low and high: the mean over reviews and its 95 % interval."""
    if len(values) < 2:
        return {"mean": None, "low": None, "high": None}
    mean, half = float(values.mean()), float(1.96 * values.std(ddof=1) / math.sqrt(len(values)))
    return {"mean": mean, "low": mean - half, "high": mean + half}


def aopc(score: Scorer, reviews: Sequence[Encoded], weights: Weights, whole: Floats) -> dict[str, Mean]:
    """Return `mean_of` comprehensiveness (higher is better) and sufficiency (lower is better), averaged over ERASED_SHARES.

    Both are changes of the predicted label's probability; whole is (N,), the reviews' probability of positive.
    """
    drops: dict[str, list[Floats]] = {"comprehensiveness": [], "sufficiency": []}
    for share in ERASED_SHARES:
        orders = (numpy.argsort(-numpy.asarray(values), kind="stable").tolist() for values in weights)
        top = [set(order[: math.ceil(share * len(order))]) for order in orders]
        for name, keep in (("comprehensiveness", False), ("sufficiency", True)):
            changed = [
                review.take([position for position in range(len(review)) if (position in chosen) is keep])
                for review, chosen in zip(reviews, top)
            ]
            # without tokens both labels are equally likely
            probability = numpy.nan_to_num(score(changed), nan=0.5)
            drops[name].append(numpy.where(whole >= 0.5, whole - probability, probability - whole))
    return {name: mean_of(numpy.mean(values, axis=0)) for name, values in drops.items()}
