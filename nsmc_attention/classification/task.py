"""The task `classify`."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Optional

from ..task import Task
from .layout import LAYOUT
from .settings import PRESETS

if TYPE_CHECKING:
    from ..bundle.format import AnyBundle
    from .predictor import Classifier


def predictor() -> "type[Classifier]":
    from .predictor import Classifier

    return Classifier


def training() -> "Callable[..., Optional[AnyBundle]]":
    from .train import train

    return train


CLASSIFY = Task(LAYOUT, PRESETS, "predict", predictor, training)
