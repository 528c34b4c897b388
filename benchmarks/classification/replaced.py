"""How many labels other attention weights change, where values are states and where they are words; notebooks/replaced.csv.

    NSMC_ATTENTION_DATA=... python -m benchmarks.classification.replaced RUNS [SEED ...] > notebooks/replaced.csv

Networks without n-grams and without attention training, alike but for their values, are trained on the official training
file. Then 1,000 official test reviews are predicted with the same weight for each word, and with permuted weights
(`nsmc-attention faithfulness`, seed 0, draws both). Finished runs in the folder RUNS are not trained again.
"""

import os
import sys
from pathlib import Path

os.environ["OMP_NUM_THREADS"] = "1"

from nsmc_attention.apps.evaluation import evaluate, faithfulness
from nsmc_attention.classifier.predictor import load_classifier
from nsmc_attention.classifier.settings import Config
from nsmc_attention.classifier.train import train
from nsmc_attention.corpora.labelled import load_reviews

ALONE = {"ngram_buckets": 0, "erasure_reviews": 0, "epochs": 3}
VARIANTS = {"states": {}, "words": {"values": "convolution", "window": 1}}


def main(runs: Path, seeds: list[int]) -> None:
    reviews = load_reviews("nsmc", "test")
    print("# percent of official test reviews: python -m benchmarks.classification.replaced RUNS")
    print("values,seed,accuracy,uniform,permuted", flush=True)
    for name, settings in VARIANTS.items():
        for seed in seeds:
            out = runs / f"{name}-{seed}"
            if not (out / "bundle" / "manifest.json").is_file():
                train("nsmc", Config().with_fields(**ALONE, **settings, seed=seed), out, resume=out.is_dir())
            classifier = load_classifier(out / "bundle")
            changed = faithfulness(classifier, reviews)["replaced"]
            figures = [
                evaluate(classifier, reviews)["accuracy"],
                *(changed[how]["flipped"] for how in ("uniform", "permuted")),
            ]
            print(",".join([name, str(seed), *(f"{100 * figure:.2f}" for figure in figures)]), flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), list(map(int, sys.argv[2:])) or [0, 1, 2])
