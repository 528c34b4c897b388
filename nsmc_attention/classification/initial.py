"""Initial parameters of a classifier other than random numbers: those of another bundle.

Of another classifier it takes all but the table of n-grams, and so its vocabulary; of a language model the encoder and
the embeddings.
"""

from typing import Any

from .._runtime.mxnet_types import Network
from ..model.parameters import NGRAM_TABLE, Arrays, set_parameters, snapshot
from ..schema import paths
from ..text.encoding import ReviewEncoder
from ..training.initial import sizes_of
from .settings import ClassifierConfig

EMBEDDING, ENCODER = "embedding.weight", "encoder."


def sizes_of_classifier(config: Any) -> dict[str, object]:
    """Return the settings that a classifier shares with another of a config, {path: value}: also its tokens'."""
    text = {path: value for path, value in paths(config) if path.startswith("text.") and path != "text.ngram_buckets"}
    return {**sizes_of(config), **text}


def sizes_of_language_model(config: Any) -> dict[str, object]:
    """Return the settings that a classifier shares with a language model of a config, {path: value}."""
    return {**sizes_of(config), "model.kind": ClassifierConfig.kind}


def init_from_classifier(network: Network, arrays: Arrays, codec: ReviewEncoder, token_to_idx: dict[str, int]) -> None:
    """Give a classifier without n-grams all that another of the same vocabulary, {name: array}, has beside them."""
    if NGRAM_TABLE in arrays:
        arrays = {**arrays, "output.weight": arrays["output.weight"][:, :-1]}
    set_parameters(network, {name: arrays[name] for name in snapshot(network)})


def init_from_language_model(
    network: Network, arrays: Arrays, codec: ReviewEncoder, token_to_idx: dict[str, int]
) -> None:
    """Give a classifier the encoder of a language model, {name: array}, and the embeddings of the tokens that it knows."""
    encoder = {name: array for name, array in arrays.items() if name.startswith(ENCODER)}
    embedding = snapshot(network)[EMBEDDING].copy()
    for token, index in token_to_idx.items():
        if token in codec.token_to_idx:
            embedding[index] = arrays["embedding"][codec.token_to_idx[token]]
    set_parameters(network, {**encoder, EMBEDDING: embedding})
