"""A whole training as one function: reviews and a Config in, a run folder with a bundle out.

The command line, the notebooks and every experiment call `train`; it composes reviews, text, training, inference
(the importance of words, by erasure), export and bundle, and has no numerics of its own.
"""

import shlex
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any, Optional, Union

import numpy
import pandas
from numpy.typing import NDArray

from .._runtime.mxnet_shim import choose_device
from .._runtime.progress import progress_bar
from ..bundle.format import Layout, load_any, load_bundle, write_bundle
from ..errors import BundleError, DataError
from ..evaluation.calibration import FEW_DEV
from ..language.layout import LAYOUT as LANGUAGE_MODEL
from ..language.layout import LanguageBundle
from ..restoration.layout import LAYOUT as RESTORER
from ..restoration.layout import RestorerBundle
from ..reviews import nsmc, raw, tables
from ..reviews.corpus import Reviews
from ..text.encoding import ReviewEncoder, clean
from ..text.noise import misspelt
from ..text.token_cache import cached_tokens
from ..text.tokenizers import tokenizer, tokenizer_version
from ..training.distributed.communicator import SINGLE, SingleWorker
from ..training.run_folder import begun_run, check_run
from ..training.runs import draw_curves, in_words, nearest_preset, say
from ..version import __version__
from .card import model_card
from .layout import LAYOUT, ClassifierBundle
from .parts import EncodedPart, Part, Parts, Tokenized
from .settings import LABELS, PRESETS, Config

# Share of the importance that the attention is taught which comes from gradients
GRADIENT_SHARE = 0.25


def train(
    data: Union[str, Path],
    config: Config,
    out: Union[str, Path],
    valid: Optional[Union[str, Path]] = None,
    resume: bool = False,
    device: str = "auto",
    data_dir: Optional[Union[str, Path]] = None,
    quiet: bool = False,
    text_column: Optional[str] = None,
    label_column: Optional[str] = None,
    workers: SingleWorker = SINGLE,
    encoding: Optional[str] = None,
    positive: Optional[str] = None,
    init_from: Optional[Union[str, Path]] = None,
    sheet: Optional[str] = None,
) -> Optional[ClassifierBundle]:
    """Train a classifier and write it as a bundle; return it, in a worker other than 0 None.

    Parameters
    ----------
    data : "nsmc", "sample" or a path
        Training data; for "nsmc" and "sample" the train file. The test file is read only to exclude its reviews from
        pretraining on stars.
    out : path
        The run folder: settings.json, history.jsonl, curves.png, checkpoints, and at the end bundle/.
    valid : path or None
        A labelled file as the dev part; None holds config.training.dev_fraction out, stratified and seeded.
    resume : bool
        Continue the run in `out`; its data and config must be the same.
    device : "auto", "cpu" or "gpu"
    sheet : str or None
        Of a workbook of training data; of `valid` always the first one.
    init_from : path or None
        A bundle whose sizes the classifier shares: of a language model it begins with encoder and embeddings, of `restore`
        with the reading of characters, which needs the tokenizer `characters`.
    workers : SingleWorker
        The group of workers that share each batch, from `training.distributed.communicator.worker_group`.

    Raises
    ------
    DataError
        A file is missing or malformed, has one label only, or too few reviews to hold a dev part out.
    ConfigError
        The run folder is taken or of another run; the loss is not finite; there is no such device.
    TokenizerError
        The tokenizer is unknown or needs Java.
    """
    out = Path(out)
    workers.wait_for_first()
    # an unknown tokenizer, or one without its Java, is reported before anything is read or written
    tokenizer(config.text.tokenizer)
    named = (text_column, label_column, encoding, positive)
    first = load_any(init_from, tuple(BEGINNINGS)) if init_from else None
    reviews = tables.load(data, "train", data_dir, *named, sheet)
    dev_reviews = tables.read_labelled(valid, *named) if valid else None
    settings: dict[str, Any] = {
        "data": {"name": reviews.name, "sha256": reviews.sha256},
        "columns": reviews.columns,
        "valid": {"name": dev_reviews.name, "sha256": dev_reviews.sha256} if dev_reviews else None,
        "config": config.to_dict(),
        **({"init_from": first.fingerprint} if first else {}),
    }
    if workers.first:
        check_run(out, settings, resume)
    name, changes = nearest_preset(config, PRESETS)
    say(f"settings: {' '.join(['--preset', name, *changes])}; {'continuing' if resume else 'writing'} in {out}", quiet)
    inputs = read_inputs(reviews, dev_reviews, config, data_dir, quiet)
    settings["reads"] = {
        "tokenizer": tokenizer_version(config.text.tokenizer),
        "vocabulary": sha256(inputs.vocabulary).hexdigest(),
        "stars": inputs.stars and inputs.stars.sha256,
    }
    context = choose_device(device)
    # imports MXNet
    from .stages import ClassifierTraining

    importance = partial(erasure_importance, encoder=inputs.encoder, config=config, device=context, quiet=quiet)
    training = ClassifierTraining(config, inputs.encoder, out, context, importance, draw_curves, quiet, workers)
    if first:
        training = replace(training, begin=BEGINNINGS[first.layout](first, inputs.encoder.token_to_idx))
    # nothing about the input can be wrong from here on: only now is anything written
    with begun_run(out, settings, resume, workers):
        network, progress, calibration = training.run(inputs.parts)
        if not workers.first:
            return None
        manifest = describe(inputs, config, progress, calibration)
        manifest["command"] = command(inputs, config, settings["columns"])
        if first:
            manifest["data"]["init_from"] = {"name": first.name, "fingerprint": first.fingerprint}
            manifest["command"] += f" --init-from {shlex.quote(first.name)}"
        return finish(out, inputs, config, manifest, network, context, quiet)


