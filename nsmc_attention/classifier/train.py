"""Training of a classifier as one function: reviews and a Config in, a run folder with a bundle out.

`train` is for Python, `train_classifier` for the command line; `stages` has the numerics.
"""

from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Optional, Union

import numpy
import pandas

from ..bundle import Manifest
from ..corpora import nsmc, raw
from ..corpora.data import Labelled
from ..corpora.labelled import read_reviews
from ..corpora.nsmc import Reviews
from ..engines.graphs import DeviceName, GluonGraph
from ..errors import DataError
from ..machine.aliases import Network, Numbers, Record
from ..text.encoding import ReviewEncoder, tokenize_many
from ..text.tokenizers import tokenizer, tokenizer_version
from ..training.checkpoint import Progress
from ..training.runs import Run, network_files, warn_if_small
from ..training.task import command, in_words, manifest_of, nearest_preset, options
from .batches import Tokenized, TrainingPart
from .origins import Origins
from .settings import LABELS, LAYOUT, PRESETS, ClassifierBundle, Config, TrainingConfig

# The option of each column, and its default name, which the command leaves out
USUAL = {"text": ("text_column", "document"), "label": ("label_column", "label"), "stars": ("stars_column", None)}


def train(
    data: Union[str, Path],
    config: Config,
    out: Union[str, Path],
    valid: Optional[Union[str, Path]] = None,
    resume: bool = False,
    device: DeviceName = "auto",
    data_dir: Optional[Union[str, Path]] = None,
    quiet: bool = False,
    init_from: Optional[Union[str, Path]] = None,
    teacher: Optional[Union[str, Path]] = None,
    sentences: Optional[Union[str, Path]] = None,
    **columns: Optional[str],
) -> ClassifierBundle:
    """Train a classifier, write its bundle and return it.

    Parameters
    ----------
    data : "nsmc", "sample" or a path
        Training data; the train file of "nsmc" and "sample". The test file is read only to exclude its reviews from
        pretraining on stars.
    out : path
        The run folder: settings.json, history.jsonl, curves.png, checkpoints, and at the end bundle/.
    valid : path or None
        A labelled file as the dev part; None holds out config.training.dev_fraction, stratified, the same for every seed.
    resume : bool
        Continue the run in `out`; its data and config must be the same.
    device : "auto", "cpu" or "gpu"
    init_from : path, "pretrained" or None
        A bundle of the same sizes to begin with. A classifier ("pretrained" is the packaged one) gives its vocabulary
        and all parameters but the n-grams; `continuing` gives its settings. A language model gives encoder and
        embeddings.
    teacher : path, "pretrained", several of them separated by commas, or None
        Classifiers whose probabilities, averaged as log-odds, are learnt too: each target is the mean of theirs and the
        label or stars (knowledge distillation, Hinton et al. 2015, arXiv:1503.02531).
    sentences : path or None
        A table of sentences that are learnt too, without a teacher. Its columns are document, label (0..1) and signs,
        "start:end:sign ..." with positions of characters, the targets of the gates of a classifier with signed values:
        -1 for a negated word, 1 for another.
    columns : str or None
        `text_column`, `label_column`, `stars_column`, `encoding`, `positive`, the positive one of two labels, and
        `sheet` of a workbook (for `valid` always the first sheet); None finds them.

    Raises
    ------
    DataError
        A file is missing or malformed, has only one label, or too few reviews to hold out a dev part.
    ConfigError
        The run folder is in use or belongs to another run; the loss is not finite; the device does not exist.
    TokenizerError
        The tokenizer is unknown or needs Java.
    """
    run = Run(Path(out), resume, device, quiet)
    return train_classifier(Labelled(data, data_dir, **columns), config, run, valid, init_from, teacher, sentences)


