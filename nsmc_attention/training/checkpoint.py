"""The state of a training at the end of an epoch in one file, so that a resumed training ends like an uninterrupted one.

The file is safetensors: no code, no pickle.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy
from safetensors import SafetensorError
from safetensors.numpy import load as unpack
from safetensors.numpy import save as pack

from ..errors import BundleError
from ..machine.aliases import Network, Trainer
from ..machine.files import replaced_file
from ..network.parameters import Arrays, set_parameters, snapshot

# Steps between two updates of the average, which extends over thousands of steps
AVERAGE_STEPS = 8


class Average:
    """The moving average of an initialized network's parameters, by which each epoch is evaluated and saved.

    Polyak & Juditsky 1992; an exponential average as in Tarvainen & Valpola 2017 (arXiv:1703.01780). `decay` is warmed
    up so that the initial parameters are forgotten; 0 keeps the network's own parameters.
    """

    def __init__(self, network: Network, decay: float):
        self.network, self.decay = network, decay
        self.parameters = network._collect_params_with_prefix()
        self.arrays = {name: parameter.data().copy() for name, parameter in self.parameters.items()}

    def update(self, step: int) -> None:
        """Include the network's parameters after `step` steps of training in the average."""
        if not self.decay or step % AVERAGE_STEPS:
            return
        updates = step // AVERAGE_STEPS
        decay = min(self.decay, updates / (updates + 10))
        for name, parameter in self.parameters.items():
            self.arrays[name] *= decay
            self.arrays[name] += (1 - decay) * parameter.data()

    @contextmanager
    def applied(self, step: int) -> Iterator[None]:
        """Use the average as the network's parameters in a `with` block, if there is one after `step` steps."""
        trained = snapshot(self.network)
        if self.decay and step >= AVERAGE_STEPS:
            set_parameters(self.network, self.arrays)
        try:
            yield
        finally:
            set_parameters(self.network, trained)


STATE, BEST = "checkpoint.safetensors", "best.safetensors"
MOMENTS = ("mean", "variance")


@dataclass
class Progress:
    """The position of a training: `epoch` is the next epoch, `step` the number of updates.

    `best` is the smallest value of the dev metric that selects the epoch, `before` are the dev figures before the first
    step, `history` has a dict of figures for each epoch, `train_loss` is the mean loss of the current epoch.
    """

    epoch: int = 0
    step: int = 0
    train_loss: float = 0.0
    best: float = float("inf")
    best_epoch: int = -1
    before: dict[str, float] = field(default_factory=dict)
    history: list[dict[str, float]] = field(default_factory=list)


class Checkpoint:
    """The files of a stage's folder: the state at the end of its last epoch, and the best parameters so far."""

    def __init__(self, folder: Path):
        self.folder = folder

    def save(self, network: Network, trainer: Trainer, average: Average, progress: Progress) -> None:
        states = {
            "network": snapshot(network),
            "adam": moments(trainer),
            "average": {name: array.asnumpy() for name, array in average.arrays.items()},
        }
        arrays = {f"{group}/{name}": array for group, state in states.items() for name, array in state.items()}
        arrays["progress"] = numpy.frombuffer(json.dumps(asdict(progress)).encode(), dtype="uint8")
        write_arrays(self.folder / STATE, arrays)

    def load(self, network: Network, trainer: Trainer, average: Average) -> Progress:
        """Restore the state and return its Progress, a new one if no epoch has ended yet."""
        if not (self.folder / STATE).exists():
            return Progress()
        arrays = read_arrays(self.folder / STATE)
        with reporting_damage(self.folder / STATE):
            progress = Progress(**json.loads(arrays["progress"].tobytes()))
            set_parameters(network, in_group(arrays, "network/"))
            restore_moments(trainer, in_group(arrays, "adam/"), progress.step)
            for name, array in in_group(arrays, "average/").items():
                average.arrays[name][:] = array
        return progress

    def save_best(self, network: Network) -> None:
        write_arrays(self.folder / BEST, snapshot(network))

    def load_best(self, network: Network) -> None:
        set_parameters(network, read_arrays(self.folder / BEST))


def moments(trainer: Trainer) -> Arrays:
    """Return Adam's moments, which MXNet's own `save_states` would pickle."""
    states = trainer._updaters[0].states
    return {f"{name}.{index}": state.asnumpy() for index, pair in states.items() for name, state in zip(MOMENTS, pair)}


def restore_moments(trainer: Trainer, arrays: Arrays, step: int) -> None:
    """Restore Adam's state after `step` steps, each of which updates every parameter."""
    from mxnet import nd

    updater = trainer._updaters[0]
    for index in range(len(trainer._params)):
        updater.states[index] = tuple(nd.array(arrays[f"{name}.{index}"]) for name in MOMENTS)
        # MXNet moves them to the parameter's device
        updater.states_synced[index] = False
        updater.optimizer._index_update_count[index] = step
    updater.optimizer.num_update = step


def in_group(arrays: Arrays, prefix: str) -> Arrays:
    return {name[len(prefix) :]: array for name, array in arrays.items() if name.startswith(prefix)}


def write_arrays(path: Path, arrays: Arrays) -> None:
    with replaced_file(path) as temporary:
        temporary.write_bytes(pack(arrays))


def read_arrays(path: Path) -> Arrays:
    """Read what `write_arrays` wrote; BundleError if it is missing or damaged."""
    with reporting_damage(path):
        return unpack(path.read_bytes())


@contextmanager
def reporting_damage(path: Path) -> Iterator[None]:
    """Raise BundleError for the errors that a missing or damaged checkpoint causes."""
    try:
        yield
    except (OSError, ValueError, KeyError, TypeError, SafetensorError) as problem:
        raise BundleError(
            f"{path}: the checkpoint is damaged ({problem}); restore it from a copy, or delete {STATE} and --resume "
            "starts this stage again"
        ) from problem
