"""A network behind one call, run by compiled kernels, by ONNX Runtime or by MXNet.

    engine(*arrays) -> probability (N,), weights (N, *axes)

The arrays are those of `ReviewEncoder.batch`: token_ids, valid_length and, for a model with n-grams, ngram_ids. Only the
gluon engine imports MXNet, and only when it is built.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Optional, Protocol, Union

import numpy
from numpy.typing import NDArray

from .._runtime.processes import cores, thread_pool
from ..errors import BundleError
from ..inference.sessions import (
    GLUON_BATCH,
    PIECE,
    PRECISIONS,
    WORTH_A_THREAD,
    chosen_engine,
    gluon_network,
    import_check,
    import_onnxruntime,
    reason,
)
from ..model.interfaces import AXES, Axes, Interface
from . import native
from .interface import CONTEXTS, REVIEWS
from .layout import ClassifierBundle

INPUTS, OUTPUTS = ("token_ids", "valid_length", "ngram_ids"), ("probability", "weights")

# The output of a model whose encoder attends: its weights
HEADS = "heads"

MORE = (HEADS, CONTEXTS)

NO_WEIGHTS = (
    "expected probabilities and weights from 0 to 1 from the bundle's model.onnx, found others: its parameters are too "
    "large, or it is another model; train again, or take another bundle"
)


class Engine(Protocol):
    """What predicts; `axes` are those of its weights after that of the reviews."""

    name: str
    batch_size: int
    axes: tuple[str, ...]

    def __call__(self, *arrays: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]: ...

    def heads(self, *arrays: NDArray[Any]) -> NDArray[Any]:
        """Return the weights (N, L, K, T, T) of an encoder that attends."""


class OnnxEngine:
    """Runs a model.onnx; safe to call from several threads.

    A batch is divided among threads (None: one a core) that compute one part each: a quarter faster than ONNX Runtime's
    own threads, which wait for each other at every step of the GRU. `model` is the content of the file, `axes` those of
    its network. BundleError if ONNX Runtime cannot load it, or it has other inputs or outputs.
    """

    name = "onnx"

    def __init__(self, model: bytes, axes: tuple[str, ...] = AXES, threads: Optional[int] = None):
        onnxruntime = import_onnxruntime()
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.log_severity_level = 3
        try:
            self.session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        except Exception as problem:  # onnxruntime's own classes have no other base
            raise BundleError(f"this ONNX model: ONNX Runtime cannot load it: {reason(problem)}") from problem
        expected = (list(INPUTS), list(OUTPUTS))
        found = tuple([item.name for item in side] for side in (self.session.get_inputs(), self.session.get_outputs()))
        if not set(found[0]) <= set(expected[0]) or [each for each in found[1] if each not in MORE] != expected[1]:
            raise BundleError(
                f"this ONNX model: expected inputs and outputs {expected}, found {found}; is it another model?"
            )
        self.inputs, self.axes = found[0], axes
        self.threads = threads or cores()
        self.batch_size = PIECE * self.threads

    @property
    def pool(self) -> Any:
        return thread_pool(self.threads)

    def __call__(self, *arrays: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        probability, weights = self.divided(self.run, arrays)
        return probability, weights

    def divided(self, run: Callable[..., Sequence[Any]], arrays: Sequence[NDArray[Any]]) -> list[Any]:
        """Return what `run` returns of a batch, divided among the threads."""
        reviews = len(arrays[0])
        parts = max(min(self.threads, reviews // WORTH_A_THREAD), -(-reviews // PIECE))
        if parts < 2 or self.threads < 2:
            return list(run(*arrays))
        done = self.pool.map(run, *(numpy.array_split(array, parts) for array in arrays))
        return [numpy.concatenate(each) for each in zip(*done)]

    def run(self, *arrays: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        probability, weights = self.outputs(OUTPUTS, arrays)
        return probability, weights

    def heads(self, *arrays: NDArray[Any]) -> NDArray[Any]:
        (found,) = self.outputs([HEADS], arrays)
        return found

    def contexts(self, *arrays: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return what the last layer reads (N, F), and the probability of positive (N,); of a `reading_engine`."""
        contexts, probability = self.divided(lambda *given: self.outputs([CONTEXTS, OUTPUTS[0]], given), arrays)
        return contexts, probability

    def outputs(self, names: Sequence[str], arrays: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
        named = dict(zip(INPUTS, arrays))
        return list(self.session.run(names, {name: named[name] for name in self.inputs}))


class GluonEngine:
    """Runs a network of `model.networks` with its parameters on an MXNet device; not thread-safe, as MXNet is not."""

    name, batch_size = "gluon", GLUON_BATCH

    def __init__(self, network: Any, device: Any):
        from .._runtime.mxnet_shim import import_mxnet

        self.mxnet, self.network, self.device, self.axes = import_mxnet(), network, device, network.axes

    def __call__(self, *arrays: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        logits, weights, *_ = self.network(*as_nd(self.mxnet.nd, self.device, *arrays))
        return logits.softmax()[:, 1].asnumpy(), weights.asnumpy()

    def heads(self, *arrays: NDArray[Any]) -> NDArray[Any]:
        return numpy.asarray(self.network(*as_nd(self.mxnet.nd, self.device, *arrays))[2].asnumpy())


def as_nd(nd: Any, device: Any, token_ids: Any, valid_length: Any, *ngram_ids: Any) -> list[Any]:
    """Return a batch's arrays on the device, in the types that the networks take."""
    typed = [(token_ids, "int32"), (valid_length, "float32"), *((ids, "int32") for ids in ngram_ids)]
    return [nd.array(array, ctx=device, dtype=dtype) for array, dtype in typed]


class ForeignEngine(OnnxEngine):
    """Runs a graph that did not come with the package: checked before, and its results with each batch."""

    def outputs(self, names: Sequence[str], arrays: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
        try:
            return super().outputs(names, arrays)
        except Exception as problem:  # onnxruntime's own classes have no other base
            raise BundleError(f"the bundle's model.onnx cannot be run: {reason(problem)}") from problem

    def heads(self, *arrays: NDArray[Any]) -> NDArray[Any]:
        found, (reviews, length) = super().heads(*arrays), arrays[0].shape
        shape = (reviews, *found.shape[1:3], length, length)
        if found.shape != shape or not found.size or not (found.min() >= 0 and found.max() <= 1 + 1e-5):
            raise BundleError(NO_WEIGHTS)
        return found

    def run(self, *arrays: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        probability, weights = super().run(*arrays)
        reviews, length = arrays[0].shape
        sizes = dict(zip(self.axes, weights.shape[1:]))
        expected = (reviews, *(length if axis in AXES else max(1, size) for axis, size in sizes.items()))
        shapes = (probability.shape, weights.shape)
        fits = len(sizes) == len(self.axes) and shapes == ((reviews,), expected)
        # not a number is neither at least 0 nor at most 1
        if not fits or not (
            weights.min() >= 0 and weights.max() <= 1 + 1e-5 and probability.min() >= 0 and probability.max() <= 1
        ):
            raise BundleError(NO_WEIGHTS)
        return probability, weights


def onnx_engine(
    bundle: ClassifierBundle, threads: Optional[int], change: Callable[[bytes], bytes] = bytes
) -> OnnxEngine:
    """Load the bundle's model.onnx, as `change` changes it, into ONNX Runtime; a foreign one is checked before."""
    content = bundle.read("model.onnx")
    if bundle.packaged:
        return OnnxEngine(change(content), bundle.config.model.axes, threads)
    text, fixed = bundle.config.text, bundle.config.fixed_length
    rows = {"token_ids": len(bundle.codec), **({"ngram_ids": text.ngram_buckets} if text.ngram_buckets else {})}
    batches = [(1, fixed or 1), (3, fixed or min(7, text.max_length)), (PIECE, fixed or text.max_length)]
    axes = bundle.config.model.axes
    content = check_classifier(content, rows, bundle.config.model.outputs, batches, bundle.file("model.onnx"))
    return ForeignEngine(change(content), axes, threads)


def check_classifier(
    content: bytes,
    rows: Mapping[str, int],
    outputs: Mapping[str, Axes],
    batches: Sequence[tuple[int, int]],
    where: Union[str, Path],
) -> bytes:
    """Return the serialized graph of a classifier, whose settings have these outputs, as `onnx.check.check_graph` does.

    `rows` has the inputs that are ids; `batches` are sizes (N, T).
    """
    interface = Interface({name: REVIEWS[name] for name in ("valid_length", *rows)}, outputs)
    sizes = [{"N": reviews, **dict.fromkeys(("T", *AXES), length)} for reviews, length in batches]
    remedy = f"write it again with `nsmc-attention export --bundle {Path(where).parent}`, or use --engine gluon"
    return bytes(import_check().check_graph(content, rows, interface, {}, sizes, where, remedy))


def gluon_engine(bundle: ClassifierBundle, device: str) -> GluonEngine:
    """Build the classifier's network with the parameters of its weights.params."""
    network, context = gluon_network(bundle, device)
    network.hybridize(static_alloc=True)
    return GluonEngine(network, context)


def load_engine(
    bundle: ClassifierBundle, name: str = "auto", device: str = "auto", threads: Optional[int] = None
) -> Engine:
    """Load the engine called name of a classifier's bundle.

    "auto" is native where the extension was built and the bundle fits it, else onnx where the bundle has a model.onnx,
    else gluon; on a GPU gluon.
    """
    if name == "auto" and device != "gpu" and native.runs(bundle):
        name = "native"
    known = (*PRECISIONS, "onnx", "gluon")
    chosen = chosen_engine(name, device, "model.onnx" in bundle.manifest["files"], known)
    if chosen in PRECISIONS:
        return native.native_engine(bundle, threads, chosen)
    return gluon_engine(bundle, device) if chosen == "gluon" else onnx_engine(bundle, threads)
