"""The networks of `restore` behind plain calls, run by compiled kernels (editors), by ONNX Runtime or by MXNet.

engine.tag(source_ids, source_length) -> tags (N, S), certainty (N, S), spaces (N, S), of an editor
engine.begin(source_ids, source_length) -> source, state;  engine.step(ids, source, state): a `search.Decoder`
"""

from collections.abc import Mapping, Sequence
from typing import Any, Optional

import numpy

from ..._runtime.aliases import Numbers
from ..._runtime.processes import cores
from ...inference.engines import PIECE, PRECISIONS, chosen_engine, companion_engine, load_graphs
from ...native.kernels import is_built
from . import native
from .settings import RestoreConfig
from .system import RestorerBundle

# A recurrent editor reads texts this many times as long as those that it was trained on at once
EDITOR_LENGTHS = 4
# A writer loses its place in texts that are longer than most of its training sentences, which have 20 characters
WRITER_LENGTH = 48


class RestorerEngine:
    """Runs the graphs of an editor or a writer, or a `native.NativeEditor` in place of an editor's graph.

    `batch_size` texts are read at once, and several batches at the same time, by a thread each.
    """

    def __init__(self, graphs: Mapping[str, Any], threads: int = 1):
        self.graphs, first = graphs, next(iter(graphs.values()))
        self.name, self.batch_size = first.name, first.batch_size
        self.threads = threads

    def size_of_batches(self, texts: int) -> int:
        """Return how many of so many texts are read at once: `batch_size`, but PIECE where a thread would have no work."""
        return min(self.batch_size, max(PIECE, -(-texts // (2 * self.threads))))

    def tag(self, source_ids: Numbers, source_length: Numbers) -> list[Numbers]:
        return self.graphs["model.onnx"](source_ids, source_length)

    def begin(self, source_ids: Numbers, source_length: Numbers) -> tuple[list[Numbers], list[Numbers]]:
        """Return what does not change between steps, [memory, keys, mask], and the first state."""
        memory, keys, mask, *states = self.graphs["source.onnx"](source_ids, source_length)
        before = [numpy.zeros_like(states[0])] if "before" in self.graphs["step.onnx"].interface.inputs else []
        return [memory, keys, mask], [*before, *states]

    def step(
        self, ids: Numbers, source: Sequence[Numbers], state: Sequence[Numbers]
    ) -> tuple[Numbers, Numbers, list[Numbers]]:
        """Return log-probabilities (N, V), weights (N, S) and the state after ids (N,)."""
        log_probability, weights, *after = self.graphs["step.onnx"](ids, *source, *state)
        return log_probability, weights, after


def longest_read(config: RestoreConfig) -> int:
    """Return the most characters that are read at once."""
    longest, is_editor = config.text.max_length, config.model.kind == "editor"
    if is_editor and config.model.encoder.kind != "transformer":
        return longest * EDITOR_LENGTHS
    return longest if is_editor else min(longest, WRITER_LENGTH)


def engine_beside(bundle: RestorerBundle, name: str) -> str:
    """Return the engine of a restorer beside a classifier on the engine called name: compiled kernels where it fits."""
    return "native" if name in PRECISIONS and native.misfit(bundle) is None else companion_engine(name)


def load_restorer_engine(
    bundle: RestorerBundle, name: str = "auto", device: str = "auto", threads: Optional[int] = None
) -> RestorerEngine:
    """Load the engine called name for an editor's or writer's bundle.

    "auto" is native where the extension was built and the bundle fits it, else onnx where the bundle has its models, else
    gluon; on a GPU gluon.
    """
    if name == "auto" and device != "gpu" and is_built() and native.misfit(bundle) is None:
        name = "native"
    has_graphs = next(iter(bundle.config.graphs)) in bundle.manifest["files"]
    chosen = chosen_engine(name, device, has_graphs, ("native", "onnx", "gluon"))
    if chosen == "native":
        return RestorerEngine({"model.onnx": native.native_editor(bundle)}, threads or cores())
    graphs = load_graphs(bundle, chosen, device)
    return RestorerEngine(graphs, (threads or cores()) if chosen == "onnx" else 1)
