"""The mean of the parameters of editors that began with one another (Izmailov et al. 2018, arXiv:1803.05407): the packaged editor.

    OMP_NUM_THREADS=1 python -m benchmarks.averaged COPY SENTENCES BUNDLE BUNDLE ...

Writes a copy of the last bundle with the mean of all, judged by the dev part of the file that the last one was trained on.
"""

import argparse
from pathlib import Path

import numpy

from nsmc_attention._runtime.mxnet_shim import choose_device
from nsmc_attention.bundle.format import load_bundle
from nsmc_attention.inference.engines import parameters_of
from nsmc_attention.model.parameters import initialize_from, round_tables
from nsmc_attention.restoration.objective import EditorObjective, dev_pairs
from nsmc_attention.restoration.task import LAYOUT
from nsmc_attention.training.runs import network_files

from .junctions import divided, write_copy


def main(copy: Path, sentences: Path, folders: list[Path]) -> None:
    bundles, device = [load_bundle(folder, LAYOUT) for folder in folders], choose_device("cpu")
    networks, arrays = zip(*map(parameters_of, bundles))
    network, config, characters = networks[-1], bundles[-1].config, bundles[-1].codec
    mean = {name: numpy.mean([each[name] for each in arrays], axis=0, dtype="float32") for name in arrays[-1]}
    initialize_from(network, mean, device)
    round_tables(network)
    _, dev = divided(sentences, config)
    noisy = dev_pairs(dev, config.training.seed)
    figures = EditorObjective(noisy, device, characters, config.training.batch_size).evaluate(network)
    print(f"mean of {len(bundles)}, dev part: {figures}")
    write_copy(folders[-1], copy, network_files(network, config), figures)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("copy", type=Path)
    parser.add_argument("sentences", type=Path)
    parser.add_argument("folders", type=Path, nargs="+", metavar="BUNDLE")
    main(**vars(parser.parse_args()))
