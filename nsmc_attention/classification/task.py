"""The task `classify`."""

from .._runtime.later import later
from ..task import Task
from .layout import LAYOUT
from .settings import PRESETS

CLASSIFY = Task(
    LAYOUT,
    PRESETS,
    "predict",
    load=later("classification.predictor", "Classifier.from_bundle"),
    train=later("classification.train", "train_classifier"),
)
