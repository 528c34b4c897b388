"""The exponential moving average of a network's parameters: a smoother network than any single step's.

Polyak & Juditsky 1992; as an exponential average in Tarvainen & Valpola 2017 (arXiv:1703.01780).
"""

from contextlib import contextmanager

# Steps between two updates: an average over thousands of steps does not need each of them
EVERY = 8


class Average:
    """Follows a network's parameters; scored and kept in their place at the end of an epoch.

    Parameters
    ----------
    network : HybridBlock
        Its parameters must exist.
    decay : float
        Share of the average that stays at each update, reached from below so that the start is forgotten;
        0 keeps the network's own parameters.
    """

    def __init__(self, network, decay):
        self.parameters = network._collect_params_with_prefix()
        self.decay = decay
        self.arrays = {name: parameter.data().copy() for name, parameter in self.parameters.items()}

    def update(self, step):
        """Take the network's parameters in, after `step` steps of training."""
        if not self.decay or step % EVERY:
            return
        updates = step // EVERY
        stay = min(self.decay, updates / (updates + 10))
        for name, parameter in self.parameters.items():
            self.arrays[name] *= stay
            self.arrays[name] += (1 - stay) * parameter.data()

    @contextmanager
    def applied(self, step):
        """Put the average into the network for the length of a `with` block, once there is one after `step` steps."""
        if not self.decay or step < EVERY:
            yield
            return
        own = {name: parameter.data().copy() for name, parameter in self.parameters.items()}
        self.put(self.arrays)
        yield
        self.put(own)

    def put(self, arrays):
        for name, parameter in self.parameters.items():
            parameter.set_data(arrays[name])

    def to_numpy(self):
        return {name: array.asnumpy() for name, array in self.arrays.items()}

    def load(self, arrays):
        for name in self.arrays:
            self.arrays[name][:] = arrays[name]
