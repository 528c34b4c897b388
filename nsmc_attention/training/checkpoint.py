"""The whole state of a training in one file, so that a resumed training ends like an uninterrupted one.

Arrays by safetensors (no code, no pickle, bounded by the file's size), their sha256 among them. A file may come from
anyone: only a state that fits the network is put into it. Knows the network's parameters and Adam's moments.
"""

import hashlib
import json
import math
import warnings
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, get_origin, get_type_hints

import numpy
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load as unpack
from safetensors.numpy import save as pack

from .._io.atomic import replaced_file
from .._io.bounded import read_file, read_json
from ..errors import BundleError
from ..model.parameters import restore, snapshot

Arrays = dict[str, NDArray[Any]]
BEST, CHECKSUM = "best.safetensors", "sha256"
# Largest file, in bytes: a network of the largest settings would be more than a machine trains
LARGEST = 2**34
# Bytes beside the arrays in a file: 400 for each epoch of the history, and names
BESIDE = 2**26
# Exclusive upper bound of step, batch and epoch
MAX_COUNT = 2**31
# No sum of float32 losses exceeds this; larger values cannot be plotted
MAX_FIGURE = 1e60
# Figures in a record of the history, and characters in the name of one
MAX_FIGURES, MAX_NAME = 100, 60


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


def moments(trainer: Any) -> Arrays:
    """Return Adam's moments and update counts. MXNet's own `save_states` would pickle them."""
    updater = trainer._updaters[0]
    arrays = {
        f"{part}.{index}": state.asnumpy()
        for index, pair in updater.states.items()
        for part, state in zip(("mean", "variance"), pair)
    }
    counts = updater.optimizer._index_update_count
    arrays["counts"] = numpy.array([[index, count] for index, count in counts.items()], dtype="int64").reshape(-1, 2)
    return arrays


def restore_moments(trainer: Any, arrays: Arrays) -> None:
    from mxnet import nd

    updater = trainer._updaters[0]
    counts = arrays["counts"].tolist()
    for index, count in counts:
        context = trainer._params[index].list_ctx()[0]
        updater.states[index] = tuple(nd.array(arrays[f"{part}.{index}"], ctx=context) for part in ("mean", "variance"))
        updater.states_synced[index] = True
        updater.optimizer._index_update_count[index] = count
    updater.optimizer.num_update = max([count for _, count in counts], default=0)


class Checkpoints:
    """The checkpoints of a stage's folder: the last few states and the best parameters so far.

    Files: checkpoint-00001500.safetensors (state after 1,500 steps), best.safetensors.
    """

    def __init__(self, folder: Path, keep: int):
        self.folder, self.keep = folder, keep

    def paths(self) -> list[Path]:
        return sorted(self.folder.glob("checkpoint-*.safetensors"))

    def save(self, network: Any, trainer: Any, average: Any, progress: Progress) -> None:
        """Write the state whole or not at all, then delete the oldest beyond `keep`."""
        arrays = {"progress": numpy.frombuffer(json.dumps(asdict(progress)).encode(), dtype="uint8")}
        states = {"network": snapshot(network), "adam": moments(trainer), "average": average.to_numpy()}
        for part, members in states.items():
            arrays.update({f"{part}/{name}": array for name, array in members.items()})
        write_arrays(self.folder / f"checkpoint-{progress.step:08d}.safetensors", arrays)
        for path in self.paths()[: -self.keep]:
            path.unlink()

    def load_newest(self, network: Any, trainer: Any, average: Any) -> Progress:
        """Restore the newest undamaged state; return its Progress, a fresh one if there is none.

        Raises
        ------
        BundleError
            All are damaged, or the best parameters are.
        """
        arrays = self.read_newest(network, trainer)
        if not arrays:
            return Progress()
        progress = read_progress(arrays, self.folder)
        if progress.best_epoch >= 0:
            self.read_best(network)
        restore(network, part_of(arrays, "network/"))
        restore_moments(trainer, part_of(arrays, "adam/"))
        average.load(part_of(arrays, "average/"))
        return progress

    def read_newest(self, network: Any, trainer: Any) -> Arrays:
        """Return the arrays of the newest undamaged state, {} if there are no files of states."""
        paths, reason = self.paths(), None
        for path in reversed(paths):
            try:
                arrays = read_arrays(path, largest_state(network))
                read_progress(arrays, path)
                check_state(arrays, network, trainer, path)
                return arrays
            except BundleError as problem:
                reason = problem
                if path != paths[0]:
                    warnings.warn(f"{problem}; using the checkpoint before it", stacklevel=2)
        if paths:
            raise BundleError(
                f"{reason}; none of {len(paths)} checkpoints is undamaged: restore one from a copy, or delete them and "
                "--resume starts this stage again"
            ) from reason
        return {}

    def read_best(self, network: Any) -> Arrays:
        path = self.folder / BEST
        try:
            arrays = read_arrays(path, largest_state(network))
            check_forms(arrays, forms(snapshot(network)), path)
        except BundleError as problem:
            raise BundleError(
                f"{problem}; restore it from a copy, or delete the checkpoints beside it and --resume starts this "
                "stage again"
            ) from problem
        return arrays

    def save_best(self, network: Any) -> None:
        write_arrays(self.folder / BEST, snapshot(network))

    def load_best(self, network: Any) -> None:
        restore(network, self.read_best(network))


