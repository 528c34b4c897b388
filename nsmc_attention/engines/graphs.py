"""The choice of an engine, and graphs run by ONNX Runtime or MXNet, with the inputs and outputs of an `Interface`.

    graph(*inputs) -> list of outputs;  graph(*inputs, outputs=("heads",)) -> only these outputs

Only GluonGraph imports MXNet, and only when it is created.
"""

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, Literal, Optional, Union

import numpy

from ..bundle import PARAMETERS, AnyBundle
from ..errors import BundleError, ConfigError, MissingPackage, did_you_mean, requirement
from ..machine.aliases import Device, Numbers
from ..machine.mxnet_shim import choose_device, import_mxnet
from ..machine.processes import thread_pool
from ..network.graphs import LENGTHS, Interface, dtype, parameter_shapes, parts_of
from ..network.parameters import Arrays, initialize_from, loaded

EngineName = Literal["auto", "native", "native-bf16", "onnx", "gluon"]
DeviceName = Literal["auto", "cpu", "gpu"]
# Engines of compiled kernels, {name: number format of a classifier}; editors run only on native, in 8 bits
PRECISIONS = {"native": "float32", "native-bf16": "bf16"}
Array = Numbers
# Reviews that a thread computes at once: their states fit its cache. Fewer than WORTH_A_THREAD are not divided
THREAD_BATCH, WORTH_A_THREAD = 32, 8
# The batch of a network on MXNet; a GPU needs many reviews
GLUON_BATCH = 128


def parameters_of(bundle: AnyBundle) -> tuple[Any, Arrays]:
    """Return the uninitialized network of a bundle of any task, and its parameters, {name: array}."""
    network, arrays = bundle.config.network(*bundle.codec.sizes), loaded(bundle.parameters())
    if parameter_shapes(network) != {name: array.shape for name, array in arrays.items()}:
        raise BundleError(f"{bundle.folder}: its {PARAMETERS} does not fit the config of its manifest; train again")
    return network, arrays


def gluon_network(bundle: AnyBundle, device: str) -> tuple[Any, Any]:
    """Return a bundle's network with its parameters, not hybridized, and its mxnet context."""
    context = choose_device(device)
    network, arrays = parameters_of(bundle)
    initialize_from(network, arrays, context)
    return network, context


def chosen_engine(name: str, device: str, has_graphs: bool = True, known: Collection[str] = ("onnx", "gluon")) -> str:
    """Return one of `known` for an engine's name; "auto" is onnx if there are graphs, else gluon, and gluon on a GPU.

    ConfigError if the engine is unknown or does not run on the device.
    """
    if name == "auto":
        return "onnx" if has_graphs and device != "gpu" else "gluon"
    if name not in known:
        raise ConfigError(f"unknown engine {name!r}{did_you_mean(name, [*known, 'auto'])}")
    if name != "gluon" and device not in ("auto", "cpu"):
        raise ConfigError(
            f"the {name} engine runs on the CPU: expected --device auto or cpu, found {device!r}; "
            "for a GPU use --engine gluon"
        )
    return name


def companion_engine(name: str) -> str:
    """Return the engine of a restorer or language model used with a classifier on the engine `name`."""
    return "auto" if name in PRECISIONS else name


def import_onnxruntime() -> Any:
    """Import onnxruntime without its telemetry, unless the user has set ORT_DISABLE_TELEMETRY=0.

    From 1.29 on (microsoft/onnxruntime#27379) it opens connections and keeps a device number in the user's cache.
    """
    is_off = os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1") == "1"
    try:
        import onnxruntime
    except ImportError as problem:
        raise MissingPackage(
            f"the onnx engine needs onnxruntime ({problem}): pip install {requirement('onnxruntime') or 'onnxruntime'}"
        ) from problem
    if is_off:
        # Windows does not read the variable
        onnxruntime.disable_telemetry_events()
    return onnxruntime


