"""Accuracy by the number of hops of structured self-attention and by their penalty: tables of docs/accuracy.md.

    python -m benchmarks.classification.hops ratings_train.txt RUNS [SEED ...] [--test ratings_test.txt]

The network is trained without n-grams and without attention training on the first 30,000 reviews of the official training
file; its last 10,000 reviews choose the epoch and measure the accuracy. --test instead trains on the whole training file,
which includes a dev part, with the chosen penalty and without one, and measures once on the official test file. Finished
runs in the folder RUNS are not trained again.
"""

import argparse
import os
import sys
from pathlib import Path
from typing import Any, Optional

os.environ["OMP_NUM_THREADS"] = "1"

import numpy

from nsmc_attention.classifier.predictor import load_classifier
from nsmc_attention.classifier.settings import Config
from nsmc_attention.classifier.train import train
from nsmc_attention.corpora.labelled import load_reviews
from nsmc_attention.measure.metrics import headline, overlap

TRAIN, DEV = 30_000, 10_000
ALONE = {"ngram_buckets": 0, "erasure_reviews": 0, "epochs": 4}
PENALTIES = (0.0, 0.01, 0.1, 1.0)
VARIANTS: dict[str, dict[str, Any]] = {
    "additive": {},
    **{f"structured, penalty {each:g}": {"attention": "structured", "attention_penalty": each} for each in PENALTIES},
}

OFFICIAL = ("additive", "structured, penalty 0.01", "structured, penalty 0")


def main(path: Path, runs: Path, seeds: list[int], test: Optional[Path]) -> None:
    runs.mkdir(parents=True, exist_ok=True)
    data, dev = (path, None) if test else parts(path, runs)
    rows: dict[str, list[Any]] = {name: [] for name in (OFFICIAL if test else VARIANTS)}
    for name in rows:
        for seed in seeds:
            out = runs / f"{name.replace(', ', '-').replace(' ', '-')}-{seed}"
            if not (out / "bundle" / "manifest.json").is_file():
                config = Config().with_fields(**ALONE, **VARIANTS[name], seed=seed)
                train(data, config, out, dev, resume=out.is_dir())
            rows[name].append(measured(out / "bundle", test or runs / "dev.txt"))
            print(name, seed, rows[name][-1], file=sys.stderr, flush=True)
    print(f"| attention | {'test' if test else 'dev'} accuracy | log loss | overlap of the hops |\n|---|---|---|---|")
    for name, found in rows.items():
        print(f"| {name} | {' | '.join(map(spread, zip(*found)))} |")


def parts(path: Path, runs: Path) -> tuple[Path, Path]:
    """Write the first TRAIN and the last DEV reviews of the training file; return the paths."""
    header, *lines = path.read_bytes().splitlines(keepends=True)
    for name, part in (("train.txt", lines[:TRAIN]), ("dev.txt", lines[-DEV:])):
        (runs / name).write_bytes(b"".join([header, *part]))
    return runs / "train.txt", runs / "dev.txt"


def measured(bundle: Path, path: Path) -> tuple[float, float, float]:
    """Return accuracy (%), log loss and overlap on labelled reviews; NaN for the overlap of what has no hops."""
    classifier, reviews = load_classifier(bundle), load_reviews(path)
    predictions = list(classifier.predict_stream(reviews.documents))
    # a blank review counts as one that says nothing
    probability = numpy.array([0.5 if each.probability is None else each.probability for each in predictions])
    found = headline(numpy.asarray(reviews.labels, dtype=int), probability)
    hops = "hops" in classifier.engine.axes
    return (
        100 * found["accuracy"],
        found["log_loss"],
        overlap(each.weights for each in predictions if each.tokens) if hops else numpy.nan,
    )


def spread(values: Any) -> str:
    """Return `87.12`, or of several seeds `87.12 ± 0.20`: mean and standard deviation."""
    if len(values) == 1:
        return f"{values[0]:.4g}"
    return f"{numpy.mean(values):.4g} ± {numpy.std(values, ddof=1):.2g}"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("path", type=Path)
    parser.add_argument("runs", type=Path)
    parser.add_argument("seeds", type=int, nargs="*", default=[0, 1, 2])
    parser.add_argument("--test", type=Path)
    main(**vars(parser.parse_args()))
