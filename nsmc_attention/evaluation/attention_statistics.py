"""Many reviews seen through their attention: which words take the weight, where they stand, how sharp it is.

Takes Predictions or weights, never a network. Weights of a review sum to 1, so that of long ones each is small;
what is compared here is a token's weight times the review's number of tokens, T: 1 is the weight that every token
of its review has on average.
"""

import numpy
import pandas


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
    # of float32 the weights sum to 1 but nearly
    return float(numpy.clip(found, 0, 1).mean()) if found else 1.0


def entropy(weights):
    """Answer the entropy, in nats, of weights that sum to 1."""
    weights = numpy.asarray(weights, dtype="float64")
    inside = weights[weights > 0]
    return float(-(inside * numpy.log(inside)).sum())


def token_table(predictions, tag=None):
    """Answer one row a token of all reviews that have a label.

    Parameters
    ----------
    predictions : iterable of inference.prediction.Prediction
    tag : callable or None
        text -> list of (start, end, tag), as `text.tokenizers.mecab_tags`: what each token is.

    Returns
    -------
    DataFrame
        token, label (of its review), weight (times T), position (0 the first to 1 the last; 0.5 where it stands
        alone) and, where there are tags, tag: that of the morpheme that the token begins in.
    """
    pieces = []
    for each in predictions:
        if each.label is None:
            continue
        size = len(each.tokens)
        row = {
            "token": each.tokens,
            "label": each.label,
            "weight": each.token_weights * size,
            "position": numpy.linspace(0, 1, size) if size > 1 else [0.5],
        }
        if tag:
            row["tag"] = tags_at([start for start, _ in each.offsets], tag(each.text))
        pieces.append(pandas.DataFrame(row))
    columns = ["token", "label", "weight", "position", *(["tag"] if tag else [])]
    return pandas.concat(pieces, ignore_index=True) if pieces else pandas.DataFrame(columns=columns)


def tags_at(starts, spans):
    """Answer for each start the tag of the last of (start, end, tag) that begins no later."""
    begins = numpy.array([start for start, _, _ in spans])
    return [spans[max(0, place)][2] for place in numpy.searchsorted(begins, starts, side="right") - 1]


def by_word(table, fewest=20):
    """Answer for each label the words that take most weight: label, token, count, weight (mean), heaviest first.

    Words that stand fewer than `fewest` times in reviews of that label are left out.
    """
    rows = table.groupby(["label", "token"])["weight"].agg(["size", "mean"]).reset_index()
    rows.columns = ["label", "token", "count", "weight"]
    rows = rows[rows["count"] >= fewest]
    return rows.sort_values(["label", "weight"], ascending=[True, False], ignore_index=True)


def by_tag(table, fewest=50):
    """Answer tag, count, weight (mean), share (of all weight), heaviest first; see `token_table` with tags."""
    rows = table.groupby("tag")["weight"].agg(["size", "mean", "sum"]).reset_index()
    rows.columns = ["tag", "count", "weight", "share"]
    rows["share"] /= rows["share"].sum()
    return rows[rows["count"] >= fewest].sort_values("weight", ascending=False, ignore_index=True)


def by_position(table, bins=10):
    """Answer position (middle of each of `bins` stretches of the review), count and weight (mean)."""
    stretch = numpy.minimum((table["position"] * bins).astype(int), bins - 1)
    rows = table.groupby(stretch)["weight"].agg(["size", "mean"]).reset_index()
    rows.columns = ["position", "count", "weight"]
    rows["position"] = (rows["position"] + 0.5) / bins
    return rows


def by_distance(predictions, farthest=20):
    """Answer distance (key's place less query's, -farthest to farthest), count and weight (mean, times T).

    Over all pairs of tokens of all reviews that have a label: does a word look at its neighbours?
    """
    sums, counts = numpy.zeros(2 * farthest + 1), numpy.zeros(2 * farthest + 1)
    for each in predictions:
        if each.label is None:
            continue
        size = len(each.tokens)
        for distance in range(-min(farthest, size - 1), min(farthest, size - 1) + 1):
            diagonal = numpy.diagonal(each.weights, distance)
            sums[distance + farthest] += diagonal.sum() * size
            counts[distance + farthest] += len(diagonal)
    seen = counts > 0
    return pandas.DataFrame(
        {
            "distance": numpy.arange(-farthest, farthest + 1)[seen],
            "count": counts[seen].astype(int),
            "weight": sums[seen] / counts[seen],
        }
    )
