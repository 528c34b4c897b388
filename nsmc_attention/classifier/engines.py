"""A classifier's network behind one call, run by compiled kernels, by ONNX Runtime or by MXNet.

    engine(*arrays) -> probability (N,), weights (N, *axes)

The arrays are those of `ReviewEncoder.batch`: token_ids, valid_length and, for a model with n-grams, ngram_ids. Other
engines return contributions or gradients, (N, T), in place of the weights.

The compiled kernels of `nsmc_attention.native` need neither MXNet nor ONNX Runtime. They support only the architecture of
the packaged bundle: an embedding, a bidirectional GRU, additive attention, with or without n-grams, of any size.
"""

from collections.abc import Sequence
from functools import partial
from itertools import repeat
from typing import Any, Optional, Protocol, cast
from weakref import WeakValueDictionary

import numpy
from numpy.typing import NDArray

from ..engines.graphs import PRECISIONS, WORTH_A_THREAD, GluonGraph, RunnableGraph, chosen_engine, load_graphs
from ..errors import ConfigError
from ..machine.aliases import Array, Network, Numbers, Record
from ..machine.processes import cores, thread_pool
from ..native import kernels
from ..network.graphs import AXES, CONTEXTS, CONTRIBUTIONS, HEADS
from ..network.parameters import EVIDENCE, NGRAM_TABLE, SCALE, Arrays, loaded
from .settings import ClassifierBundle

# Reviews in a batch of the engines that need the network itself
BATCH = 64
Ids = NDArray[numpy.int32]
Floats = NDArray[numpy.float32]
EMBEDDING = "embedding.weight"
GRU = "encoder.{direction}_gru._unfused.0.{part}"
# Native engines in use, by fingerprint, kernel and threads: all predictors of a bundle share one
ENGINES: "WeakValueDictionary[tuple[object, ...], NativeEngine]" = WeakValueDictionary()


class Engine(Protocol):
    """An engine of a classifier; `axes` are its weights' axes after the axis of reviews."""

    name: str
    batch_size: int
    axes: tuple[str, ...]

    def __call__(self, *arrays: Numbers) -> tuple[Numbers, Numbers]: ...


class GraphEngine:
    """Runs a classifier's graph, or its network on MXNet."""

    def __init__(self, graph: RunnableGraph):
        self.graph, self.name, self.batch_size = graph, graph.name, graph.batch_size
        self.axes = tuple(map(str, graph.interface.outputs["weights"][1:]))

    def __call__(self, *arrays: Numbers) -> tuple[Numbers, Numbers]:
        probability, weights = self.graph(*arrays, outputs=("probability", "weights"))
        return probability, weights

    def heads(self, *arrays: Numbers) -> Numbers:
        """Return the attention weights of the encoder, (N, L, K, T, T)."""
        return self.graph(*arrays, outputs=(HEADS,))[0]

    def contributions(self, *arrays: Numbers) -> Sequence[Numbers]:
        """Return the probability (N,) and the tokens' contributions to the log-odds (N, T), for values near the token."""
        return self.graph(*arrays, outputs=("probability", CONTRIBUTIONS))

    def read(self, *arrays: Numbers) -> Sequence[Numbers]:
        """Return the probability (N,), the weights and the contexts (N, F), which the heads read."""
        return self.graph(*arrays, outputs=("probability", "weights", CONTEXTS))


class ContributionEngine:
    """Returns contributions of tokens to the log-odds, (N, T), in place of weights, by another engine."""

    axes: tuple[str, ...] = ("keys",)

    def __init__(self, engine: Any):
        self.name, self.batch_size, self.contributions = engine.name, engine.batch_size, engine.contributions

    def __call__(self, *arrays: Ids) -> Any:
        return self.contributions(*arrays)


