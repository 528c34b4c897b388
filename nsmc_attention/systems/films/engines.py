"""The engine of a film network, its reviews one by one and the film, and that of the reviews' encoder."""

from typing import Any, Optional, Union

from ..._runtime.aliases import Numbers
from ..._runtime.processes import cores
from ...classification import native
from ...classification.engines import GraphEngine
from ...classification.graphs import CONTEXTS
from ...classification.system import ClassifierBundle
from ...inference.engines import chosen_engine
from ...inference.sessions import OnnxGraph, load_graphs
from .system import FilmBundle


class FilmEngine:
    """Runs the graphs of a film network, or the network on MXNet, on one thread; "auto" is onnx, on a GPU gluon."""

    def __init__(self, bundle: FilmBundle, name: str, device: str):
        self.name = chosen_engine(name, device)
        self.graphs = load_graphs(bundle, self.name, device)

    def reviews(self, vectors: Numbers) -> tuple[Numbers, Numbers]:
        """(M, F) -> scores (M,), values (M, D)."""
        scores, values = self.graphs["reviews.onnx"](vectors)
        return scores, values

    def film(self, pooled: Numbers, counts: Numbers) -> Numbers:
        """(N, P), (N, 1) -> quantiles (N, 3)."""
        return self.graphs["film.onnx"](pooled, counts)[0]


def reading_engine(bundle: ClassifierBundle, threads: Optional[int] = None) -> Union[native.NativeEngine, GraphEngine]:
    """Load a classifier's engine that has `contexts`: native where it was built and has those of the bundle, else onnx.

    That is model.onnx, where values are states with what its last layer reads as an output; MissingPackage without the
    package onnx.
    """
    # of embeddings as they are it computes only what they add to the log-odds
    model: Any = bundle.config.model
    if native.runs(bundle) and model.values.kind != "embedding":
        return native.native_engine(bundle, threads)
    interface, content, where = bundle.config.graphs["model.onnx"], bundle.read("model.onnx"), bundle.file("model.onnx")
    if CONTEXTS not in interface.outputs:
        from .contexts import with_contexts

        content = with_contexts(content, where)
        interface = interface._replace(outputs={**interface.outputs, CONTEXTS: ("N", "F")})
    return GraphEngine(OnnxGraph(content, interface, threads or cores(), bundle.parameters(), where))
