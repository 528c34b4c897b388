"""Inputs and outputs of a classifier's graph, by name; its settings say what the weights' axes are."""

from .._runtime.mxnet_types import Array, Operators
from ..model.graphs import Axes, second_of_two
from ..text.ngrams import NGRAMS

# One without a table of n-grams has no ngram_ids
REVIEWS: dict[str, Axes] = {"token_ids": ("N", "T"), "valid_length": ("N",), "ngram_ids": ("N", "T", NGRAMS)}
# The output of a model whose encoder attends: its weights
HEADS = "heads"
# What a network above reads of a review: an output where values are near the token, else what its last layer reads, a further
# output that the graph can be given
CONTEXTS = "contexts"
# What each token adds to the log-odds, of a classifier whose values are near the token (`model.values`)
CONTRIBUTIONS = "contributions"


def classified(F: Operators, logits: Array, weights: Array, *others: Array) -> tuple[Array, ...]:
    """Logits (N, 2) -> the probability of positive (N,); the rest as it is."""
    return (second_of_two(F, logits, 1), weights, *others)