class GradientEngine:
    """Gradient x input of a network's log-odds; not thread-safe.

    The input of a token is every row looked up for it: its embedding and the rows of the n-grams that begin in it. The
    products of the rows and the gradients of the log-odds of positive are summed (Shrikumar et al. 2017,
    arXiv:1704.02685, section 2.2).
    """

    name, batch_size = "gradient", BATCH
    axes: tuple[str, ...] = ("keys",)

    def __init__(self, graph: GluonGraph):
        self.mxnet, self.network, self.graph = graph.mxnet, graph.block, graph

    def __call__(self, *arrays: Ids) -> tuple[Floats, Floats]:
        """Return the probability of positive (N,) and each token's gradient x input (N, T), float32."""
        nd, network = self.mxnet.nd, self.network
        rows, mask, lengths = embed_batch(self.graph, arrays)
        # (T, N, E) and, of n-grams, (N, T, NGRAMS, 2), whose sums are (N, T)
        pairs = zip(rows, self.gradients(rows, mask, lengths))
        embedded, *ngrams = ((row * gradient).reshape((0, 0, -1)).sum(axis=2) for row, gradient in pairs)
        products = sum(ngrams, embedded.transpose())
        probability = network.forward_embedded(nd, rows, mask, lengths)[0].softmax()[:, 1]
        return probability.asnumpy(), (products * mask.reshape((0, 0))).asnumpy()

    def gradients(self, rows: Sequence[Array], mask: Array, lengths: Array) -> list[Array]:
        """Return the gradients of the log-odds of positive with respect to the rows."""
        for row in rows:
            row.attach_grad()
        with self.mxnet.autograd.record(train_mode=False):
            logits = self.network.forward_embedded(self.mxnet.nd, rows, mask, lengths)[0]
            odds = logits[:, 1] - logits[:, 0]
        odds.backward()
        return [row.grad for row in rows]


def embed_batch(graph: GluonGraph, arrays: Sequence[Ids]) -> tuple[list[Array], Array, Array]:
    """Return (rows, mask, lengths) of a batch's arrays, as `forward_embedded` of the graph's network takes them."""
    from .network import token_mask

    nd = graph.mxnet.nd
    ids, lengths, *ngrams = graph.on_device(*arrays)
    return graph.block.embed_tokens(nd, ids, *ngrams), token_mask(nd, ids, lengths), lengths


def misfit(bundle: ClassifierBundle) -> Optional[str]:
    """Return why the kernels do not support a classifier's bundle, as "expected ..., found ...", or None."""
    model: Any = bundle.config.model
    if problem := kernels.other_kind(model, "kind classifier", "encoder.kind gru", "attention.kind additive"):
        return problem
    values, hidden = model.values, kernels.in_blocks(model.encoder.hidden_size)
    near = 0
    if values.kind != "states":
        near = kernels.in_blocks(values.window * kernels.in_blocks(values.units), kernels.GATES * kernels.BLOCK)
    table = len(bundle.codec) * 4 * (hidden * len(kernels.DIRECTIONS) * kernels.GATES + near)
    if table > kernels.LARGEST_TABLE:
        return f"expected a table of words times units of the GRU of at most {kernels.LARGEST_TABLE:,} bytes, found {table:,}"
    return None


def runs_natively(bundle: ClassifierBundle) -> bool:
    """Return whether the extension is built and supports a classifier's bundle."""
    return kernels.is_built() and misfit(bundle) is None


