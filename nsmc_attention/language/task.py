"""The task `language`."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from ..task import Task
from .layout import LAYOUT
from .settings import LANGUAGE_PRESETS

if TYPE_CHECKING:
    from ..bundle.format import AnyBundle
    from .model import LanguageModel


def predictor() -> "type[LanguageModel]":
    from .model import LanguageModel

    return LanguageModel


def training() -> "Callable[..., AnyBundle]":
    from .train import train_language

    return train_language


LANGUAGE = Task(LAYOUT, LANGUAGE_PRESETS, "fill", predictor, training)
