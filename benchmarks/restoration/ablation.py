"""What each part of `restore` brings: small networks, all trained alike, a few seeds each; the table of docs/restore.md.

    NSMC_ATTENTION_DATA=... python -m benchmarks.restoration.ablation FOLDER/train.txt RUNS [--seeds 0,1,2] [NAME ...]

Each variant differs from `general` in what its name says. Finished runs in the folder RUNS are not trained again, so an
interrupted run goes on, and two processes may train different variants. Prints the table of all that are finished.
"""

import os
import time
from argparse import ArgumentParser
from pathlib import Path
from typing import Any
from zlib import crc32

os.environ["OMP_NUM_THREADS"] = "1"

import numpy

from nsmc_attention.systems.restoration.noise import typed
from nsmc_attention.systems.restoration.restorer import load_restorer
from nsmc_attention.systems.restoration.settings import RESTORE_PRESETS, RestoreConfig
from nsmc_attention.systems.restoration.tags import character_error
from nsmc_attention.systems.restoration.train import train_restorer
from nsmc_attention.tables.data import Texts
from nsmc_attention.training.runs import Run

SENTENCES, LONGEST, TEST = 13_000, 24, 1000
SIZES = {
    "embedding_size": 64,
    "model.encoder.layers": 1,
    "model.encoder.hidden_size": 64,
    "model.output_units": 64,
    "epochs": 6,
    "batch_size": 64,
    "training.joined": 0.0,
    "patience": 6,
}
WRITER = {"model.decoder.hidden_size": 128}
# about as many parameters as `general` has; None: the kind has no such setting
TRANSFORMER = {
    "model.decoder.kind": "transformer",
    "model.decoder.units": 64,
    "model.decoder.feed_forward": 256,
    "model.decoder.hidden_size": None,
}
TRANSFORMER_ENCODER = {
    "model.encoder.kind": "transformer",
    "model.encoder.units": 64,
    "model.encoder.feed_forward": 128,
    "model.encoder.layers": 2,
    "model.encoder.hidden_size": None,
}
VARIANTS: dict[str, dict[str, Any]] = {
    "editor": {},
    "general": {},
    "none": {"model.attention.kind": "none"},
    "additive": {"model.attention.kind": "additive", "model.attention.units": 64},
    "dot": {"model.attention.kind": "dot"},
    "concat": {"model.attention.kind": "concat", "model.attention.units": 64},
    "local-m": {"model.attention.kind": "local-m", "model.attention.window": 5},
    "local-p": {"model.attention.kind": "local-p", "model.attention.window": 5},
    "no input feeding": {"model.input_feeding": 0},
    "LSTM": {"model.encoder.kind": "lstm", "model.decoder.kind": "lstm"},
    "scheduled sampling": {"training.sampling": 0.25},
    "label smoothing": {"training.label_smoothing": 0.1},
    "transformer decoder": TRANSFORMER,
    "transformer": {**TRANSFORMER, **TRANSFORMER_ENCODER},
    "transformer encoder": TRANSFORMER_ENCODER,
}
BEAMS = (1, 4)


def config_of(name: str, seed: int) -> RestoreConfig:
    is_editor = name == "editor"
    base = RESTORE_PRESETS["editor" if is_editor else "writer"]
    fields = {**SIZES, **({} if is_editor else WRITER), **VARIANTS[name], "seed": seed}
    return base.with_fields(**{name: value for name, value in fields.items() if value is not None})


def main(path: Path, runs: Path, seeds: list[int], names: list[str]) -> None:
    runs.mkdir(parents=True, exist_ok=True)
    texts = path.read_text(encoding="utf-8").splitlines()
    test = [
        text for text in path.with_name("test.txt").read_text(encoding="utf-8").splitlines() if len(text) <= LONGEST
    ]
    short = runs / "sentences.txt"
    if not short.is_file():
        short.write_text(
            "".join(
                f"{text}\n" for text in texts if len(text) <= LONGEST and crc32(text.encode()) % 100_000 < SENTENCES
            )
        )
    for name in names:
        for seed in seeds:
            out = runs / f"{name.replace(' ', '-')}-{seed}"
            if not (out / "bundle" / "manifest.json").is_file():
                train_restorer(Texts(short), config_of(name, seed), Run(out, resume=out.is_dir()))
    print("| variant | beam | character error | exact | texts a second |\n|---|---|---|---|---|")
    for name in names:
        for beam in (None,) if name == "editor" else BEAMS:
            rows = [judged(runs / f"{name.replace(' ', '-')}-{seed}" / "bundle", beam, test[:TEST]) for seed in seeds]
            means, spread = numpy.mean(rows, axis=0), numpy.std(rows, axis=0, ddof=min(1, len(seeds) - 1))
            figures = f"{means[0]:.4f} ± {spread[0]:.4f} | {means[1]:.3f} ± {spread[1]:.3f} | {means[2]:,.0f}"
            print(f"| {name} | {beam or ''} | {figures} |", flush=True)


def judged(bundle: Path, beam: Any, targets: list[str]) -> tuple[float, float, float]:
    """Return character error, share restored exactly and texts a second on one thread."""
    restorer, random = load_restorer(bundle, beam), numpy.random.RandomState(1)
    restorer.engine.threads = 1
    sources = [typed(text, random) for text in targets]
    begun = time.perf_counter()
    found = [each.text for each in restorer.restore_many(sources)]
    rate = len(found) / (time.perf_counter() - begun)
    errors = [character_error(*pair) for pair in zip(found, targets)]
    return float(numpy.mean(errors)), float(numpy.mean([not error for error in errors])), rate


if __name__ == "__main__":
    parser = ArgumentParser()
    parser.add_argument("train", type=Path)
    parser.add_argument("runs", type=Path)
    parser.add_argument("names", nargs="*", choices=[[], *VARIANTS])
    parser.add_argument("--seeds", default="0,1,2")
    given = parser.parse_args()
    main(given.train, given.runs, list(map(int, given.seeds.split(","))), given.names or list(VARIANTS))
