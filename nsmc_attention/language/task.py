"""The task `language`."""

from .._runtime.later import later
from ..task import Task
from .layout import LAYOUT
from .settings import LANGUAGE_PRESETS

LANGUAGE = Task(
    LAYOUT,
    LANGUAGE_PRESETS,
    "fill",
    load=later("language.model", "LanguageModel.from_bundle"),
    train=later("language.train", "train_language"),
)
