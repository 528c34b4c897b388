"""A whole training as one function: reviews and a Config in, a run folder with a bundle out.

The command line, the notebooks and every experiment call `train`; it composes reviews, preprocessing,
model, `fit`, export and bundle, and has no numerics of its own.
"""
import json
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy

from ..atomic import write_text
from ..bundle import load_bundle, write_bundle
from ..card import model_card
from ..config import Config
from ..errors import ConfigError, DataError
from ..inference.engines import GluonEngine
from ..mxnet_shim import import_mxnet
from ..preprocessing.encoding import Encoder
from ..preprocessing.prepared import cached_tokens
from ..preprocessing.tokenizers import tokenizer, tokenizer_version
from ..reviews import nsmc, tables
from ..version import __version__
from .checkpoint import Checkpoints
from .curves import save_curves


@dataclass(frozen=True)
class Part:
    """Tokenized reviews without the blank ones: token_lists (N of them) and labels (N,)."""

    token_lists: list
    labels: numpy.ndarray


def train(data, config, out, valid=None, resume=False, device="auto", data_dir=None, quiet=False,
          text_column="document", label_column="label"):
    """Train a classifier and write it as a bundle.

    Parameters
    ----------
    data : "nsmc", "sample" or a path
        What to learn from; of the first two the train file. The test file is never looked at.
    config : Config
    out : path
        The run folder: settings.json, history.jsonl, curves.png, checkpoints, and at the end bundle/.
    valid : path or None
        A labelled file as the dev part; None splits config.training.dev_fraction off, stratified and seeded.
    resume : bool
        Go on where a run in `out` was stopped; its data and config must be the same.
    device : "auto", "cpu" or "gpu"

    Returns
    -------
    Bundle

    Raises
    ------
    DataError, ConfigError, TokenizerError
    """
    out = Path(out)
    # an unknown tokenizer, or one without its Java, is told before anything is read or written
    tokenizer(config.text.tokenizer)
    reviews = tables.load(data, "train", data_dir, text_column, label_column)
    dev_reviews = tables.read_labelled(valid, text_column, label_column) if valid else None
    settings = {"data": {"name": reviews.name, "sha256": reviews.sha256},
                "valid": {"name": dev_reviews.name, "sha256": dev_reviews.sha256} if valid else None,
                "config": config.to_dict()}
    check_run(out, settings, resume)
    say = silent if quiet else on_stderr
    say(f"{reviews.name}: {reviews.counts()}")
    whole = tokenized(reviews, config)
    train_part, dev_part = (whole, tokenized(dev_reviews, config)) if valid else split(whole, config.training)
    vocab, encoder = build_encoder(train_part, config)
    say(f"train {len(train_part.labels)}, dev {len(dev_part.labels)}, vocabulary {len(encoder)}")
    context = device_context(device)
    # from here on nothing about the input can be wrong: only now is anything written
    out.mkdir(parents=True, exist_ok=True)
    write_text(out / "settings.json", json.dumps(settings, ensure_ascii=False, indent=2) + "\n")

    network, progress = learn(train_part, dev_part, encoder, config, out, context, quiet)

    manifest = describe(reviews, dev_reviews, train_part, dev_part, encoder, config, progress)
    engine = GluonEngine(network, context)
    return finish(out, engine, vocab, encoder, manifest, config, reviews.documents, say)


def device_context(name):
    from ..model.classifier import choose_device

    return choose_device(name)


def check_run(out, settings, resume):
    """Refuse a run folder that is in use, or on resuming one with other settings."""
    if not resume:
        if out.exists() and (not out.is_dir() or any(out.iterdir())):
            raise ConfigError(f"{out}: the run folder exists; go on with --resume, or name another with --out")
        if not out.exists():
            # tried before the work, so that a place that cannot be written to is told at once
            out.mkdir(parents=True)
            out.rmdir()
        return
    saved = read_settings(out)
    for key in settings:
        if settings[key] != saved.get(key):
            raise ConfigError(f"{out}: cannot resume with another {difference(key, saved.get(key), settings[key])}")


def read_settings(out):
    """Answer the settings of the run in folder `out`; ConfigError where there is no run."""
    path = Path(out) / "settings.json"
    if not path.is_file():
        raise ConfigError(f"{out}: no run to resume (no settings.json); start it without --resume")
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except ValueError as problem:
        raise ConfigError(f"{path}: not readable as JSON ({problem}); start the run again") from problem


def difference(key, saved, given):
    """Name the innermost setting that differs: `hidden_size: the run has 64, found 128`."""
    if isinstance(saved, dict) and isinstance(given, dict):
        for name in given:
            if saved.get(name) != given[name]:
                return difference(name, saved.get(name), given[name])
    return f"{key}: the run has {saved!r}, found {given!r}"


def tokenized(reviews, config):
    """Tokenize reviews (from the cache where they were before) and drop the blank ones."""
    token_lists = cached_tokens(reviews.documents, config.text.tokenizer, nsmc.cache_folder() / "prepared")
    keep = numpy.array([bool(tokens) for tokens in token_lists])
    if len(set(reviews.labels[keep].tolist())) < 2:
        raise DataError(f"{reviews.name}: expected reviews of both labels, found one")
    return Part([tokens for tokens in token_lists if tokens], reviews.labels[keep])


