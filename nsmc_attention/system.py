"""A task: what the commands need to know of a system. Each system has one in its `task.py`."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Optional

from .bundle.format import Layout
from .errors import ConfigError, did_you_mean
from .training.config import TaskConfig

if TYPE_CHECKING:
    from .bundle.format import AnyBundle
    from .inference.reference import Predictor


@dataclass(frozen=True)
class Task:
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
        Trains: (Texts or Labelled, config, Run, **options) -> bundle, or None of a worker that writes none.
    """

    layout: Layout[TaskConfig, Any]
    presets: Mapping[str, TaskConfig]
    command: str
    load: "Callable[..., Predictor]"
    train: "Callable[..., Optional[AnyBundle]]"

    @property
    def name(self) -> str:
        return self.layout.task

    def preset(self, name: Optional[str] = None) -> TaskConfig:
        """Return the settings called name, None for the default; ConfigError where there are none of that name."""
        name = name or next(iter(self.presets))
        if name not in self.presets:
            raise ConfigError(f"--task {self.name}: unknown preset {name!r}{did_you_mean(name, self.presets)}")
        return self.presets[name]
