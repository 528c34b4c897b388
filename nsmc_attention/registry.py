"""The systems, by the task of their bundles. To remove one, delete its folder, its line here, its names in `__init__`, and its
files in `cli` and `apps/serve`, with their lines there."""

from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Optional, Union

if TYPE_CHECKING:
    from .engines.graphs import DeviceName, EngineName
    from .system import System

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
    found: System = import_module(f".{SYSTEMS[task]}.system", __package__).SYSTEM
    return found


def systems() -> "list[System]":
    return [system(name) for name in SYSTEMS]


def load(
    bundle: Optional[Union[str, Path]] = None, engine: "EngineName" = "auto", device: "DeviceName" = "auto"
) -> Any:
    """Load the predictor of a bundle (Classifier, Restorer, LanguageModel, ...); None is the packaged classifier.

    Engine, device and errors are those of `load_classifier`.
    """
    from .bundle import load_any

    verified = load_any(bundle, [one.layout for one in systems()])
    return system(verified.layout.task).load(verified, engine, device)
