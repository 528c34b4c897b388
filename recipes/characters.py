"""A copy of an editor or reader with additional characters, as the starting point of a training.

    python -m recipes.characters BUNDLE COPY 봬뵐녘…

The outputs stay the same: a new character is read as an unknown one with its letters, and is written with a small
probability. The copy of an editor has no junctions. A reader can get signs, but no syllables.
"""

import argparse
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy

from nsmc_attention.bundle import load_bundle
from nsmc_attention.engines.graphs import parameters_of
from nsmc_attention.machine.mxnet_shim import choose_device
from nsmc_attention.network.parameters import initialize_from
from nsmc_attention.systems.read.settings import LAYOUT as READERS
from nsmc_attention.systems.restore.settings import LAYOUT as EDITORS
from nsmc_attention.systems.sequences.characters import END, UNKNOWN
from nsmc_attention.text.hangul import INITIALS
from nsmc_attention.training.runs import network_files

from .junctions import write_copy

# What is taken from the mean score of the characters: e to its power is a probability
RARER = 3.0


def layout_of(bundle: Path) -> Any:
    """Return the layout of an editor's or a reader's bundle."""
    return READERS if json.loads((bundle / "manifest.json").read_text("utf-8"))["task"] == "read" else EDITORS


def reader_rows(letters: Any) -> dict[str, int]:
    """Return for each parameter of a reader with a row for each letter, or sign, the row behind the last of them."""
    outputs = {
        f"{name}.{kind}": letters.firsts for name in ("step.output", "source.spelling") for kind in ("weight", "bias")
    }
    return {"step.embedding.weight": len(letters), **outputs}


def main(bundle: Path, copy: Path, added: str) -> None:
    layout = layout_of(bundle)
    is_reader, first = layout is READERS, load_bundle(bundle, layout)
    new = [each for each in dict.fromkeys(added) if each not in first.codec.ids]
    options = {} if is_reader else {"junctions": None}
    characters = replace(first.codec, known=(*first.codec.known, *new), **options)
    _, arrays = parameters_of(first)
    # the rows of letters come after those of all characters; KEEP has no tag, so that of a character is one before its id
    begin, end = (len(INITIALS) + END + 1, first.codec.firsts) if is_reader else (END, len(first.codec) - 1)
    embedding, *outputs = ("step", "step.output", "source.spelling") if is_reader else ("reader", "tag")
    unknown = slice(UNKNOWN, UNKNOWN + 1)
    insert(arrays, f"{embedding}.embedding.weight", unknown, len(first.codec), len(new))
    for name in outputs:
        insert(arrays, f"{name}.weight", slice(begin, end), end, len(new))
        insert(arrays, f"{name}.bias", slice(begin, end), end, len(new), RARER)
    network = first.config.network(*characters.sizes)
    initialize_from(network, arrays, choose_device("cpu"))
    contents = {"vocab.json": characters.to_json().encode(), **network_files(network, first.config)}
    write_copy(bundle, copy, contents, layout, vocabulary=len(characters))


def insert(arrays: Any, name: str, like: slice, place: int, count: int, less: float = 0.0) -> None:
    """Insert so many rows into a parameter at a place: the mean of the rows `like`, less a number."""
    table = arrays[name]
    rows = numpy.repeat(table[like].mean(0, keepdims=True) - less, count, axis=0).astype(table.dtype)
    arrays[name] = numpy.concatenate([table[:place], rows, table[place:]])


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("bundle", type=Path)
    parser.add_argument("copy", type=Path)
    parser.add_argument("added")
    main(**vars(parser.parse_args()))
