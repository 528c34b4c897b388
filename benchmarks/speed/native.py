"""The native engine compared with ONNX Runtime: differences on all test reviews, and the time of the network.

python -m benchmarks.speed.native --data nsmc [--pytorch]

The script compares labels, probabilities and weights of all reviews. Then both engines process the encoded reviews in turn, on
one thread, in the batches of `predict` and one by one; the results are minimum and median CPU microseconds per review.
--pytorch instead measures the contestants of `benchmarks.contest` in this process by CPU time, because wall time depends on
other processes of a busy machine.
"""

import argparse
import statistics
from functools import partial

import numpy

from nsmc_attention.bundle import load_bundle
from nsmc_attention.classifier.engines import load_engine
from nsmc_attention.classifier.predictor import TokenScorer
from nsmc_attention.classifier.settings import LAYOUT
from nsmc_attention.corpora import labelled

from ..contest import comparisons
from ..contest.contestants import CONTESTANTS
from ..contest.rounds import processor_times

ENGINES = ("onnx", "native", "native-bf16")
TIMED, SINGLE = 8192, 512
EAGER = "PyTorch eager"
NAMES = (EAGER, *(f"nsmc_attention, {name}" for name in ENGINES))

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--data", default="nsmc", help="nsmc, sample, or a file")
parser.add_argument("--data-dir", help="folder of the official files")
parser.add_argument("--rounds", type=int, default=9)
parser.add_argument("--pytorch", action="store_true", help="beside PyTorch eager")


def main(given):
    if given.pytorch:
        return beside_pytorch(labelled.load_reviews(given.data, "train", given.data_dir), given.rounds)
    bundle = load_bundle(None, LAYOUT)
    scorers = {name: TokenScorer(bundle.codec, load_engine(bundle, name, "cpu", 1), bundle.config) for name in ENGINES}
    texts = labelled.load_reviews(given.data, "test", given.data_dir).documents
    reviews = [each for each in map(bundle.codec.encode, texts) if len(each)]
    compare(scorers, reviews)
    batches = {
        "batches": [batch for _, batch in scorers["onnx"].batches(reviews[:TIMED])],
        "one review": [bundle.codec.batch([each]) for each in reviews[:SINGLE]],
    }
    for what, arrays in batches.items():
        engines = {name: partial(run_all, scorer.engine, arrays) for name, scorer in scorers.items()}
        measure(what, engines, sum(len(batch[0]) for batch in arrays), given.rounds)


def run_all(engine, batches):
    for batch in batches:
        engine(*batch)


def beside_pytorch(reviews, rounds):
    """Measure networks of the packaged sizes with random parameters, without n-grams, in batches of exact lengths."""
    import torch

    torch.set_num_threads(1)
    workloads = {
        "NSMC's lengths, batches of 256": comparisons.real(reviews, 4096, 256),
        "20 tokens, batches of 256": comparisons.synthetic(2048, 256, 20),
        "one review of 20 tokens": comparisons.synthetic(200, 1, 20),
    }
    for what, workload in workloads.items():
        built = {name: CONTESTANTS[name](workload) for name in NAMES}
        measure(what, built, workload.reviews, rounds)


def compare(scorers, reviews):
    """Print how far the engines' results are from ONNX Runtime's."""
    probability, weights = scorers["onnx"].read(reviews)[:2]
    for name in ENGINES[1:]:
        found, others = scorers[name].read(reviews)[:2]
        labels = int(((found >= 0.5) != (probability >= 0.5)).sum())
        largest = max(abs(one - other).max() for one, other in zip(weights, others))
        print(
            f"{name}: {labels} of {len(reviews)} labels differ; largest differences {abs(found - probability).max():.1e} in "
            f"probability, {largest:.1e} in weights"
        )


def measure(what, contestants, count, rounds):
    """Print each contestant's time a review, and its ratio to the first one's in the same round; the first is not counted."""
    taken = processor_times(contestants, count, rounds)
    first = next(iter(contestants))
    for name, times in taken.items():
        ratios = numpy.divide(taken[first], times)
        print(
            f"{what}, {name}: {min(times):.1f} us a review at least, {statistics.median(times):.1f} in the median, "
            f"{statistics.median(ratios):.2f} times {first} ({min(ratios):.2f} to {max(ratios):.2f})"
        )


if __name__ == "__main__":
    main(parser.parse_args())
