"""What attention takes the mean of, and how wide the GRU is: small trainings, judged by accuracy and faithfulness.

    python -m benchmarks.designs FOLDER [NAME ...]     train and judge the designs of these names, all without names

Each is trained for two passes over NSMC's training file, without n-grams and without teaching the attention. The reviews that
judge are 16,000 raw ones outside NSMC, by id and by text, half of 1 to 4 stars and half of 9 and 10.
"""

import json
import sys
from pathlib import Path
from typing import Any

import numpy
import pandas

from nsmc_attention import load_classifier, train
from nsmc_attention.classification.engines import gluon_graph
from nsmc_attention.classification.gradients import embed_batch
from nsmc_attention.classification.judgement import evaluate, faithfulness
from nsmc_attention.classification.predictor import Classifier
from nsmc_attention.classification.settings import preset
from nsmc_attention.reviews import nsmc, raw
from nsmc_attention.reviews.tables import load_reviews

SMALL = preset("extended").with_fields(pretrain_epochs=0, epochs=2, ngram_buckets=0, erasure_reviews=0, hidden_size=32)
DESIGNS: dict[str, dict[str, Any]] = {
    "states": {"values": "states"},
    "states, GRU of 128": {"values": "states", "hidden_size": 128},
    "convolution of 5": {"values": "convolution", "window": 5},
    "convolution of 3": {"values": "convolution", "window": 3},
    "convolution of 1": {"values": "convolution", "window": 1},
    "embedding": {"values": "embedding"},
    "embedding, GRU of 48": {"values": "embedding", "hidden_size": 48},
    "embedding, GRU of 64": {"values": "embedding", "hidden_size": 64},
    "embedding, GRU of 128": {"values": "embedding", "hidden_size": 128},
    "embedding, scaled": {"values": "embedding", "attention": "scaled"},
    "embedding, one query": {"values": "embedding", "attention": "structured", "attention_hops": 1},
}
EACH, LONGEST, REVIEWS = 8000, 140, 500
SMALLEST = 1e-9


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
    """Train a design where it is not yet trained; return its accuracy and the faithfulness of its attention."""
    out = folder / name.replace(" ", "-").replace(",", "")
    if not (out / "bundle").exists():
        train("nsmc", SMALL.with_fields(**DESIGNS[name]), out, valid=reviews)
    classifier, judged = load_classifier(out / "bundle", engine="onnx"), load_reviews(reviews)
    faithful = faithfulness(classifier, judged, limit=REVIEWS)
    return {
        "design": name,
        "accuracy": round(100 * evaluate(classifier, judged)["accuracy"], 2),
        **{f"tau {measure}": round(tau["mean"], 3) for measure, tau in faithful["tau"]["attention"].items()},
        **{f"correlation {order}": round(found, 3) for order, found in faithful.get("correlation", {}).items()},
        **{how: round(100 * effect["flipped"], 1) for how, effect in faithful["replaced"].items()},
        "conicity": round(conicity(classifier, judged.documents[:REVIEWS]), 3),
    }


def conicity(classifier: Classifier, texts: list[str]) -> float:
    """Return the mean cosine of the vectors that attention averages with their mean in a review, over reviews.

    Mohankumar et al. 2020 (arXiv:2004.14243), section 3: near 1, it hardly matters which of them attention chooses.
    """
    graph, found = gluon_graph(classifier.bundle, "cpu"), []
    for review in filter(len, classifier.bundle.codec.encode_many(texts)):
        arrays = embed_batch(graph, classifier.bundle.codec.batch([review]))
        values = graph.block.encode(graph.mxnet.nd, *arrays)[2].asnumpy()[0]
        units = values / numpy.maximum(numpy.linalg.norm(values, axis=1, keepdims=True), SMALLEST)
        mean = values.mean(axis=0)
        found.append(float((units @ mean).mean() / max(float(numpy.linalg.norm(mean)), SMALLEST)))
    return float(numpy.mean(found))


if __name__ == "__main__":
    folder, *names = sys.argv[1:]
    reviews = outside(Path(folder) / "outside.csv")
    for name in names or DESIGNS:
        print(json.dumps(judge(Path(folder), name, reviews), ensure_ascii=False), flush=True)
