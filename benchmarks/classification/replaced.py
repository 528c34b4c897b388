"""Labels that change with other attention weights, if values are states or words: notebooks/replaced.csv.

    NSMC_ATTENTION_DATA=... python -m benchmarks.classification.replaced RUNS [SEED ...] > notebooks/replaced.csv

Networks that differ only in their values are trained on the official training file, without n-grams and without attention
training. Then 1,000 official test reviews, drawn by seed 0, are predicted with equal weights and with permuted weights.
Finished runs in the folder RUNS are not trained again.
"""

import os
import sys
from pathlib import Path

os.environ["OMP_NUM_THREADS"] = "1"

import numpy

from nsmc_attention import Classifier, Reviews
from nsmc_attention.apps.evaluation import evaluate
from nsmc_attention.classifier.engines import BATCH, embed_batch, gluon_graph
from nsmc_attention.classifier.network import HeadPooling
from nsmc_attention.classifier.predictor import TokenScorer, load_classifier
from nsmc_attention.classifier.settings import Config
from nsmc_attention.classifier.train import train
from nsmc_attention.corpora.labelled import load_reviews
from nsmc_attention.machine.aliases import Numbers
from nsmc_attention.measure.faithfulness import MIN_TOKENS

ALONE = {"ngram_buckets": 0, "erasure_reviews": 0, "epochs": 3}
VARIANTS = {"states": {}, "words": {"values": "convolution", "window": 1}}
WEIGHTS = ("uniform", "permuted")


class ReplacedAttention:
    """Predicts with other attention weights of a `SelfAttentionClassifier`.

    Wiegreffe & Pinter 2019 (arXiv:1908.04626), section 3.1, for uniform weights; Jain & Wallace 2019
    (arXiv:1902.10186), section 4.2.1, for permuted ones, drawn by the seed. Of hops, each hop's own are replaced.
    """

    name, batch_size = "replaced", BATCH
    axes: tuple[str, ...] = ("keys",)

    def __init__(self, graph, how, seed=0):
        self.graph, self.how, self.random = graph, how, numpy.random.RandomState(seed)

    def __call__(self, *arrays: Numbers) -> tuple[Numbers, Numbers]:
        """Return the probability of positive (N,) and the weights that it was predicted with (N, T)."""
        nd, network, valid_length = self.graph.mxnet.nd, self.graph.block, arrays[1]
        rows, mask, lengths = embed_batch(self.graph, arrays)
        weights = network.forward_embedded(nd, rows, mask, lengths)[1].asnumpy()
        if "queries" in network.axes:
            weights = weights.sum(axis=1, keepdims=True) / valid_length[:, None, None]
        for review, length in zip(weights, valid_length):
            for row in review:
                row[:length] = 1 / length if self.how == "uniform" else self.random.permutation(row[:length])
        logits = with_weights(network, nd, rows, nd.array(weights, ctx=self.graph.device), mask, lengths)
        return logits.softmax()[:, 1].asnumpy(), weights.mean(axis=1)


def with_weights(network, F, rows, weights, mask, lengths):
    """Return a network's logits with given weights (N, 1, T), of hops (N, R, T), in place of the attention's own."""
    tokens = network.encode(F, rows, mask, lengths)
    if network.values:
        terms = network.terms(F, weights, tokens, lengths)
        return network.classify(F, F.sum(terms, axis=1, keepdims=True))
    values = tokens.values
    if isinstance(network.pooling, HeadPooling):
        values = network.attention.proj_value(values)
    return network.classify(
        F, network.features(F, F.batch_dot(weights, values), network.review_odds(F, tokens.ngram_odds))
    )


def predicted_with(classifier, reviews, how, seed=0):
    """Return (N,), the probabilities of positive of encoded reviews with other attention weights."""
    engine = ReplacedAttention(gluon_graph(classifier.bundle, "cpu"), how, seed)
    return TokenScorer(classifier.encoder, engine, classifier.bundle.config)(reviews)


def replaced(classifier: Classifier, reviews: Reviews, limit: int = 1000, seed: int = 0) -> dict[str, dict[str, float]]:
    """Return {weights: mean absolute `change` of the probability, share of labels that are `flipped`} on drawn reviews."""
    chosen = numpy.random.RandomState(seed).permutation(len(reviews))[:limit]
    encoded = classifier.bundle.codec.encode_many(list(reviews.frame["document"].iloc[chosen]))
    encoded = list(filter(len, encoded))
    kept = numpy.array([len(review) >= MIN_TOKENS for review in encoded])
    whole, effects = classifier.score(encoded)[kept], {}
    for how in WEIGHTS:
        changed = predicted_with(classifier, encoded, how, seed)[kept]
        flipped = ((whole >= 0.5) != (changed >= 0.5)).mean()
        effects[how] = {"change": float(numpy.abs(whole - changed).mean()), "flipped": float(flipped)}
    return effects


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
            changed = replaced(classifier, reviews)
            figures = [evaluate(classifier, reviews)["accuracy"], *(changed[how]["flipped"] for how in WEIGHTS)]
            print(",".join([name, str(seed), *(f"{100 * figure:.2f}" for figure in figures)]), flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), list(map(int, sys.argv[2:])) or [0, 1, 2])
