"""The task `restore`."""

from .._runtime.later import later
from ..task import Task
from .layout import LAYOUT
from .settings import RESTORE_PRESETS

RESTORE = Task(
    LAYOUT,
    RESTORE_PRESETS,
    "restore",
    load=later("restoration.restorer", "Restorer.from_bundle"),
    train=later("restoration.train", "train_restorer"),
)
