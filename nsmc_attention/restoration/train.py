"""A whole training of `restore` as one function: clean sentences and a RestoreConfig in, a run folder with a bundle out.

The counterpart of `recipe`, which trains the classifier.
"""

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Optional, Union

from .._runtime.mxnet_shim import choose_device
from ..bundle.format import load_bundle, write_bundle
from ..errors import DataError
from ..text.encoding import clean
from ..training.distributed.communicator import SINGLE
from ..training.run_folder import begun_run, check_run
from ..training.runs import command, describe, draw_curves, hold_out, read_texts, run_settings, say
from .card import restorer_card
from .characters import Characters
from .layout import LAYOUT, RestorerBundle
from .settings import RESTORE_PRESETS, RestoreConfig
from .spelling import well_spelt

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
    sheet: Optional[str] = None,
) -> RestorerBundle:
    """Train a restorer and write it as a bundle; return it.

    Parameters
    ----------
    data : "nsmc", "sample" or a path
        Reviews, of which the sentences are taken that seem to be spelt well (`restoration.spelling`); for "nsmc" and "sample"
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
    name, texts = read_texts(data, data_dir, text_column, encoding, sheet)
    targets = well_spelt(map(clean, texts))
    targets = [text for text in targets if len(text) <= config.text.max_length]
    if len(targets) < FEWEST:
        raise DataError(f"{name}: expected at least {FEWEST} sentences that are spelt well, found {len(targets)}")
    first = load_bundle(init_from, LAYOUT) if init_from else None
    settings = run_settings(name, targets, "sentences", config, first)
    check_run(out, settings, resume)
    train, dev = ([targets[place] for place in part] for part in hold_out(len(targets), config.training, DEV))
    characters = first.codec if first else Characters.of(train, config.text.min_count)
    sizes = f"{len(train):,} sentences to train on, {len(dev):,} to choose the epoch by (dev)"
    say(f"settings: {command(name, config, RESTORE_PRESETS)}; {'continuing' if resume else 'writing'} in {out}", quiet)
    say(f"data: {name}, {sizes}, {len(characters):,} characters", quiet)
    # imports MXNet
    from ..inference.sessions import parameters_of
    from ..training.initial import begin_same
    from .objective import RestorerTraining

    training = RestorerTraining(config, characters, out, choose_device(device), draw_curves, quiet)
    if first:
        training = replace(training, begin=partial(begin_same, arrays=parameters_of(first)[1]))
    with begun_run(out, settings, resume, SINGLE):
        network, progress, figures = training.run(train, dev)
        judged = {"best_epoch": progress.best_epoch + 1, **figures}
        manifest = describe(name, (len(train), len(dev)), "sentences", config, RESTORE_PRESETS, first, judged)
        manifest["vocabulary"] = len(characters)
        return finish(out, characters, manifest, network, quiet)


def finish(out: Path, characters: Characters, manifest: dict[str, Any], network: Any, quiet: bool) -> RestorerBundle:
    """Write the bundle and load it back, so that a run ends with a bundle known to be whole."""
    from ..model.parameters import gluon_file
    from .lowering import lower_restorer

    models = {name: model.SerializeToString() for name, model in lower_restorer(network).items()}
    contents = {"vocab.json": characters.to_json().encode(), "weights.params": gluon_file(network), **models}
    contents["README.md"] = restorer_card(manifest).encode(errors="replace")
    write_bundle(out / "bundle", manifest, contents)
    best = manifest["metrics"]["dev"]
    figures = f"{100 * best['exact']:.2f} % restored exactly, character error {best['character_error']:.4f}"
    say(f"dev: {figures} (epoch {best['best_epoch']}); bundle: {out / 'bundle'}", quiet)
    return load_bundle(out / "bundle", LAYOUT)
