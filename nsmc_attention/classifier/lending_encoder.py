"""The parameters that a classifier can take from a language model: its encoder, and embeddings of the tokens in both."""

from typing import Any

from ..machine.aliases import Network
from ..network.parameters import Arrays, set_parameters, snapshot
from ..text.encoding import ReviewEncoder
from ..training.initial import sizes_of

EMBEDDING, ENCODER = "embedding.weight", "encoder."


def sizes(config: Any) -> dict[str, object]:
    """Return the settings that a classifier shares with a language model of a config, {path: value}."""
    return {**sizes_of(config), "model.kind": "classifier"}


def init(network: Network, arrays: Arrays, codec: ReviewEncoder, token_to_idx: dict[str, int]) -> None:
    """Give a classifier the encoder of a language model, {name: array}, and the embeddings of the tokens that it knows."""
    encoder = {name: array for name, array in arrays.items() if name.startswith(ENCODER)}
    embedding = snapshot(network)[EMBEDDING].copy()
    for token, index in token_to_idx.items():
        if token in codec.token_to_idx:
            embedding[index] = arrays["embedding"][codec.token_to_idx[token]]
    set_parameters(network, {**encoder, EMBEDDING: embedding})
