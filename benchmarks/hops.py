"""What the hops of structured self-attention bring, and what their penalty does; the table of docs/accuracy.md.

    python -m benchmarks.hops ratings_train.txt RUNS [SEED ...]

The network alone, without n-grams and without attention training, on the first 30,000 reviews of the official training
file; the epoch is chosen, and everything is measured, on its last 10,000. The official test file is not read. Finished
runs in the folder RUNS are not trained again.
"""

import os
import sys
from pathlib import Path
from typing import Any

os.environ["OMP_NUM_THREADS"] = "1"

import numpy

from nsmc_attention.config import Config
from nsmc_attention.evaluation.attention_statistics import overlap
from nsmc_attention.inference.predictor import load_classifier
from nsmc_attention.recipe import train
from nsmc_attention.reviews.tables import read_labelled

TRAIN, DEV = 30_000, 10_000
ALONE = {"ngram_buckets": 0, "erasure_reviews": 0, "epochs": 4}
PENALTIES = (0.0, 0.01, 0.1, 1.0)
VARIANTS: dict[str, dict[str, Any]] = {
    "additive": {},
    **{f"structured, penalty {each:g}": {"attention": "structured", "attention_penalty": each} for each in PENALTIES},
}


def main(path: Path, runs: Path, seeds: list[int]) -> None:
    runs.mkdir(parents=True, exist_ok=True)
    header, *lines = path.read_bytes().splitlines(keepends=True)
    for name, part in (("train.txt", lines[:TRAIN]), ("dev.txt", lines[-DEV:])):
        (runs / name).write_bytes(b"".join([header, *part]))
    rows: dict[str, list[Any]] = {name: [] for name in VARIANTS}
    for seed in seeds:
        for name, settings in VARIANTS.items():
            out = runs / f"{name.replace(', ', '-').replace(' ', '-')}-{seed}"
            if not (out / "bundle" / "manifest.json").is_file():
                config = Config().with_fields(**ALONE, **settings, seed=seed)
                train(runs / "train.txt", config, out, runs / "dev.txt", resume=out.is_dir())
            rows[name].append(measured(out / "bundle", runs / "dev.txt"))
            print(name, seed, rows[name][-1], file=sys.stderr, flush=True)
    print("| attention | dev accuracy | dev log loss | overlap of the hops |\n|---|---|---|---|")
    for name, found in rows.items():
        print(f"| {name} | {' | '.join(map(spread, zip(*found)))} |")


def measured(bundle: Path, dev: Path) -> tuple[float, float, float]:
    """Return accuracy (%), log loss and overlap on the dev part; NaN for the overlap of what has no hops."""
    classifier = load_classifier(bundle)
    figures = classifier.bundle.manifest["metrics"]["dev"]
    if "hops" not in classifier.engine.axes:
        return 100 * figures["accuracy"], figures["log_loss"], numpy.nan
    predictions = classifier.predict_stream(read_labelled(dev).documents)
    return 100 * figures["accuracy"], figures["log_loss"], overlap(each.weights for each in predictions)


def spread(values: Any) -> str:
    """Return `87.12`, or of several seeds `87.12 ± 0.20`: mean and standard deviation."""
    if len(values) == 1:
        return f"{values[0]:.4g}"
    return f"{numpy.mean(values):.4g} ± {numpy.std(values, ddof=1):.2g}"


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), [int(seed) for seed in sys.argv[3:]] or [0])
