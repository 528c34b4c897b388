"""What a training begins with instead of random numbers: the parameters of a bundle. Imports MXNet.

Of what `restore` has learnt a classifier of characters takes the reading: the embedding of each character, which is the
sum of its rows, and the first layer. Of a language model a classifier takes the encoder and the embeddings.
"""

from typing import Any

import numpy

from .._runtime.mxnet_shim import import_mxnet
from ..errors import ConfigError
from ..model.parameters import Arrays, snapshot
from ..restoration.characters import Characters

import_mxnet()


READER, LAYER = "reader.embedding.weight", "reader.layer0."


def begin_reading(network: Any, arrays: Arrays, characters: Characters, token_to_idx: dict[str, int]) -> None:
    """Give a classifier of characters the embedding and the first layer of a restorer, {name: array}.

    ConfigError where their sizes differ. Characters are known by their letters, whether the restorer could write them or
    not.
    """
    # a writer's reader is part of its source
    arrays = {name.removeprefix("source."): array for name, array in arrays.items()}
    table = arrays[READER]
    rows = {token: list(characters.rows_of(token)) for token in token_to_idx if len(token) == 1}
    given = {f"encoder.{name.removeprefix(LAYER)}": array for name, array in arrays.items() if name.startswith(LAYER)}
    own = snapshot(network)
    embedding = own["embedding.weight"]
    expected = {
        "embedding.weight": (len(embedding), table.shape[1]),
        **{name: each.shape for name, each in given.items()},
    }
    for name, shape in expected.items():
        found = own[name].shape if name in own else None
        if found != shape:
            raise ConfigError(
                f"--init-from: expected {name} of {shape}, found {found}; give --tokenizer characters, and the sizes of "
                "that bundle, as --embedding-size 128 --hidden-size 192"
            )
    for token, places in rows.items():
        embedding[token_to_idx[token]] = table[places].sum(axis=0)
    parameters = network._collect_params_with_prefix()
    for name, array in {**given, "embedding.weight": embedding}.items():
        parameters[name].set_data(numpy.ascontiguousarray(array))


def begin_knowing(network: Any, arrays: Arrays, known: dict[str, int], token_to_idx: dict[str, int]) -> None:
    """Give a classifier the encoder of a language model, {name: array}, and the embeddings of the tokens that it knows.

    `known` and `token_to_idx` are the ids of both vocabularies. ConfigError where the sizes differ.
    """
    own = snapshot(network)
    table = arrays["embedding"]
    embedding = own["embedding.weight"]
    given = {name: array for name, array in arrays.items() if name.startswith("encoder.")}
    expected = {
        "embedding.weight": (len(embedding), table.shape[1]),
        **{name: each.shape for name, each in given.items()},
    }
    kept = {name: each for name, each in own.items() if name == "embedding.weight" or name.startswith("encoder.")}
    for name in {**expected, **kept}:
        found = own[name].shape if name in own else None
        if found != expected.get(name):
            raise ConfigError(
                f"--init-from: expected {name} of {expected.get(name)}, found {found}; give --encoder, its settings and "
                "--embedding-size as that bundle's manifest.json has them"
            )
    for token, row in token_to_idx.items():
        if token in known:
            embedding[row] = table[known[token]]
    parameters = network._collect_params_with_prefix()
    for name, array in {**given, "embedding.weight": embedding}.items():
        parameters[name].set_data(numpy.ascontiguousarray(array))
