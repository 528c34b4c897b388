"""A classifier against reviews: the figures that `evaluate`, `faithfulness` and `hops` print."""

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
    """Score a classifier on labelled reviews; a blank review counts with probability 0.5.

    With `restore`, True or a Restorer, reviews in doubt are restored first. Returns `metrics.metrics` plus unlabelled
    (reviews that `predict` gives no label), accuracy_labelled (of the others), data, bundle, engine, with `restore` the
    restorer's bundle, of neutral reviews three_classes, and seconds (from text to probabilities).
    """
    check_kind("evaluate", reviews, Reviews, advice="; read them with load_reviews()")
    scorer: Any = over(classifier, restore)
    started = time.perf_counter()
    rows = scorer.rows(reviews.documents)
    seconds = time.perf_counter() - started
    probability = numpy.array([0.5 if row[-2] is None else row[-2] for row in rows])
    labelled = numpy.array([row[-1] is None for row in rows], dtype=bool)
    right = (probability >= 0.5) == reviews.labels
    return {
        **metrics(reviews.labels, probability),
        "unlabelled": int((~labelled).sum()),
        "accuracy_labelled": float(right[labelled].mean()) if labelled.any() else None,
        "data": reviews.name,
        "bundle": classifier.bundle.name,
        "engine": classifier.engine.name,
        **({"restorer": scorer.restorer.bundle.name} if restore else {}),
        **({"three_classes": three_classes(classifier, reviews)} if reviews.neutral and classifier.heads else {}),
        "seconds": round(seconds, 3),
    }


def three_classes(classifier: Classifier, reviews: Reviews) -> Record:
    """Return macro_f1, the f1 of each of SIDES and confusion: rows are SIDES, columns these and no opinion."""
    from sklearn.metrics import confusion_matrix, f1_score

    true = [*(SIDES[2 * label] for label in reviews.labels), *["neutral"] * len(reviews.neutral)]
    found = [row[2] or "none" for row in classifier.with_sentiment().rows([*reviews.documents, *reviews.neutral])]
    each = f1_score(true, found, labels=SIDES, average=None, zero_division=0).tolist()
    confusion = confusion_matrix(true, found, labels=[*SIDES, "none"])[:-1].tolist()
    return {"macro_f1": sum(each) / len(SIDES), "f1": dict(zip(SIDES, each)), "confusion": confusion}


def faithfulness(classifier: Classifier, reviews: Reviews, limit: int = 1000, seed: int = 0) -> Record:
    """Measure how faithful a classifier's `token_weights` are on `limit` reviews drawn by seed.

    Returns `measure.faithfulness.faithfulness` plus data, bundle and seconds. Contributions are measured where the
    classifier has them. Gradients are left out where MXNet is missing.
    """
    started = time.perf_counter()
    chosen = numpy.random.RandomState(seed).permutation(len(reviews))[:limit]
    encoded = list(filter(len, map(classifier.bundle.codec.encode, reviews.frame["document"].iloc[chosen])))
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
    """Measure which words the hops of a structured classifier attend to in the first `limit` texts.

    Returns reviews (with a word), overlap (`metrics.overlap`), words: for each hop its tokens by weight,
    as `heatmap.by_hop`, and bundle. ConfigError if the classifier's attention has no hops.
    """
    if "hops" not in classifier.engine.axes:
        raise ConfigError(
            f"{classifier.bundle.folder}: expected a classifier of structured attention, found "
            f"{classifier.bundle.config.model.attention.kind}, which has no hops; train one with --attention structured"
        )
    predictions = [one for one in classifier.predict_stream(islice(texts, limit)) if one.label is not None]
    return {
        "reviews": len(predictions),
        "overlap": overlap(prediction.weights for prediction in predictions),
        "words": [rows.to_dict("records") for rows in by_hop(predictions, fewest)],
        "bundle": classifier.bundle.name,
    }


def record(bundle: ClassifierBundle, judged: Record, reviews: Reviews) -> None:
    """Write what `evaluate` returned for reviews into the bundle's manifest and model card, with the command."""
    # as it was given; but no card holds a whole path
    path = bundle.name if bundle.folder.is_absolute() else str(bundle.folder)
    which = [] if bundle.packaged else ["--bundle", path]
    command = shlex.join(["nsmc-attention", "evaluate", "--data", judged["data"], *which])
    figures = {name: value for name, value in judged.items() if name not in ("bundle", "seconds")}
    trained = bundle.manifest["data"]["train"]
    part = "test" if reviews.name == trained["name"] in CORPORA else f"test on {reviews.name}"
    part = "training file" if reviews.sha256 == trained["sha256"] else part
    manifest = {**bundle.manifest, "metrics": {**bundle.manifest["metrics"], part: {**figures, "command": command}}}
    card = model_card(bundle.layout, manifest).encode(errors="replace")
    write_bundle(bundle.folder, manifest, {**read_contents(bundle), "README.md": card})
