"""The list of the systems and of the apps. Nothing else in the core names one of them.

A folder's `__init__` has COMMANDS, the names of the commands in its `commands.py`, NAMES, {module: its public names}, if any, and,
of a system, OPTIONS, the names of the classes in its `options.py`; a system's `system.py` has its SYSTEM. To remove a system, delete its folder and its line here.
"""

from collections.abc import Iterator
from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Optional, Union

if TYPE_CHECKING:
    from .engines.graphs import DeviceName, EngineName
    from .system import System

# {system: its folder}, the default first
SYSTEMS = {
    "classify": "classifier",
    "restore": "systems.restore",
    "language": "systems.language",
    "film": "systems.film",
    "read": "systems.read",
}
# Apps that take part in what others do, as systems
PARTS = {"aspects": "apps.aspects"}
APPS = (*PARTS.values(), "apps.report", "apps.bulk", "apps.serve")
# Without the classifier, which the core consists of
WINGS = (*[*SYSTEMS.values()][1:], *APPS)


def module(folder: str, name: str = "") -> ModuleType:
    return import_module(f".{folder}.{name}".rstrip("."), __package__)


@lru_cache(maxsize=None)
def system(name: str) -> "System":
    """Return the System of a name in SYSTEMS."""
    found: System = module(SYSTEMS[name], "system").SYSTEM
    return found


def systems() -> "list[System]":
    return [system(name) for name in SYSTEMS]


def public_names() -> dict[str, str]:
    """Return {public name: its module} of the wings."""
    return {
        name: f"{folder}.{where}"
        for folder in WINGS
        for where, names in getattr(module(folder), "NAMES", {}).items()
        for name in names.split()
    }


def commands(folders: tuple[str, ...]) -> dict[str, str]:
    """Return {command: its module} of these folders."""
    return {name: f"{folder}.commands" for folder in folders for name in module(folder).COMMANDS}


def options(kind: str) -> dict[str, type]:
    """Return {system: what it adds to other commands}, its class of this name, as TrainOptions or ScoringOptions."""
    folders = {
        name: folder for name, folder in {**SYSTEMS, **PARTS}.items() if kind in getattr(module(folder), "OPTIONS", ())
    }
    return {name: getattr(module(folder, "options"), kind) for name, folder in folders.items()}


def modules(name: str) -> Iterator[tuple[str, ModuleType]]:
    """Yield each system that has a module of this name, with the module.

    By these modules a system takes part in what the core and the apps do, without being named there:

    lending      what a classifier may begin with of its bundles: `sizes` and `init`
    corrections  classifies corrected texts: `over` and `reference`
    rater        rates groups of reviews: `rater_of`
    service      its part of the page and of the HTTP API
    aspects      says what reviews praise and what they blame
    """
    for known, folder in {**SYSTEMS, **PARTS}.items():
        if find_spec(f".{folder}.{name}", __package__):
            yield known, module(folder, name)


def ability(name: str) -> Optional[ModuleType]:
    """Return the first module that `modules` yields, None if there is none."""
    return next((found for _, found in modules(name)), None)


def load(
    bundle: Optional[Union[str, Path]] = None, engine: "EngineName" = "auto", device: "DeviceName" = "auto"
) -> Any:
    """Load the predictor of a bundle (Classifier, Restorer, LanguageModel, ...); None is the packaged classifier.

    Engine, device and errors are those of `load_classifier`.
    """
    from .bundle import load_any

    verified = load_any(bundle, [one.layout for one in systems()])
    return system(verified.layout.task).load(verified, engine, device)