def train_classifier(
    source: Labelled,
    config: Config,
    run: Run,
    valid: Union[str, Path, None] = None,
    init_from: Union[str, Path, None] = None,
    teacher: Union[str, Path, None] = None,
    sentences: Union[str, Path, None] = None,
) -> ClassifierBundle:
    """Train as `train` does, in the folder and on the device of `run`."""
    # an unknown tokenizer, or one without Java, is reported before any file is read or written
    tokenizer(config.text.tokenizer)
    origins = Origins.opened(config, init_from, teacher, sentences)
    reviews = read_reviews(source, "train")
    dev_reviews = read_reviews(replace(source, data=valid, sheet=None, kind=None), "test") if valid else None
    settings: Record = {
        "data": {"name": reviews.name, "sha256": reviews.sha256},
        "columns": reviews.columns,
        "valid": {"name": dev_reviews.name, "sha256": dev_reviews.sha256} if dev_reviews else None,
        "config": config.to_dict(),
        **origins.named("fingerprint"),
    }
    run.check(settings)
    name, changes = nearest_preset(config, PRESETS)
    sources = {"init_from": init_from, "teacher": teacher, "sentences": sentences}
    run.say_settings(" ".join(["--preset", name, *changes, *options(sources)]))
    inputs = read_inputs(reviews, dev_reviews, config, source.data_dir, run, origins.vocabulary)
    settings["reads"] = {
        "tokenizer": tokenizer_version(config.text.tokenizer),
        "vocabulary": sha256(inputs.vocabulary).hexdigest(),
        "stars": inputs.raw_reviews and inputs.raw_reviews.sha256,
    }
    begin = origins.beginning(inputs.encoder)
    # imports MXNet
    from .stages import ClassifierTrainer

    trainer = ClassifierTrainer(config, inputs.encoder, run, begin)
    # the input is valid from here on: now files may be written
    run.begin(settings)
    if origins.teachers:
        run.say(f"teacher: {', '.join(str(bundle.folder) for bundle in origins.teachers)}")
    stars = inputs.stars and origins.taught(inputs.stars)
    trained = trainer.train(origins.taught(inputs.train), inputs.dev, stars, origins.sentences)
    return finish(run, inputs, config, origins, trained)


@dataclass(frozen=True)
class Inputs:
    """The input of a training: its files, their tokenized reviews, and the vocabulary as JSON."""

    reviews: Reviews
    dev_reviews: Optional[Reviews]
    raw_reviews: Optional[raw.StarReviews]
    train: Tokenized
    dev: Tokenized
    stars: Optional[Tokenized]
    vocabulary: bytes
    encoder: ReviewEncoder


def read_inputs(
    reviews: Reviews,
    dev_reviews: Optional[Reviews],
    config: Config,
    data_dir: Optional[Union[str, Path]],
    run: Run,
    vocabulary: Optional[bytes] = None,
) -> Inputs:
    """Read and tokenize the input of a training; without a vocabulary (JSON), build one from the training data."""
    from ..text.preprocessing import build_vocab, vocabulary_file

    run.say(f"data: {reviews.name}, {in_words(reviews.counts())}")
    train = tokenized(reviews, config)
    train, dev = (train, tokenized(dev_reviews, config)) if dev_reviews else split(train, config.training)
    raw_reviews, stars = None, None
    if config.training.stars.epochs:
        # exclude the reviews of the official test file and of the dev part, by id and by text
        raw_reviews = raw.load(raw.find(data_dir), [nsmc.load("nsmc", "test", data_dir).frame, dev.frame])
        run.say(f"raw star reviews: {in_words(raw_reviews.counts)}")
        stars = tokenized_part(raw_reviews.frame, raw_reviews.targets, config)
    if vocabulary is None:
        vocabulary = vocabulary_file(build_vocab([*(stars.reviews if stars else []), *train.reviews], config.text))
    encoder = ReviewEncoder.from_json(vocabulary, config.text)
    sizes = f"{len(train.labels):,} reviews to train on, {len(dev.labels):,} to choose the epoch by (dev)"
    run.say(f"{sizes}, a vocabulary of {len(encoder):,}")
    return Inputs(reviews, dev_reviews, raw_reviews, train, dev, stars, vocabulary, encoder)


def tokenized(reviews: Reviews, config: Config) -> Tokenized:
    """Tokenize reviews and drop blank ones; DataError if all have one label."""
    part = tokenized_part(reviews.frame, reviews.labels, config)
    if len(set(part.labels.tolist())) < 2:
        raise DataError(f"{reviews.name}: expected reviews of both labels, found one")
    return part


