"""Accuracy and faithfulness of other values of attention and other sizes of the GRU, in small trainings.

    python -m benchmarks.classification.designs FOLDER [NAME ...]     train and judge the designs of these names, all without names
    taskset -c 1 python -m benchmarks.classification.designs --time   what the network alone takes, of those that the native engine computes

Each design is trained for two epochs on NSMC's training file, without n-grams and without attention training. The evaluation
uses 16,000 raw reviews outside NSMC (by id and text), half with 1 to 4 stars and half with 9 and 10. The designs of PATCHES
are not settings of the package: each patch replaces a part of it during training and evaluation.
"""

import json
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy
import pandas

from nsmc_attention import load_classifier, train
from nsmc_attention.apps.evaluation import evaluate, faithfulness
from nsmc_attention.classifier import network
from nsmc_attention.classifier.engines import embed_batch, gluon_graph
from nsmc_attention.classifier.predictor import Classifier, TokenScorer
from nsmc_attention.classifier.settings import preset
from nsmc_attention.classifier.stages import LabelsObjective, as_inputs
from nsmc_attention.corpora import nsmc, raw
from nsmc_attention.corpora.labelled import load_reviews
from nsmc_attention.machine.gluon import HybridBlock, nn, rnn
from nsmc_attention.measure.faithfulness import correlation, leave_one_out
from nsmc_attention.network.encoders import GRU
from nsmc_attention.text.encoding import Encoded

from ..contest.contestants import NativeScoring, Workload
from ..contest.rounds import processor_times
from .replaced import replaced

SMALL = preset("extended").with_fields(pretrain_epochs=0, epochs=2, ngram_buckets=0, erasure_reviews=0, hidden_size=32)
DESIGNS: dict[str, dict[str, Any]] = {
    "states": {"values": "states"},
    "states, GRU of 128": {"values": "states", "hidden_size": 128},
    "convolution of 5": {"values": "convolution", "window": 5},
    "convolution of 3": {"values": "convolution", "window": 3},
    "convolution of 1": {"values": "convolution", "window": 1},
    "states, one direction": {"values": "states", "hidden_size": 64},
    "states, conicity 0.1": {"values": "states"},
    "states, conicity 0.2": {"values": "states"},
    "states, conicity 0.5": {"values": "states"},
}
EACH, LONGEST, REVIEWS = 8000, 140, 500
TIMED, ROUNDS = 8192, 15
SMALLEST = 1e-9
Vectors = numpy.ndarray[Any, Any]


class OneDirection(HybridBlock):
    """A GRU that reads from the first token to the last."""

    def __init__(self, hidden_size: int) -> None:
        super().__init__()
        with self.name_scope():
            self.gru = rnn.GRU(hidden_size, layout="TNC")

    def hybrid_forward(self, F: Any, embedded: Any, valid_length: Any) -> Any:
        """(T, N, E) -> (T, N, H)."""
        return self.gru(embedded)


class GatedStates(network.WordValueClassifier):
    """Values are embedding + g * tanh(W state + b), where the gate g, of 0 to 1, is made of the state."""

    def __init__(self, vocab_size: int, settings: Any, *sizes: int) -> None:
        super().__init__(vocab_size, settings, *sizes)
        with self.name_scope():
            units = {"in_units": settings.width, "flatten": False}
            self.shared = nn.Dense(settings.embedding_size, activation="tanh", **units)
            self.share = nn.Dense(1, activation="sigmoid", **units)

    def encode(self, F: Any, *arrays: Any) -> network.TokenFeatures:
        encoded = super().encode(F, *arrays)
        change = F.broadcast_mul(self.shared(encoded.states), self.share(encoded.states))
        return encoded._replace(values=encoded.values + change)


class Diverse(network.SelfAttentionClassifier):
    """Returns also, while it is trained, the conicity of what attention averages in each review, (N,)."""

    def __init__(self, vocab_size: int, settings: Any, *sizes: int) -> None:
        super().__init__(vocab_size, settings, *sizes)
        self.trained = settings.dropout > 0

    def encode(self, F: Any, *arrays: Any) -> network.TokenFeatures:
        encoded = super().encode(F, *arrays)
        self.averaged = encoded.values
        return encoded

    def forward_embedded(self, F: Any, rows: Any, mask: Any = None, valid_length: Any = None) -> tuple[Any, ...]:
        results = super().forward_embedded(F, rows, mask, valid_length)
        if not self.trained:
            return results
        values = F.broadcast_mul(self.averaged, mask)
        mean = F.sum(values, axis=1, keepdims=True)
        sizes = F.broadcast_mul(F.sum(values**2, axis=2), F.sum(mean**2, axis=2))
        cosines = F.sum(F.broadcast_mul(values, mean), axis=2) / F.sqrt(sizes + SMALLEST)
        return (*results, F.sum(cosines, axis=1) / valid_length)


def diverse(weight: float) -> dict[tuple[Any, str], Any]:
    """Return the patches of a training whose loss is the cross entropy and `weight` times the conicity."""

    def loss(objective: LabelsObjective, trained: Any, batch: Any) -> Any:
        logits, weights, cones = trained(*as_inputs(batch, objective.device))
        return objective.loss_of(logits, weights, batch) + weight * cones.mean()

    return {(network, "SelfAttentionClassifier"): Diverse, (LabelsObjective, "loss"): loss}


