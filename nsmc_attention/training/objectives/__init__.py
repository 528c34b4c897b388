"""What a stage trains for: the loss of a batch, the evaluation on the dev part, the metric that selects the epoch."""

from .base import Objective
from .erasure import ErasureObjective
from .labels import LabelsObjective

__all__ = ["OBJECTIVES", "ErasureObjective", "LabelsObjective", "Objective"]

OBJECTIVES: dict[str, type[Objective]] = {
    "stars": LabelsObjective,
    "labels": LabelsObjective,
    "erasure": ErasureObjective,
}
