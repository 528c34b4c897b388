"""The whole state of a training in one file, so that a resumed training ends like an uninterrupted one.

Arrays by safetensors (no code, no pickle), and their sha256, by which damage is noticed.
"""

import hashlib
import json
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load as unpack
from safetensors.numpy import save as pack

from .._io.atomic import replaced_file
from .._runtime.aliases import Network, Trainer
from ..errors import BundleError
from ..model.parameters import Arrays, set_parameters, snapshot

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


BEST, CHECKSUM = "best.safetensors", "sha256"
MOMENTS = ("mean", "variance")


@dataclass
class Progress:
    """The position of a training: `epoch` and `batch` name the next batch, `step` counts updates done.

    `best` is the smallest value of the dev metric that selects the epoch, `before` the dev figures before the first
    step, `history` a dict of figures an epoch.
    """

    epoch: int = 0
    batch: int = 0
    step: int = 0
    loss_sum: float = 0.0
    best: float = float("inf")
    best_epoch: int = -1
    before: dict[str, float] = field(default_factory=dict)
    history: list[dict[str, float]] = field(default_factory=list)


class Checkpoints:
    """The checkpoints of a stage's folder: the last few states and the best parameters so far.

    Files: checkpoint-00001500.safetensors (state after 1,500 steps), best.safetensors.
    """

    def __init__(self, folder: Path, keep: int):
        self.folder, self.keep = folder, keep

    def paths(self) -> list[Path]:
        return sorted(self.folder.glob("checkpoint-*.safetensors"))

    def save(self, network: Network, trainer: Trainer, average: Average, progress: Progress) -> None:
        """Write the state whole or not at all, then delete the oldest beyond `keep`."""
        states = {
            "network": snapshot(network),
            "adam": moments(trainer),
            "average": {name: array.asnumpy() for name, array in average.arrays.items()},
        }
        arrays = {f"{group}/{name}": array for group, state in states.items() for name, array in state.items()}
        arrays["progress"] = numpy.frombuffer(json.dumps(asdict(progress)).encode(), dtype="uint8")
        write_arrays(self.folder / f"checkpoint-{progress.step:08d}.safetensors", arrays)
        for path in self.paths()[: -self.keep]:
            path.unlink()

    def load_newest(self, network: Network, trainer: Trainer, average: Average) -> Progress:
        """Restore the newest undamaged state; return its Progress, a fresh one if there are no files of states."""
        if not (arrays := self.read_newest()):
            return Progress()
        progress = Progress(**json.loads(arrays["progress"].tobytes()))
        if progress.best_epoch >= 0:
            # says now that it is damaged
            self.read_best()
        set_parameters(network, in_group(arrays, "network/"))
        restore_moments(trainer, in_group(arrays, "adam/"), progress.step)
        for name, array in in_group(arrays, "average/").items():
            average.arrays[name][:] = array
        return progress

    def read_newest(self) -> Arrays:
        """Return the arrays of the newest undamaged state, {} if there are no files of states."""
        paths, reason = self.paths(), None
        for path in reversed(paths):
            if reason:
                warnings.warn(f"{reason}; using the checkpoint before it", stacklevel=2)
            try:
                return read_arrays(path)
            except BundleError as problem:
                reason = problem
        if reason:
            raise BundleError(
                f"{reason}; none of {len(paths)} checkpoints is undamaged: restore one from a copy, or delete them and "
                "--resume starts this stage again"
            ) from reason
        return {}

    def read_best(self) -> Arrays:
        try:
            return read_arrays(self.folder / BEST)
        except BundleError as problem:
            raise BundleError(
                f"{problem}; restore it from a copy, or delete the checkpoints beside it and --resume starts this "
                "stage again"
            ) from problem

    def save_best(self, network: Network) -> None:
        write_arrays(self.folder / BEST, snapshot(network))

    def load_best(self, network: Network) -> None:
        set_parameters(network, self.read_best())


def moments(trainer: Trainer) -> Arrays:
    """Return Adam's moments. MXNet's own `save_states` would pickle them."""
    states = trainer._updaters[0].states
    return {f"{name}.{index}": state.asnumpy() for index, pair in states.items() for name, state in zip(MOMENTS, pair)}


def restore_moments(trainer: Trainer, arrays: Arrays, step: int) -> None:
    """Put Adam into its state after `step` steps, each of which updates every parameter."""
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
    content = pack({**arrays, CHECKSUM: checksum(arrays)})
    with replaced_file(path) as temporary:
        temporary.write_bytes(content)


def checksum(arrays: Arrays) -> NDArray[numpy.uint8]:
    """Return the sha256 of names, types, shapes and contents, (32,)."""
    content = hashlib.sha256()
    for name, array in sorted(arrays.items()):
        content.update(f"{name} {array.dtype.name} {array.shape}\n".encode() + array.tobytes())
    return numpy.frombuffer(content.digest(), dtype="uint8")


def read_arrays(path: Path) -> Arrays:
    """Read what `write_arrays` wrote; BundleError if it is damaged."""
    try:
        arrays = unpack(path.read_bytes())
        expected = arrays.pop(CHECKSUM, None)
        if expected is None or not numpy.array_equal(expected, checksum(arrays)):
            raise ValueError("its checksum is another")
    except (OSError, ValueError, KeyError, SafetensorError) as problem:
        raise BundleError(f"{path}: the checkpoint is damaged ({problem})") from problem
    return arrays
