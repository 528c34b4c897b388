"""What the workers of a distributed training exchange over MXNet's parameter server: gradients, results, checkpoints.

The server (`dist_sync`) adds up and returns the sum, so all workers get the same bits and make the same decisions.
"""

import ctypes
import json
from contextlib import contextmanager
from itertools import islice
from typing import TYPE_CHECKING, Any, Callable, Iterable, Iterator, Sequence

import numpy
from numpy.typing import NDArray
from safetensors.numpy import load as unpack
from safetensors.numpy import save as pack

from ..._runtime.mxnet_shim import import_mxnet
from ...errors import ConfigError
from ...settings import difference
from .job import Place, supervised

if TYPE_CHECKING:
    # imports MXNet, which a scheduler or server must not do before it is supervised
    from ...classification.batches import Batch

Array = NDArray[Any]
Arrays = dict[str, Array]


class SingleWorker:
    """The communicator of a training in one process; the `first` worker alone reads and writes files."""

    rank, count, first = 0, 1, True

    def wait_for_first(self) -> None:
        """Block the other workers until worker 0 reaches `agree`, so that they find its downloads and caches."""

    def agree(self, settings: dict[str, Any]) -> None:
        """Raise ConfigError in a worker whose settings differ from those of worker 0."""

    def shard_batch(self, batch: "Batch") -> tuple["Batch", float]:
        """Return this worker's part of a batch and its share of the reviews, 0 to 1."""
        return batch, 1.0

    def shard_batches(self, batches: Iterable[Any]) -> Iterable[Any]:
        """Yield this worker's batches."""
        return islice(batches, self.rank, None, self.count)

    def all_reduce(self, arrays: list[Array]) -> list[Array]:
        """Return the elementwise sums over all workers of each array, as float32 adds them up."""
        return arrays

    def average_gradients(self, gradients: Sequence[Any], batch: "Batch", share: float, loss: Any) -> float:
        """Replace a part's mean gradients, in place, by the whole batch's; return its mean loss."""
        return float(loss.asscalar())

    def run_on_first(self, function: Callable[..., Arrays], *arguments: Any) -> Arrays:
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
        expected = json.loads(self.broadcast(json.dumps(settings).encode()))
        if settings != expected:
            found = difference("settings", expected, settings)
            hint = "start all with the same command, data and versions"
            raise ConfigError(f"this worker cannot join with another {found}; {hint}")
        # nobody continues before everyone has compared
        self.barrier()

    def shard_batch(self, batch: "Batch") -> tuple["Batch", float]:
        members = numpy.arange(len(batch.labels))[self.rank :: self.count]
        share = len(members) / len(batch.labels)
        # a worker without reviews computes one with share 0
        return batch.take(members if len(members) else [0]), share

    def all_reduce(self, arrays: list[Array]) -> list[Array]:
        flat = self.total(numpy.concatenate([numpy.ravel(array) for array in arrays]))
        ends = numpy.cumsum([array.size for array in arrays])[:-1]
        return [part.reshape(array.shape).astype(array.dtype) for part, array in zip(numpy.split(flat, ends), arrays)]

    def average_gradients(self, gradients: Sequence[Any], batch: "Batch", share: float, loss: Any) -> float:
        rows = numpy.unique(batch.token_ids)
        own = [*(from_gradient(gradient, rows) for gradient in gradients), loss.asnumpy()]
        *found, loss = self.all_reduce([share * array for array in own])
        for gradient, array in zip(gradients, found):
            to_gradient(gradient, array, rows)
        return float(loss.sum())

    def run_on_first(self, function: Callable[..., Arrays], *arguments: Any) -> Arrays:
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


def from_gradient(gradient: Any, rows: Array) -> Array:
    """Return a gradient as an array: (len(rows), ...) of a row-sparse one, the rows that the whole batch touches."""
    if gradient.stype != "row_sparse":
        return numpy.asarray(gradient.asnumpy())
    found = numpy.zeros((len(rows), *gradient.shape[1:]), dtype="float32")
    found[numpy.searchsorted(rows, gradient.indices.asnumpy())] = gradient.data.asnumpy()
    return found


def to_gradient(gradient: Any, array: Array, rows: Array) -> None:
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
    place = Place.from_environment()
    with supervised(place):
        # a scheduler or server stays inside this import until it is ended
        mxnet = import_mxnet()
        store = mxnet.kv.create(kvstore)
        # else a failed worker would wait, at its end, for the others
        mxnet.base.check_call(mxnet.base._LIB.MXKVStoreSetBarrierBeforeExit(store.handle, ctypes.c_int(0)))
        yield Workers(store, place.number, place.workers)
