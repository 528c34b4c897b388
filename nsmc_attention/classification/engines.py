"""A classifier's network behind one call, run by compiled kernels, by ONNX Runtime or by MXNet.

    engine(*arrays) -> probability (N,), weights (N, *axes)

The arrays are those of `ReviewEncoder.batch`: token_ids, valid_length and, for a model with n-grams, ngram_ids.
"""

from typing import Optional, Protocol

from .._runtime.aliases import Numbers
from .._runtime.processes import cores
from ..inference.engines import PRECISIONS, GluonGraph, RunnableGraph, chosen_engine, load_graphs
from ..model.graphs import CONTEXTS, CONTRIBUTIONS, HEADS
from . import native
from .system import ClassifierBundle


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
        """Return what a network above reads (N, F), and the probability of positive (N,), of a graph that has both."""
        contexts, probability = self.graph(*arrays, outputs=(CONTEXTS, "probability"))
        return contexts, probability


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
