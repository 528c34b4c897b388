"""A whole training of `restore` as one function: clean sentences and a RestoreConfig in, a run folder with a bundle out."""

from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Union

from ..._runtime.aliases import Network
from ...errors import DataError
from ...model.parameters import Arrays, set_parameters
from ...tables.data import Texts
from ...text.encoding import clean
from ...text.tokenizers import has_dictionary
from ...training.description import command, digest, manifest_of, run_settings
from ...training.initial import check_sizes, first_bundle, sizes_of
from ...training.runs import Run, network_files, warn, warn_if_small
from ..sequences.batches import hold_out
from ..sequences.characters import split_spaces
from .junctions import RestorerCharacters, fitted
from .settings import RESTORE_PRESETS, RestoreConfig
from .system import LAYOUT, RestorerBundle
from .tags import character_error

# Most sentences that the epoch is chosen by, and fewest to train on
MOST_DEV, FEWEST = 2000, 100


def train_restorer(
    source: Texts, config: RestoreConfig, run: Run, init_from: Union[str, Path, None] = None
) -> RestorerBundle:
    """Train a restorer and write it as a bundle; return it.

    Parameters
    ----------
    source : Texts
        Well-spelt sentences; recipes/spelling.py chooses those of reviews. Longer ones than text.max_length are left out.
    init_from : path or None
        A restorer's bundle of the same settings, whose parameters and characters the training begins with; of the
        other kind with the same sizes of the embedding and the encoder, whose reader it begins with.

    Raises
    ------
    DataError
        A file is missing or malformed, or has fewer than FEWEST sentences.
    ConfigError
        The run folder is taken or of another run; the loss is not finite; there is no such device.
    """
    name, texts = source.read()
    sentences = sentences_of(texts, config)
    if len(sentences) < FEWEST:
        expected = f"{FEWEST} different sentences of at most {config.text.max_length} characters"
        raise DataError(f"{name}: expected at least {expected}, found {len(sentences)}")
    first = first_bundle(init_from, LAYOUT)
    if first:
        same_kind = first.config.model.kind == config.model.kind
        check_sizes(config, first, RESTORE_PRESETS, sizes_of if same_kind else sizes_of_reader)
    settings = run_settings(config, name, first, sentences=digest(sentences))
    run.check(settings)
    train, dev = ([sentences[i] for i in part] for part in hold_out(len(sentences), config.training, MOST_DEV))
    characters = RestorerCharacters(first.codec.known) if first else RestorerCharacters.of(train, config.text.min_count)
    again = partial(command, config, RESTORE_PRESETS, {"task": config.task, "data": name})
    run.say_settings(again(init_from=init_from))
    sizes = f"{len(train):,} sentences to train on, {len(dev):,} to choose the epoch by (dev)"
    run.say(f"data: {name}, {sizes}, {len(characters):,} characters")
    # imports MXNet
    from ...inference.engines import parameters_of
    from .objective import dev_pairs, train_network

    begin = partial(begin_with, arrays=parameters_of(first)[1], same_kind=same_kind) if first else None
    run.begin(settings)
    network = config.network(*characters.sizes)
    progress, figures = train_network(network, config, characters, run, train, dev, begin)
    if config.model.kind == "editor" and has_dictionary():
        characters = replace(characters, junctions=fitted(map(split_spaces, train)))
    counts = {"train": {"name": name, "sentences": len(train)}, "dev": {"sentences": len(dev)}}
    best = {"best_epoch": progress.best_epoch + 1, **figures}
    manifest = manifest_of(config, counts, best, again(init_from=first and first.name), first)
    manifest["vocabulary"] = len(characters)
    contents = {"vocab.json": characters.to_json().encode(), **network_files(network, config)}
    bundle = run.write(LAYOUT, manifest, contents)
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


def sizes_of_reader(config: RestoreConfig) -> dict[str, Any]:
    """Return {path: value} of the settings that give the readers of an editor and of a writer the same sizes."""
    of_reader = ("model.embedding_size", "model.encoder.")
    return {path: value for path, value in sizes_of(config).items() if path.startswith(of_reader)}


def begin_with(network: Network, arrays: Arrays, same_kind: bool) -> None:
    """Set all parameters, or those of the reader alone, to a bundle's."""
    if not same_kind:
        own, other = (by_tail(names) for names in (network._collect_params_with_prefix(), arrays))
        arrays = {own[tail]: arrays[name] for tail, name in other.items()}
    set_parameters(network, arrays)


def by_tail(names: Iterable[str]) -> dict[str, str]:
    """Return {name within the reader: name} of the reader's parameters."""
    return {name[name.index("reader.") :]: name for name in names if "reader." in name}
