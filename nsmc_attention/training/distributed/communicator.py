"""What the workers of a distributed training share: gradients, answers, checkpoints, by MXNet's parameter server.

Every sum goes over the server (`dist_sync`, which adds up and hands back; each worker has an optimizer of its
own), so all workers get the same bits and take the same decisions. Worker 0 alone reads and writes files.
"""

import ctypes
import json
from contextlib import contextmanager
from itertools import islice

import numpy

from ..._runtime.mxnet_shim import import_mxnet
from ...errors import ConfigError
from ...model.parameters import restore, snapshot
from ...settings import difference
from ..checkpoint import Checkpoints, pack, unpack
from .job import Place, enter, leave


class SingleWorker:
    """A training in one process: nothing to share."""

    rank, first = 0, True

    def wait_for_first(self):
        """Let worker 0 go ahead to where it calls `agree`; the others do after it what it has then done."""

    def agree(self, settings):
        """Raise ConfigError in a worker whose settings, {name: value}, are not those of worker 0."""

    def checkpoints(self, folder, keep):
        return Checkpoints(folder, keep)

    def broadcast_parameters(self, network):
        """Give all workers worker 0's parameters."""

    def shard_batch(self, batch):
        """Answer what of a batch this worker learns from, and its share of the batch's mean."""
        return batch, 1.0

    def shard_batches(self, batches):
        """Yield those of the batches that this worker answers."""
        return batches

    def all_reduce(self, arrays):
        """Answer the all_reduce over all workers of each of a list of arrays of float32 values."""
        return arrays

    def average_gradients(self, gradients, batch, share, loss):
        """Put the whole batch's gradients in place of its part's; answer its mean loss."""
        return float(loss.asscalar())

    def run_on_first(self, function, *arguments):
        """Answer what a function does in worker 0, which alone calls it: None, an array, or a list of (T,) arrays."""
        return function(*arguments)


SINGLE = SingleWorker()


