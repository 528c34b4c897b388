"""Initial parameters of a classifier other than random numbers: those of another bundle, or given word vectors.

Of another classifier it takes all but the table of n-grams, and so its vocabulary. Of what `restore` has learnt a
classifier of characters takes the reading: the embedding of each character, which is the sum of its rows, and the first
layer. Of a language model a classifier takes the encoder and the embeddings.
"""

from typing import Any

from .._runtime.mxnet_types import Network
from ..model.parameters import NGRAM_TABLE, Arrays, set_parameters, snapshot
from ..restoration.characters import Characters
from ..restoration.train import sizes_of_reader
from ..settings import paths
from ..text.encoding import ReviewEncoder
from ..text.vectors import WordVectors
from ..training.initial import sizes_of
from .settings import ClassifierConfig

EMBEDDING, ENCODER = "embedding.weight", "encoder."
ARTICLE_EMBEDDING = "embed.weight"
SHARED = {"model.kind": ClassifierConfig.kind}
READER, LAYER = "reader.embedding.weight", "reader.layer0."


def sizes_of_classifier(config: Any) -> dict[str, object]:
    """Return the settings that a classifier shares with another of a config, {path: value}: also its tokens'."""
    text = {path: value for path, value in paths(config) if path.startswith("text.") and path != "text.ngram_buckets"}
    return {**sizes_of(config), **text}


def sizes_of_restorer(config: Any) -> dict[str, object]:
    """Return the settings that a classifier shares with a restorer of a config, {path: value}."""
    shared = sizes_of_reader(config)
    if config.model.encoder.kind != "transformer":
        # of recurrent layers, a classifier has the first
        del shared["model.encoder.layers"]
    return {**SHARED, "text.tokenizer": "characters", **shared}


def sizes_of_language_model(config: Any) -> dict[str, object]:
    """Return the settings that a classifier shares with a language model of a config, {path: value}."""
    return {**sizes_of(config), **SHARED}


def init_from_classifier(network: Network, arrays: Arrays, codec: ReviewEncoder, token_to_idx: dict[str, int]) -> None:
    """Give a classifier without n-grams all that another of the same vocabulary, {name: array}, has beside them."""
    if NGRAM_TABLE in arrays:
        arrays = {**arrays, "output.weight": arrays["output.weight"][:, :-1]}
    set_parameters(network, {name: arrays[name] for name in snapshot(network)})


def init_from_restorer(network: Network, arrays: Arrays, codec: Characters, token_to_idx: dict[str, int]) -> None:
    """Give a classifier of characters the embedding and the first layer of a restorer, {name: array}.

    Characters are known by their letters, whether the restorer could write them or not.
    """
    # a writer's reader is part of its source
    arrays = {name.removeprefix("source."): array for name, array in arrays.items()}
    layer = {ENCODER + name.removeprefix(LAYER): array for name, array in arrays.items() if name.startswith(LAYER)}
    embedding = snapshot(network)[EMBEDDING].copy()
    for token, index in token_to_idx.items():
        if len(token) == 1:
            embedding[index] = arrays[READER][list(codec.rows_of(token))].sum(axis=0)
    set_parameters(network, {**layer, EMBEDDING: embedding})


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


def init_from_vectors(network: Network, vectors: WordVectors) -> None:
    """Give a classifier the vectors of words; the others keep their random numbers."""
    arrays = snapshot(network)
    name = EMBEDDING if EMBEDDING in arrays else ARTICLE_EMBEDDING
    embedding = arrays[name].copy()
    embedding[vectors.ids] = vectors.rows
    set_parameters(network, {name: embedding})