def split(part, training):
    """Split the dev part off: stratified by label, decided by the seed alone."""
    from sklearn.model_selection import train_test_split

    try:
        chosen = train_test_split(numpy.arange(len(part.labels)), test_size=training.dev_fraction,
                                  stratify=part.labels, random_state=training.seed)
    except ValueError as problem:
        raise DataError(f"too few reviews to split a dev part off: {problem}") from problem
    return [Part([part.token_lists[i] for i in sorted(members)], part.labels[sorted(members)]) for members in chosen]


def build_encoder(part, config):
    """Answer gluonnlp's Vocab of the training part, and the Encoder that reads it back from JSON."""
    from ..preprocessing.gluon_data import build_vocab

    vocab = build_vocab(part.token_lists, config.text)
    return vocab, Encoder.from_json(vocab.to_json(), config.text)


def learn(train_part, dev_part, encoder, config, out, device, quiet):
    """Build the network and fit it; answer both the network (best epoch) and the Progress."""
    mxnet = import_mxnet()
    from ..model.classifier import build_network
    from ..preprocessing.gluon_data import Batches
    from .fit import fit

    length = config.text.max_length if config.model.architecture == "post" else None
    batches, dev_batches = (
        Batches([encoder.ids(tokens) for tokens in part.token_lists], part.labels, encoder.padding,
                config.training.batch_size, length)
        for part in (train_part, dev_part))
    mxnet.random.seed(config.training.seed)
    network = build_network(len(encoder), config)
    network.initialize(mxnet.init.Xavier(), ctx=device)
    warm_up(network, batches, device)
    network.hybridize(static_alloc=True)
    checkpoints = Checkpoints(out, config.training.keep_checkpoints)
    with Reporter(out, config.training.epochs * len(batches), quiet) as report:
        progress = fit(network, batches, dev_batches, config.training, device, checkpoints, report)
    save_curves(progress.history, out / "curves.png")
    return network, progress


def warm_up(network, batches, device):
    """Show the network one batch, so that parameters of deferred shape exist before a checkpoint is restored."""
    from .fit import as_inputs

    _, batch = next(batches.in_order())
    network(*as_inputs(batch, device))


class Reporter:
    """Shows progress on stderr and writes history.jsonl after each epoch."""

    def __init__(self, out, steps, quiet):
        from tqdm import tqdm

        self.path = out / "history.jsonl"
        self.bar = tqdm(total=steps, unit="step", disable=quiet, file=sys.stderr, mininterval=0.5)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.bar.close()

    def __call__(self, progress, record=None):
        self.bar.update(progress.step - self.bar.n)
        if record is None:
            self.bar.set_postfix_str(f"loss {progress.loss_sum / progress.batch:.3f}", refresh=False)
            return
        write_text(self.path, "".join(json.dumps(each) + "\n" for each in progress.history))
        if not self.bar.disable:
            self.bar.write(f"epoch {record['epoch']}: train loss {record['train_loss']:.4f}, dev loss "
                           f"{record['dev_log_loss']:.4f}, dev accuracy {100 * record['dev_accuracy']:.2f} %, "
                           f"{record['seconds']:.0f} s", file=sys.stderr)


def describe(reviews, dev_reviews, train_part, dev_part, encoder, config, progress):
    """Answer the manifest of a finished training: where its data came from and how it did on the dev part."""
    best = progress.history[progress.best_epoch]
    data = {"train": {**reviews.describe(), "used": len(train_part.labels)},
            "dev": {**(dev_reviews.describe() if dev_reviews else {"split_off": reviews.name}),
                    "used": len(dev_part.labels)}}
    return {
        "package_version": __version__,
        "tokenizer_version": tokenizer_version(config.text.tokenizer),
        "vocabulary": len(encoder),
        "config": config.to_dict(),
        "data": data,
        "command": command(reviews.name, config, dev_reviews),
        "metrics": {"dev": {"best_epoch": best["epoch"], **{name: best[f"dev_{name}"]
                                                            for name in ("accuracy", "f1", "log_loss", "ece")}}},
    }


def command(data, config, dev_reviews=None):
    """Answer the command line that makes this training again: only what differs from the default is named."""
    default, words = Config(), ["--valid", dev_reviews.name] if dev_reviews else []
    for name, part in config.parts().items():
        for key, value in vars(part).items():
            if value != getattr(default.parts()[name], key):
                words += [f"--{key.replace('_', '-')}", str(value)]
    return " ".join(["nsmc-attention train --data", data, *words])


def finish(out, engine, vocab, encoder, manifest, config, documents, say):
    """Export, write the bundle and load it back, so that a run ends with a bundle known to be whole."""
    from ..export import PARITY, exceeds, onnx_model, parity
    from ..model.parameters import gluon_file, halve_embeddings, snapshot

    halve_embeddings(engine.network)
    contents = {"vocab.json": vocab.to_json().encode(), "weights.params": gluon_file(engine.network)}
    model = onnx_model(config, snapshot(engine.network)).SerializeToString()
    manifest["parity"] = parity(engine, model, encoder, config, documents)
    if exceeds(manifest["parity"]):
        say(f"the ONNX model is left out: expected it to agree with Gluon to {PARITY}, found {manifest['parity']}; "
            "report this")
    else:
        contents["model.onnx"] = model
    contents["README.md"] = model_card(manifest).encode()
    write_bundle(out / "bundle", manifest, contents)
    best = manifest["metrics"]["dev"]
    say(f"dev accuracy {100 * best['accuracy']:.2f} % (epoch {best['best_epoch']}); bundle: {out / 'bundle'}")
    return load_bundle(out / "bundle")


def on_stderr(message):
    print(message, file=sys.stderr)


def silent(message):
    pass