class Workers(SingleWorker):
    """One of several workers, all of which have to make the same calls in the same order.

    Parameters
    ----------
    store : mxnet.kvstore.KVStore
    rank, count : int
    """

    def __init__(self, store, rank, count):
        self.store, self.rank, self.count, self.first = store, rank, count, rank == 0
        self.sizes = set()

    def wait_for_first(self):
        if not self.first:
            self.total(numpy.zeros(1))

    def agree(self, settings):
        if self.first:
            self.total(numpy.zeros(1))
        expected = json.loads(self.from_first(json.dumps(settings).encode()))
        if settings != expected:
            raise ConfigError(
                f"this worker cannot join with another {difference('settings', expected, settings)}; "
                "start all with the same command, data and versions"
            )
        # nobody goes on before everyone has found it so
        self.total(numpy.zeros(1))

    def checkpoints(self, folder, keep):
        return SharedCheckpoints(folder, keep, self)

    def broadcast_parameters(self, network):
        restore(network, self.arrays_of_first(snapshot(network)))

    def shard_batch(self, batch):
        members = numpy.arange(len(batch.labels))[self.rank :: self.count]
        share = len(members) / len(batch.labels)
        # with fewer reviews than workers some have one that counts for nothing
        return batch.take(members if len(members) else [0]), share

    def shard_batches(self, batches):
        return islice(batches, self.rank, None, self.count)

    def all_reduce(self, arrays):
        flat = self.total(numpy.concatenate([numpy.ravel(array) for array in arrays]))
        ends = numpy.cumsum([array.size for array in arrays])[:-1]
        return [part.reshape(array.shape).astype(array.dtype) for part, array in zip(numpy.split(flat, ends), arrays)]

    def average_gradients(self, gradients, batch, share, loss):
        rows = numpy.unique(batch.token_ids)
        own = [*(from_gradient(gradient, rows) for gradient in gradients), loss.asnumpy()]
        *found, loss = self.all_reduce([share * array for array in own])
        for gradient, array in zip(gradients, found):
            to_gradient(gradient, array, rows)
        return float(loss.sum())

    def run_on_first(self, function, *arguments):
        value = function(*arguments) if self.first else None
        if isinstance(value, list):
            found = {"values": numpy.concatenate(value), "lengths": numpy.array([len(each) for each in value])}
        else:
            found = {} if value is None else {"values": value}
        found = self.arrays_of_first(found)
        if "lengths" in found:
            return numpy.split(found["values"], numpy.cumsum(found["lengths"])[:-1])
        return found.get("values")

    def total(self, values):
        """Answer the sum of (n,) float32 over all workers, the same bits in each."""
        from mxnet import nd

        size = rounded_up(len(values))
        if size not in self.sizes:
            self.store.init(str(size), nd.zeros((size,)))
            self.sizes.add(size)
        message = nd.array(numpy.pad(values, (0, size - len(values))), dtype="float32")
        self.store.push(str(size), message)
        self.store.pull(str(size), out=message)
        return message.asnumpy()[: len(values)]

    def from_first(self, content):
        """Answer the bytes that worker 0 gives."""
        # single precision holds whole numbers of 16 bits, and adds nothing to them without loss
        length = int(self.total(numpy.array(divmod(self.first * len(content), 2**16))) @ [2**16, 1])
        pairs = numpy.zeros(-(-length // 2), dtype="uint16")
        if self.first:
            pairs.view("uint8")[:length] = numpy.frombuffer(content, dtype="uint8")
        return self.total(pairs).astype("uint16").tobytes()[:length]

    def arrays_of_first(self, arrays):
        """Answer the arrays, {name: array}, that worker 0 gives."""
        return unpack(self.from_first(pack(arrays) if self.first else b""))


class SharedCheckpoints(Checkpoints):
    """Checkpoints in the run folder of worker 0, which alone writes them; what it reads, all get."""

    def __init__(self, folder, keep, workers):
        super().__init__(folder, keep)
        self.workers = workers

    def save(self, *state):
        if self.workers.first:
            super().save(*state)

    def save_best(self, network):
        if self.workers.first:
            super().save_best(network)

    def read_newest(self, network, trainer):
        return self.workers.arrays_of_first(super().read_newest(network, trainer) if self.workers.first else {})

    def read_best(self, network):
        return self.workers.arrays_of_first(super().read_best(network) if self.workers.first else {})


def rounded_up(size):
    """Answer a size not much larger: the server keeps an array for each size it has seen."""
    step = 2 ** max(0, size.bit_length() - 4)
    return -(-size // step) * step


def from_gradient(gradient, rows):
    """Answer a gradient as an array, of a row-sparse one those rows that the whole batch touches."""
    if gradient.stype != "row_sparse":
        return gradient.asnumpy()
    found = numpy.zeros((len(rows), *gradient.shape[1:]), dtype="float32")
    found[numpy.searchsorted(rows, gradient.indices.asnumpy())] = gradient.data.asnumpy()
    return found


def to_gradient(gradient, array, rows):
    """Put back what `from_gradient` answered."""
    from mxnet import nd

    if gradient.stype != "row_sparse":
        gradient[:] = array
    else:
        nd.sparse.row_sparse_array((array, rows), shape=gradient.shape, ctx=gradient.context).copyto(gradient)


@contextmanager
def worker_group(kvstore):
    """Give the workers that this process is one of; of a scheduler or server the `with` block is never entered."""
    if kvstore == "local":
        yield SINGLE
        return
    place = Place.from_environment()
    lifeline = enter(place)
    # a scheduler or server stays in this import until `job` ends it
    mxnet = import_mxnet()
    store = mxnet.kv.create(kvstore)
    # else a worker that failed would wait, before it ends, for those that it failed
    mxnet.base.check_call(mxnet.base._LIB.MXKVStoreSetBarrierBeforeExit(store.handle, ctypes.c_int(0)))
    yield Workers(store, place.number, place.workers)
    leave(lifeline)
