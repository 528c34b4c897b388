"""The network behind one call, by MXNet or by ONNX Runtime.

    engine(*arrays) -> probability (N,), weights (N, T, T)

The arrays are those of `Encoder.batch`: token_ids, valid_length and, for a model that reads them, ngram_ids.

`engine.batch_size` is how many reviews it takes best at a time. Knows nothing of text. Only the gluon engine
imports MXNet, and only when it is built.
"""

import os
from concurrent.futures import ThreadPoolExecutor

import numpy

from .._runtime.processes import cores
from ..errors import BundleError, ConfigError, MissingPackage, did_you_mean

INPUTS = ("token_ids", "valid_length", "ngram_ids")
# Reviews a thread computes at once: what they need stays in its cache. Fewer than WORTH_A_THREAD wait for no other
PIECE, WORTH_A_THREAD = 32, 8
# The HybridBlock's batch on MXNet, of which a GPU wants many reviews
GLUON_BATCH = 128


def import_onnxruntime():
    """Import and answer the module onnxruntime, which from 1.29 on would tell its makers what it is used for.

    Its telemetry (microsoft/onnxruntime#27379) opens connections and keeps a number of the device in the user's
    cache folder. It is off here, unless the user has set ORT_DISABLE_TELEMETRY=0.
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


class OnnxEngine:
    """Runs a model written by `export`; safe to call from several threads.

    A batch is cut into pieces that the threads compute each on its own: a quarter faster than ONNX Runtime's
    threads within one operator, which wait for each other at every step of the GRU.

    Parameters
    ----------
    model : path or bytes
        The file model.onnx, or its content.
    threads : int or None
        None is one a core.
    """

    name = "onnx"

    def __init__(self, model, threads=None):
        onnxruntime = import_onnxruntime()
        where = "this ONNX model" if isinstance(model, bytes) else model
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.log_severity_level = 3
        try:
            self.session = onnxruntime.InferenceSession(
                model if isinstance(model, bytes) else str(model), options, providers=["CPUExecutionProvider"]
            )
        except Exception as problem:  # onnxruntime raises classes of its own, all of them Exception alone
            raise BundleError(
                f"{where}: ONNX Runtime cannot load it: {str(problem).splitlines()[0][:200]}"
            ) from problem
        expected = (list(INPUTS), ["probability", "weights"])
        found = ([item.name for item in self.session.get_inputs()], [item.name for item in self.session.get_outputs()])
        if not set(found[0]) <= set(expected[0]) or found[1] != expected[1]:
            raise BundleError(f"{where}: expected inputs and outputs {expected}, found {found}; is it another model?")
        self.inputs = found[0]
        self.threads = threads or cores()
        self.batch_size = PIECE * self.threads
        self.pool = ThreadPoolExecutor(self.threads) if self.threads > 1 else None

    def __call__(self, *arrays):
        reviews = len(arrays[0])
        pieces = max(min(self.threads, reviews // WORTH_A_THREAD), -(-reviews // PIECE))
        if pieces < 2 or not self.pool:
            return tuple(self.run(*arrays))
        parts = self.pool.map(self.run, *(numpy.array_split(array, pieces) for array in arrays))
        return tuple(numpy.concatenate(answers) for answers in zip(*parts))

    def run(self, *arrays):
        given = dict(zip(INPUTS, arrays))
        return self.session.run(["probability", "weights"], {name: given[name] for name in self.inputs})


class GluonEngine:
    """Runs a HybridBlock; call it from one thread (MXNet is not thread-safe).

    Parameters
    ----------
    network : HybridBlock
        Of `model.classifier`, with its parameters on `device`.
    device : mxnet context
    """

    name, batch_size = "gluon", GLUON_BATCH

    def __init__(self, network, device):
        from .._runtime.mxnet_shim import import_mxnet

        self.mxnet, self.network, self.device = import_mxnet(), network, device

    def __call__(self, token_ids, valid_length, *ngram_ids):
        nd = self.mxnet.nd
        logits, weights = self.network(
            nd.array(token_ids, ctx=self.device, dtype="int32"),
            nd.array(valid_length, ctx=self.device, dtype="float32"),
            *(nd.array(ids, ctx=self.device, dtype="int32") for ids in ngram_ids),
        )
        return logits.softmax()[:, 1].asnumpy(), weights.asnumpy()


class ForeignEngine(OnnxEngine):
    """Runs a graph that did not come with the package: checked before, and its results with each batch."""

    def run(self, *arrays):
        try:
            probability, weights = super().run(*arrays)
        except Exception as problem:  # onnxruntime's own classes have no other base
            raise BundleError(
                f"the bundle's model.onnx cannot be run: {str(problem).splitlines()[0][:200]}"
            ) from problem
        shape = arrays[0].shape
        # not a number is neither at least 0 nor at most 1
        if (*probability.shape, *weights.shape) != (shape[0], *shape, shape[1]) or not (
            weights.min() >= 0 and weights.max() <= 1 + 1e-5 and probability.min() >= 0 and probability.max() <= 1
        ):
            raise BundleError(
                "expected probabilities and weights from 0 to 1 from the bundle's model.onnx, found others: its "
                "parameters are too large, or it is another model; train again, or take another bundle"
            )
        return probability, weights


def onnx_engine(bundle, device, threads):
    """Load the bundle's model.onnx into ONNX Runtime; a foreign one is checked before."""
    if device not in ("auto", "cpu"):
        raise ConfigError(
            f"the onnx engine runs on the CPU: expected --device auto or cpu, found {device!r}; "
            "for a GPU use --engine gluon"
        )
    content = bundle.read("model.onnx")
    return OnnxEngine(content, threads) if bundle.packaged else ForeignEngine(checked(bundle, content), threads)


def checked(bundle, content):
    """Return a foreign bundle's graph as checked by `model.onnx.check`; BundleError if it may not be run."""
    try:
        from ..model.onnx.check import check_graph
    except ImportError as problem:
        raise MissingPackage(
            f"a bundle that did not come with the package needs onnx ({problem}): pip install onnx, "
            "or use --engine gluon"
        ) from problem
    config = bundle.config
    rows = {"token_ids": len(bundle.encoder)}
    if config.text.ngram_buckets:
        rows["ngram_ids"] = config.text.ngram_buckets
    longest = config.text.max_length
    lengths = [config.fixed_length] * 3 if config.fixed_length else [1, min(7, longest), longest]
    return check_graph(content, rows, list(zip((1, 3, PIECE), lengths)), bundle.file("model.onnx"))


def gluon_engine(bundle, device, threads):
    """Build the bundle's network with the parameters of its weights.params."""
    from .._runtime.devices import choose_device
    from ..model.parameters import fill, read_gluon_file

    context = choose_device(device)
    network = bundle.config.network(len(bundle.encoder))
    fill(network, read_gluon_file(bundle.read("weights.params"), network, bundle.file("weights.params")), context)
    network.hybridize(static_alloc=True)
    return GluonEngine(network, context)


ENGINES = {"onnx": onnx_engine, "gluon": gluon_engine}


def load_engine(bundle, name="auto", device="auto", threads=None):
    """Build the engine called name; "auto" is onnx where the bundle has a model.onnx, else gluon."""
    if name == "auto":
        name = "onnx" if "model.onnx" in bundle.manifest["files"] and device != "gpu" else "gluon"
    if name not in ENGINES:
        raise ConfigError(f"unknown engine {name!r}{did_you_mean(name, [*ENGINES, 'auto'])}")
    return ENGINES[name](bundle, device, threads)