class OnnxGraph:
    """Runs a graph by ONNX Runtime; thread-safe.

    A batch is divided among threads, which is a quarter faster than ONNX Runtime's own threads: these wait for each other
    at every step of a GRU. `content` is the file's content, `where` its name in messages, and `parameters` are those of
    PARAMETERS beside it. BundleError if ONNX Runtime cannot load or run the graph.
    """

    name = "onnx"

    def __init__(
        self,
        content: bytes,
        interface: Interface,
        threads: int = 1,
        parameters: Optional[Mapping[str, Array]] = None,
        where: object = "this ONNX model",
    ):
        onnxruntime = import_onnxruntime()
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.log_severity_level = 3
        # in 1.19, the newest release for Python 3.9, it gives two nodes one name
        options.add_session_config_entry("optimization.disable_specified_optimizers", "GatherSliceToSplitFusion")
        # ONNX files encode the name of a constant as tag, length, name
        arrays = {name: a for name, a in (parameters or {}).items() if b"B%c%s" % (len(name), name.encode()) in content}
        # ONNX Runtime 1.19 would read any other file
        if content.count(b"\n\x08location") > len(arrays):
            raise BundleError(f"{where}: names another file than {PARAMETERS} for its parameters; take another bundle")
        # kept alive, as the session may use their memory
        self.values = list(map(onnxruntime.OrtValue.ortvalue_from_numpy, arrays.values()))
        try:
            options.add_external_initializers(list(arrays), self.values)
            self.session = onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
        except Exception as problem:  # onnxruntime's own classes have no other base
            raise BundleError(f"{where}: ONNX Runtime cannot load it: {reason(problem)}") from problem
        self.interface, self.threads, self.where = interface, threads, where
        self.inputs = {item.name: numpy.dtype(dtype(item.name)) for item in self.session.get_inputs()}
        self.batch_size = THREAD_BATCH * threads

    def __call__(self, *arrays: Array, outputs: Optional[Iterable[str]] = None) -> list[Array]:
        names, reviews = list(outputs or self.interface.outputs), len(arrays[0])
        parts = max(min(self.threads, reviews // WORTH_A_THREAD), -(-reviews // THREAD_BATCH))
        if parts < 2 or self.threads < 2:
            return self.run(names, arrays)
        batches = zip(*(numpy.array_split(array, parts) for array in arrays))
        results = thread_pool(self.threads).map(partial(self.run, names), batches)
        return [numpy.concatenate(pieces) for pieces in zip(*results)]

    def run(self, names: list[str], arrays: Sequence[Array]) -> list[Array]:
        named = dict(zip(self.interface.inputs, arrays))
        feed = {name: named[name].astype(kind, copy=False) for name, kind in self.inputs.items()}
        try:
            results: list[Array] = self.session.run(names, feed)
        except Exception as problem:  # onnxruntime's own classes have no other base
            raise BundleError(f"{self.where}: cannot be run: {reason(problem)}") from problem
        return results


class GluonGraph:
    """Runs a HybridBlock on an MXNet device; not thread-safe, as MXNet is not."""

    name, batch_size = "gluon", GLUON_BATCH

    def __init__(self, block: Any, interface: Interface, device: Device):
        self.mxnet, self.block, self.interface, self.device = import_mxnet(), block, interface, device

    def __call__(self, *arrays: Array, outputs: Optional[Iterable[str]] = None) -> list[Array]:
        from ..network.blocks import listed

        results = self.interface.results(self.mxnet.nd, *listed(self.block(*self.on_device(*arrays))))
        named = dict(zip(self.interface.outputs, results))
        return [named[name].asnumpy() for name in outputs or named]

    def on_device(self, *arrays: Array) -> list[Any]:
        """Return the inputs on the device, with the dtypes that networks expect."""
        kinds = ("float32" if name in LENGTHS else dtype(name) for name in self.interface.inputs)
        return [self.mxnet.nd.array(array, ctx=self.device, dtype=kind) for array, kind in zip(arrays, kinds)]


RunnableGraph = Union[OnnxGraph, GluonGraph]


def reason(problem: Exception) -> str:
    return str(problem).splitlines()[0][:200]


def load_graphs(bundle: AnyBundle, engine: str, device: str, threads: int = 1) -> dict[str, RunnableGraph]:
    """Return {file: runnable graph} of a bundle's graphs, by onnx or gluon."""
    interfaces = bundle.config.graphs
    if engine == "gluon":
        network, context = gluon_network(bundle, device)
        network.hybridize()
        pairs = zip(interfaces.items(), parts_of(network))
        return {file: GluonGraph(block, interface, context) for (file, interface), block in pairs}
    contents = {file: bundle.read(file) for file in interfaces}
    parameters = bundle.parameters()
    return {
        file: OnnxGraph(contents[file], interfaces[file], threads, parameters, bundle.file(file)) for file in contents
    }
