"""A whole training of `restore` as one function: clean sentences and a RestoreConfig in, a run folder with a bundle out.

The counterpart of `recipe`, which trains the classifier.
"""

import shlex
from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any, Optional, Union

import numpy

from ._runtime.mxnet_shim import choose_device
from .bundle.card import restorer_card
from .bundle.format import Bundle, load_bundle, write_bundle
from .config import RESTORE_PRESETS, RestoreConfig
from .errors import DataError
from .recipe import draw_curves, nearest_preset, say
from .reviews import nsmc, tables
from .text.characters import Characters
from .text.encoding import clean
from .text.spelling import well_spelt
from .training.distributed.communicator import SINGLE
from .training.run_folder import begun_run, check_run
from .version import __version__

# Sentences that the epoch is chosen by, at most
DEV = 2000
FEWEST = 100


def train_restorer(
    data: Union[str, Path],
    config: RestoreConfig,
    out: Union[str, Path],
    resume: bool = False,
    device: str = "auto",
    data_dir: Optional[Union[str, Path]] = None,
    quiet: bool = False,
    text_column: Optional[str] = None,
    encoding: Optional[str] = None,
    init_from: Optional[Union[str, Path]] = None,
) -> Bundle:
    """Train a restorer and write it as a bundle; return it.

    Parameters
    ----------
    data : "nsmc", "sample" or a path
        Reviews, of which the sentences are taken that seem to be spelt well (`text.spelling`); for "nsmc" and "sample"
        those of the train file, else of a table, or of a txt file with one a line.
    out : path
        The run folder: settings.json, history.jsonl, curves.png, checkpoints, and at the end bundle/.
    init_from : path or None
        A restorer's bundle of the same settings, whose parameters and characters the training begins with.

    Raises
    ------
    DataError
        A file is missing or malformed, or fewer than FEWEST of its sentences are spelt well.
    ConfigError
        The run folder is taken or of another run; the loss is not finite; there is no such device.
    """
    out = Path(out)
    name, texts = read_texts(data, data_dir, text_column, encoding)
    targets = well_spelt(map(clean, texts))
    targets = [text for text in targets if len(text) <= config.text.max_length]
    if len(targets) < FEWEST:
        raise DataError(f"{name}: expected at least {FEWEST} sentences that are spelt well, found {len(targets)}")
    first = load_bundle(init_from, "restore") if init_from else None
    settings = {
        "task": "restore",
        "data": name,
        "sentences": sha256("\n".join(targets).encode()).hexdigest(),
        "config": config.to_dict(),
    }
    settings.update({"init_from": first.fingerprint} if first else {})
    check_run(out, settings, resume)
    order = numpy.random.RandomState(config.training.seed).permutation(len(targets)).tolist()
    held_out = min(DEV, max(1, round(len(targets) * config.training.dev_fraction)))
    dev, train = ([targets[place] for place in part] for part in (order[:held_out], sorted(order[held_out:])))
    characters = first.encoder if first else Characters.of(train, config.text.min_count)
    sizes = f"{len(train):,} sentences to train on, {len(dev):,} to choose the epoch by (dev)"
    say(f"settings: {command(name, config)}; {'continuing' if resume else 'writing'} in {out}", quiet)
    say(f"data: {name}, {sizes}, {len(characters):,} characters", quiet)
    # imports MXNet
    from .inference.restorer_engines import parameters_of
    from .training.initial import begin_same
    from .training.restoring import RestorerTraining

    training = RestorerTraining(config, characters, out, choose_device(device), draw_curves, quiet)
    if first:
        training = replace(training, begin=partial(begin_same, arrays=parameters_of(first)[1]))
    with begun_run(out, settings, resume, SINGLE):
        network, progress, figures = training.run(train, dev)
        manifest: dict[str, Any] = {
            "task": "restore",
            "package_version": __version__,
            "vocabulary": len(characters),
            "config": config.to_dict(),
            "data": {"train": {"name": name, "sentences": len(train)}, "dev": {"sentences": len(dev)}},
            "metrics": {"dev": {"best_epoch": progress.best_epoch + 1, **figures}},
            "command": command(name, config),
        }
        if first:
            manifest["data"]["init_from"] = {"name": first.name, "fingerprint": first.fingerprint}
            manifest["command"] += f" --init-from {shlex.quote(first.name)}"
        return finish(out, characters, manifest, network, quiet)


def command(data: str, config: RestoreConfig) -> str:
    """Return the command line that repeats this training."""
    name, changes = nearest_preset(config, RESTORE_PRESETS)
    return shlex.join(["nsmc-attention", "train", "--task", "restore", "--data", data, "--preset", name, *changes])


def read_texts(
    data: Union[str, Path], data_dir: Optional[Union[str, Path]], text_column: Optional[str], encoding: Optional[str]
) -> tuple[str, Iterable[str]]:
    """Return the name of the data and its reviews; of a corpus those of its train file."""
    if data in tables.CORPORA:
        tables.refuse_columns(data, text_column, None)
        return str(data), nsmc.load(str(data), "train", data_dir).documents
    table = tables.open_table(data, text_column, encoding=encoding)
    return Path(data).name, (tables.as_text(cell) for frame in table.frames for cell in frame[table.text_column])


def finish(out: Path, characters: Characters, manifest: dict[str, Any], network: Any, quiet: bool) -> Bundle:
    """Write the bundle and load it back, so that a run ends with a bundle known to be whole."""
    from .model.onnx.restoring import lower_restorer
    from .model.parameters import gluon_file

    models = {name: model.SerializeToString() for name, model in lower_restorer(network).items()}
    contents = {"vocab.json": characters.to_json().encode(), "weights.params": gluon_file(network), **models}
    contents["README.md"] = restorer_card(manifest).encode(errors="replace")
    write_bundle(out / "bundle", manifest, contents)
    best = manifest["metrics"]["dev"]
    figures = f"{100 * best['exact']:.2f} % restored exactly, character error {best['character_error']:.4f}"
    say(f"dev: {figures} (epoch {best['best_epoch']}); bundle: {out / 'bundle'}", quiet)
    return load_bundle(out / "bundle", "restore")