def reading_of(first: RestorerBundle, token_to_idx: dict[str, int]) -> Callable[[Any], None]:
    from ..inference.sessions import parameters_of
    from .initial import begin_reading

    arrays = parameters_of(first)[1]
    return partial(begin_reading, arrays=arrays, characters=first.codec, token_to_idx=token_to_idx)


def knowledge_of(first: LanguageBundle, token_to_idx: dict[str, int]) -> Callable[[Any], None]:
    from ..inference.sessions import parameters_of
    from .initial import begin_knowing

    arrays = parameters_of(first)[1]
    return partial(begin_knowing, arrays=arrays, known=first.codec.token_to_idx, token_to_idx=token_to_idx)


# What a classifier's network begins with, by the task of the bundle that it is taken from
BEGINNINGS: dict[Layout[Any, Any], Callable[[Any, dict[str, int]], Callable[[Any], None]]] = {
    RESTORER: reading_of,
    LANGUAGE_MODEL: knowledge_of,
}


@dataclass(frozen=True)
class Inputs:
    """What a training reads: its files, their tokenized reviews, and the training data's vocabulary as JSON."""

    reviews: Reviews
    dev_reviews: Optional[Reviews]
    stars: Any
    parts: Parts
    vocabulary: bytes
    encoder: ReviewEncoder


def read_inputs(reviews: Reviews, dev_reviews: Optional[Reviews], config: Config, data_dir: Any, quiet: bool) -> Inputs:
    from ..text.vocabulary import build_vocab

    say(f"data: {reviews.name}, {in_words(reviews.counts())}", quiet)
    whole = tokenized(reviews, config)
    train_part, dev_part = (whole, tokenized(dev_reviews, config)) if dev_reviews else split(whole, config.training)
    stars, star_part = None, None
    if config.training.stars.epochs:
        # without the reviews of the official test file and of the dev part, by id and by text
        stars = raw.load(raw.find(data_dir), [nsmc.load("nsmc", "test", data_dir).frame, dev_part.frame])
        say(f"raw star reviews: {in_words(stars.counts)}", quiet)
        star_part = tokenized_part(stars.frame, stars.targets, config)
    parts = Parts(train_part, dev_part, misspelt_part(train_part, config), star_part)
    read = [*(star_part.reviews if star_part else []), *train_part.reviews]
    vocabulary = build_vocab(read, config.text).to_json().encode()
    encoder = ReviewEncoder.from_json(vocabulary, config.text)
    sizes = f"{len(train_part.labels):,} reviews to train on, {len(dev_part.labels):,} to choose the epoch by (dev)"
    say(f"{sizes}, a vocabulary of {len(encoder):,}", quiet)
    return Inputs(reviews, dev_reviews, stars, parts, vocabulary, encoder)


