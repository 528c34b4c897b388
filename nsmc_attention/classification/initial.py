"""What a classifier begins with instead of random numbers: the parameters of another task's bundle.

Of what `restore` has learnt a classifier of characters takes the reading: the embedding of each character, which is the
sum of its rows, and the first layer. Of a language model a classifier takes the encoder and the embeddings.
"""

from typing import Any, Optional

import numpy
from numpy.typing import NDArray

from .._runtime.mxnet_types import Network
from ..model.parameters import Arrays, set_parameters, snapshot
from ..restoration.characters import Characters
from ..text.encoding import ReviewEncoder
from ..training.initial import check_shapes

EMBEDDING, ENCODER = "embedding.weight", "encoder."
READER, LAYER = "reader.embedding.weight", "reader.layer0."


def init_from_restorer(network: Network, arrays: Arrays, codec: Characters, token_to_idx: dict[str, int]) -> None:
    """Give a classifier of characters the embedding and the first layer of a restorer, {name: array}.

    ConfigError where their sizes differ. Characters are known by their letters, whether the restorer could write them or
    not.
    """
    # a writer's reader is part of its source
    arrays = {name.removeprefix("source."): array for name, array in arrays.items()}
    layer = {ENCODER + name.removeprefix(LAYER): array for name, array in arrays.items() if name.startswith(LAYER)}
    hint = "give --tokenizer characters, and the sizes of that bundle, as --embedding-size 128 --hidden-size 192"
    embedding = checked_embedding(network, arrays[READER], layer, None, hint)
    for token, index in token_to_idx.items():
        if len(token) == 1:
            embedding[index] = arrays[READER][list(codec.rows_of(token))].sum(axis=0)
    set_parameters(network, {**layer, EMBEDDING: embedding})


def init_from_language_model(
    network: Network, arrays: Arrays, codec: ReviewEncoder, token_to_idx: dict[str, int]
) -> None:
    """Give a classifier the encoder of a language model, {name: array}, and the embeddings of the tokens that it knows.

    ConfigError where the sizes differ.
    """
    encoder = {name: array for name, array in arrays.items() if name.startswith(ENCODER)}
    hint = "give --encoder, its settings and --embedding-size as that bundle's manifest.json has them"
    embedding = checked_embedding(network, arrays["embedding"], encoder, ENCODER, hint)
    for token, index in token_to_idx.items():
        if token in codec.token_to_idx:
            embedding[index] = arrays["embedding"][codec.token_to_idx[token]]
    set_parameters(network, {**encoder, EMBEDDING: embedding})


def checked_embedding(
    network: Network, table: NDArray[Any], encoder: Arrays, prefix: Optional[str], hint: str
) -> NDArray[Any]:
    """Return the network's embedding, once it is known to have the units of a table, and its encoder these shapes."""
    own = snapshot(network)
    expected = {EMBEDDING: (len(own[EMBEDDING]), table.shape[1])}
    check_shapes(own, {**expected, **{name: array.shape for name, array in encoder.items()}}, prefix, hint)
    return numpy.ascontiguousarray(own[EMBEDDING])
