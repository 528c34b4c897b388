"""The interface between the training loop and what a stage trains for."""

from abc import ABC, abstractmethod
from typing import Any

from ..distributed.communicator import SINGLE, SingleWorker


class Objective(ABC):
    """What a stage trains for.

    Parameters
    ----------
    dev_batches : training.batches.Batches
    device : mxnet context
    group : distributed.communicator.SingleWorker
        The workers that share the evaluation.

    Attributes
    ----------
    metric : str
        The figure of `evaluate` that selects the epoch; smaller is better.
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