def erasure_importance(
    network: Any, part: EncodedPart, encoder: ReviewEncoder, config: Config, device: Any, quiet: bool
) -> list[NDArray[Any]]:
    """Return for each review each token's share of what the prediction depends on, (T,).

    Mostly the change of the prediction when the token is erased; in part gradient x input, which agrees with erasure
    only in part (docs/faithfulness.md) and is the other measure that the attention is judged by.
    """
    from ..evaluation.erasure import leave_one_out, shares
    from .engines import OnnxEngine
    from .gradients import GradientEngine
    from .lowering import lower
    from .predictor import TokenScorer

    # ONNX Runtime is three times as fast
    engine = OnnxEngine(lower(network).SerializeToString(), network.axes)
    bar = partial(progress_bar, shown=not quiet, desc="erasing words")
    erased = leave_one_out(TokenScorer(encoder, engine, config), part.reviews, bar)
    products = TokenScorer(encoder, GradientEngine(network, device), config).predict_with_weights(part.reviews)[1]
    return [(1 - GRADIENT_SHARE) * shares(one) + GRADIENT_SHARE * shares(other) for one, other in zip(erased, products)]


def tokenized(reviews: Reviews, config: Config) -> Tokenized:
    """Tokenize reviews (from the cache if they were before) and drop the blank ones."""
    part = tokenized_part(reviews.frame, reviews.labels, config)
    if len(set(part.labels.tolist())) < 2:
        raise DataError(f"{reviews.name}: expected reviews of both labels, found one")
    return part


def tokenized_part(frame: pandas.DataFrame, labels: NDArray[Any], config: Config) -> Tokenized:
    token_lists = token_lists_of(frame["document"], config)
    return Part(token_lists, labels, frame).take([i for i, tokens in enumerate(token_lists) if tokens])


def token_lists_of(texts: Iterable[str], config: Config) -> list[list[str]]:
    return cached_tokens(list(texts), config.text.tokenizer, nsmc.cache_folder() / "prepared")


def split(part: Tokenized, training: Any) -> list[Tokenized]:
    """Hold the dev part out: stratified by label, decided by the seed alone. Return [training part, dev part]."""
    from sklearn.model_selection import train_test_split

    positions, size, seed = numpy.arange(len(part.labels)), training.dev_fraction, training.seed
    try:
        chosen = train_test_split(positions, test_size=size, stratify=part.labels, random_state=seed)
    except ValueError as problem:
        raise DataError(f"too few reviews to hold a dev part out: {problem}") from problem
    return [part.take(members) for members in chosen]


def misspelt_part(part: Tokenized, config: Config) -> Tokenized:
    """Return the part with config.training.misspelt_fraction of its reviews misspelt."""
    training = config.training
    if not training.misspelt_fraction:
        return part
    others = misspelt([clean(text) for text in part.frame["document"]], training.misspelt_fraction, training.seed)
    changed = dict(zip(others, token_lists_of(others.values(), config)))
    return replace(part, reviews=[changed.get(i) or tokens for i, tokens in enumerate(part.reviews)])


