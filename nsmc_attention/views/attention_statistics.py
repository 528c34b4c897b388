"""Statistics of the attention over many reviews: which tokens get the weight, where they are, how concentrated it is.

Takes Predictions or weights, never a network. The weights of a review sum to 1, so those of long reviews are small;
compared here is a token's weight times the review's number of tokens, T: 1 is the average of its review.
"""

from typing import TYPE_CHECKING, Callable, Iterable, Optional, Sequence, Union

import numpy
import pandas

if TYPE_CHECKING:
    from ..classifier.prediction import Prediction

Tagger = Callable[[str], list[tuple[int, int, str]]]


def token_table(predictions: Iterable["Prediction"], tag: Optional[Tagger] = None) -> pandas.DataFrame:
    """Return one row a token of all Predictions that have a label.

    token, label (of its review), weight (times T), position (0 the first to 1 the last; 0.5 for a single token) and,
    with `tag`, as `text.tokenizers.mecab_tags`, the tag of the morpheme that the token begins in.
    """
    labelled = [prediction for prediction in predictions if prediction.label is not None]
    sizes = [len(prediction.tokens) for prediction in labelled]
    positions = [numpy.linspace(0, 1, size) if size > 1 else numpy.array([0.5]) for size in sizes]
    weights = [prediction.token_weights * size for prediction, size in zip(labelled, sizes)]
    columns = {
        "token": [token for prediction in labelled for token in prediction.tokens],
        "label": numpy.repeat(numpy.array([prediction.label for prediction in labelled], dtype=object), sizes),
        "weight": numpy.concatenate([[], *weights]),
        "position": numpy.concatenate([[], *positions]),
    }
    if tag:
        columns["tag"] = [name for one in labelled for name in tags_at(one.offsets, tag(one.text))]
    return pandas.DataFrame(columns)


def tags_at(offsets: Sequence[tuple[int, int]], spans: Sequence[tuple[int, int, str]]) -> list[str]:
    """Return for each token the tag of the last of (start, end, tag) that begins no later."""
    begins, starts = [start for start, *_ in spans], [start for start, _ in offsets]
    return [spans[max(0, index)][2] for index in numpy.searchsorted(begins, starts, side="right") - 1]


def mean_weight(
    table: pandas.DataFrame, keys: Union[str, list[str], pandas.Series], names: list[str]
) -> pandas.DataFrame:
    """Return one row a group: its keys, and the number and mean weight of its tokens, in columns `names`."""
    rows = table.groupby(keys)["weight"].agg(["size", "mean"]).reset_index()
    return rows.set_axis(names, axis=1)


def by_word(table: pandas.DataFrame, fewest: int = 20) -> pandas.DataFrame:
    """Return for each label its words by weight: label, token, count, weight (mean), largest first.

    Words that occur fewer than `fewest` times in reviews of that label are left out.
    """
    rows = mean_weight(table, ["label", "token"], ["label", "token", "count", "weight"])
    rows = rows[rows["count"] >= fewest]
    return rows.sort_values(["label", "weight"], ascending=[True, False], ignore_index=True)


def by_hop(predictions: Sequence["Prediction"], fewest: int = 20) -> list[pandas.DataFrame]:
    """Return for each hop its words by weight: token, count, weight (mean, times T), largest first.

    The axes of the Predictions are (hops, keys). Words that occur fewer than `fewest` times are left out.
    """
    tables = []
    for hop in range(max((len(prediction.weights) for prediction in predictions), default=0)):
        table = token_table(prediction.of_hop(hop) for prediction in predictions if prediction.label is not None)
        rows = mean_weight(table, "token", ["token", "count", "weight"])
        tables.append(rows[rows["count"] >= fewest].sort_values("weight", ascending=False, ignore_index=True))
    return tables
