"""A classifier's network behind one call, run by compiled kernels, by ONNX Runtime or by MXNet.

    engine(*arrays) -> probability (N,), weights (N, *axes)

The arrays are those of `ReviewEncoder.batch`: token_ids, valid_length and, for a model with n-grams, ngram_ids. Other
engines return contributions or gradients, (N, T), in place of the weights.
"""

from collections.abc import Sequence
from typing import Any, Optional, Protocol

import numpy
from numpy.typing import NDArray

from ..engines.graphs import PRECISIONS, GluonGraph, RunnableGraph, chosen_engine, load_graphs
from ..machine.aliases import Array, Numbers
from ..machine.processes import cores
from ..network.graphs import CONTEXTS, CONTRIBUTIONS, HEADS
from . import native
from .system import ClassifierBundle

# Reviews of a batch of the engines that need the network itself
BATCH = 64
Ids = NDArray[numpy.int32]
Floats = NDArray[numpy.float32]


class Engine(Protocol):
    """An engine of a classifier; `axes` are those of its weights after that of the reviews."""

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
        """Return the weights (N, L, K, T, T) of an encoder that attends."""
        return self.graph(*arrays, outputs=(HEADS,))[0]

    def contributions(self, *arrays: Numbers) -> tuple[Numbers, Numbers]:
        """Return the probability (N,), and what each token adds to the log-odds (N, T), of values near the token."""
        probability, contributions = self.graph(*arrays, outputs=("probability", CONTRIBUTIONS))
        return probability, contributions

    def contexts(self, *arrays: Numbers) -> tuple[Numbers, Numbers]:
        """Return the input of a network above (N, F), and the probability of positive (N,), of a graph that has both."""
        contexts, probability = self.graph(*arrays, outputs=(CONTEXTS, "probability"))
        return contexts, probability


class ContributionEngine:
    """Contributions of the tokens to the log-odds, (N, T), in place of the weights, by an engine that has `contributions`."""

    axes: tuple[str, ...] = ("keys",)

    def __init__(self, engine: Any):
        self.name, self.batch_size, self.contributions = engine.name, engine.batch_size, engine.contributions

    def __call__(self, *arrays: Ids) -> tuple[Numbers, Numbers]:
        probability, contributions = self.contributions(*arrays)
        return probability, contributions


class GradientEngine:
    """Gradient x input of a network's log-odds, from one thread.

    The input of a token is every row that is looked up for it: its embedding and the rows of the n-grams that begin in
    it. The products of the rows and the gradients of the log-odds of positive are summed (Shrikumar et al. 2017,
    arXiv:1704.02685, section 2.2).
    """

    name, batch_size = "gradient", BATCH
    axes: tuple[str, ...] = ("keys",)

    def __init__(self, graph: GluonGraph):
        self.mxnet, self.network, self.graph = graph.mxnet, graph.block, graph

    def __call__(self, *arrays: Ids) -> tuple[Floats, Floats]:
        """Return the probability of positive (N,) and what each token adds to the log-odds (N, T) float32."""
        nd, network = self.mxnet.nd, self.network
        rows, mask, lengths = embed_batch(self.graph, arrays)
        products = sum(map(sum_by_token, rows, self.gradients(rows, mask, lengths)))
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


def sum_by_token(rows: Array, gradients: Array) -> Array:
    """Rows and their gradients, (T, N, E) or (N, T, NGRAMS, 2) -> the sum of their products, (N, T)."""
    products = rows * gradients
    return products.sum(axis=2).transpose() if len(rows.shape) == 3 else products.sum(axis=(2, 3))


def gluon_graph(bundle: ClassifierBundle, device: str) -> GluonGraph:
    """Return the classifier's network on an MXNet device."""
    graph = load_graphs(bundle, "gluon", device)["model.onnx"]
    assert isinstance(graph, GluonGraph)
    return graph


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
    return GraphEngine(load_graphs(bundle, chosen, device, threads or cores())["model.onnx"])
