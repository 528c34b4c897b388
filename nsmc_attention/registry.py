"""The registry of tasks. Only what shows all of them reads it: the command line, and `load`."""

from dataclasses import Field, fields
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Optional, Union

from .bundle.format import load_any
from .classification.system import CLASSIFY
from .schema import Settings
from .systems.films.system import FILM
from .systems.language.system import LANGUAGE
from .systems.reading.system import READ
from .systems.restoration.system import RESTORE

if TYPE_CHECKING:
    from .classification.predictor import Classifier
    from .inference.engines import DeviceName, EngineName
    from .systems.films.rater import FilmRater
    from .systems.language.model import LanguageModel
    from .systems.restoration.restorer import Restorer

    AnyPredictor = Union[Classifier, Restorer, LanguageModel, FilmRater]

TASKS = {task.name: task for task in (CLASSIFY, RESTORE, LANGUAGE, FILM, READ)}


def load(
    bundle: Optional[Union[str, Path]] = None, engine: "EngineName" = "auto", device: "DeviceName" = "auto"
) -> "AnyPredictor":
    """Load the predictor for a bundle's task: a Classifier, Restorer, LanguageModel or FilmRater; None is the packaged
    classifier.

    Engine, device and errors are those of `load_classifier`.
    """
    verified = load_any(bundle, [task.layout for task in TASKS.values()])
    predictor: Any = TASKS[verified.layout.task].load(verified, engine, device)
    return predictor


@lru_cache(maxsize=None)
def fields_at(path: str) -> "list[Field[Any]]":
    """Return the fields of a setting, in every task and kind that has it; for the choice of a kind, of its group."""
    items: list[Field[Any]] = []
    classes: list[type[Settings]] = [task.layout.config for task in TASKS.values()]
    for key in path.split("."):
        items = [item for cls in classes for item in fields(cls) if item.name == key] or items
        classes = [kind for item in items for kind in item.metadata.get("kinds", {}).values()]
    return items


def choices_at(path: str) -> Optional[tuple[str, ...]]:
    """Return the values that a setting may have, or the kinds that there are in any task; None for any value."""
    items = fields_at(path)
    if "kinds" not in items[0].metadata:
        return items[0].metadata["choices"]
    return tuple(dict.fromkeys(kind for item in items for kind in item.metadata["kinds"]))
