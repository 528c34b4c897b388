"""The whole state of a training in one file, so that a resumed training ends like an uninterrupted one.

Plain numpy archives without pickle, each followed by its sha256. An archive may come from anyone: it is no larger than
a state of the network can be, its entries together are no larger than the file itself, and only a state that fits the
network is put into it. Knows the network's parameters and Adam's moments, nothing of text.
"""

import hashlib
import io
import json
import math
import re
import warnings
import zipfile
from dataclasses import asdict, dataclass, field
from typing import get_type_hints

import numpy

from .._io.atomic import replaced_file
from .._io.bounded import read_file, read_json
from ..errors import BundleError
from ..evaluation.metrics import HEADLINE
from ..model.parameters import restore, snapshot

BEST = "best.npz"
CHECKSUM = hashlib.sha256().digest_size


# Bytes of a file: all of a network of the largest settings would be more than a machine trains
LARGEST = 2**34
# and of what is beside the arrays in one: 400 for each epoch of the history, and names
BESIDE = 2**26
# What a step, batch or epoch is less than
MOST = 2**31
# More than the sum of so many losses, of which each is in single precision; what is beyond cannot be drawn
LARGEST_FIGURE = 1e60
# As numpy writes an array of numbers by rows; matched, because numpy's own reader evaluates it
HEADER = re.compile(
    rb"\x93NUMPY\x01\x00..\{'descr': '(\|u1|<f4|<f8|<i8)', 'fortran_order': False, "
    rb"'shape': \(([0-9, ]*)\), \} *\n",
    re.DOTALL,
)
FIGURES = {"epoch", "steps", "seconds", "train_loss", "dev_entropy", *(f"dev_{name}" for name in HEADLINE)}


@dataclass
class Progress:
    """Where a training stands: `epoch` and `batch` name the next batch, `step` counts updates done."""

    epoch: int = 0
    batch: int = 0
    step: int = 0
    loss_sum: float = 0.0
    best_loss: float = float("inf")
    best_epoch: int = -1
    untrained_entropy: float = 1.0
    history: list = field(default_factory=list)


def moments(trainer):
    """Answer Adam's moments and update counts. MXNet's own `save_states` would pickle them."""
    updater = trainer._updaters[0]
    arrays = {
        f"{part}.{index}": state.asnumpy()
        for index, pair in updater.states.items()
        for part, state in zip(("mean", "variance"), pair)
    }
    counts = updater.optimizer._index_update_count
    arrays["counts"] = numpy.array([[index, count] for index, count in counts.items()], dtype="int64")
    return arrays


def restore_moments(trainer, arrays):
    from mxnet import nd

    updater = trainer._updaters[0]
    for index, count in arrays["counts"].tolist():
        context = trainer._params[index].list_ctx()[0]
        updater.states[index] = tuple(nd.array(arrays[f"{part}.{index}"], ctx=context) for part in ("mean", "variance"))
        updater.states_synced[index] = True
        updater.optimizer._index_update_count[index] = count
    updater.optimizer.num_update = max([count for _, count in arrays["counts"].tolist()], default=0)


class Checkpoints:
    """The checkpoints of a run folder: the last few states and the best parameters so far.

    Files: checkpoint-00001500.npz (state after 1,500 steps), best.npz.
    """

    def __init__(self, folder, keep):
        self.folder, self.keep = folder, keep

    def paths(self):
        return sorted(self.folder.glob("checkpoint-*.npz"))

    def save(self, network, trainer, average, progress):
        """Write the state whole or not at all, then drop the oldest beyond `keep`."""
        arrays = {"progress": as_bytes(asdict(progress))}
        arrays.update({f"network/{name}": array for name, array in snapshot(network).items()})
        arrays.update({f"adam/{name}": array for name, array in moments(trainer).items()})
        arrays.update({f"average/{name}": array for name, array in average.to_numpy().items()})
        write_arrays(self.folder / f"checkpoint-{progress.step:08d}.npz", arrays)
        for path in self.paths()[: -self.keep]:
            path.unlink()

    def load_newest(self, network, trainer, average):
        """Restore the newest undamaged state; answer its Progress, a fresh one where there is none.

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

    def read_newest(self, network, trainer):
        """Answer the arrays of the newest undamaged state, {} where there are no files of states."""
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
                f"{reason}; of {len(paths)} there is none that is not damaged: put one back from a copy, "
                "or delete them and --resume begins this stage anew"
            ) from reason
        return {}

    def read_best(self, network):
        path = self.folder / BEST
        try:
            arrays = read_arrays(path, largest_state(network))
            check_forms(arrays, forms(snapshot(network)), path)
            return arrays
        except BundleError as problem:
            raise BundleError(
                f"{problem}; put it back from a copy, or delete the checkpoints beside it and --resume "
                "begins this stage anew"
            ) from problem

    def save_best(self, network):
        write_arrays(self.folder / BEST, snapshot(network))

    def load_best(self, network):
        restore(network, self.read_best(network))


def as_bytes(values):
    return numpy.frombuffer(json.dumps(values).encode(), dtype="uint8")


def part_of(arrays, prefix):
    return {name[len(prefix) :]: array for name, array in arrays.items() if name.startswith(prefix)}


def write_arrays(path, arrays):
    # through memory: on a full disk, savez to a file ends in an error of the zip archive and not of the disk
    with replaced_file(path) as temporary:
        temporary.write_bytes(sealed(packed(arrays)))


def packed(arrays):
    """Answer {name: array} of numbers as the bytes of an archive."""
    content = io.BytesIO()
    numpy.savez(content, **arrays)
    return content.getvalue()


def unpacked(content):
    """Answer the arrays that `packed` made these bytes of; ValueError and other zip errors where it did not."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        # ours have room beside each other: a stranger's may all lie over the same bytes
        if sum(item.compress_size for item in archive.infolist()) > len(content):
            raise ValueError("its entries together are larger than the file")
        return {item.filename[: -len(".npy")]: read_array(archive, item) for item in archive.infolist()}


