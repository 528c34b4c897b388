"""The registry of tasks. Only what shows all of them reads it: the command line, and `load`."""

from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Iterable, Optional, Union

from .bundle.format import load_any
from .classification.task import CLASSIFY
from .films.task import FILM
from .language.task import LANGUAGE
from .restoration.task import RESTORE

if TYPE_CHECKING:
    from .classification.predictor import Classifier
    from .films.rater import FilmRater
    from .inference.engines import DeviceName, EngineName
    from .language.model import LanguageModel
    from .restoration.restorer import Restorer

    AnyPredictor = Union[Classifier, Restorer, LanguageModel, FilmRater]

TASKS = {task.name: task for task in (CLASSIFY, RESTORE, LANGUAGE, FILM)}


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


def field_at(path: str) -> Any:
    """Return the dataclass field of a setting, whatever kinds are chosen; for the choice of a kind, of its group."""
    item: Any = None
    classes: Iterable[Any] = [task.layout.config for task in TASKS.values()]
    for key in path.split("."):
        item = next((each for cls in classes for each in fields(cls) if each.name == key), item)
        classes = item.metadata.get("kinds", {}).values()
    return item


def choices_at(path: str) -> Optional[tuple[str, ...]]:
    """Return the values that a setting may have, or the kinds that there are in any task; None for any value."""
    metadata = field_at(path).metadata
    if "kinds" not in metadata:
        return metadata["choices"]
    *groups, name, _ = path.split(".")
    found: dict[str, Any] = {}
    for config in (config for task in TASKS.values() for config in task.presets.values()):
        group: Any = config
        for each in groups:
            group = getattr(group, each, None)
        if group is not None:
            found.update(next((each.metadata["kinds"] for each in fields(group) if each.name == name), {}))
    return tuple(found)
