"""The weighted mean of an editor and of one that was trained further from it, which combines the strengths of both.

    python -m recipes.blended BUNDLE FURTHER COPY --share 0.5 [--bolder 1.5]

--share is the weight of FURTHER's parameters; BUNDLE's have the rest (Wortsman et al. 2022, arXiv:2109.01903). --bolder is
added to the log-odds that a character changes, so that the dictionary and usage can choose from more proposed changes.
"""

import argparse
from pathlib import Path

import numpy

from nsmc_attention.bundle import load_bundle
from nsmc_attention.engines.graphs import parameters_of
from nsmc_attention.machine.mxnet_shim import choose_device
from nsmc_attention.network.parameters import initialize_from
from nsmc_attention.systems.restore.settings import LAYOUT
from nsmc_attention.training.runs import network_files

from .junctions import write_copy


def main(bundle: Path, further: Path, copy: Path, share: float, bolder: float) -> None:
    one, other = load_bundle(bundle, LAYOUT), load_bundle(further, LAYOUT)
    (_, first), (_, second) = parameters_of(one), parameters_of(other)
    network = one.config.network(*one.codec.sizes)
    mean = {name: (1 - share) * array + share * second[name] for name, array in first.items()}
    mean["change.bias"] = mean["change.bias"] + numpy.array([0, bolder], "float32")
    initialize_from(network, mean, choose_device("cpu"))
    write_copy(further, copy, network_files(network, one.config))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("bundle", type=Path)
    parser.add_argument("further", type=Path)
    parser.add_argument("copy", type=Path)
    parser.add_argument("--share", type=float, default=0.5)
    parser.add_argument("--bolder", type=float, default=0.0)
    main(**vars(parser.parse_args()))
