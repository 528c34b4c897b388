"""A classifier with the vocabulary of another, to begin a training with (`train --init-from`).

    python -m recipes.vocabulary BUNDLE OTHER FOLDER

FOLDER is a bundle with the network of BUNDLE and the vocabulary and settings of OTHER. A token that both know keeps its
embedding; one that only OTHER knows begins with the mean of eight tokens that both know, the nearest ones among the
embeddings of OTHER by the cosine. Both have the same sizes. It is there to be trained on: its
card and its figures are those of OTHER.
"""

import sys
from pathlib import Path
from typing import Any

import numpy
from numpy.typing import NDArray

from nsmc_attention._runtime.mxnet_shim import import_mxnet
from nsmc_attention.bundle.format import PARAMETERS, load_bundle, read_contents, write_bundle
from nsmc_attention.classification.initial import EMBEDDING
from nsmc_attention.classification.task import LAYOUT
from nsmc_attention.inference.engines import parameters_of
from nsmc_attention.model.parameters import gluon_file, initialize_from

NEAREST = 8


def moved(
    rows: NDArray[Any], known: dict[str, int], others: NDArray[Any], wanted: dict[str, int]
) -> NDArray[numpy.float32]:
    """Return the embeddings of the `wanted` tokens (V, E) from the rows of the `known` ones (U, E).

    `others` (V, E) tell which tokens are near one that is not known.
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
    write_bundle(folder, {**other.manifest}, {**contents, PARAMETERS: gluon_file(network)})


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