def sealed(content):
    """Answer the bytes of a file with their sha256 behind them."""
    return content + hashlib.sha256(content).digest()


def largest_state(network):
    """Answer how many bytes a file of the network's state may have: its parameters, their average and two moments."""
    return min(LARGEST, 4 * sum(array.nbytes for array in snapshot(network).values()) + BESIDE)


def read_arrays(path, largest=LARGEST):
    """Read an archive of arrays; BundleError where it is damaged, or asks for more memory than it has bytes."""
    content = read_file(path, largest, BundleError)
    content, checksum = content[:-CHECKSUM], content[-CHECKSUM:]
    try:
        if hashlib.sha256(content).digest() != checksum:
            raise ValueError("its checksum is another")
        return unpacked(content)
    except (ValueError, OverflowError, NotImplementedError, RuntimeError, EOFError, zipfile.BadZipFile) as problem:
        raise BundleError(f"{path}: the checkpoint is damaged ({problem})") from problem


def read_array(archive, item):
    """Read an entry that `write_arrays` wrote: not compressed, and of as many bytes as its header says."""
    if item.compress_type != zipfile.ZIP_STORED or not item.filename.endswith(".npy"):
        raise ValueError(f"{item.filename!r} is no plain array")
    content = archive.read(item)
    header = HEADER.match(content)
    if not header:
        raise ValueError(f"{item.filename!r} does not begin as an array of numbers")
    dtype = numpy.dtype(header.group(1).decode())
    shape = tuple(int(size) for size in header.group(2).split(b",") if size.strip())
    if math.prod(shape) * dtype.itemsize != len(content) - header.end():
        raise ValueError(f"{item.filename!r} is shorter or longer than its header says")
    return numpy.frombuffer(content, dtype, offset=header.end()).reshape(shape)


def read_progress(arrays, path):
    """Answer the Progress in a state; BundleError unless each of its values has its type and can be counted with."""
    try:
        content = arrays["progress"].tobytes()
        progress = Progress(**read_json(content, path, BundleError, "the progress of a training"))
    except (KeyError, TypeError) as problem:
        raise BundleError(f"{path}: the checkpoint does not tell where the training stood") from problem
    for name, kind in get_type_hints(Progress).items():
        value = getattr(progress, name)
        if not isinstance(value, (int, float) if kind is float else kind):
            raise BundleError(f"{path}: expected {name} as {kind.__name__}, found {str(value)[:60]}")
    for record in progress.history:
        if (
            not isinstance(record, dict)
            or set(record) != FIGURES
            or not all(isinstance(value, (int, float)) for value in record.values())
        ):
            raise BundleError(f"{path}: expected a history of the figures of each epoch, found {str(record)[:60]}")
    check_ranges(progress, path)
    return progress


def check_ranges(progress, path):
    """BundleError unless a Progress is one that `fit` can have come to."""
    counts = {name: getattr(progress, name) for name in ("epoch", "batch", "step")}
    for name, value in counts.items():
        if not 0 <= value < MOST:
            raise BundleError(f"{path}: expected {name} from 0 to {MOST - 1}, found {str(value)[:60]}")
    if not -1 <= progress.best_epoch < progress.epoch:
        raise BundleError(
            f"{path}: expected a best epoch before {progress.epoch}, found {str(progress.best_epoch)[:60]}"
        )
    epochs = [record["epoch"] for record in progress.history]
    if len(epochs) != progress.epoch or epochs != list(range(1, len(epochs) + 1)):
        raise BundleError(f"{path}: expected a history of {progress.epoch} epochs, found {str(epochs)[:60]}")
    figures = [value for record in progress.history for value in record.values()]
    for value in (progress.loss_sum, progress.best_loss, progress.untrained_entropy, *figures):
        if LARGEST_FIGURE < abs(value) < math.inf:
            raise BundleError(f"{path}: expected figures of a training, found {str(value)[:60]}")


def check_state(arrays, network, trainer, path):
    """BundleError unless a state has an array for all that it is put into, each of the right type and shape."""
    counts = arrays.get("adam/counts", numpy.zeros(0))
    updated = counts[:, 0] if counts.ndim == 2 and counts.shape[1] == 2 else counts
    if (
        counts.dtype != "int64"
        or (counts < 0).any()
        or (updated >= len(trainer._params)).any()
        or updated is counts
        and counts.size
    ):
        raise BundleError(f"{path}: expected how often each parameter was updated")
    network_forms = forms(snapshot(network))
    expected = {f"{part}/{name}": form for part in ("network", "average") for name, form in network_forms.items()}
    expected["adam/counts"] = ("int64", counts.shape)
    for index in updated.tolist():
        shape = trainer._params[index].shape
        expected.update({f"adam/{part}.{index}": ("float32", shape) for part in ("mean", "variance")})
    check_forms({name: array for name, array in arrays.items() if name != "progress"}, expected, path)


def forms(arrays):
    return {name: (array.dtype.name, array.shape) for name, array in arrays.items()}


def check_forms(arrays, expected, path):
    """BundleError unless the arrays are those expected, of their types and shapes, and hold numbers."""
    found = forms(arrays)
    for name in {**expected, **found}:
        if expected.get(name) != found.get(name):
            raise BundleError(
                f"{path}: expected {name[:60]} {expected.get(name, 'not at all')}, "
                f"found {found.get(name, 'none')}; it is of another training"
            )
        if not numpy.isfinite(arrays[name]).all():
            raise BundleError(f"{path}: expected numbers in {name[:60]}, found some that are none")
