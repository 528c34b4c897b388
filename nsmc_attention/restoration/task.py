"""The task `restore`."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from ..task import Task
from .layout import LAYOUT
from .settings import RESTORE_PRESETS

if TYPE_CHECKING:
    from ..bundle.format import AnyBundle
    from .restorer import Restorer


def predictor() -> "type[Restorer]":
    from .restorer import Restorer

    return Restorer


def training() -> "Callable[..., AnyBundle]":
    from .train import train_restorer

    return train_restorer


RESTORE = Task(LAYOUT, RESTORE_PRESETS, "restore", predictor, training)