class NativeEngine:
    """Runs a network of `_network.load`; thread-safe.

    A batch is divided among threads (None: one a core). A review's results are the same to the bit whatever other
    reviews and however many threads there are. `name` is one of PRECISIONS, `read` the columns of contexts that heads
    read, and the number of all columns.
    """

    axes: tuple[str, ...] = AXES

    def __init__(self, network: Network, name: str = "native", threads: Optional[int] = None, read: Any = ((), 0)):
        self.name, self.threads, (self.columns, self.width) = name, threads or cores(), read
        self.batch_size = kernels.REVIEWS_A_PIECE * self.threads
        self.run = partial(kernels.import_network().run, network)

    def __call__(self, *arrays: Ids, buffers: Sequence[Optional[Floats]] = (None, None)) -> tuple[Floats, Floats]:
        """Return probability (N,) and weights (N, T, T); fill the buffers of contexts and contributions, unless None."""
        (reviews, length), (ids, lengths, *ngrams) = arrays[0].shape, arrays
        weights = numpy.empty((reviews, length, length), dtype="float32")
        tokens = ids.ravel(), ngrams[0].reshape(reviews * length, -1) if ngrams else None
        return self.fill(*tokens, numpy.arange(0, ids.size, length, "int32"), lengths, weights, *buffers), weights

    def fill(self, ids: Ids, ngrams: Optional[Ids], starts: Ids, lengths: Ids, *buffers: Optional[Floats]) -> Floats:
        """Return probability (N,) of reviews among tokens (U,); fill weights, contexts, contributions unless None."""
        probability = numpy.empty(len(starts), dtype="float32")
        parts, arrays = min(self.threads, len(starts) // WORTH_A_THREAD), (starts, lengths, probability, *buffers)
        if parts < 2:
            self.run(ids, ngrams, *arrays)
        else:
            split = (repeat(None) if array is None else numpy.array_split(array, parts) for array in arrays)
            list(thread_pool(self.threads).map(partial(self.run, ids, ngrams), *split))
        return probability

    def in_window(self, read: bool, ids: Ids, ngrams: Optional[Ids], starts: Ids, lengths: Ids) -> tuple[Any, ...]:
        """Return the probability (N,) of reviews among tokens, None for weights, and the contexts (N, F) if `read`."""
        contexts = numpy.empty((len(starts), self.width), dtype="float32") if read else None
        probability = self.fill(ids, ngrams, starts, lengths, None, contexts, None)
        return (probability, None) if contexts is None else (probability, None, contexts[:, self.columns])

    def read(self, *arrays: Ids) -> tuple[Floats, Floats, Floats]:
        """Return the probability (N,), the weights (N, T, T) and the contexts (N, F)."""
        contexts = numpy.empty((len(arrays[0]), self.width), dtype="float32")
        return (*self(*arrays, buffers=[contexts, None]), contexts[:, self.columns])

    def contributions(self, *arrays: Ids) -> tuple[Floats, Floats]:
        """Return the probability (N,) and the tokens' contributions to the log-odds (N, T), for values near the token."""
        contributions = numpy.zeros(arrays[0].shape, dtype="float32")
        return self(*arrays, buffers=[None, contributions])[0], contributions


def native_engine(bundle: ClassifierBundle, threads: Optional[int] = None, name: str = "native") -> NativeEngine:
    """Load the bundle's parameters into the kernel of one of PRECISIONS, or return the engine that already has them.

    ConfigError if the bundle does not fit or the processor lacks the precision; MissingPackage if the extension was not
    built.
    """
    network, kernel = kernels.import_network(), kernels.kernel_name(PRECISIONS[name])
    if problem := misfit(bundle):
        raise ConfigError(f"the native engine does not compute {bundle.name}: {problem}; use --engine onnx or gluon")
    if engine := ENGINES.get(key := (bundle.fingerprint, kernel, threads or cores())):
        return engine
    config: Any = bundle.config
    loaded_network = network.load(kernel=kernel, **kernel_arrays(bundle.parameters(), config.model.encoder.hidden_size))
    return ENGINES.setdefault(key, NativeEngine(loaded_network, name, threads, columns_read(config)))


def columns_read(config: Any) -> tuple[list[int], int]:
    """Return the columns of contexts that heads read, and the number of all columns. Contexts are the weighted means of values
    near the token and of states; otherwise the last layer's input, the mean of the states and the n-grams' log-odds."""
    near, hidden = config.model.values.near, config.model.encoder.hidden_size
    units = [config.model.values.width(config.model.embedding_size, hidden)] * near + [hidden] * len(kernels.DIRECTIONS)
    starts = numpy.cumsum([0, *map(kernels.in_blocks, units)]).tolist()
    columns = [start + unit for start, count in zip(starts, units) for unit in range(count)]
    return columns + [starts[-1]] * (not near and config.text.ngram_buckets > 0), starts[-1] + (not near)


def kernel_arrays(stored: Arrays, hidden: int) -> Record:
    """Return the arguments of `_network.load` except the kernel, from {name: array} as the file holds them.

    Sums and products of parameters are computed here once: the biases outside the reset gate, the two rows of the last layer,
    and the weights that take the n-grams' log-odds to query and key. The tables stay as they are.
    """
    rest = dict(stored)
    ngrams, embedding = rest.pop(NGRAM_TABLE, None), rest.pop(EMBEDDING)
    scale = as_floats(embedding_scale=rest.pop(EMBEDDING + SCALE)[:, 0])
    arrays = loaded(rest)
    gates = zip(("input_weights", "input_bias", "recurrent", "hidden_bias"), kernels.gates_of(arrays, GRU))
    return {
        "ngrams": ngrams,
        "embedding": embedding,
        **scale,
        **as_floats(**dict(gates)),
        **attention_arrays(arrays, hidden),
        **last_layer(arrays, ngrams is not None, embedding.shape[1]),
        "sign": arrays["gate.weight"].reshape(2, hidden) if "gate.weight" in arrays else None,
        "sign_bias": float(arrays.get("gate.bias", [0])[0]),
    }


def as_floats(**arrays: Numbers) -> Arrays:
    return {name: numpy.ascontiguousarray(array, dtype="float32") for name, array in arrays.items()}


def attention_arrays(arrays: Arrays, hidden: int) -> Arrays:
    projection = numpy.stack([arrays[f"attention._{side}_mid_layer.weight"] for side in ("query", "key")])
    evidence = arrays.get("evidence.weight", numpy.zeros((len(kernels.DIRECTIONS) * hidden, EVIDENCE), dtype="float32"))
    query_bias = arrays["attention._query_mid_layer.bias"]
    return as_floats(
        projection=projection.reshape(2, -1, 2, hidden),
        projection_bias=numpy.stack([query_bias, numpy.zeros_like(query_bias)]),
        # (2, A, D) (D, 2) -> (2, 2, A): from the token and the previous one, to query and key
        evidence=(projection.astype("float64") @ evidence).transpose(2, 0, 1),
        score=arrays["attention._attention_score.weight"][0],
    )


def last_layer(arrays: Arrays, has_ngrams: bool, units: int) -> Record:
    """Return the difference of the last layer's two rows, and the layer of values, if any, on embeddings of `units`."""
    output = arrays["output.weight"][1] - arrays["output.weight"][0]
    read, values = len(output) - has_ngrams, arrays.get("values.dense.weight")
    if values is not None:
        values = numpy.ascontiguousarray(values.reshape(len(values), -1, units))
    others = {"wide": float(output[read:].sum()), "values": values, "value_bias": arrays.get("values.dense.bias")}
    bias = float(arrays["output.bias"][1] - arrays["output.bias"][0])
    return {**as_floats(output=output[:read]), "output_bias": bias, **others}


def gluon_graph(bundle: ClassifierBundle, device: str) -> GluonGraph:
    """Return the classifier's network on an MXNet device."""
    return cast(GluonGraph, load_graphs(bundle, "gluon", device)["model.onnx"])


def load_engine(
    bundle: ClassifierBundle, name: str = "auto", device: str = "auto", threads: Optional[int] = None
) -> Engine:
    """Load an engine for a classifier's bundle by name.

    "auto" is native if the extension was built and supports the bundle, else onnx if the bundle has a model.onnx, else
    gluon; on a GPU it is gluon.
    """
    if name == "auto" and device != "gpu" and runs_natively(bundle):
        name = "native"
    engine_name = chosen_engine(name, device, "model.onnx" in bundle.manifest["files"], (*PRECISIONS, "onnx", "gluon"))
    if engine_name in PRECISIONS:
        return native_engine(bundle, threads, engine_name)
    return GraphEngine(load_graphs(bundle, engine_name, device, threads or cores())["model.onnx"])
