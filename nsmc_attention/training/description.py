"""Descriptions of a training: the settings of its run, the command that repeats it, its manifest."""

import shlex
from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import Any, Optional

from ..bundle import AnyBundle, Manifest
from ..schema import FLAGS, KIND, TaskConfig, leaves, paths
from ..version import __version__


def in_words(counts: Mapping[str, int]) -> str:
    """Return `540 rows, 270 positive`: what is 0 is left out."""
    return ", ".join(f"{count:,} {name.replace('_', ' ')}" for name, count in counts.items() if count)


def digest(texts: Iterable[str]) -> str:
    return sha256("\n".join(texts).encode()).hexdigest()


def nearest_preset(config: TaskConfig, presets: Mapping[str, TaskConfig]) -> tuple[str, list[str]]:
    """Return the preset that a config differs least from, and the flags that make up the difference."""
    same_kind = {name: known for name, known in presets.items() if known.model.kind == config.model.kind}
    choices = [(name, flags(config, known)) for name, known in same_kind.items()]
    return min(choices, key=lambda choice: len(choice[1]) + 2 * (choice[0] != next(iter(presets))))


def flags(config: TaskConfig, base: TaskConfig) -> list[str]:
    """Return the flags that make `config` of `base`, both of one kind of network."""
    settings, known = dict(paths(config)), dict(paths(base))
    kinds = {path: kind for path, kind in settings.items() if path.endswith(f".{KIND}") and known.get(path) != kind}
    # a new kind begins with its defaults
    known = dict(leaves(base.changed(kinds)))
    changes = {**kinds, **{path: value for path, value in settings.items() if known.get(path) != value}}
    words = []
    for path, value in changes.items():
        words += [FLAGS[path], str(value)] if path in FLAGS else ["--set", f"{path}={value}"]
    return words


def command(config: TaskConfig, presets: Mapping[str, TaskConfig], first: Mapping[str, object], **last: object) -> str:
    """Return the command line that repeats a training: options, the nearest preset, what differs from it, last options.

    Options that are None are left out.
    """
    name, changes = nearest_preset(config, presets)
    preset = {"preset": None if name == "default" else name}
    return shlex.join(["nsmc-attention", "train", *options({**first, **preset}), *changes, *options(last)])


def options(values: Mapping[str, object]) -> list[str]:
    named = ((f"--{name.replace('_', '-')}", str(value)) for name, value in values.items() if value is not None)
    return [word for option in named for word in option]


def manifest_of(
    config: TaskConfig, data: dict[str, Any], figures: dict[str, Any], command: str, first: Optional[AnyBundle] = None
) -> Manifest:
    """Return the manifest of a training: its data, the figures of the dev part, and the bundle that it began with."""
    begun = {"init_from": {"name": first.name, "fingerprint": first.fingerprint}} if first else {}
    return {
        "task": config.task,
        "package_version": __version__,
        "config": config.to_dict(),
        "data": {**data, **begun},
        "metrics": {"dev": figures},
        "command": command,
    }
