"""A whole training as one function: reviews and a Config in, a run folder with a bundle out.

The command line, the notebooks and every experiment call `train`; it composes reviews, text, training, inference
(the importance of words, by erasure), export and bundle, and has no numerics of its own.
"""

import shlex
import sys
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any, Optional, Union

import numpy
import pandas
from numpy.typing import NDArray

from .bundle.card import model_card
from .bundle.format import Bundle, load_bundle, write_bundle
from .config import PRESETS, SHORT_NAMES, Config
from .errors import BundleError, DataError
from .reviews import nsmc, raw, tables
from .reviews.corpus import Reviews
from .settings import KIND, paths
from .text.encoding import Encoder, clean
from .text.noise import misspelt
from .text.token_cache import cached_tokens
from .text.tokenizers import tokenizer, tokenizer_version
from .training.distributed.communicator import SINGLE, SingleWorker
from .training.parts import EncodedPart, Part, Parts
from .training.run_folder import begin_run, check_run
from .version import __version__

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
) -> Optional[Bundle]:
    """Train a classifier and write it as a bundle.

    Parameters
    ----------
    data : "nsmc", "sample" or a path
        Training data; for "nsmc" and "sample" the train file. The test file is read only to exclude its reviews from
        pretraining on stars.
    config : Config
    out : path
        The run folder: settings.json, history.jsonl, curves.png, checkpoints, and at the end bundle/.
    valid : path or None
        A labelled file as the dev part; None holds config.training.dev_fraction out, stratified and seeded.
    resume : bool
        Continue the run in `out`; its data and config must be the same.
    device : "auto", "cpu" or "gpu"
    workers : SingleWorker
        The group of workers that share each batch, from `training.distributed.communicator.worker_group`.

    Returns
    -------
    Bundle
        None in a worker other than 0.

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
    reviews = tables.load(data, "train", data_dir, *named)
    dev_reviews = tables.read_labelled(valid, *named) if valid else None
    settings: dict[str, Any] = {"data": identity(reviews), "columns": reviews.columns}
    settings.update(valid=dev_reviews and identity(dev_reviews), config=config.to_dict())
    if workers.first:
        check_run(out, settings, resume)
    say = silent if quiet else on_stderr
    say(f"{reviews.name}: {reviews.counts()}")
    whole = tokenized(reviews, config)
    train_part, dev_part = (whole, tokenized(dev_reviews, config)) if dev_reviews else split(whole, config.training)
    stars, star_part = read_stars(config, dev_part, data_dir, say)
    parts = Parts(train_part, dev_part, misspelt_part(train_part, config), star_part)
    vocab, encoder = build_encoder(parts, config)
    say(f"train {len(train_part.labels)}, dev {len(dev_part.labels)}, vocabulary {len(encoder)}")
    settings["reads"] = input_versions(config, vocab, stars)
    # nothing about the input can be wrong from here on: only now is anything written
    with ExitStack() as stack:
        result, context = train_stages(
            config,
            encoder,
            parts,
            out,
            device,
            quiet,
            workers,
            partial(begin_run, out, settings, resume, workers, stack),
        )
        if not workers.first:
            return None
        manifest = describe(reviews, stars, dev_reviews, parts, encoder, config, result)
        manifest["command"] = command(reviews.name, config, dev_reviews, reviews.columns)
        return finish(out, result.network, context, vocab, encoder, manifest, config, reviews.documents, say)


def train_stages(
    config: Config,
    encoder: Encoder,
    parts: Parts,
    out: Path,
    device: str,
    quiet: bool,
    workers: SingleWorker,
    begin: Callable[[], None],
) -> tuple[Any, Any]:
    """Train all stages; return the TrainingResult and the device. `begin` is called before anything is written."""
    from ._runtime.mxnet_shim import choose_device
    from .training.stages import ClassifierTraining

    context = choose_device(device)
    begin()
    importance = partial(erasure_importance, encoder=encoder, config=config, device=context, quiet=quiet)
    training = ClassifierTraining(config, encoder, out, context, importance, draw_curves, quiet, workers)
    return training.run(parts), context


def draw_curves(progress: Any, stage: Any, folder: Path) -> None:
    from .visualization.curves import save_curves, save_evenness

    save_curves(progress.history, f"dev_{stage.objective.metric}", folder / "curves.png")
    save_evenness(progress, f"dev_{stage.objective.metric}", folder / "attention.png")


def erasure_importance(
    network: Any, part: EncodedPart, encoder: Encoder, config: Config, device: Any, quiet: bool
) -> list[NDArray[Any]]:
    """Return for each review each token's share of what the prediction depends on, (T,).

    Mostly the change of the prediction when the token is erased; in part gradient x input, which agrees with erasure
    only in part (docs/faithfulness.md) and is the other measure that the attention is judged by.
    """
    from tqdm.auto import tqdm

    from .evaluation.erasure import leave_one_out, shares
    from .inference.engines import OnnxEngine
    from .inference.gradients import GradientEngine
    from .inference.predictor import TokenScorer
    from .model.onnx.lowering import lower

    # ONNX Runtime is three times as fast
    engine = OnnxEngine(lower(network).SerializeToString())
    bar = partial(tqdm, desc="erasing words", disable=quiet, file=sys.stderr, mininterval=0.5)
    erased = leave_one_out(TokenScorer(encoder, engine, config), part.reviews, bar)
    products = TokenScorer(encoder, GradientEngine(network, device), config).predict_with_weights(part.reviews)[1]
    return [(1 - GRADIENT_SHARE) * shares(one) + GRADIENT_SHARE * shares(other) for one, other in zip(erased, products)]


def identity(reviews: Reviews) -> dict[str, str]:
    return {"name": reviews.name, "sha256": reviews.sha256}


def input_versions(config: Config, vocab: Any, stars: Any) -> dict[str, Any]:
    """Return what decides how the reviews are read, beside the config: versions and hashes."""
    return {
        "tokenizer": tokenizer_version(config.text.tokenizer),
        "vocabulary": sha256(vocab.to_json().encode()).hexdigest(),
        "stars": stars.sha256 if stars else None,
    }


def tokenized(reviews: Reviews, config: Config) -> Part:
    """Tokenize reviews (from the cache if they were before) and drop the blank ones."""
    part = tokenized_part(reviews.frame, reviews.labels, config)
    if len(set(part.labels.tolist())) < 2:
        raise DataError(f"{reviews.name}: expected reviews of both labels, found one")
    return part


def tokenized_part(frame: pandas.DataFrame, labels: NDArray[Any], config: Config) -> Part:
    token_lists = cached_tokens(frame["document"].tolist(), config.text.tokenizer, nsmc.cache_folder() / "prepared")
    keep = numpy.array([bool(tokens) for tokens in token_lists])
    return Part([tokens for tokens in token_lists if tokens], labels[keep], frame[keep])


def read_stars(
    config: Config, dev_part: Part, data_dir: Optional[Union[str, Path]], say: Callable[[str], None]
) -> tuple[Any, Optional[Part]]:
    """Return the raw reviews to pretrain on and their Part; (None, None) if the config wants none.

    Reviews of the official test file and of the dev part are left out, by id and by text.
    """
    if not config.training.stars.epochs:
        return None, None
    stars = raw.load(raw.find(data_dir), [nsmc.load("nsmc", "test", data_dir).frame, dev_part.frame])
    say(f"raw star reviews: {stars.counts}")
    return stars, tokenized_part(stars.frame, stars.targets, config)


def split(part: Part, training: Any) -> list[Part]:
    """Hold the dev part out: stratified by label, decided by the seed alone. Return [training part, dev part]."""
    from sklearn.model_selection import train_test_split

    try:
        chosen = train_test_split(
            numpy.arange(len(part.labels)),
            test_size=training.dev_fraction,
            stratify=part.labels,
            random_state=training.seed,
        )
    except ValueError as problem:
        raise DataError(f"too few reviews to hold a dev part out: {problem}") from problem
    return [part.take(members) for members in chosen]


def misspelt_part(part: Part, config: Config) -> Part:
    """Return the Part with config.training.misspelt_fraction of its reviews misspelt."""
    training = config.training
    if not training.misspelt_fraction:
        return part
    others = misspelt([clean(text) for text in part.frame["document"]], training.misspelt_fraction, training.seed)
    token_lists = cached_tokens(list(others.values()), config.text.tokenizer, nsmc.cache_folder() / "prepared")
    changed = {position: tokens for position, tokens in zip(others, token_lists) if tokens}
    return replace(part, token_lists=[changed.get(i, tokens) for i, tokens in enumerate(part.token_lists)])


def build_encoder(parts: Parts, config: Config) -> tuple[Any, Encoder]:
    """Return gluonnlp's Vocab of the training data, and the Encoder that reads it back from JSON."""
    from .text.vocabulary import build_vocab

    read = [parts.stars, parts.train] if parts.stars else [parts.train]
    vocab = build_vocab([tokens for part in read for tokens in part.token_lists], config.text)
    return vocab, Encoder.from_json(vocab.to_json(), config.text)


