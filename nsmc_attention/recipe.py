"""A whole training as one function: reviews and a Config in, a run folder with a bundle out.

The command line, the notebooks and every experiment call `train`; it composes reviews, preprocessing,
model, `fit`, export and bundle, and has no numerics of its own.
"""

import json
import shlex
import sys
from contextlib import ExitStack
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import numpy

from ._io.atomic import folder_lock, refuse_links, vacant, write_text
from ._io.bounded import read_file, read_json
from .bundle.card import model_card
from .bundle.format import load_bundle, write_bundle
from .config import PRESETS, difference
from .errors import BundleError, ConfigError, DataError
from .inference.engines import GluonEngine
from .reviews import nsmc, raw, tables
from .text.encoding import Encoder, clean
from .text.noise import misspelt
from .text.token_cache import cached_tokens
from .text.tokenizers import tokenizer, tokenizer_version
from .training.distributed.communicator import SINGLE
from .training.stages import Part, Run
from .version import __version__

# Bytes that settings.json may have; those of a run have 2,000
SETTINGS = 2**20


def train(
    data,
    config,
    out,
    valid=None,
    resume=False,
    device="auto",
    data_dir=None,
    quiet=False,
    text_column="document",
    label_column="label",
    workers=SINGLE,
):
    """Train a classifier and write it as a bundle.

    Parameters
    ----------
    data : "nsmc", "sample" or a path
        What to learn from; of the first two the train file. The test file is looked at only to leave its reviews
        out of the raw ones, where config.training.pretrain_epochs asks for these.
    config : Config
    out : path
        The run folder: settings.json, history.jsonl, curves.png, checkpoints, and at the end bundle/.
    valid : path or None
        A labelled file as the dev part; None splits config.training.dev_fraction off, stratified and seeded.
    resume : bool
        Go on where a run in `out` was stopped; its data and config must be the same.
    device : "auto", "cpu" or "gpu"
    workers : distributed.SingleWorker
        Who shares the work, from `distributed.worker_group`.

    Returns
    -------
    Bundle
        None in a worker other than 0.

    Raises
    ------
    DataError, ConfigError, TokenizerError
    """
    out = Path(out)
    workers.wait_for_first()
    # an unknown tokenizer, or one without its Java, is told before anything is read or written
    tokenizer(config.text.tokenizer)
    reviews = tables.load(data, "train", data_dir, text_column, label_column)
    dev_reviews = tables.read_labelled(valid, text_column, label_column) if valid else None
    settings = {
        "data": named(reviews),
        "columns": {"text": text_column, "label": label_column},
        "valid": dev_reviews and named(dev_reviews),
        "config": config.to_dict(),
    }
    if workers.first:
        check_run(out, settings, resume)
    say = silent if quiet else on_stderr
    say(f"{reviews.name}: {reviews.counts()}")
    whole = tokenized(reviews, config)
    train_part, dev_part = (whole, tokenized(dev_reviews, config)) if dev_reviews else split(whole, config.training)
    stars, star_part = read_stars(config, dev_part, data_dir, say)
    vocab, encoder = build_encoder([star_part, train_part] if stars else [train_part], config)
    say(f"train {len(train_part.labels)}, dev {len(dev_part.labels)}, vocabulary {len(encoder)}")
    context = device_context(device)
    settings["reads"] = what_is_read(config, vocab, stars)
    # from here on nothing about the input can be wrong: only now is anything written
    with ExitStack() as until_the_end:
        begin(out, settings, resume, workers, until_the_end)
        run = Run(config, encoder, out, context, quiet, workers)
        learned = run.learn(star_part, train_part, dev_part, misspelt_part(train_part, config))

        if not workers.first:
            return None
        manifest = describe(reviews, stars, dev_reviews, train_part, dev_part, encoder, config, learned)
        manifest["command"] = command(reviews.name, config, dev_reviews, settings["columns"])
        engine = GluonEngine(learned.network, context)
        return finish(out, engine, vocab, encoder, manifest, config, reviews.documents, say)


def device_context(name):
    from .model.networks.classifier import choose_device

    return choose_device(name)


