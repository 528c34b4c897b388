"""How far the attention can be believed: does it point at the words that the answer hangs on?

Takes a scoring callable over tokens and one weight a token, never a network. Two questions:
- does the order of the weights agree with the order of what erasing each word changes (Kendall's tau-b; Jain &
  Wallace 2019, arXiv:1902.10186)?
- does the answer change when the words with the largest weights are taken away, and stay when only they are
  left (comprehensiveness and sufficiency, DeYoung et al. 2020, arXiv:1911.03429, equations 1 to 3)?
"""
import math

import numpy
from scipy.stats import kendalltau

from ..errors import DataError
from .erasure import leave_one_out

# Shares of the tokens over which ERASER averages
SHARES = (0.01, 0.05, 0.10, 0.20, 0.50)
SIGNIFICANT = 0.05


def faithfulness(score, token_lists, weights, seed=0, progress=iter):
    """Measure weights, and beside them a random order and erasure itself.

    Parameters
    ----------
    score : callable
        list of lists of str -> (N,) probability of positive; NaN or any number for an empty list.
    token_lists : list of lists of str
        Reviews of fewer than 3 tokens have no order worth measuring and are left out.
    weights : list of (T,) arrays
    progress : callable
        Wraps what is gone through, as tqdm does.

    Returns
    -------
    dict
        reviews; tau (mean, sd, low, high: 95 % interval of the mean; significant: share with p < 0.05) of the
        weights and of random numbers with erasure; for attention, erasure and random the AOPC of
        comprehensiveness (higher is better) and sufficiency (lower is better).
    """
    kept = [place for place, tokens in enumerate(token_lists) if len(tokens) >= 3]
    if len(kept) < 2:
        raise DataError(f"faithfulness: expected at least 2 reviews of 3 tokens or more, found {len(kept)}")
    token_lists, weights = [list(token_lists[place]) for place in kept], [weights[place] for place in kept]
    random = numpy.random.RandomState(seed)
    orders = {"attention": weights, "erasure": leave_one_out(score, token_lists, progress),
              "random": [random.rand(len(tokens)) for tokens in token_lists]}
    return {"reviews": len(kept),
            "tau": {name: agreement(orders[name], orders["erasure"]) for name in ("attention", "random")},
            **{name: aopc(score, token_lists, order) for name, order in orders.items()}}


def agreement(ones, others):
    """Answer mean, sd, interval of the mean and share of significant Kendall's tau-b over the reviews."""
    found = [kendalltau(one, other) for one, other in zip(ones, others)]
    taus = numpy.array([each.statistic for each in found])
    defined = taus[~numpy.isnan(taus)]
    half = 1.96 * defined.std(ddof=1) / math.sqrt(len(defined))
    return {"mean": float(defined.mean()), "sd": float(defined.std(ddof=1)), "low": float(defined.mean() - half),
            "high": float(defined.mean() + half),
            "significant": float(numpy.mean([each.pvalue < SIGNIFICANT for each in found]))}


def aopc(score, token_lists, weights):
    """Answer the means over SHARES of comprehensiveness and sufficiency, of the probability of the answer."""
    whole = score(token_lists)
    positive = whole >= 0.5
    found = {"comprehensiveness": [], "sufficiency": []}
    for share in SHARES:
        top = [set(largest(each, share)) for each in weights]
        without = [[token for place, token in enumerate(tokens) if place not in chosen]
                   for tokens, chosen in zip(token_lists, top)]
        only = [[token for place, token in enumerate(tokens) if place in chosen]
                for tokens, chosen in zip(token_lists, top)]
        for name, changed in (("comprehensiveness", without), ("sufficiency", only)):
            # nothing left says nothing
            answer = numpy.nan_to_num(score(changed), nan=0.5)
            drop = numpy.where(positive, whole - answer, answer - whole)
            found[name].append(drop.mean())
    return {name: float(numpy.mean(values)) for name, values in found.items()}


def largest(weights, share):
    """Answer the places of the largest weights, at least one."""
    count = max(1, math.ceil(share * len(weights)))
    return numpy.argsort(-numpy.asarray(weights), kind="stable")[:count].tolist()