def describe(
    reviews: Reviews,
    stars: Any,
    dev_reviews: Optional[Reviews],
    parts: Parts,
    encoder: Encoder,
    config: Config,
    result: Any,
) -> dict[str, Any]:
    """Return the manifest of a finished training: its data, and its metrics on the dev part."""
    dev = dev_reviews.describe() if dev_reviews else {"split_off": reviews.name}
    data = {
        "train": {**reviews.describe(), "used": len(parts.train.labels)},
        "dev": {**dev, "used": len(parts.dev.labels)},
        **({"pretraining": stars.describe()} if stars else {}),
    }
    return {
        "package_version": __version__,
        "tokenizer_version": tokenizer_version(config.text.tokenizer),
        "vocabulary": len(encoder),
        "config": config.to_dict(),
        "data": data,
        "calibration": result.calibration,
        "metrics": {"dev": {"best_epoch": result.progress.best_epoch + 1, **result.calibration["after"]}},
    }


def command(
    data: str, config: Config, dev_reviews: Optional[Reviews] = None, columns: Optional[dict[str, str]] = None
) -> str:
    """Return the command line that repeats this training: the nearest preset, and what differs from it."""
    given = ["--valid", dev_reviews.name] if dev_reviews else []
    usual = {"text": "document", "label": "label"}
    for name, value in (columns or {}).items():
        given += [f"--{name}-column" if name in usual else f"--{name}", value] if value != usual.get(name) else []
    choices = [
        ([] if name == "default" else ["--preset", name]) + flags(config, known)
        for name, known in PRESETS.items()
        if known.model.kind == config.model.kind
    ]
    return shlex.join(["nsmc-attention", "train", "--data", data, *given, *min(choices, key=len)])


