"""What runs a graph or a network: ONNX Runtime's sessions, the choice of an engine, a bundle's network on MXNet."""

import os
from collections.abc import Collection
from typing import Any

from numpy.typing import NDArray

from ..bundle.format import AnyBundle
from ..errors import BundleError, ConfigError, MissingPackage, did_you_mean

Array = NDArray[Any]
# The engines of compiled kernels, which run classifiers, and their numbers
PRECISIONS = {"native": "float32", "native-bf16": "bf16"}
# Reviews a thread computes at once: their states fit its cache. Fewer than WORTH_A_THREAD are not divided
PIECE, WORTH_A_THREAD = 32, 8

# The batch of the HybridBlock on MXNet; a GPU needs many reviews
GLUON_BATCH = 128


def import_onnxruntime() -> Any:
    """Import onnxruntime without its telemetry, unless the user has set ORT_DISABLE_TELEMETRY=0.

    From 1.29 on (microsoft/onnxruntime#27379) it opens connections and keeps a device number in the user's cache.
    """
    off = os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1") == "1"
    try:
        import onnxruntime
    except ImportError as problem:
        raise MissingPackage(
            f"the onnx engine needs onnxruntime ({problem}): pip install onnxruntime, or use --engine gluon"
        ) from problem
    if off:
        # the variable is not read on Windows
        onnxruntime.disable_telemetry_events()
    return onnxruntime


def reason(problem: Exception) -> str:
    return str(problem).splitlines()[0][:200]


def import_check() -> Any:
    """Import the check of graphs that did not come with the package; MissingPackage without onnx."""
    try:
        from ..model.onnx import check
    except ImportError as problem:
        raise MissingPackage(
            f"a bundle that did not come with the package needs onnx ({problem}): pip install onnx, "
            "or use --engine gluon"
        ) from problem
    return check


def parameters_of(bundle: AnyBundle) -> tuple[Any, dict[str, NDArray[Any]]]:
    """Return the network of a bundle of any task, not initialized, and {name: array} of its weights.params."""
    from ..model.parameters import read_gluon_file

    network = bundle.config.network(*bundle.codec.sizes)
    return network, read_gluon_file(bundle.read("weights.params"), network, bundle.file("weights.params"))


def gluon_network(bundle: AnyBundle, device: str) -> tuple[Any, Any]:
    """Return the network of a bundle of any task with its parameters, not hybridized, and the mxnet context that it is on."""
    from .._runtime.mxnet_shim import choose_device
    from ..model.parameters import fill

    context = choose_device(device)
    network, arrays = parameters_of(bundle)
    fill(network, arrays, context)
    return network, context


def chosen_engine(name: str, device: str, has_graphs: bool = True, known: Collection[str] = ("onnx", "gluon")) -> str:
    """Return one of `known` for the name of an engine; "auto" is onnx where there are graphs, on a GPU gluon.

    ConfigError where there is no such engine, or it does not run on the device.
    """
    if name == "auto":
        return "onnx" if has_graphs and device != "gpu" else "gluon"
    if name in PRECISIONS and name not in known:
        raise ConfigError(f"the {name} engine runs classifiers: expected --engine auto, onnx or gluon here")
    if name not in known:
        raise ConfigError(f"unknown engine {name!r}{did_you_mean(name, [*known, 'auto'])}")
    if name != "gluon" and device not in ("auto", "cpu"):
        raise ConfigError(
            f"the {name} engine runs on the CPU: expected --device auto or cpu, found {device!r}; "
            "for a GPU use --engine gluon"
        )
    return name


def engine_beside(name: str) -> str:
    """Return the engine of a restorer or language model beside a classifier on the engine called name."""
    return "auto" if name in PRECISIONS else name


def session_of(model: bytes) -> Any:
    """Load a graph into ONNX Runtime, with one thread: batches are divided among threads."""
    onnxruntime = import_onnxruntime()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    try:
        return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    except Exception as problem:  # onnxruntime's own classes have no other base
        raise BundleError(f"this ONNX model: ONNX Runtime cannot load it: {reason(problem)}") from problem


def run(session: Any, arrays: dict[str, Array]) -> list[Array]:
    try:
        found: list[Array] = session.run(None, arrays)
    except Exception as problem:  # onnxruntime's own classes have no other base
        raise BundleError(f"the bundle's ONNX model cannot be run: {reason(problem)}") from problem
    return found