ONE_WAY = {
    (GRU, "width"): lambda self, embedding_size: self.hidden_size,
    (GRU, "block"): lambda self, embedding_size, max_length: OneDirection(self.hidden_size),
}
# What takes the place of which part of the package
PATCHES: dict[str, dict[tuple[Any, str], Any]] = {
    "states, one direction": ONE_WAY,
    "states, conicity 0.1": diverse(0.1),
    "states, conicity 0.2": diverse(0.2),
    "states, conicity 0.5": diverse(0.5),
}


def outside(path: Path) -> Path:
    """Write the reviews that judge, id, document and label, where they are not yet; return their path."""
    if not path.exists():
        known = [nsmc.load("nsmc", part).frame for part in ("train", "test")]
        frame = raw.load(raw.find(None), known).frame
        frame = frame[frame["document"].str.len() <= LONGEST]
        sides = [frame[frame["stars"] <= 4], frame[frame["stars"] >= 9]]
        chosen = pandas.concat([side.sample(EACH, random_state=0) for side in sides]).sample(frac=1, random_state=0)
        chosen["label"] = (chosen["stars"] >= 9).astype(int)
        chosen[["id", "document", "label"]].to_csv(path, index=False)
    return path


def judge(folder: Path, name: str, reviews: Path) -> dict[str, object]:
    """Train a design where it is not yet trained; return its accuracy and the faithfulness of its attention.

    "correlation product" is that of what `averaged` yields beside states, with the signed changes by erasure.
    """
    out = folder / name.replace(" ", "-").replace(",", "")
    if not (out / "bundle").exists():
        train("nsmc", SMALL.with_fields(**DESIGNS[name]), out, valid=reviews)
    classifier, judged = load_classifier(out / "bundle", engine="onnx"), load_reviews(reviews)
    faithful = faithfulness(classifier, judged, limit=REVIEWS)
    encoded = list(filter(len, classifier.bundle.codec.encode_many(judged.documents[:REVIEWS])))
    values, products = zip(*averaged(classifier, encoded))
    if "contribution" not in faithful["correlation"]:
        faithful["correlation"]["product"] = correlation(products, leave_one_out(classifier.score, encoded))
    return {
        "design": name,
        "accuracy": round(100 * evaluate(classifier, judged)["accuracy"], 2),
        **{f"tau {measure}": round(tau["mean"], 3) for measure, tau in faithful["tau"]["attention"].items()},
        **{f"correlation {order}": round(found, 3) for order, found in faithful.get("correlation", {}).items()},
        **{how: round(100 * effect["flipped"], 1) for how, effect in replaced(classifier, judged, REVIEWS).items()},
        "conicity": round(float(numpy.mean([*map(conicity, values)])), 3),
    }


def averaged(classifier: Classifier, reviews: list[Encoded]) -> Iterator[tuple[Vectors, Vectors]]:
    """Yield what attention averages in each review, (T, V), and by the weights what the last layer makes of it, (T,)."""
    graph = gluon_graph(classifier.bundle, "cpu")
    negative, positive = graph.block.output.weight.data().asnumpy()
    for review in reviews:
        rows, *sizes = embed_batch(graph, classifier.bundle.codec.batch([review]))
        keys, _, values, *_ = graph.block.encode(graph.mxnet.nd, rows, *sizes)
        _, weights = graph.block.pooling(graph.mxnet.nd, keys, values, *sizes)
        vectors = values.asnumpy()[0]
        yield vectors, weights.asnumpy()[0].mean(axis=0) * (vectors @ (positive - negative))


def conicity(values: Vectors) -> float:
    """Return the mean cosine of the vectors of a review with their mean.

    Mohankumar et al. 2020 (arXiv:2004.14243), section 3: near 1, it hardly matters which of them attention chooses.
    """
    units = values / numpy.maximum(numpy.linalg.norm(values, axis=1, keepdims=True), SMALLEST)
    mean = values.mean(axis=0)
    return float((units @ mean).mean() / max(float(numpy.linalg.norm(mean)), SMALLEST))


def measure_time() -> None:
    """Print the least processor time of a test review in batches as `predict` makes them, by networks of random weights."""
    score, contestants = load_classifier(engine="native").score, {}
    encoder = replace(score.encoder, ngram_buckets=0)
    reviews = list(filter(len, encoder.encode_many(load_reviews("nsmc", "test").documents[:TIMED])))
    for name in filter(lambda name: name not in PATCHES, DESIGNS):
        config = SMALL.with_fields(**DESIGNS[name])
        model: Any = config.model
        if model.attention.kind == "additive":
            batches = [(*arrays, None) for _, arrays in TokenScorer(encoder, score.engine, config).batches(reviews)]
            workload = Workload(batches, [], len(encoder), model, config.training)
            contestants[name] = NativeScoring(workload, "native")
    for name, times in processor_times(contestants, len(reviews), ROUNDS).items():
        print(f"{name}: {min(times):.1f} us a review")


if __name__ == "__main__":
    folder, *names = sys.argv[1:]
    if folder == "--time":
        measure_time()
        raise SystemExit
    reviews = outside(Path(folder) / "outside.csv")
    for name in names or DESIGNS:
        with ExitStack() as stack:
            for (where, part), other in PATCHES.get(name, {}).items():
                stack.enter_context(patch.object(where, part, other))
            print(json.dumps(judge(Path(folder), name, reviews), ensure_ascii=False), flush=True)