def check_run(out, settings, resume):
    """Refuse a run folder that is in use, or on resuming one with other settings, or with links in it."""
    if not resume:
        require_vacant(out)
        if not out.exists():
            # tried before the work, so that a place that cannot be written to is told at once
            out.mkdir(parents=True)
            out.rmdir()
        return
    same_settings(out, settings)
    refuse_links(out.iterdir())
    with folder_lock(out) as alone:
        require_alone(out, alone)


def require_vacant(out):
    if not vacant(out):
        raise ConfigError(f"{out}: the run folder exists; go on with --resume, or name another with --out")


def require_alone(out, alone):
    if not alone:
        raise ConfigError(
            f"{out}: another training is at work in this folder; wait for its end, or name another with --out"
        )


def same_settings(out, settings):
    """Refuse to go on with a run that began with other settings, or read something else."""
    saved = read_settings(out)
    for key in settings:
        if settings[key] != saved.get(key):
            raise ConfigError(f"{out}: cannot resume with another {difference(key, saved.get(key), settings[key])}")


def begin(out, settings, resume, workers, until_the_end):
    """Write the settings into the run folder, once all workers are known to learn the same from the same.

    Worker 0, who alone writes, holds the folder from here on, as long as the ExitStack `until_the_end` lasts: two
    trainings in one folder would take each other's checkpoints.
    """
    workers.agree({**settings, "package": __version__})
    if workers.first:
        if resume:
            same_settings(out, settings)
        out.mkdir(parents=True, exist_ok=True)
        require_alone(out, until_the_end.enter_context(folder_lock(out)))
        if not resume:
            # another training may have come and gone since it was looked at
            require_vacant(out)
        write_text(out / "settings.json", json.dumps(settings, ensure_ascii=False, indent=2) + "\n")


def named(reviews):
    return {"name": reviews.name, "sha256": reviews.sha256}


def what_is_read(config, vocab, stars):
    """Answer what decides how the reviews are read, beside the config: versions and hashes."""
    return {
        "tokenizer": tokenizer_version(config.text.tokenizer),
        "vocabulary": sha256(vocab.to_json().encode()).hexdigest(),
        "stars": stars.sha256 if stars else None,
    }


def read_settings(out):
    """Answer the settings of the run in folder `out`; ConfigError where there is no run."""
    path = Path(out) / "settings.json"
    if not path.is_file():
        raise ConfigError(f"{out}: no run to resume (no settings.json); start it without --resume")
    settings = read_json(read_file(path, SETTINGS, ConfigError), path, ConfigError, "JSON settings")
    if not isinstance(settings, dict):
        raise ConfigError(f"{path}: expected JSON settings, found {type(settings).__name__}; start the run again")
    return {"config": {}, **settings}


def tokenized(reviews, config):
    """Tokenize reviews (from the cache where they were before) and drop the blank ones."""
    part = tokenized_part(reviews.frame, reviews.labels, config)
    if len(set(part.labels.tolist())) < 2:
        raise DataError(f"{reviews.name}: expected reviews of both labels, found one")
    return part


def tokenized_part(frame, labels, config):
    token_lists = cached_tokens(frame["document"].tolist(), config.text.tokenizer, nsmc.cache_folder() / "prepared")
    keep = numpy.array([bool(tokens) for tokens in token_lists])
    return Part([tokens for tokens in token_lists if tokens], labels[keep], frame[keep])


def read_stars(config, dev_part, data_dir, say):
    """Answer the raw reviews to learn from first, and their Part; (None, None) where the config wants none.

    Left out is every review of the official test file and of the dev part, by id and by text.
    """
    if not config.training.pretrain_epochs:
        return None, None
    stars = raw.load(raw.find(data_dir), [nsmc.load("nsmc", "test", data_dir).frame, dev_part.frame])
    say(f"raw star reviews: {stars.counts}")
    return stars, tokenized_part(stars.frame, stars.targets, config)


def split(part, training):
    """Split the dev part off: stratified by label, decided by the seed alone."""
    from sklearn.model_selection import train_test_split

    try:
        chosen = train_test_split(
            numpy.arange(len(part.labels)),
            test_size=training.dev_fraction,
            stratify=part.labels,
            random_state=training.seed,
        )
    except ValueError as problem:
        raise DataError(f"too few reviews to split a dev part off: {problem}") from problem
    return [part.take(members) for members in chosen]