def tokenized_part(frame: pandas.DataFrame, labels: Numbers, config: Config) -> Tokenized:
    token_lists = tokenize_many(frame["document"].tolist(), config.text.tokenizer, symbols=config.text.symbols)
    return TrainingPart(token_lists, labels, frame).take([i for i, tokens in enumerate(token_lists) if tokens])


def split(part: Tokenized, settings: TrainingConfig) -> list[Tokenized]:
    """Return [training part, dev part], stratified by label, the same for every seed."""
    from sklearn.model_selection import train_test_split

    positions, size = numpy.arange(len(part.labels)), settings.dev_fraction
    try:
        split_positions = train_test_split(positions, test_size=size, stratify=part.labels, random_state=0)
    except ValueError as problem:
        positive = int(part.labels.sum())
        raise DataError(
            f"too few reviews to hold a dev part of {100 * size:g} % out: expected at least {int(1 / size) + 1}, and two of "
            f"each label, found {len(positions) - positive} negative and {positive} positive ones that differ; label more, "
            "or give other labelled reviews as --valid"
        ) from problem
    return [part.take(members) for members in split_positions]


def finish(
    run: Run, inputs: Inputs, config: Config, origins: Origins, trained: tuple[Network, Progress, Record]
) -> ClassifierBundle:
    """Write the bundle of a finished training, with the command that repeats it, and report its dev accuracy."""
    reviews, dev_reviews, (network, progress, calibration) = inputs.reviews, inputs.dev_reviews, trained
    dev = dev_reviews.describe() if dev_reviews else {"split_off": reviews.name}
    data = {
        "train": {**reviews.describe(), "used": len(inputs.train.labels)},
        "dev": {**dev, "used": len(inputs.dev.labels)},
        **({"pretraining": inputs.raw_reviews.describe()} if inputs.raw_reviews else {}),
        **origins.describe(),
    }
    columns = {USUAL.get(name, (name, None)): value for name, value in reviews.columns.items()}
    flags = {option: value for (option, usual), value in columns.items() if value != usual}
    valid = dev_reviews and dev_reviews.name
    rerun = command(config, PRESETS, {"data": reviews.name, "valid": valid, **flags}, **origins.named("name"))
    best = {"best_epoch": progress.best_epoch + 1, **calibration["after"]}
    manifest = {**manifest_of(config, data, best, rerun, origins.first), "calibration": calibration}
    codec = {"vocab.json": inputs.vocabulary}, inputs.encoder
    bundle = write_classifier(run, network, config, codec, manifest, reviews.documents)
    run.say(f"dev accuracy {100 * best['accuracy']:.2f} % (epoch {best['best_epoch']}); bundle: {bundle.folder}")
    warn_if_small(len(inputs.dev.labels), "review", "accuracy", best["accuracy"], ", or give a file of them as --valid")
    return bundle


def write_classifier(
    run: Run,
    network: Network,
    config: Config,
    codec: tuple[dict[str, bytes], ReviewEncoder],
    manifest: Manifest,
    documents: list[str],
) -> ClassifierBundle:
    """Write a bundle of a network and its codec (files, encoder); measure the ONNX model's parity on the documents."""
    from ..engines.onnx.graph import lower
    from .engines import GraphEngine
    from .export import disagreement, parity

    files, encoder = codec
    contents = {**files, **network_files(network, config)}
    engine = GraphEngine(GluonGraph(network, config.graphs["model.onnx"], run.context))
    onnx_model = lower(network, config.graphs)["model.onnx"]
    manifest = {
        "labels": list(LABELS),
        "tokenizer_version": tokenizer_version(config.text.tokenizer),
        "vocabulary": len(encoder),
        **manifest,
        "parity": (figures := parity(engine, onnx_model, encoder, config, documents)),
    }
    if problem := disagreement(figures):
        run.say(f"the ONNX model is left out, because it is not Gluon's network: {problem}")
        del contents["model.onnx"]
    return run.write(LAYOUT, manifest, contents)
