"""The systems, by the task of their bundles. To remove one, delete its folder, its line here, its names in `__init__`, and its
files in `cli` and `apps/serve`, with their lines there."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Optional, Union

from .bundle import Layout, load_any
from .errors import ConfigError, did_you_mean

if TYPE_CHECKING:
    from .bundle import AnyBundle
    from .engines.graphs import DeviceName, EngineName
    from .schema import TaskConfig
    from .scoring.reference import Predictor

# {task: the module that has its SYSTEM}, the default first
SYSTEMS = {
    "classify": "classifier",
    "restore": "systems.restore",
    "language": "systems.language",
    "film": "systems.film",
    "read": "systems.read",
}


@lru_cache(maxsize=None)
def system(task: str) -> "System":
    """Return the System of a task in SYSTEMS."""
    found: System = import_module(f".{SYSTEMS[task]}.settings", __package__).SYSTEM
    return found


def systems() -> "list[System]":
    return [system(name) for name in SYSTEMS]


def load(
    bundle: Optional[Union[str, Path]] = None, engine: "EngineName" = "auto", device: "DeviceName" = "auto"
) -> Any:
    """Load the predictor of a bundle (Classifier, Restorer, LanguageModel, ...); None is the packaged classifier.

    Engine, device and errors are those of `load_classifier`.
    """
    verified = load_any(bundle, [one.layout for one in systems()])
    return system(verified.layout.task).load(verified, engine, device)


@dataclass(frozen=True)
class System:
    """A system as a value.

    Attributes
    ----------
    layout : Layout
        Its bundles, their settings and their codec.
    presets : mapping
        The settings of its trainings by name, the default first.
    command : str
        The command that uses its bundles.
    load : callable
        Loads the predictor of a bundle: (bundle, engine, device) -> Predictor.
    train : callable
        Trains: (Texts or Labelled, config, Run, **options) -> bundle.
    options : collection of str
        What its training takes of the options that not all take, as init_from and label_column.
    continuing : callable or None
        Fits the settings of a training to the bundle that it begins with: (config, init_from) -> config.
    """

    layout: "Layout[TaskConfig, Any]"
    presets: "Mapping[str, TaskConfig]"
    command: str
    load: "Callable[..., Predictor]"
    train: "Callable[..., AnyBundle]"
    options: "Collection[str]" = ("init_from",)
    continuing: "Optional[Callable[..., TaskConfig]]" = None

    @property
    def name(self) -> str:
        return self.layout.task

    def preset(self, name: Optional[str] = None) -> "TaskConfig":
        """Return the settings called name, None for the default; ConfigError where there are none of that name."""
        name = name or next(iter(self.presets))
        if name not in self.presets:
            raise ConfigError(f"--task {self.name}: unknown preset {name!r}{did_you_mean(name, self.presets)}")
        return self.presets[name]


def later(module: str, name: str) -> Callable[..., Any]:
    """Return a function that calls the one of that name, as "Classifier.from_bundle", of a module of the package.

    The module is imported by the call: `--help` imports neither numpy nor a network.
    """

    def call(*values: object, **named: Any) -> Any:
        return attrgetter(name)(import_module(f".{module}", __package__))(*values, **named)

    return call
