"""The network of `read` behind plain calls, run by ONNX Runtime or by MXNet.

engine.begin(strips, source_length) -> source, state, CTC's parts;  engine.step(ids, source, state): a `search.Decoder`
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Optional

import numpy

from ..._runtime.aliases import Numbers
from ..._runtime.processes import cores, in_threads
from ...inference.engines import chosen_engine
from ...inference.sessions import RunnableGraph, load_graphs
from ..sequences.characters import END
from .graphs import LOOKED_AT
from .letters import Letters
from .system import ReaderBundle

# Strips of the longest line that is read: more than a thousand letters
MOST_STRIPS = 2**13
# Log-probability of an id that is no letter and not the end
NEVER = -1e30


class ReaderEngine:
    """Runs the graphs of a reader; several batches at the same time, a thread each."""

    def __init__(self, graphs: Mapping[str, RunnableGraph], letters: Letters, state_size: int, threads: int = 1):
        self.encode, self.decode = graphs.values()
        self.name, self.letters, self.state_size, self.threads = self.encode.name, letters, state_size, threads

    def each(self, run: Callable[[Any], Any], batches: Sequence[Any]) -> Iterable[Any]:
        """Return run(batch) of each batch, in order."""
        return in_threads(self.threads, run, batches)

    def begin(self, strips: Numbers, source_length: Numbers) -> tuple[list[Numbers], list[Numbers], Numbers]:
        """Return what does not change between steps, [memory, keys, mask], the first state, and CTC's (N, S, P)."""
        memory, keys, mask, parts = self.encode(strips, source_length)
        zeros = numpy.zeros((len(mask), self.state_size), "float32")
        return [memory, keys, mask], [zeros, *(numpy.zeros_like(mask) for _ in LOOKED_AT)], parts

    def step(
        self, ids: Numbers, source: Sequence[Numbers], state: Sequence[Numbers]
    ) -> tuple[Numbers, Numbers, list[Numbers]]:
        """Return log-probabilities (N, V), weights (N, S) and the state after ids (N,)."""
        parts, weights, *after = self.decode(ids, *source, *state)
        log_probability = self.letters.log_probability(parts)
        log_probability[:, :END] = NEVER
        return log_probability, weights, after


def load_reader_engine(
    bundle: ReaderBundle, name: str = "auto", device: str = "auto", threads: Optional[int] = None
) -> ReaderEngine:
    """Load the engine called name for a reader's bundle; "auto" is onnx where the bundle has its models."""
    has_graphs = next(iter(bundle.config.graphs)) in bundle.manifest["files"]
    chosen = chosen_engine(name, device, has_graphs)
    graphs = load_graphs(bundle, chosen, device)
    several = (threads or cores()) if chosen == "onnx" else 1
    return ReaderEngine(graphs, bundle.codec, bundle.config.model.decoder_size, several)
