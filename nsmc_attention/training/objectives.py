"""What a stage trains for: the loss of a batch, the evaluation on the dev part, the metric that selects the epoch."""

from abc import ABC, abstractmethod
from typing import Any

from .distributed.communicator import SINGLE, SingleWorker

# Added to weights before their logarithm is taken
SMALLEST = 1e-6


class Objective(ABC):
    """What a stage trains for, evaluated on `dev_batches` (training.batches.Batches) by the workers of a group.

    `metric` names the figure of `evaluate` that selects the epoch; smaller is better.
    """

    metric: str

    def __init__(self, dev_batches: Any, device: Any, group: SingleWorker = SINGLE):
        self.dev_batches, self.device, self.group = dev_batches, device, group

    @abstractmethod
    def loss(self, network: Any, batch: Any) -> Any:
        """Return the mean loss of a batch, (1,) NDArray; called while gradients are recorded."""

    @abstractmethod
    def evaluate(self, network: Any) -> dict[str, float]:
        """Return figures of the dev part by name, `metric` among them."""
