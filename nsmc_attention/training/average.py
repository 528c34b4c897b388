"""The moving average of a network's parameters, with which each epoch is evaluated and saved."""

from collections.abc import Iterator
from contextlib import contextmanager

from .._runtime.mxnet_types import Network
from ..model.parameters import set_parameters, snapshot

# Steps between two updates of the average: one over thousands of steps does not need each of them
AVERAGE_STEPS = 8


class Average:
    """The moving average of an initialized network's parameters, which each epoch is evaluated and saved with.

    Polyak & Juditsky 1992; as an exponential average in Tarvainen & Valpola 2017 (arXiv:1703.01780). `decay` is warmed up so
    that the initial parameters are forgotten; 0 keeps the network's own parameters.
    """

    def __init__(self, network: Network, decay: float):
        self.network, self.decay = network, decay
        self.parameters = network._collect_params_with_prefix()
        self.arrays = {name: parameter.data().copy() for name, parameter in self.parameters.items()}

    def update(self, step: int) -> None:
        """Average in the network's parameters after `step` steps of training."""
        if not self.decay or step % AVERAGE_STEPS:
            return
        updates = step // AVERAGE_STEPS
        keep = min(self.decay, updates / (updates + 10))
        for name, parameter in self.parameters.items():
            self.arrays[name] *= keep
            self.arrays[name] += (1 - keep) * parameter.data()

    @contextmanager
    def applied(self, step: int) -> Iterator[None]:
        """Put the average into the network within a `with` block, if there is one after `step` steps."""
        trained = snapshot(self.network)
        if self.decay and step >= AVERAGE_STEPS:
            set_parameters(self.network, self.arrays)
        try:
            yield
        finally:
            set_parameters(self.network, trained)
