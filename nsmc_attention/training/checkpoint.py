"""The whole state of a training in one file, so that a resumed training ends like an uninterrupted one.

Arrays by safetensors (no code, no pickle, bounded by the file's size), their sha256 among them. A file may come from
anyone: only a state that fits the network is put into it.
"""

import hashlib
import json
import math
import warnings
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Optional

import numpy
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load as unpack
from safetensors.numpy import save as pack

from .._io.atomic import replaced_file
from .._io.bounded import read_file, read_json
from .._runtime.mxnet_types import Network, Trainer
from ..errors import BundleError
from ..model.parameters import Arrays, set_parameters, snapshot

if TYPE_CHECKING:
    from .loop import Average

BEST, CHECKSUM = "best.safetensors", "sha256"
# Largest file, and what it has beside the arrays: 400 bytes for each epoch of the history, and names
LARGEST, BESIDE = 2**34, 2**26
# Larger counts, figures and numbers of figures are not those of a training, and cannot be drawn
MAX_COUNT, MAX_FIGURE, MAX_FIGURES = 2**31, 1e60, 100
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

    def save(self, network: Network, trainer: Trainer, average: "Average", progress: Progress) -> None:
        """Write the state whole or not at all, then delete the oldest beyond `keep`."""
        states = {
            "network": snapshot(network),
            "adam": moments(trainer),
            "average": {name: array.asnumpy() for name, array in average.arrays.items()},
        }
        arrays = {f"{part}/{name}": array for part, members in states.items() for name, array in members.items()}
        arrays["progress"] = numpy.frombuffer(json.dumps(asdict(progress)).encode(), dtype="uint8")
        write_arrays(self.folder / f"checkpoint-{progress.step:08d}.safetensors", arrays)
        for path in self.paths()[: -self.keep]:
            path.unlink()

    def load_newest(self, network: Network, trainer: Trainer, average: "Average") -> Progress:
        """Restore the newest undamaged state; return its Progress, a fresh one if there are no files of states."""
        arrays = self.read_newest(network, trainer)
        if not arrays:
            return Progress()
        progress = read_progress(arrays, self.folder)
        if progress.best_epoch >= 0:
            # says now that it is damaged
            self.read_best(network)
        set_parameters(network, part_of(arrays, "network/"))
        restore_moments(trainer, part_of(arrays, "adam/"), progress.step)
        for name, array in part_of(arrays, "average/").items():
            average.arrays[name][:] = array
        return progress

    def read_newest(self, network: Network, trainer: Trainer) -> Arrays:
        """Return the arrays of the newest undamaged state, {} if there are no files of states."""
        paths, reason, own = self.paths(), None, snapshot(network)
        expected = {f"{part}/{name}": own[name] for part in ("network", "average") for name in own}
        for index, parameter in enumerate(trainer._params):
            expected.update({f"adam/{part}.{index}": parameter.data().asnumpy() for part in MOMENTS})
        for path in reversed(paths):
            if reason:
                warnings.warn(f"{reason}; using the checkpoint before it", stacklevel=2)
            try:
                arrays = read_like(path, expected)
                read_progress(arrays, path)
                return arrays
            except BundleError as problem:
                reason = problem
        if reason:
            raise BundleError(
                f"{reason}; none of {len(paths)} checkpoints is undamaged: restore one from a copy, or delete them and "
                "--resume starts this stage again"
            ) from reason
        return {}

    def read_best(self, network: Network) -> Arrays:
        try:
            return read_like(self.folder / BEST, snapshot(network))
        except BundleError as problem:
            raise BundleError(
                f"{problem}; restore it from a copy, or delete the checkpoints beside it and --resume starts this "
                "stage again"
            ) from problem

    def save_best(self, network: Network) -> None:
        write_arrays(self.folder / BEST, snapshot(network))

    def load_best(self, network: Network) -> None:
        set_parameters(network, self.read_best(network))


def moments(trainer: Trainer) -> Arrays:
    """Return Adam's moments. MXNet's own `save_states` would pickle them."""
    states = trainer._updaters[0].states
    return {f"{part}.{index}": state.asnumpy() for index, pair in states.items() for part, state in zip(MOMENTS, pair)}


def restore_moments(trainer: Trainer, arrays: Arrays, step: int) -> None:
    """Put Adam into its state after `step` steps, each of which updates every parameter."""
    from mxnet import nd

    updater = trainer._updaters[0]
    for index in range(len(trainer._params)):
        updater.states[index] = tuple(nd.array(arrays[f"{part}.{index}"]) for part in MOMENTS)
        # MXNet moves them to the parameter's device
        updater.states_synced[index] = False
        updater.optimizer._index_update_count[index] = step
    updater.optimizer.num_update = step


def part_of(arrays: Arrays, prefix: str) -> Arrays:
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


def read_arrays(path: Path, largest: int = LARGEST) -> Arrays:
    """Read what `write_arrays` wrote; BundleError if it is damaged."""
    content = read_file(path, largest, BundleError)
    try:
        arrays = unpack(content)
        expected = arrays.pop(CHECKSUM, None)
        if expected is None or not numpy.array_equal(expected, checksum(arrays)):
            raise ValueError("its checksum is another")
    except (ValueError, KeyError, SafetensorError) as problem:
        raise BundleError(f"{path}: the checkpoint is damaged ({problem})") from problem
    return arrays


def read_like(path: Path, expected: Arrays) -> Arrays:
    """Read arrays; BundleError unless they have the names, types and shapes of `expected`, and finite numbers."""
    arrays = read_arrays(path, BESIDE + sum(array.nbytes for array in expected.values()))
    for name, like in expected.items():
        own = form(arrays.get(name))
        if own != form(like):
            raise BundleError(f"{path}: expected {name} {form(like)}, found {own or 'none'}; it is of another training")
        if not numpy.isfinite(arrays[name]).all():
            raise BundleError(f"{path}: expected finite numbers in {name}")
    return arrays


def form(array: Optional[NDArray[Any]]) -> Optional[tuple[str, tuple[int, ...]]]:
    return None if array is None else (array.dtype.name, array.shape)


def read_progress(arrays: Arrays, path: Path) -> Progress:
    """Return the Progress in a state; BundleError unless `fit` can have come to it."""
    content = arrays["progress"].tobytes() if "progress" in arrays else b""
    values = read_json(content, path, BundleError, "the progress of a training")
    with suppress(KeyError, TypeError, AttributeError):
        progress = Progress(**values)
        if is_possible(progress):
            return progress
    raise BundleError(f"{path}: expected the progress of a training, found {str(values)[:60]}")


def is_possible(progress: Progress) -> bool:
    """Return whether a training can come to this Progress; TypeError, KeyError or AttributeError for other types."""
    records = [progress.before, *progress.history]
    figures = [progress.loss_sum, progress.best, *(value for record in records for value in record.values())]
    counts = (progress.epoch, progress.batch, progress.step)
    return (
        all(isinstance(count, int) and 0 <= count < MAX_COUNT for count in counts)
        and progress.best_epoch in range(-1, progress.epoch)
        and len(progress.history) == progress.epoch
        and all(record["epoch"] == number for number, record in enumerate(progress.history, 1))
        and all(len(record) <= MAX_FIGURES for record in records)
        and not any(MAX_FIGURE < abs(figure) < math.inf for figure in figures)
    )
