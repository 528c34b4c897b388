"""A whole training of `restore` as one function: clean sentences and a RestoreConfig in, a run folder with a bundle out."""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Union

from ...bundle import load_bundle
from ...corpora.data import Texts
from ...errors import DataError
from ...text.encoding import clean
from ...training.runs import Run, warn, warn_if_small
from ...training.stage import hold_out
from ...training.task import TaskTraining, digest
from .correctors import character_error
from .junctions import RestorerCharacters
from .settings import EDITOR, LAYOUT, RestoreConfig, RestorerBundle

# Most sentences that the epoch is chosen by, and fewest to train on
MOST_DEV, FEWEST_SENTENCES = 2000, 100


def train_restorer(
    source: Texts, config: RestoreConfig, run: Run, init_from: Union[str, Path, None] = None
) -> RestorerBundle:
    """Train a restorer and write it as a bundle; return it.

    Parameters
    ----------
    source : Texts
        Well-spelt sentences; recipes/spelling.py chooses those of reviews. Longer ones than text.max_length are left out.
    init_from : path or None
        A restorer's bundle of the same settings, whose parameters and characters the training begins with.

    Raises
    ------
    DataError
        A file is missing or malformed, or has fewer than FEWEST_SENTENCES sentences.
    ConfigError
        The run folder is taken or of another run; the loss is not finite; there is no such device.
    """
    name, texts = source.read()
    sentences = sentences_of(texts, config)
    if len(sentences) < FEWEST_SENTENCES:
        expected = f"{FEWEST_SENTENCES} different sentences of at most {config.text.max_length} characters"
        raise DataError(f"{name}: expected at least {expected}, found {len(sentences)}")
    training = TaskTraining(run, LAYOUT, config, init_from)
    training.check(name, {"sentences": digest(sentences)})
    train, dev = ([sentences[i] for i in part] for part in hold_out(len(sentences), config.training, MOST_DEV))
    first = training.first
    characters = RestorerCharacters(first.codec.known) if first else RestorerCharacters.of(train, config.text.min_count)
    sizes = f"{len(train):,} sentences to train on, {len(dev):,} to choose the epoch by (dev)"
    run.say(f"data: {name}, {sizes}, {len(characters):,} characters")
    # imports MXNet
    from .objective import dev_pairs, train_network

    begin, network = training.begin(), config.network(*characters.sizes)
    progress, figures = train_network(network, config, characters, run, train, dev, begin)
    if config.model.kind == "editor":
        # what the dictionary says of spaces holds of any sentences; recipes/junctions.py fits others
        packaged = first if first and first.codec.junctions else load_bundle(EDITOR, LAYOUT)
        characters = replace(characters, junctions=packaged.codec.junctions)
    counts = {"train": {"name": name, "sentences": len(train)}, "dev": {"sentences": len(dev)}}
    codec = characters.to_json().encode()
    bundle = training.write(network, progress, figures, counts, codec, vocabulary=len(characters))
    best = bundle.manifest["metrics"]["dev"]
    judged = f"{100 * best['exact']:.2f} % restored exactly, character error {best['character_error']:.4f}"
    run.say(f"dev: {judged} (epoch {best['best_epoch']}); bundle: {bundle.folder}")
    warn_if_small(len(dev), "sentence", "share restored exactly", best["exact"])
    noisy = dev_pairs(dev, config.training.seed)
    untouched = sum(map(character_error, noisy.sources, noisy.targets)) / len(dev)
    if best["character_error"] >= untouched:
        found = f"sentences left as they are have a smaller error, {untouched:.4f}"
        warn(f"{found}; give some 100,000, or begin with --init-from")
    return bundle


def sentences_of(texts: Iterable[str], config: RestoreConfig) -> list[str]:
    """Return the sentences that a restorer of these settings learns from, each once."""
    return [text for text in dict.fromkeys(map(clean, texts)) if text and len(text) <= config.text.max_length]
