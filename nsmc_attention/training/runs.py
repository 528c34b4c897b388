"""The frame of a training: its texts, the run's settings, the command that repeats it, its manifest."""

import shlex
import sys
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, Optional, Union

import numpy

from ..bundle.format import AnyBundle
from ..config import SHORT_NAMES, TaskConfig
from ..reviews import nsmc, tables
from ..settings import KIND, leaves, paths
from ..version import __version__


def draw_curves(progress: Any, stage: Any, folder: Path) -> None:
    from ..drawing.curves import save_curves

    save_curves(progress, f"dev_{stage.objective.metric}", folder / "curves.png")


def in_words(counts: dict[str, int]) -> str:
    """Return `540 rows, 270 positive`: what is 0 is left out."""
    return ", ".join(f"{count:,} {name.replace('_', ' ')}" for name, count in counts.items() if count)


def nearest_preset(config: TaskConfig, presets: Mapping[str, TaskConfig]) -> tuple[str, list[str]]:
    """Return the preset that a config differs least from, and the flags that make up the difference."""
    same_kind = {name: known for name, known in presets.items() if known.model.kind == config.model.kind}
    found = [(name, flags(config, known)) for name, known in same_kind.items()]
    return min(found, key=lambda choice: len(choice[1]) + 2 * (choice[0] != next(iter(presets))))


def flags(config: TaskConfig, base: TaskConfig) -> list[str]:
    """Return the flags that make `config` of `base`, both of one kind of network."""
    settings, known = dict(paths(config)), dict(paths(base))
    kinds = {path: kind for path, kind in settings.items() if path.endswith(f".{KIND}") and known.get(path) != kind}
    # a new kind begins with its defaults
    known = dict(leaves(base.changed(kinds)))
    changes = {**kinds, **{path: value for path, value in settings.items() if known.get(path) != value}}
    short = {path: f"--{name.replace('_', '-')}" for name, known in SHORT_NAMES.items() for path in known}
    words = []
    for path, value in changes.items():
        words += [short[path], str(value)] if path in short else ["--set", f"{path}={value}"]
    return words


def say(message: str, quiet: bool) -> None:
    if not quiet:
        print(message, file=sys.stderr)


def read_texts(
    data: Union[str, Path],
    data_dir: Optional[Union[str, Path]],
    text_column: Optional[str],
    encoding: Optional[str],
    sheet: Optional[str] = None,
) -> tuple[str, Iterable[str]]:
    """Return the name of the data and its reviews; of a corpus those of its train file."""
    if data in tables.CORPORA:
        tables.refuse_columns(data, text_column, sheet=sheet)
        return str(data), nsmc.load(str(data), "train", data_dir).documents
    table = tables.open_table(data, text_column, encoding=encoding, sheet=sheet)
    return Path(data).name, (tables.as_text(cell) for frame in table.frames for cell in frame[table.text_column])


def run_settings(
    name: str, texts: Sequence[str], what: str, config: TaskConfig, first: Optional[AnyBundle]
) -> dict[str, Any]:
    """Return what a run's settings.json holds: `what` the texts are, sentences or reviews, and the bundle it begins with."""
    settings = {
        "task": config.task,
        "data": name,
        what: sha256("\n".join(texts).encode()).hexdigest(),
        "config": config.to_dict(),
    }
    return {**settings, "init_from": first.fingerprint} if first else settings


def hold_out(count: int, training: Any, most: int) -> tuple[list[int], list[int]]:
    """Divide places of texts into those to train on and, at most so many, the dev part; the seed alone decides."""
    order = numpy.random.RandomState(training.seed).permutation(count).tolist()
    size = min(most, max(1, round(count * training.dev_fraction)))
    return sorted(order[size:]), order[:size]


def command(name: str, config: TaskConfig, presets: Mapping[str, TaskConfig]) -> str:
    """Return the command line that repeats a training."""
    preset, changes = nearest_preset(config, presets)
    return shlex.join(["nsmc-attention", "train", "--task", config.task, "--data", name, "--preset", preset, *changes])


def describe(
    name: str,
    counts: tuple[int, int],
    what: str,
    config: TaskConfig,
    presets: Mapping[str, TaskConfig],
    first: Optional[AnyBundle],
    figures: dict[str, Any],
) -> dict[str, Any]:
    """Return the manifest of a training on the first of `counts` texts, with the figures of the others, the dev part."""
    manifest: dict[str, Any] = {
        "task": config.task,
        "package_version": __version__,
        "config": config.to_dict(),
        "data": {"train": {"name": name, what: counts[0]}, "dev": {what: counts[1]}},
        "metrics": {"dev": figures},
        "command": command(name, config, presets),
    }
    if first:
        manifest["data"]["init_from"] = {"name": first.name, "fingerprint": first.fingerprint}
        manifest["command"] += f" --init-from {shlex.quote(first.name)}"
    return manifest
