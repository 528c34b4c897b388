"""What trainings from texts without labels share: `restoration` and `language`."""

import shlex
from collections.abc import Iterable, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, Optional, Union

import numpy

from .bundle.format import Bundle
from .config import TASK_PRESETS, TaskConfig
from .recipe import nearest_preset
from .reviews import nsmc, tables
from .version import __version__


def read_texts(
    data: Union[str, Path], data_dir: Optional[Union[str, Path]], text_column: Optional[str], encoding: Optional[str]
) -> tuple[str, Iterable[str]]:
    """Return the name of the data and its reviews; of a corpus those of its train file."""
    if data in tables.CORPORA:
        tables.refuse_columns(data, text_column, None)
        return str(data), nsmc.load(str(data), "train", data_dir).documents
    table = tables.open_table(data, text_column, encoding=encoding)
    return Path(data).name, (tables.as_text(cell) for frame in table.frames for cell in frame[table.text_column])


def run_settings(
    name: str, texts: Sequence[str], what: str, config: TaskConfig, first: Optional[Bundle]
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


def command(name: str, config: TaskConfig) -> str:
    """Return the command line that repeats a training."""
    preset, changes = nearest_preset(config, TASK_PRESETS[config.task])
    return shlex.join(["nsmc-attention", "train", "--task", config.task, "--data", name, "--preset", preset, *changes])


def describe(
    name: str, counts: tuple[int, int], what: str, config: TaskConfig, first: Optional[Bundle], figures: dict[str, Any]
) -> dict[str, Any]:
    """Return the manifest of a training on the first of `counts` texts, with the figures of the others, the dev part."""
    manifest: dict[str, Any] = {
        "task": config.task,
        "package_version": __version__,
        "config": config.to_dict(),
        "data": {"train": {"name": name, what: counts[0]}, "dev": {what: counts[1]}},
        "metrics": {"dev": figures},
        "command": command(name, config),
    }
    if first:
        manifest["data"]["init_from"] = {"name": first.name, "fingerprint": first.fingerprint}
        manifest["command"] += f" --init-from {shlex.quote(first.name)}"
    return manifest
