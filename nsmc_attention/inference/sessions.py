"""Graphs that run by ONNX Runtime or by MXNet: arrays in, arrays out, as the network's `Interface` declares them.

    graph(*inputs) -> list of outputs;  graph(*inputs, outputs=("heads",)) -> those alone

Only MXNet's runner imports MXNet, and only when it is built.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any, Optional, Union

import numpy

from .._runtime.aliases import Numbers
from .._runtime.mxnet_types import Device
from .._runtime.processes import thread_pool
from ..bundle.format import AnyBundle
from ..errors import BundleError, MissingPackage, requirement
from ..model.graphs import AXES, LENGTHS, RANGES, Interface, Sizes, dtype
from ..model.tracing import parts_of
from .engines import gluon_network

Array = Numbers
# Reviews a thread computes at once: their states fit its cache. Fewer than WORTH_A_THREAD are not divided
PIECE, WORTH_A_THREAD = 32, 8
# The batch of a network on MXNet; a GPU needs many reviews
GLUON_BATCH = 128
REMEDY = "train again, or take another bundle"


def import_onnxruntime() -> Any:
    """Import onnxruntime without its telemetry, unless the user has set ORT_DISABLE_TELEMETRY=0.

    From 1.29 on (microsoft/onnxruntime#27379) it opens connections and keeps a device number in the user's cache.
    """
    off = os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1") == "1"
    try:
        import onnxruntime
    except ImportError as problem:
        raise MissingPackage(
            f"the onnx engine needs onnxruntime ({problem}): pip install {requirement('onnxruntime') or 'onnxruntime'}"
        ) from problem
    if off:
        # the variable is not read on Windows
        onnxruntime.disable_telemetry_events()
    return onnxruntime


def import_check() -> Any:
    """Import the check of graphs that did not come with the package; MissingPackage without onnx."""
    try:
        from ..model.onnx import check
    except ImportError as problem:
        raise MissingPackage(
            f"a bundle that did not come with the package needs onnx ({problem}): "
            f"pip install {requirement('onnx') or 'onnx'}, or use --engine gluon"
        ) from problem
    return check


class OnnxGraph:
    """Runs a graph by ONNX Runtime; safe to call from several threads.

    A batch is divided among threads that compute one part each: a quarter faster than ONNX Runtime's own threads, which
    wait for each other at every step of a GRU. `content` is that of the file called name. `fixed`, the sizes of axes that
    the settings fix, is given for a graph that did not come with the package: its results are checked. BundleError if
    ONNX Runtime cannot load or run it, it has other inputs or outputs, or its results are none.
    """

    name = "onnx"

    def __init__(
        self,
        content: bytes,
        interface: Interface,
        fixed: Optional[Mapping[str, int]] = None,
        file: str = "model.onnx",
        threads: int = 1,
    ):
        onnxruntime = import_onnxruntime()
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.log_severity_level = 3
        # that of 1.19, the newest for Python 3.9, gives two nodes one name
        options.add_session_config_entry("optimization.disable_specified_optimizers", "GatherSliceToSplitFusion")
        try:
            self.session = session = onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
        except Exception as problem:  # onnxruntime's own classes have no other base
            raise BundleError(f"this {file}: ONNX Runtime cannot load it: {reason(problem)}") from problem
        inputs, outputs = ([item.name for item in side] for side in (session.get_inputs(), session.get_outputs()))
        if not set(inputs) <= set(interface.inputs) or set(outputs) != set(interface.outputs):
            expected = f"expected inputs and outputs {list(interface.inputs)} and {list(interface.outputs)}"
            raise BundleError(f"this {file}: {expected}, found {inputs} and {outputs}; is it another model?")
        self.interface, self.fixed, self.file, self.threads = interface, fixed, file, threads
        self.inputs = {name: numpy.dtype(dtype(name)) for name in inputs}
        self.batch_size = PIECE * threads

    def __call__(self, *arrays: Array, outputs: Optional[Iterable[str]] = None) -> list[Array]:
        names, reviews = list(outputs or self.interface.outputs), len(arrays[0])
        parts = max(min(self.threads, reviews // WORTH_A_THREAD), -(-reviews // PIECE))
        if parts < 2 or self.threads < 2:
            return self.run(names, arrays)
        divided = zip(*(numpy.array_split(array, parts) for array in arrays))
        done = thread_pool(self.threads).map(partial(self.run, names), divided)
        return [numpy.concatenate(results) for results in zip(*done)]

    def run(self, names: list[str], arrays: Sequence[Array]) -> list[Array]:
        named = dict(zip(self.interface.inputs, arrays))
        given = {name: named[name].astype(kind, copy=False) for name, kind in self.inputs.items()}
        try:
            results: list[Array] = self.session.run(names, given)
        except Exception as problem:  # onnxruntime's own classes have no other base
            raise BundleError(f"the bundle's {self.file} cannot be run: {reason(problem)}") from problem
        if self.fixed is not None:
            self.check(named, dict(zip(names, results)))
        return results

    def check(self, given: Mapping[str, Array], results: Mapping[str, Array]) -> None:
        """Raise BundleError unless results have the shapes that they are declared with, and their numbers are in RANGES."""
        sizes: dict[Any, int] = dict(self.fixed or {})
        for name, array in given.items():
            sizes.update(zip(self.interface.inputs[name], array.shape))
        sizes.update({axis: sizes["T"] for axis in AXES if "T" in sizes})
        for name, array in results.items():
            shape = [axis if isinstance(axis, int) else sizes.get(axis, axis) for axis in self.interface.outputs[name]]
            fits = (
                len(shape) == array.ndim
                and array.size
                and all(size in (found, str(size)) for size, found in zip(shape, array.shape))
            )
            low, high = (0, sizes["V"] - 1) if dtype(name) == "int32" else RANGES.get(name, (None, None))
            # not a number is neither at least low nor at most high
            if fits and (low is None or array.min() >= low and array.max() <= high):
                continue
            expected = f"{name} of shape {tuple(shape)}" + (f" from {low:.4g} to {high:.4g}" if low is not None else "")
            found = f"shape {array.shape}" + (f" from {array.min():.4g} to {array.max():.4g}" if array.size else "")
            raise BundleError(
                f"the bundle's {self.file}: expected {expected}, found {found}: its parameters are too large, or it is "
                f"another model; {REMEDY}"
            )


class GluonGraph:
    """Runs a HybridBlock on an MXNet device; not thread-safe, as MXNet is not."""

    name, batch_size = "gluon", GLUON_BATCH

    def __init__(self, block: Any, interface: Interface, device: Device):
        from .._runtime.mxnet_shim import import_mxnet

        self.mxnet, self.block, self.interface, self.device = import_mxnet(), block, interface, device

    def __call__(self, *arrays: Array, outputs: Optional[Iterable[str]] = None) -> list[Array]:
        from ..model.blocks import listed

        results = self.interface.results(self.mxnet.nd, *listed(self.block(*self.on_device(*arrays))))
        named = dict(zip(self.interface.outputs, results))
        return [named[name].asnumpy() for name in outputs or named]

    def on_device(self, *arrays: Array) -> list[Any]:
        """Return the inputs on the device, in the types that the networks take."""
        kinds = ("float32" if name in LENGTHS else dtype(name) for name in self.interface.inputs)
        return [self.mxnet.nd.array(array, ctx=self.device, dtype=kind) for array, kind in zip(arrays, kinds)]


RunnableGraph = Union[OnnxGraph, GluonGraph]


def reason(problem: Exception) -> str:
    return str(problem).splitlines()[0][:200]


def load_graphs(
    bundle: AnyBundle, engine: str, device: str, sizes: Sizes, threads: int = 1, remedy: str = REMEDY
) -> dict[str, RunnableGraph]:
    """Return what runs each graph of a bundle, by onnx or gluon; `remedy` ends the message of one that may not be run."""
    interfaces = bundle.config.graphs
    if engine == "gluon":
        network, context = gluon_network(bundle, device)
        network.hybridize()
        pairs = zip(interfaces.items(), parts_of(network))
        return {file: GluonGraph(part, interface, context) for (file, interface), part in pairs}
    contents = {file: checked(bundle, file, interface, sizes, remedy) for file, interface in interfaces.items()}
    fixed = None if bundle.packaged else sizes.fixed
    return {file: OnnxGraph(contents[file], interfaces[file], fixed, file, threads) for file in contents}


def checked(bundle: AnyBundle, file: str, interface: Interface, sizes: Sizes, remedy: str = REMEDY) -> bytes:
    """Return the content of a bundle's graph; BundleError where it did not come with the package and may not be run."""
    content = bundle.read(file)
    if bundle.packaged:
        return content
    return bytes(import_check().check_graph(content, interface, sizes, bundle.file(file), remedy))
