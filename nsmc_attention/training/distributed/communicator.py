"""Communication of a distributed training's workers over MXNet's parameter server: gradients, results, checkpoints.

The server (`dist_sync`) adds up and returns the sum, so all workers get the same bits and make the same decisions. It
waits forever for a dead process: those of `launcher` end together, those of several machines are ended by their user.
"""

import ctypes
import json
import os
import signal
from contextlib import contextmanager
from itertools import islice
from typing import Any, Callable, Iterable, Iterator, Mapping, Protocol, Sequence

import numpy
from numpy.typing import NDArray
from safetensors.numpy import load as unpack
from safetensors.numpy import save as pack

from ..._runtime.mxnet_shim import import_mxnet
from ..._runtime.processes import exit_with_parent
from ..._runtime.signals import ENDINGS
from ...errors import ConfigError
from ...settings import difference
from ..description import other_setting

Array = NDArray[Any]
Arrays = dict[str, Array]
Gradient = Any  # mxnet.nd.NDArray
ROLES = ("scheduler", "server", "worker")
# Variable with the process number of the launcher
LAUNCHER = "NSMC_ATTENTION_LAUNCHER"
SAME = "start all with the same command, data and versions"


class Batch(Protocol):
    """A batch that workers share: N reviews, of which each trains on some."""

    token_ids: NDArray[numpy.int32]  # (N, T)
    labels: NDArray[numpy.float32]  # (N,)

    def take(self, members: Sequence[int]) -> "Batch": ...


class SingleWorker:
    """The communicator of a training in one process; the `first` worker alone reads and writes files."""

    rank, count, first = 0, 1, True

    def wait_for_first(self) -> None:
        """Block the other workers until worker 0 reaches `agree`, so that they find its downloads and caches."""

    def agree(self, settings: dict[str, Any]) -> None:
        """Raise ConfigError in a worker whose settings differ from those of worker 0."""

    def shard_batch(self, batch: Batch) -> tuple[Batch, float]:
        """Return this worker's part of a batch and its share of the reviews, 0 to 1."""
        return batch, 1.0

    def shard_batches(self, batches: Iterable[Any]) -> Iterable[Any]:
        """Yield this worker's batches."""
        return islice(batches, self.rank, None, self.count)

    def all_reduce(self, arrays: list[Array]) -> list[Array]:
        """Return the elementwise sums over all workers of each array, as float32 adds them up."""
        return arrays

    def average_gradients(self, gradients: Sequence[Gradient], batch: Batch, share: float, loss: Gradient) -> float:
        """Replace a part's mean gradients, in place, by the whole batch's; return its mean loss."""
        return float(loss.asscalar())

    def run_on_first(self, function: Callable[..., Arrays], *arguments: object) -> Arrays:
        """Call a function in worker 0 only; return its named arrays in all."""
        return function(*arguments)


SINGLE = SingleWorker()