def flags(config: Config, base: Config) -> list[str]:
    """Return the flags that make `config` of `base`, both of one kind of network."""
    chosen = differing(config, base, lambda path: path.endswith(f".{KIND}"))
    # a new kind begins with its defaults
    others = differing(config, base.with_settings(chosen), lambda path: True) if chosen else differing(config, base)
    short = {path: f"--{name.replace('_', '-')}" for name, known in SHORT_NAMES.items() for path in known}
    words = []
    for path, value in {**chosen, **others}.items():
        words += [short[path], str(value)] if path in short else ["--set", f"{path}={value}"]
    return words


def differing(config: Config, base: Config, choose: Callable[[str], bool] = lambda path: True) -> dict[str, Any]:
    known = dict(paths(base))
    return {path: value for path, value in paths(config) if choose(path) and known.get(path) != value}


def finish(
    out: Path,
    network: Any,
    device: Any,
    vocab: Any,
    encoder: Encoder,
    manifest: dict[str, Any],
    config: Config,
    documents: list[str],
    say: Callable[[str], None],
) -> Bundle:
    """Export, write the bundle and load it back, so that a run ends with a bundle known to be whole."""
    from .export import disagreement, exceeds, parity
    from .inference.engines import GluonEngine
    from .model.onnx.lowering import lower
    from .model.parameters import gluon_file

    contents = {"vocab.json": vocab.to_json().encode(), "weights.params": gluon_file(network)}
    model = lower(network).SerializeToString()
    manifest["parity"] = parity(GluonEngine(network, device), model, encoder, config, documents)
    if exceeds(manifest["parity"]):
        say(f"the ONNX model is left out, because it is not Gluon's network: {disagreement(manifest['parity'])}")
    else:
        contents["model.onnx"] = model
    manifest["metrics"].update(recorded_metrics(out / "bundle", contents))
    contents["README.md"] = model_card(manifest).encode(errors="replace")
    write_bundle(out / "bundle", manifest, contents)
    best = manifest["metrics"]["dev"]
    say(f"dev accuracy {100 * best['accuracy']:.2f} % (epoch {best['best_epoch']}); bundle: {out / 'bundle'}")
    return load_bundle(out / "bundle")


def recorded_metrics(folder: Path, contents: dict[str, bytes]) -> dict[str, Any]:
    """Return what `evaluate --record` wrote into a bundle of this very network, nothing if there is none."""
    try:
        bundle = load_bundle(folder)
        same = all(bundle.read(name) == contents[name] for name in ("vocab.json", "weights.params"))
    except BundleError:
        return {}
    return {part: found for part, found in bundle.manifest["metrics"].items() if part != "dev"} if same else {}


def on_stderr(message: str) -> None:
    print(message, file=sys.stderr)


def silent(message: str) -> None:
    pass
