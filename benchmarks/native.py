"""The native engine beside ONNX Runtime: what differs on every test review, and the network's time alone.

python benchmarks/native.py --data nsmc

Labels, probabilities and weights of all reviews on both engines; then the same encoded reviews through each engine in
turn, in batches as `predict` makes them and one by one, on one thread: minimum and median CPU microseconds a review.
"""

import argparse
import statistics
import time

import numpy

from nsmc_attention.bundle.format import load_bundle
from nsmc_attention.inference.engines import load_engine
from nsmc_attention.inference.predictor import TokenScorer
from nsmc_attention.reviews import tables

ENGINES = ("onnx", "native", "native-bf16")
TIMED, SINGLE = 8192, 512

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--data", default="nsmc", help="nsmc, sample, or a file")
parser.add_argument("--data-dir", help="folder of the official files")
parser.add_argument("--rounds", type=int, default=9)


def main(given):
    bundle = load_bundle()
    scorers = {
        name: TokenScorer(bundle.encoder, load_engine(bundle, name, "cpu", 1), bundle.config) for name in ENGINES
    }
    texts = tables.load(given.data, "test", given.data_dir).documents
    reviews = [each for each in map(bundle.encoder.encode, texts) if len(each)]
    compare(scorers, reviews)
    batches = {
        "batches": [batch for _, batch in scorers["onnx"].batches(reviews[:TIMED])],
        "one review": [bundle.encoder.batch([each]) for each in reviews[:SINGLE]],
    }
    for what, arrays in batches.items():
        measure(what, scorers, arrays, given.rounds)


def compare(scorers, reviews):
    """Print how far the engines' results are from ONNX Runtime's."""
    probability, weights = scorers["onnx"].predict_with_weights(reviews)
    for name in ENGINES[1:]:
        found, others = scorers[name].predict_with_weights(reviews)
        labels = int(((found >= 0.5) != (probability >= 0.5)).sum())
        largest = max(abs(one - other).max() for one, other in zip(weights, others))
        print(
            f"{name}: {labels} of {len(reviews)} labels differ; largest differences {abs(found - probability).max():.1e} in "
            f"probability, {largest:.1e} in weights"
        )


def measure(what, scorers, batches, rounds):
    """Print each engine's time a review, and its ratio to ONNX Runtime's in the same round."""
    count = sum(len(batch[0]) for batch in batches)
    taken = {name: [] for name in scorers}
    for _ in range(rounds):
        for name, scorer in scorers.items():
            start = time.process_time()
            for batch in batches:
                scorer.engine(*batch)
            taken[name].append((time.process_time() - start) / count * 1e6)
    for name, times in taken.items():
        ratios = numpy.divide(taken["onnx"], times)
        print(
            f"{what}, {name}: {min(times):.1f} us a review at least, {statistics.median(times):.1f} in the median, "
            f"{statistics.median(ratios):.2f} times onnx ({min(ratios):.2f} to {max(ratios):.2f})"
        )


if __name__ == "__main__":
    main(parser.parse_args())