def part_of(arrays: Arrays, prefix: str) -> Arrays:
    return {name[len(prefix) :]: array for name, array in arrays.items() if name.startswith(prefix)}


def write_arrays(path: Path, arrays: Arrays) -> None:
    content = pack({**arrays, CHECKSUM: checksum(arrays)})
    with replaced_file(path) as temporary:
        temporary.write_bytes(content)


def checksum(arrays: Arrays) -> NDArray[numpy.uint8]:
    """Return the sha256 of names, types, shapes and contents, (32,)."""
    found = hashlib.sha256()
    for name in sorted(arrays):
        array = arrays[name]
        found.update(f"{name} {array.dtype.name} {array.shape}\n".encode())
        found.update(numpy.ascontiguousarray(array).data)
    return numpy.frombuffer(found.digest(), dtype="uint8")


def largest_state(network: Any) -> int:
    """Return the largest size of a state's file in bytes: parameters, their average and two moments."""
    return min(LARGEST, 4 * sum(array.nbytes for array in snapshot(network).values()) + BESIDE)


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


def read_progress(arrays: Arrays, path: Path) -> Progress:
    """Return the Progress in a state; BundleError unless each of its values has its type and its range."""
    try:
        content = arrays["progress"].tobytes()
        progress = Progress(**read_json(content, path, BundleError, "the progress of a training"))
    except (KeyError, TypeError) as problem:
        raise BundleError(f"{path}: the checkpoint has no progress of the training") from problem
    for name, hint in get_type_hints(Progress).items():
        value, kind = getattr(progress, name), get_origin(hint) or hint
        if not isinstance(value, (int, float) if kind is float else kind):
            raise BundleError(f"{path}: expected {name} as {kind.__name__}, found {str(value)[:60]}")
    check_ranges(progress, path)
    return progress


def check_ranges(progress: Progress, path: Path) -> None:
    """BundleError unless `fit` can have come to this Progress."""
    for name in ("epoch", "batch", "step"):
        value = getattr(progress, name)
        if not 0 <= value < MAX_COUNT:
            raise BundleError(f"{path}: expected {name} from 0 to {MAX_COUNT - 1}, found {str(value)[:60]}")
    if not -1 <= progress.best_epoch < progress.epoch:
        raise BundleError(f"{path}: expected a best epoch before {progress.epoch}, found {progress.best_epoch}")
    for record in (progress.before, *progress.history):
        if not is_record(record):
            raise BundleError(f"{path}: expected a history of figures, found {str(record)[:60]}")
    epochs = [record.get("epoch") for record in progress.history]
    if len(epochs) != progress.epoch or epochs != list(range(1, len(epochs) + 1)):
        raise BundleError(f"{path}: expected a history of {progress.epoch} epochs, found {str(epochs)[:60]}")
    if not all(map(is_figure, (progress.loss_sum, progress.best))):
        raise BundleError(f"{path}: expected the losses of a training, found {progress.loss_sum}, {progress.best}")


def is_record(record: object) -> bool:
    """Whether a value is a dict of a few named figures."""
    return (
        isinstance(record, dict)
        and len(record) <= MAX_FIGURES
        and all(len(name) <= MAX_NAME and is_figure(value) for name, value in record.items())
    )


def is_figure(value: object) -> bool:
    """Whether a value is a number that can be plotted, infinity or NaN."""
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        return False
    return not MAX_FIGURE < abs(value) < math.inf


def check_state(arrays: Arrays, network: Any, trainer: Any, path: Path) -> None:
    """BundleError unless a state has all arrays that are restored, each of the right type and shape."""
    counts = arrays.get("adam/counts", numpy.zeros(0))
    pairs = counts.ndim == 2 and counts.shape[1] == 2
    if not pairs or counts.dtype != "int64" or (counts < 0).any() or (counts[:, 0] >= len(trainer._params)).any():
        raise BundleError(f"{path}: expected how often each parameter was updated")
    network_forms = forms(snapshot(network))
    expected = {f"{part}/{name}": form for part in ("network", "average") for name, form in network_forms.items()}
    expected["adam/counts"] = ("int64", counts.shape)
    for index in counts[:, 0].tolist():
        shape = trainer._params[index].shape
        expected.update({f"adam/{part}.{index}": ("float32", shape) for part in ("mean", "variance")})
    check_forms({name: array for name, array in arrays.items() if name != "progress"}, expected, path)


def forms(arrays: Arrays) -> dict[str, tuple[str, tuple[int, ...]]]:
    return {name: (array.dtype.name, array.shape) for name, array in arrays.items()}


def check_forms(arrays: Arrays, expected: dict[str, Any], path: Path) -> None:
    """BundleError unless the arrays have the expected names, types and shapes and hold finite numbers."""
    found = forms(arrays)
    for name in {**expected, **found}:
        if expected.get(name) != found.get(name):
            raise BundleError(
                f"{path}: expected {name[:60]} {expected.get(name, 'not at all')}, "
                f"found {found.get(name, 'none')}; it is of another training"
            )
        if not numpy.isfinite(arrays[name]).all():
            raise BundleError(f"{path}: expected finite numbers in {name[:60]}")
