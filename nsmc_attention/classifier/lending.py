"""The parameters that a training can take from another classifier: all but the n-gram table, with its vocabulary."""

from typing import Any

from ..machine.aliases import Network
from ..network.parameters import NGRAM_TABLE, Arrays, set_parameters, snapshot
from ..schema import paths
from ..text.encoding import ReviewEncoder
from ..training.initial import sizes_of


def sizes(config: Any) -> dict[str, object]:
    """Return the settings that a classifier shares with another of a config, {path: value}: also its tokens'."""
    text = {path: value for path, value in paths(config) if path.startswith("text.") and path != "text.ngram_buckets"}
    return {**sizes_of(config), **text}


def init(network: Network, arrays: Arrays, codec: ReviewEncoder, token_to_idx: dict[str, int]) -> None:
    """Give a classifier without n-grams all that another of the same vocabulary, {name: array}, has beside them."""
    if NGRAM_TABLE in arrays:
        arrays = {**arrays, "output.weight": arrays["output.weight"][:, :-1]}
    set_parameters(network, {name: arrays[name] for name in snapshot(network)})