class Workers(SingleWorker):
    """One of `count` workers on an MXNet KVStore, all of which must make the same calls in the same order."""

    def __init__(self, store: Any, rank: int, count: int):
        self.store, self.rank, self.count, self.first = store, rank, count, rank == 0
        self.sizes: set[int] = set()

    def barrier(self) -> None:
        self.total(numpy.zeros(1))

    def wait_for_first(self) -> None:
        if not self.first:
            self.barrier()

    def agree(self, settings: dict[str, Any]) -> None:
        if self.first:
            self.barrier()
        if (self.total(numpy.eye(self.count)[self.rank]) != 1).any():
            raise ConfigError(f"DMLC_WORKER_ID: expected each number below {self.count} once; {SAME}, another for each")
        expected = json.loads(self.broadcast(json.dumps(settings).encode()))
        # nobody goes on, or ends, before everyone has compared
        others = self.total(numpy.array([settings != expected]))[0]
        if settings != expected:
            other = other_setting(*difference("", expected, settings))
            raise ConfigError(f"this worker cannot join with {other}; {SAME}")
        if others:
            raise ConfigError(f"expected the same settings of all workers, found others in {others:.0f}; {SAME}")

    def shard_batch(self, batch: Batch) -> tuple[Batch, float]:
        members = numpy.arange(len(batch.labels))[self.rank :: self.count]
        share = len(members) / len(batch.labels)
        # a worker without reviews computes one with share 0
        return batch.take(members.tolist() or [0]), share

    def all_reduce(self, arrays: list[Array]) -> list[Array]:
        flat = self.total(numpy.concatenate([numpy.ravel(array) for array in arrays]))
        ends = numpy.cumsum([array.size for array in arrays])[:-1]
        return [part.reshape(array.shape).astype(array.dtype) for part, array in zip(numpy.split(flat, ends), arrays)]

    def average_gradients(self, gradients: Sequence[Gradient], batch: Batch, share: float, loss: Gradient) -> float:
        rows = numpy.unique(batch.token_ids)
        own = [*(from_gradient(gradient, rows) for gradient in gradients), loss.asnumpy()]
        *whole, loss = self.all_reduce([share * array for array in own])
        for gradient, array in zip(gradients, whole):
            to_gradient(gradient, array, rows)
        return float(loss.sum())

    def run_on_first(self, function: Callable[..., Arrays], *arguments: object) -> Arrays:
        return unpack(self.broadcast(pack(function(*arguments)) if self.first else b""))

    def total(self, values: Array) -> NDArray[numpy.float32]:
        """Return the sum of (n,) float32 over all workers, the same bits in each."""
        from mxnet import nd

        # rounded up a little: the server keeps an array for each size it has seen
        step = 2 ** max(0, len(values).bit_length() - 4)
        size = -(-len(values) // step) * step
        if size not in self.sizes:
            self.store.init(str(size), nd.zeros((size,)))
            self.sizes.add(size)
        message = nd.array(numpy.pad(values, (0, size - len(values))), dtype="float32")
        self.store.push(str(size), message)
        self.store.pull(str(size), out=message)
        return numpy.asarray(message.asnumpy()[: len(values)])

    def broadcast(self, content: bytes) -> bytes:
        """Return the bytes of worker 0."""
        # float32 represents 16-bit integers exactly, and all other workers add 0
        length = int(self.total(numpy.array(divmod(self.first * len(content), 2**16))) @ [2**16, 1])
        pairs = numpy.zeros(-(-length // 2), dtype="uint16")
        if self.first:
            pairs.view("uint8")[:length] = numpy.frombuffer(content, dtype="uint8")
        return self.total(pairs).astype("uint16").tobytes()[:length]


def from_gradient(gradient: Gradient, rows: Array) -> Array:
    """Return a gradient as an array: (len(rows), ...) of a row-sparse one, the rows that the whole batch touches."""
    if gradient.stype != "row_sparse":
        return numpy.asarray(gradient.asnumpy())
    array = numpy.zeros((len(rows), *gradient.shape[1:]), dtype="float32")
    array[numpy.searchsorted(rows, gradient.indices.asnumpy())] = gradient.data.asnumpy()
    return array


def to_gradient(gradient: Gradient, array: Array, rows: Array) -> None:
    """Write an array as returned by `from_gradient` back into a gradient."""
    from mxnet import nd

    if gradient.stype != "row_sparse":
        gradient[:] = array
    else:
        nd.sparse.row_sparse_array((array, rows), shape=gradient.shape, ctx=gradient.context).copyto(gradient)


@contextmanager
def worker_group(kvstore: str) -> Iterator[SingleWorker]:
    """Yield this worker's communicator for "local" or "dist_sync"; a scheduler or server never enters the block."""
    if kvstore == "local":
        yield SINGLE
        return
    rank, count = rank_and_count(os.environ)
    if LAUNCHER in os.environ:
        exit_with_parent(int(os.environ[LAUNCHER]))
    else:
        # a handler in Python would not run while MXNet waits for a process that may be dead
        for number in ENDINGS:
            signal.signal(number, signal.SIG_DFL)
    # a scheduler or server stays inside this import until the workers are done
    mxnet = import_mxnet()
    store = mxnet.kv.create(kvstore)
    try:
        yield Workers(store, rank, count)
    except BaseException:
        # else this worker would wait, at its end, for the others
        mxnet.base.check_call(mxnet.base._LIB.MXKVStoreSetBarrierBeforeExit(store.handle, ctypes.c_int(0)))
        raise


def rank_and_count(variables: Mapping[str, str]) -> tuple[int, int]:
    """Return the number of this worker, of another process 0, and how many workers there are.

    From the variables of DMLC's parameter server; ConfigError where one is missing or invalid, for which MXNet would
    wait or abort.
    """

    def read(name: str, expected: str, valid: Callable[[str], bool]) -> str:
        value = variables.get(name, "")
        if not valid(value):
            raise ConfigError(f"{name}: expected {expected}, found {repr(value) if value else 'nothing'}")
        return value

    def number(name: str, low: int, high: int, hint: str = "") -> int:
        expected = f"a number from {low} to {high}{hint}"
        return int(read(name, expected, lambda value: value.isdecimal() and low <= int(value) <= high))

    role = read("DMLC_ROLE", f"one of {', '.join(ROLES)}", lambda value: value in ROLES)
    read("DMLC_PS_ROOT_URI", "the scheduler's address", bool)
    number("DMLC_PS_ROOT_PORT", 1, 65535)
    number("DMLC_NUM_SERVER", 1, 1000)
    count = number("DMLC_NUM_WORKER", 1, 1000)
    return (number("DMLC_WORKER_ID", 0, count - 1, ", another for each worker") if role == "worker" else 0), count