def misspelt_part(part, config):
    """Answer the Part with config.training.misspelt_fraction of its reviews misspelt, labels and frame as they are."""
    training = config.training
    if not training.misspelt_fraction:
        return part
    others = misspelt([clean(text) for text in part.frame["document"]], training.misspelt_fraction, training.seed)
    found = cached_tokens(list(others.values()), config.text.tokenizer, nsmc.cache_folder() / "prepared")
    replaced = {place: tokens for place, tokens in zip(others, found) if tokens}
    return replace(part, token_lists=[replaced.get(place, tokens) for place, tokens in enumerate(part.token_lists)])


def build_encoder(parts, config):
    """Answer gluonnlp's Vocab of what is learned from, and the Encoder that reads it back from JSON."""
    from .text.vocabulary import build_vocab

    vocab = build_vocab([tokens for part in parts for tokens in part.token_lists], config.text)
    return vocab, Encoder.from_json(vocab.to_json(), config.text)


def describe(reviews, stars, dev_reviews, train_part, dev_part, encoder, config, learned):
    """Answer the manifest of a finished training: where its data came from and how it did on the dev part."""
    data = {
        "train": {**reviews.describe(), "used": len(train_part.labels)},
        "dev": {
            **(dev_reviews.describe() if dev_reviews else {"split_off": reviews.name}),
            "used": len(dev_part.labels),
        },
    }
    if stars:
        data["pretraining"] = stars.describe()
    return {
        "package_version": __version__,
        "tokenizer_version": tokenizer_version(config.text.tokenizer),
        "vocabulary": len(encoder),
        "config": config.to_dict(),
        "data": data,
        "calibration": learned.calibration,
        "metrics": {"dev": {"best_epoch": learned.progress.best_epoch + 1, **learned.calibration["after"]}},
    }


def command(data, config, dev_reviews=None, columns=None):
    """Answer the command line that makes this training again: the nearest preset, and what differs from it."""
    given = ["--valid", dev_reviews.name] if dev_reviews else []
    for (name, column), usual in zip((columns or {}).items(), ("document", "label")):
        given += [f"--{name}-column", column] if column != usual else []
    choices = []
    for name, known in PRESETS.items():
        flags = [
            word
            for part in config.parts()
            for key, value in vars(config.parts()[part]).items()
            if value != getattr(known.parts()[part], key)
            for word in (f"--{key.replace('_', '-')}", str(value))
        ]
        choices.append(([] if name == "default" else ["--preset", name]) + flags)
    return shlex.join(["nsmc-attention", "train", "--data", data, *given, *min(choices, key=len)])


def finish(out, engine, vocab, encoder, manifest, config, documents, say):
    """Export, write the bundle and load it back, so that a run ends with a bundle known to be whole."""
    from .export import PARITY, exceeds, parity
    from .model.onnx.graph import onnx_model
    from .model.parameters import gluon_file, snapshot

    contents = {"vocab.json": vocab.to_json().encode(), "weights.params": gluon_file(engine.network)}
    model = onnx_model(config, snapshot(engine.network)).SerializeToString()
    manifest["parity"] = parity(engine, model, encoder, config, documents)
    if exceeds(manifest["parity"]):
        say(
            f"the ONNX model is left out: expected it to agree with Gluon to {PARITY}, found {manifest['parity']}; "
            "report this"
        )
    else:
        contents["model.onnx"] = model
    manifest["metrics"].update(recorded(out / "bundle", contents))
    contents["README.md"] = model_card(manifest).encode(errors="replace")
    write_bundle(out / "bundle", manifest, contents)
    best = manifest["metrics"]["dev"]
    say(f"dev accuracy {100 * best['accuracy']:.2f} % (epoch {best['best_epoch']}); bundle: {out / 'bundle'}")
    return load_bundle(out / "bundle")


def recorded(folder, contents):
    """Answer what `evaluate --record` wrote into a bundle of this very network, nothing where there is none."""
    try:
        bundle = load_bundle(folder)
        same = all(bundle.read(name) == contents[name] for name in ("vocab.json", "weights.params"))
        return {part: found for part, found in bundle.manifest["metrics"].items() if part != "dev"} if same else {}
    except BundleError:
        return {}


def on_stderr(message):
    print(message, file=sys.stderr)


def silent(message):
    pass
