"""The systems, by the task of their bundles. To remove one, delete its folder, its line here, its names in `__init__`, and its
files and their lines in `cli` and `apps/serve`."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Optional, Union

from .bundle import load_any
from .errors import ConfigError, did_you_mean

if TYPE_CHECKING:
    from .engines.graphs import DeviceName, EngineName


@dataclass(frozen=True)
class System:
    """A system: its folder, the command that uses its bundles, and its predictor and trainer, as "module:name" in the folder.

    The trainer is (Texts or Labelled, config, Run, **options) -> bundle; `options` are the ones that only some trainings take.
    """

    folder: str
    command: str
    predictor: str
    trainer: str
    options: tuple[str, ...] = ("init_from",)

    @property
    def layout(self) -> Any:
        """The `bundle.Layout` of its bundles."""
        return import_module(f".{self.folder}.settings", __package__).LAYOUT

    def load(self, bundle: Any, engine: "EngineName", device: "DeviceName") -> Any:
        return later(f"{self.folder}.{self.predictor}.from_bundle")(bundle, engine, device)

    def train(self, *values: Any, **named: Any) -> Any:
        return later(f"{self.folder}.{self.trainer}")(*values, **named)

    def preset(self, name: Optional[str] = None) -> Any:
        """Return the settings (TaskConfig) of a preset, None for the default one; ConfigError if it is unknown."""
        presets, task = self.layout.presets, self.layout.task
        name = name or next(iter(presets))
        if name not in presets:
            raise ConfigError(f"--task {task}: unknown preset {name!r}{did_you_mean(name, presets)}")
        return presets[name]


LABEL_OPTIONS = ("label_column", "stars_column", "positive")
CLASSIFIER_OPTIONS = ("valid", "init_from", "teacher", "sentences", *LABEL_OPTIONS)
FILM_OPTIONS = ("group_by", "classifier", "stars_column")
# {task: its system}, the default first
SYSTEMS = {
    "classify": System("classifier", "predict", "predictor:Classifier", "train:train_classifier", CLASSIFIER_OPTIONS),
    "restore": System("systems.restore", "restore", "restorer:Restorer", "train:train_restorer"),
    "language": System("systems.language", "fill", "model:LanguageModel", "train:train_language"),
    "film": System("systems.film", "film", "rater:FilmRater", "train:train_films", FILM_OPTIONS),
    "read": System("systems.read", "read", "reader:PictureReader", "train:train_reader"),
}


def load(
    bundle: Optional[Union[str, Path]] = None, engine: "EngineName" = "auto", device: "DeviceName" = "auto"
) -> Any:
    """Load the predictor of a bundle (Classifier, Restorer, LanguageModel, ...); None is the packaged classifier.

    Engine, device and errors are those of `load_classifier`.
    """
    verified = load_any(bundle, [system.layout for system in SYSTEMS.values()])
    return SYSTEMS[verified.layout.task].load(verified, engine, device)


def later(name: str) -> Callable[..., Any]:
    """Return a lazy function that calls the one named, as "classifier.predictor:Classifier.from_bundle".

    The call imports the module, so that `--help` imports neither numpy nor a network.
    """

    def call(*values: object, **named: Any) -> Any:
        module, _, attribute = name.partition(":")
        return attrgetter(attribute)(import_module(f".{module}", __package__))(*values, **named)

    return call
