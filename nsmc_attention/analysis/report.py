"""Many reviews seen through their attention: which words take the weight, where they stand, how sharp it is.

Takes Predictions or weights, never a network.
"""
import numpy


def evenness(token_weights):
    """Answer how evenly weights are spread: their entropy divided by that of equal weights, averaged over reviews.

    Parameters
    ----------
    token_weights : list of (T,) arrays that sum to 1
        Reviews of one token are left out.

    Returns
    -------
    float
        0 (all on one token) to 1 (every token alike, or no review of two tokens).
    """
    found = [entropy(weights) / numpy.log(len(weights)) for weights in token_weights if len(weights) > 1]
    return float(numpy.mean(found)) if found else 1.0


def entropy(weights):
    """Answer the entropy, in nats, of weights that sum to 1."""
    weights = numpy.asarray(weights, dtype="float64")
    inside = weights[weights > 0]
    return float(-(inside * numpy.log(inside)).sum())
