"""More characters that an editor can write: a copy of its bundle to go on training from, without junctions.

    python -m recipes.characters BUNDLE COPY 봬뵐녘…

It answers as it did: a new character is read as one that the editor does not know, its letters besides, and is written
with a small probability.
"""

import argparse
from dataclasses import replace
from pathlib import Path

import numpy

from nsmc_attention.bundle import load_bundle
from nsmc_attention.engines.graphs import parameters_of
from nsmc_attention.machine.mxnet_shim import choose_device
from nsmc_attention.network.parameters import initialize_from
from nsmc_attention.systems.restore.settings import LAYOUT
from nsmc_attention.systems.sequences.characters import END, UNKNOWN
from nsmc_attention.training.runs import network_files

from .junctions import write_copy

# What is taken from the mean score of the characters: e to its power is a probability
RARER = 3.0


def main(bundle: Path, copy: Path, added: str) -> None:
    first = load_bundle(bundle, LAYOUT)
    new = [each for each in dict.fromkeys(added) if each not in first.codec.ids]
    characters = replace(first.codec, known=(*first.codec.known, *new), junctions=None)
    _, arrays = parameters_of(first)
    table, tags, bias = (arrays[name] for name in ("reader.embedding.weight", "tag.weight", "tag.bias"))
    # the rows of letters come after those of all characters; KEEP has no tag, so that of a character is one before its id
    rows = numpy.repeat(table[[UNKNOWN]], len(new), axis=0)
    arrays["reader.embedding.weight"] = numpy.concatenate([table[: len(first.codec)], rows, table[len(first.codec) :]])
    arrays["tag.weight"] = numpy.concatenate([tags, numpy.repeat(tags[END:].mean(0, keepdims=True), len(new), axis=0)])
    arrays["tag.bias"] = numpy.concatenate([bias, numpy.repeat(bias[END:].mean() - RARER, len(new))])
    network = first.config.network(*characters.sizes)
    initialize_from(network, arrays, choose_device("cpu"))
    contents = {"vocab.json": characters.to_json().encode(), **network_files(network, first.config)}
    write_copy(bundle, copy, contents, vocabulary=len(characters))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("bundle", type=Path)
    parser.add_argument("copy", type=Path)
    parser.add_argument("added")
    main(**vars(parser.parse_args()))
