"""How far the attention can be believed: does it point at the words that the answer hangs on?

Takes a scoring callable over tokens and one weight a token, never a network. Three questions:
- does the order of the weights agree with the order of what erasing each word changes, and with that of the
  gradients (Kendall's tau-b; Jain & Wallace 2019, arXiv:1902.10186, section 4.1)?
- does the answer change when the words with the largest weights are taken away, and stay when only they are
  left (comprehensiveness and sufficiency, DeYoung et al. 2020, arXiv:1911.03429, equations 1 to 3)?
- does the answer change when the attention looks elsewhere?
"""

import math

import numpy
from scipy.stats import kendalltau

from ..errors import DataError
from .erasure import leave_one_out

# Shares of the tokens over which ERASER averages
SHARES = (0.01, 0.05, 0.10, 0.20, 0.50)
SIGNIFICANT = 0.05
SHORTEST = 3


def faithfulness(score, token_lists, weights, gradients=None, replaced=None, seed=0, progress=iter):
    """Measure weights, and beside them erasure, gradients and a random order.

    Parameters
    ----------
    score : callable
        list of lists of str -> (N,) probability of positive; NaN or any number for an empty list.
    token_lists : list of lists of str
        Reviews of fewer than 3 tokens have no order worth measuring and are left out.
    weights : list of (T,) arrays
    gradients : list of (T,) arrays or None
        Gradient x input of the log-odds, summed over all that is looked up for the token (see
        `inference.gradients`); their signs are not used.
    replaced : dict of name to (N,) arrays, or None
        Probabilities of positive with other weights in the attention's place (`inference.interventions`).
    progress : callable
        Wraps what is gone through, as tqdm does.

    Returns
    -------
    dict
        reviews; tau: for each order (attention, gradient, random) and each measure of importance (erasure,
        gradient) mean, sd, low and high (95 % interval of the mean) and significant (share of reviews with
        p < 0.05); orders: for attention, erasure, gradient and random the AOPC of comprehensiveness (higher is
        better) and sufficiency (lower is better), with low and high; replaced: of each, change (mean of the
        change of probability) and flipped (share of other labels).
    """
    kept = [place for place, tokens in enumerate(token_lists) if len(tokens) >= SHORTEST]
    if len(kept) < 2:
        raise DataError(f"faithfulness: expected at least 2 reviews of {SHORTEST} tokens or more, found {len(kept)}")

    def of_kept(arrays):
        return [numpy.abs(arrays[place]) for place in kept]

    token_lists = [list(token_lists[place]) for place in kept]
    random = numpy.random.RandomState(seed)
    measures = {"erasure": [numpy.abs(change) for change in leave_one_out(score, token_lists, progress)]}
    orders = {"attention": of_kept(weights), "random": [random.rand(len(tokens)) for tokens in token_lists]}
    if gradients is not None:
        orders["gradient"] = measures["gradient"] = of_kept(gradients)
    whole = score(token_lists)
    found = {
        "reviews": len(kept),
        "tau": {
            name: {measure: agreement(orders[name], values) for measure, values in measures.items() if measure != name}
            for name in orders
        },
        "orders": {
            name: aopc(score, token_lists, order, whole)
            for name, order in {**orders, "erasure": measures["erasure"]}.items()
        },
    }
    if replaced is not None:
        found["replaced"] = {name: effect(whole, numpy.asarray(answers)[kept]) for name, answers in replaced.items()}
    return found


def agreement(ones, others):
    """Answer mean, sd, interval of the mean and share of significant Kendall's tau-b over the reviews.

    Where all weights of a review are equal there is no order and no tau; None where no two reviews have one.
    """
    found = [kendalltau(one, other) for one, other in zip(ones, others)]
    taus = numpy.array([each.statistic for each in found])
    defined = taus[~numpy.isnan(taus)]
    return {
        **mean_of(defined),
        "sd": float(defined.std(ddof=1)) if len(defined) > 1 else None,
        "significant": float(numpy.mean([each.pvalue < SIGNIFICANT for each in found])),
    }


def mean_of(values):
    """Answer mean, low and high: the mean over reviews and its 95 % interval."""
    if len(values) < 2:
        return {"mean": None, "low": None, "high": None}
    half = 1.96 * values.std(ddof=1) / math.sqrt(len(values))
    mean = float(values.mean())
    return {"mean": mean, "low": mean - float(half), "high": mean + float(half)}


def aopc(score, token_lists, weights, whole):
    """Answer the means over SHARES of comprehensiveness and sufficiency, of the probability of the answer.

    whole is (N,), the probability of positive of the reviews as they are.
    """
    positive = whole >= 0.5
    drops: dict[str, list[numpy.ndarray]] = {"comprehensiveness": [], "sufficiency": []}
    for share in SHARES:
        top = [set(largest(each, share)) for each in weights]
        without = [
            [token for place, token in enumerate(tokens) if place not in chosen]
            for tokens, chosen in zip(token_lists, top)
        ]
        only = [
            [token for place, token in enumerate(tokens) if place in chosen] for tokens, chosen in zip(token_lists, top)
        ]
        for name, changed in (("comprehensiveness", without), ("sufficiency", only)):
            # nothing left says nothing
            answer = numpy.nan_to_num(score(changed), nan=0.5)
            drops[name].append(numpy.where(positive, whole - answer, answer - whole))
    return {name: mean_of(numpy.mean(values, axis=0)) for name, values in drops.items()}


def effect(whole, answers):
    """Answer the mean change of probability and the share of labels that are others."""
    return {
        "change": float(numpy.abs(whole - answers).mean()),
        "flipped": float(((whole >= 0.5) != (answers >= 0.5)).mean()),
    }


def largest(weights, share):
    """Answer the places of the largest weights, at least one."""
    count = max(1, math.ceil(share * len(weights)))
    return numpy.argsort(-numpy.asarray(weights), kind="stable")[:count].tolist()
