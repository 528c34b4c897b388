"""The whole state of a training in one file, so that a resumed training ends like an uninterrupted one.

Plain numpy archives without pickle, each followed by its sha256. Knows the network's parameters and Adam's
moments, nothing of text.
"""
import hashlib
import io
import json
import warnings
from dataclasses import asdict, dataclass, field

import numpy

from ..atomic import replaced_file
from ..errors import BundleError
from ..model.parameters import restore, snapshot

BEST = "best.npz"
CHECKSUM = hashlib.sha256().digest_size


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
    arrays = {f"{part}.{index}": state.asnumpy()
              for index, pair in updater.states.items() for part, state in zip(("mean", "variance"), pair)}
    counts = updater.optimizer._index_update_count
    arrays["counts"] = numpy.array([[index, count] for index, count in counts.items()], dtype="int64")
    return arrays


def restore_moments(trainer, arrays):
    from mxnet import nd

    updater = trainer._updaters[0]
    for index, count in arrays["counts"].tolist():
        context = trainer._params[index].list_ctx()[0]
        updater.states[index] = tuple(nd.array(arrays[f"{part}.{index}"], ctx=context)
                                      for part in ("mean", "variance"))
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
        for path in self.paths()[:-self.keep]:
            path.unlink()

    def load_newest(self, network, trainer, average):
        """Restore the newest undamaged state; answer its Progress, a fresh one where there is none.

        Raises
        ------
        BundleError
            All are damaged, or the best parameters are.
        """
        arrays = self.read_newest()
        if not arrays:
            return Progress()
        progress = Progress(**json.loads(arrays["progress"].tobytes()))
        if progress.best_epoch >= 0:
            self.read_best()
        restore(network, part_of(arrays, "network/"))
        restore_moments(trainer, part_of(arrays, "adam/"))
        average.load(part_of(arrays, "average/"))
        return progress

    def read_newest(self):
        """Answer the arrays of the newest undamaged state, {} where there are no files of states."""
        paths = self.paths()
        for path in reversed(paths):
            try:
                return read_arrays(path)
            except BundleError as problem:
                warnings.warn(f"{problem}; using the checkpoint before it")
        if paths:
            raise BundleError(f"{self.folder}: all {len(paths)} checkpoints are damaged; put one back from a copy, or "
                              "delete them and --resume begins this stage anew")
        return {}

    def read_best(self):
        try:
            return read_arrays(self.folder / BEST)
        except BundleError as problem:
            raise BundleError(f"{problem}; put it back from a copy, or delete the checkpoints beside it and --resume "
                              "begins this stage anew") from problem

    def save_best(self, network):
        write_arrays(self.folder / BEST, snapshot(network))

    def load_best(self, network):
        restore(network, self.read_best())


def as_bytes(values):
    return numpy.frombuffer(json.dumps(values).encode(), dtype="uint8")


def part_of(arrays, prefix):
    return {name[len(prefix):]: array for name, array in arrays.items() if name.startswith(prefix)}


def write_arrays(path, arrays):
    # through memory: on a full disk, savez to a file ends in an error of the zip archive and not of the disk
    content = io.BytesIO()
    numpy.savez(content, **arrays)
    content.write(hashlib.sha256(content.getbuffer()).digest())
    with replaced_file(path) as temporary:
        temporary.write_bytes(content.getbuffer())


def read_arrays(path):
    """Read an archive of arrays; BundleError where it is damaged."""
    try:
        content = path.read_bytes()
    except OSError as problem:
        raise BundleError(f"{path}: the checkpoint cannot be read: {problem.strerror}") from problem
    if hashlib.sha256(content[:-CHECKSUM]).digest() != content[-CHECKSUM:]:
        raise BundleError(f"{path}: the checkpoint is damaged: its checksum is another")
    with numpy.load(io.BytesIO(content[:-CHECKSUM]), allow_pickle=False) as archive:
        return {name: archive[name] for name in archive.files}
