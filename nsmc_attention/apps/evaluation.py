"""Evaluation of a classifier on reviews: the metrics of the commands `evaluate`, `faithfulness` and `hops`."""

import shlex
import sys
import time
from collections.abc import Iterable
from functools import partial
from itertools import islice
from typing import Any

import numpy

from ..bundle import model_card, read_contents, write_bundle
from ..classifier.explain import Explainer
from ..classifier.predictor import Classifier
from ..classifier.settings import ClassifierBundle
from ..corpora.nsmc import CORPORA, Reviews
from ..errors import ConfigError, MissingPackage, check_kind
from ..machine.aliases import Record
from ..machine.progress import progress_bar
from ..measure.faithfulness import faithfulness as measure
from ..measure.metrics import metrics, overlap
from ..systems.restore.corrections import Restore, over
from ..views.heatmap import by_hop

SIDES = ("negative", "neutral", "positive")


def evaluate(classifier: Classifier, reviews: Reviews, restore: Restore = False) -> Record:
    """Evaluate a classifier on labelled reviews; a blank review has probability 0.5.

    With `restore`, True or a Restorer, doubtful reviews are restored first. Returns `metrics.metrics`, unlabelled (the
    number of reviews that `predict` does not label), accuracy_labelled (on the others), data, bundle, engine, with
    `restore` the restorer's bundle, with neutral reviews three_classes, and seconds (from texts to probabilities).
    """
    check_kind("evaluate", reviews, Reviews, advice="; read them with load_reviews()")
    scorer: Any = over(classifier, restore)
    started = time.perf_counter()
    rows = scorer.rows(reviews.documents)
    seconds = time.perf_counter() - started
    probability = numpy.array([0.5 if row[-2] is None else row[-2] for row in rows])
    labelled = numpy.array([row[-1] is None for row in rows], dtype=bool)
    is_correct = (probability >= 0.5) == reviews.labels
    return {
        **metrics(reviews.labels, probability),
        "unlabelled": int((~labelled).sum()),
        "accuracy_labelled": float(is_correct[labelled].mean()) if labelled.any() else None,
        "data": reviews.name,
        "bundle": classifier.bundle.name,
        "engine": classifier.engine.name,
        **({"restorer": scorer.restorer.bundle.name} if restore else {}),
        **({"three_classes": three_classes(classifier, reviews)} if reviews.neutral and classifier.heads else {}),
        "seconds": round(seconds, 3),
    }


def three_classes(classifier: Classifier, reviews: Reviews) -> Record:
    """Return macro_f1, f1 for each of SIDES, and the confusion matrix: rows are SIDES, columns SIDES and no opinion."""
    from sklearn.metrics import confusion_matrix, f1_score

    true = [*(SIDES[2 * label] for label in reviews.labels), *["neutral"] * len(reviews.neutral)]
    predicted = [row[2] or "none" for row in classifier.with_sentiment().rows([*reviews.documents, *reviews.neutral])]
    f1 = f1_score(true, predicted, labels=SIDES, average=None, zero_division=0).tolist()
    confusion = confusion_matrix(true, predicted, labels=[*SIDES, "none"])[:-1].tolist()
    return {"macro_f1": sum(f1) / len(SIDES), "f1": dict(zip(SIDES, f1)), "confusion": confusion}


def faithfulness(classifier: Classifier, reviews: Reviews, limit: int = 1000, seed: int = 0) -> Record:
    """Measure the faithfulness of a classifier's `token_weights` on `limit` reviews drawn by seed.

    Returns `measure.faithfulness.faithfulness` plus data, bundle and seconds. The result includes contributions if the
    classifier has them, and gradients if MXNet is installed.
    """
    started = time.perf_counter()
    sample = numpy.random.RandomState(seed).permutation(len(reviews))[:limit]
    encoded = list(filter(len, map(classifier.bundle.codec.encode, reviews.frame["document"].iloc[sample])))
    orders: Record = {"attention": [prediction.token_weights for prediction in classifier.predict_encoded(encoded)]}
    explainer = Explainer(classifier)
    try:
        orders["gradient"] = explainer.gradients(encoded)
    except MissingPackage as problem:
        print(f"no gradients: {problem}", file=sys.stderr)
    if explainer.has_contributions:
        orders["contribution"] = explainer.scored(encoded)[1]
    return {
        **measure(classifier.score, encoded, orders, seed, partial(progress_bar, desc="erasing words")),
        "data": reviews.name,
        "bundle": classifier.bundle.name,
        "seconds": round(time.perf_counter() - started, 3),
    }


def hops(classifier: Classifier, texts: Iterable[str], limit: int = 5000, fewest: int = 20) -> Record:
    """Measure the words that each hop of a structured classifier attends to in the first `limit` texts.

    Returns reviews (their number, without blank ones), overlap (`metrics.overlap`), words (the tokens of each hop by
    weight, see `heatmap.by_hop`) and bundle. ConfigError if the classifier's attention has no hops.
    """
    if "hops" not in classifier.engine.axes:
        raise ConfigError(
            f"{classifier.bundle.folder}: expected a classifier of structured attention, found "
            f"{classifier.bundle.config.model.attention.kind}, which has no hops; train one with --attention structured"
        )
    stream = classifier.predict_stream(islice(texts, limit))
    predictions = [prediction for prediction in stream if prediction.label is not None]
    return {
        "reviews": len(predictions),
        "overlap": overlap(prediction.weights for prediction in predictions),
        "words": [rows.to_dict("records") for rows in by_hop(predictions, fewest)],
        "bundle": classifier.bundle.name,
    }


def record(bundle: ClassifierBundle, evaluation: Record, reviews: Reviews) -> None:
    """Write the result of `evaluate` into the bundle's manifest and model card, with the command."""
    # relative paths as given, but no absolute path in a model card
    path = bundle.name if bundle.folder.is_absolute() else str(bundle.folder)
    options = [] if bundle.packaged else ["--bundle", path]
    command = shlex.join(["nsmc-attention", "evaluate", "--data", evaluation["data"], *options])
    figures = {name: value for name, value in evaluation.items() if name not in ("bundle", "seconds")}
    trained = bundle.manifest["data"]["train"]
    part = "test" if reviews.name == trained["name"] in CORPORA else f"test on {reviews.name}"
    part = "training file" if reviews.sha256 == trained["sha256"] else part
    manifest = {**bundle.manifest, "metrics": {**bundle.manifest["metrics"], part: {**figures, "command": command}}}
    card = model_card(bundle.layout, manifest).encode(errors="replace")
    write_bundle(bundle.folder, manifest, {**read_contents(bundle), "README.md": card})
