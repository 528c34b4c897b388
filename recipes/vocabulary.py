"""A classifier with the vocabulary of another one, as the starting point of a training (`train --init-from`).

    python -m recipes.vocabulary BUNDLE OTHER FOLDER

FOLDER is a bundle with the network of BUNDLE and the vocabulary and settings of OTHER. A token that both know keeps its
embedding. A token that only OTHER knows gets the mean embedding of the eight tokens of both that are nearest to it by
the cosine of OTHER's embeddings. The two networks must have the same sizes. FOLDER is meant for further training: its
card and figures are those of OTHER.
"""

import sys
from pathlib import Path
from typing import Any

import numpy
from numpy.typing import NDArray

from nsmc_attention.bundle import load_bundle, read_contents, write_bundle
from nsmc_attention.classifier.engines import EMBEDDING
from nsmc_attention.classifier.settings import LAYOUT
from nsmc_attention.engines.graphs import parameters_of
from nsmc_attention.machine.mxnet_shim import import_mxnet
from nsmc_attention.network.parameters import initialize_from
from nsmc_attention.training.runs import network_files

NEAREST = 8


def moved(
    rows: NDArray[Any], known: dict[str, int], others: NDArray[Any], wanted: dict[str, int]
) -> NDArray[numpy.float32]:
    """Return float32 embeddings (V, E) of the tokens of one vocabulary from those of another, `rows` (U, E).

    `known` and `wanted` are the old and the new vocabulary, {token: index}. `others` (V, F) are embeddings of the new
    one, by which the neighbours of a token that is not known are found.
    """
    shared = numpy.array([index for token, index in wanted.items() if token in known])
    found = numpy.zeros((len(others), rows.shape[1]), dtype="float32")
    found[shared] = rows[[known[token] for token in wanted if token in known]]
    units = others / numpy.maximum(numpy.linalg.norm(others, axis=1, keepdims=True), 1e-9)
    for token, index in wanted.items():
        if token not in known:
            nearest = numpy.argsort(-(units[shared] @ units[index]), kind="stable")[:NEAREST]
            found[index] = found[shared[nearest]].mean(axis=0)
    return found


def main(first: Path, second: Path, folder: Path) -> None:
    bundle, other = (load_bundle(path, LAYOUT) for path in (first, second))
    arrays, others = (parameters_of(each)[1] for each in (bundle, other))
    rows = moved(arrays[EMBEDDING], bundle.codec.token_to_idx, others[EMBEDDING], other.codec.token_to_idx)
    network = other.config.without_dropout().network(len(other.codec))
    initialize_from(network, {**arrays, EMBEDDING: rows}, import_mxnet().cpu())
    contents = {name: content for name, content in read_contents(other).items() if name in ("vocab.json", "README.md")}
    write_bundle(folder, other.manifest, {**contents, **network_files(network, other.config)})


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
