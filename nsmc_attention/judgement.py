"""A classifier against reviews: the figures that `evaluate` and `faithfulness` print."""

import shlex
import sys
import time
from functools import partial

import numpy

from .errors import BundleError, MissingPackage
from .evaluation.metrics import metrics
from .reviews.tables import CORPORA


def evaluate(classifier, reviews):
    """Score a classifier on labelled reviews.

    A blank review has no word to score; it counts, with probability 0.5.

    Parameters
    ----------
    classifier : inference.predictor.Classifier
    reviews : reviews.corpus.Reviews

    Returns
    -------
    dict
        `metrics.metrics` plus data, bundle, engine, and seconds (wall clock, from text to probabilities).
    """
    started = time.perf_counter()
    probability = classifier.probabilities(reviews.documents)
    seconds = time.perf_counter() - started
    found = metrics(reviews.labels, numpy.nan_to_num(probability, nan=0.5))
    return {
        **found,
        "data": reviews.name,
        "bundle": classifier.bundle.name,
        "engine": classifier.engine.name,
        "seconds": round(seconds, 3),
    }


def faithfulness(classifier, reviews, limit=1000, seed=0):
    """Measure how far a classifier's `token_weights` can be believed on reviews drawn by seed.

    Returns
    -------
    dict
        `evaluation.faithfulness.faithfulness` plus data, bundle and seconds. What needs the network itself
        (gradients, replaced attention) is left out where MXNet is missing, and of the original article's model.
    """
    from tqdm import tqdm

    from .evaluation.faithfulness import faithfulness as measure
    from .inference.explain import Explainer

    started = time.perf_counter()
    chosen = numpy.random.RandomState(seed).permutation(len(reviews))[:limit]
    predictions = [
        each for each in classifier.predict_many([reviews.documents[place] for place in chosen]) if not each.error
    ]
    token_lists = [each.tokens for each in predictions]
    explainer = Explainer(classifier)
    gradients, replaced = None, None
    try:
        gradients = explainer.gradients(token_lists)
        if not classifier.bundle.config.fixed_length:
            replaced = {how: explainer.replaced(token_lists, how, seed) for how in ("uniform", "permuted")}
    except MissingPackage as problem:
        print(f"no gradients: {problem}", file=sys.stderr)
    bar = partial(tqdm, desc="erasing words", file=sys.stderr, disable=None, mininterval=0.5)
    found = measure(
        classifier.score, token_lists, [each.token_weights for each in predictions], gradients, replaced, seed, bar
    )
    return {
        **found,
        "data": reviews.name,
        "bundle": classifier.bundle.name,
        "seconds": round(time.perf_counter() - started, 3),
    }


def record(bundle, found, reviews):
    """Write what `evaluate` found on reviews into the bundle's manifest and model card, with the command."""
    from .bundle.card import model_card
    from .bundle.format import read_contents, write_bundle

    kept = ("n", "accuracy", "f1", "precision", "recall", "roc_auc", "log_loss", "ece", "confusion", "data", "engine")
    figures = {name: found[name] for name in kept}
    # as it was given; but no card tells a whole path
    path = bundle.name if bundle.folder.is_absolute() else str(bundle.folder)
    which = [] if bundle.packaged else ["--bundle", path]
    figures["command"] = shlex.join(["nsmc-attention", "evaluate", "--data", found["data"], *which])
    try:
        part = part_name(reviews, bundle.manifest["data"]["train"])
        manifest = {**bundle.manifest, "metrics": {**bundle.manifest["metrics"], part: figures}}
        card = model_card(manifest).encode(errors="replace")
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as problem:
        raise BundleError(
            f"{bundle.folder}: its manifest lacks what a model card tells ({problem}); nothing is recorded"
        ) from problem
    write_bundle(bundle.folder, manifest, {**read_contents(bundle), "README.md": card})


def part_name(reviews, learned):
    """Answer what to call the figures on reviews, of a bundle that learned from what its manifest describes."""
    if reviews.sha256 == learned["sha256"]:
        return "training file"
    return "test" if reviews.name == learned["name"] in CORPORA else f"test on {reviews.name}"
