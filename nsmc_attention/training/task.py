"""Steps that the trainings of all systems share, before the network is built and after it is trained."""

import shlex
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any, Generic, Optional, Union

from ..bundle import AnyBundle, Bundle, Layout, Manifest, load_any
from ..engines.graphs import parameters_of
from ..errors import ConfigError
from ..machine.aliases import Device, Network, Record
from ..machine.mxnet_shim import import_mxnet
from ..network.parameters import set_parameters
from ..schema import FLAGS, KIND, TaskConfig, leaves, paths
from ..version import __version__
from .checkpoint import Progress
from .runs import CodecT, ConfigT, Run, network_files

Beginning = Callable[[Network], None]
# Name of a task's packaged bundle
PACKAGED = "pretrained"


def initialize(
    network: Network, seed: int, device: Device, first_call: Callable[[], object], begin: Optional[Beginning] = None
) -> None:
    """Initialize a network's parameters at random; `first_call` creates them all, `begin` then changes them."""
    mxnet = import_mxnet()
    mxnet.random.seed(seed)
    network.initialize(mxnet.init.Xavier(), ctx=device)
    first_call()
    if begin:
        begin(network)


def first_bundle(init_from: Union[str, Path, None], *layouts: Layout[Any, Any]) -> Optional[AnyBundle]:
    """Load the bundle of one of these tasks that a training begins with; None for None.

    `init_from` is a path, or the name of a packaged bundle: `pretrained` is the first task's. BundleError as in
    `load_bundle`.
    """
    if init_from is None:
        return None
    names = {path.name: path for layout in layouts for path in layout.packaged}
    return load_any({PACKAGED: layouts[0].packaged[0], **names}.get(str(init_from), Path(init_from)), layouts)


def sizes_of(config: Any) -> dict[str, Any]:
    """Return {path: value} of the settings that determine a network's parameters and their use."""
    model = {name: value for name, value in paths(config) if name.startswith("model.") and not name.endswith("dropout")}
    has_positions = any(name.endswith("positions") and value != "relative" for name, value in model.items())
    return {**model, **({"text.max_length": config.text.max_length} if has_positions else {})}


def check_sizes(
    config: TaskConfig,
    first: AnyBundle,
    presets: Mapping[str, TaskConfig],
    sizes: Callable[[Any], Mapping[str, object]] = sizes_of,
) -> None:
    """Raise ConfigError, with the flags that help, unless a config has the sizes of its initial bundle."""
    other = config.with_settings(sizes(first.config))
    if other.model.kind != config.model.kind:
        words = ["--preset", nearest_preset(other, presets)[0]]
    else:
        words = flags(other, config)
    if words:
        raise ConfigError(f"--init-from {first.folder}: expected the sizes of that bundle; give {shlex.join(words)}")


def in_words(counts: Mapping[str, int]) -> str:
    """Return counts in words, without zeros: `540 rows, 270 positive`."""
    return ", ".join(f"{count:,} {name.replace('_', ' ')}" for name, count in counts.items() if count)


def digest(texts: Iterable[str]) -> str:
    return sha256("\n".join(texts).encode()).hexdigest()


def nearest_preset(config: TaskConfig, presets: Mapping[str, TaskConfig]) -> tuple[str, list[str]]:
    """Return the name of the preset that is most like a config, and the flags for the difference."""
    same_kind = {name: preset for name, preset in presets.items() if preset.model.kind == config.model.kind}
    choices = [(name, flags(config, preset)) for name, preset in same_kind.items()]
    return min(choices, key=lambda choice: len(choice[1]) + 2 * (choice[0] != next(iter(presets))))


def flags(config: TaskConfig, base: TaskConfig) -> list[str]:
    """Return the flags that change `base` to `config`; both have the same kind of network."""
    settings, old = dict(paths(config)), dict(paths(base))
    kinds = {path: kind for path, kind in settings.items() if path.endswith(f".{KIND}") and old.get(path) != kind}
    # a new kind begins with its defaults
    old = dict(leaves(base.changed(kinds)))
    changes = {**kinds, **{path: value for path, value in settings.items() if old.get(path) != value}}
    words = []
    for path, value in changes.items():
        words += [FLAGS[path], str(value)] if path in FLAGS else ["--set", f"{path}={value}"]
    return words


def command(config: TaskConfig, presets: Mapping[str, TaskConfig], first: Mapping[str, object], **last: object) -> str:
    """Return the command line that repeats a training: first options, nearest preset, its changes, last options.

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
    """Return the manifest of a training, with its data, dev figures, command and initial bundle."""
    origin = {"init_from": {"name": first.name, "fingerprint": first.fingerprint}} if first else {}
    return {
        "task": config.task,
        "package_version": __version__,
        "config": config.to_dict(),
        "data": {**data, **origin},
        "metrics": {"dev": figures},
        "command": command,
    }


@dataclass
class TaskTraining(Generic[ConfigT, CodecT]):
    """A training of one system in a run; `first` is the bundle whose parameters it begins with, if any."""

    run: Run
    layout: Layout[ConfigT, CodecT]
    config: ConfigT
    init_from: Union[str, Path, None] = None

    def __post_init__(self) -> None:
        self.first = first_bundle(self.init_from, self.layout)
        if self.first:
            check_sizes(self.config, self.first, self.layout.presets)

    def check(self, data: str, digests: Mapping[str, str], **options: object) -> None:
        """Refuse a run folder with other settings, data or digests; report the command of this training, with options."""
        config, first = self.config, self.first and self.first.fingerprint
        self.settings = {"task": config.task, "data": data, **digests, "config": config.to_dict(), "init_from": first}
        self.run.check(self.settings)
        self.command = partial(command, config, self.layout.presets, {"task": config.task, "data": data})
        self.run.say_settings(self.command(init_from=self.init_from, **options))

    def begin(self) -> Optional[Beginning]:
        """Create the run's folder; return a function that sets a network's parameters from the initial bundle."""
        begin = partial(set_parameters, arrays=parameters_of(self.first)[1]) if self.first else None
        self.run.begin(self.settings)
        return begin

    def write(
        self, network: Network, progress: Progress, figures: Record, data: Record, codec: bytes, **entries: object
    ) -> Bundle[ConfigT, CodecT]:
        """Write the run's bundle: the network, its codec's file, dev figures and further `entries` of the manifest."""
        dev = {"best_epoch": progress.best_epoch + 1, **figures}
        manifest = manifest_of(
            self.config, data, dev, self.command(init_from=self.first and self.first.name), self.first
        )
        contents = {self.layout.codec: codec, **network_files(network, self.config)}
        return self.run.write(self.layout, {**manifest, **entries}, contents)