def describe(inputs: Inputs, config: Config, progress: Any, calibration: dict[str, Any]) -> dict[str, Any]:
    """Return the manifest of a finished training: its data, and its metrics on the dev part."""
    reviews, dev_reviews, parts = inputs.reviews, inputs.dev_reviews, inputs.parts
    dev = dev_reviews.describe() if dev_reviews else {"split_off": reviews.name}
    data = {
        "train": {**reviews.describe(), "used": len(parts.train.labels)},
        "dev": {**dev, "used": len(parts.dev.labels)},
    }
    return {
        "labels": list(LABELS),
        "package_version": __version__,
        "tokenizer_version": tokenizer_version(config.text.tokenizer),
        "vocabulary": len(inputs.encoder),
        "config": config.to_dict(),
        "data": {**data, "pretraining": inputs.stars.describe()} if inputs.stars else data,
        "calibration": calibration,
        "metrics": {"dev": {"best_epoch": progress.best_epoch + 1, **calibration["after"]}},
    }


def command(inputs: Inputs, config: Config, columns: dict[str, str]) -> str:
    """Return the command line that repeats this training: the nearest preset, and what differs from it."""
    given = ["--valid", inputs.dev_reviews.name] if inputs.dev_reviews else []
    usual = {"text": "document", "label": "label"}
    for name, value in columns.items():
        given += [f"--{name}-column" if name in usual else f"--{name}", value] if value != usual.get(name) else []
    name, changes = nearest_preset(config, PRESETS)
    chosen = [] if name == "default" else ["--preset", name]
    return shlex.join(["nsmc-attention", "train", "--data", inputs.reviews.name, *given, *chosen, *changes])


def finish(
    out: Path, inputs: Inputs, config: Config, manifest: dict[str, Any], network: Any, device: Any, quiet: bool
) -> ClassifierBundle:
    """Export, write the bundle and load it back, so that a run ends with a bundle known to be whole."""
    from ..model.parameters import gluon_file
    from .engines import GluonEngine
    from .export import disagreement, exceeds, parity
    from .lowering import lower

    contents = {"vocab.json": inputs.vocabulary, "weights.params": gluon_file(network)}
    model = lower(network).SerializeToString()
    manifest["parity"] = parity(GluonEngine(network, device), model, inputs.encoder, config, inputs.reviews.documents)
    if exceeds(manifest["parity"]):
        say(f"the ONNX model is left out, because it is not Gluon's network: {disagreement(manifest['parity'])}", quiet)
    else:
        contents["model.onnx"] = model
    manifest["metrics"].update(recorded_metrics(out / "bundle", contents))
    contents["README.md"] = model_card(manifest).encode(errors="replace")
    write_bundle(out / "bundle", manifest, contents)
    best = manifest["metrics"]["dev"]
    say(f"dev accuracy {100 * best['accuracy']:.2f} % (epoch {best['best_epoch']}); bundle: {out / 'bundle'}", quiet)
    warn_if_small(best["accuracy"], len(inputs.parts.dev.labels))
    return load_bundle(out / "bundle", LAYOUT)


def warn_if_small(accuracy: float, count: int) -> None:
    """Say on stderr what an accuracy on a dev part of so few reviews is worth; nothing where they are FEW_DEV or more."""
    from scipy.stats import binomtest

    if count < FEW_DEV:
        low, high = binomtest(round(accuracy * count), count).proportion_ci(method="wilson")
        reviews = "1 review" if count == 1 else f"{count} reviews"
        print(
            f"warning: the dev part is {reviews}: the accuracy may be anything from {100 * low:.0f} to {100 * high:.0f} %; "
            "label more, or give a file of labelled reviews as --valid",
            file=sys.stderr,
        )


def recorded_metrics(folder: Path, contents: dict[str, bytes]) -> dict[str, Any]:
    """Return what `evaluate --record` wrote into a bundle of this very network, nothing if there is none."""
    try:
        bundle = load_bundle(folder, LAYOUT)
        same = all(bundle.read(name) == contents[name] for name in ("vocab.json", "weights.params"))
    except BundleError:
        return {}
    return {part: found for part, found in bundle.manifest["metrics"].items() if part != "dev"} if same else {}
