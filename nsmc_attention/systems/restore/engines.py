"""The networks of `restore` behind plain calls, run by compiled kernels (editors), by ONNX Runtime or by MXNet.

engine.tag(source_ids, source_length) -> tags (N, S), certainty (N, S), spaces (N, S), of an editor
engine.begin(source_ids, source_length) -> source, state;  engine.step(ids, source, state): a `search.Decoder`
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Optional

import numpy

from ...engines.graphs import PRECISIONS, THREAD_BATCH, chosen_engine, companion_engine, load_graphs
from ...errors import ConfigError
from ...machine.aliases import Numbers
from ...machine.processes import cores
from ...native.kernels import gates_of, import_network, in_blocks, is_built, kernel_name, other_kind
from ...network.parameters import Arrays, loaded
from .settings import RestoreConfig, RestorerBundle

# An editor reads texts this many times as long as those that it was trained on at once
EDITOR_LENGTHS = 4
# A writer loses its place in texts that are longer than most of its training sentences, which have 20 characters
WRITER_LENGTH = 48
# Texts that an editor reads at once by the compiled kernels: the network's weights stay in the processor's cache, then the dictionary
MOST_TEXTS = 1024
# The layers of two classes: whether a character changes, and whether a space follows it
HEADS = "change", "space"
LAYER = "reader.layer{number}.{{direction}}_gru._unfused.0.{{part}}"


class RestorerEngine:
    """Runs the graphs of an editor or a writer, or a `NativeEditor` in place of an editor's graph.

    `batch_size` texts are read at once, and several batches at the same time, by a thread each.
    """

    def __init__(self, graphs: Mapping[str, Any], threads: int = 1):
        self.graphs, first = graphs, next(iter(graphs.values()))
        self.name, self.batch_size = first.name, first.batch_size
        self.threads = threads

    def size_of_batches(self, texts: int) -> int:
        """Return how many of so many texts are read at once: `batch_size`, but THREAD_BATCH where a thread would have no work."""
        return min(self.batch_size, max(THREAD_BATCH, -(-texts // (2 * self.threads))))

    def tag(self, source_ids: Numbers, source_length: Numbers) -> list[Numbers]:
        return self.graphs["model.onnx"](source_ids, source_length)

    def begin(self, source_ids: Numbers, source_length: Numbers) -> tuple[list[Numbers], list[Numbers]]:
        """Return the inputs of every step, [memory, keys, mask], and the first state."""
        memory, keys, mask, *state = self.graphs["source.onnx"](source_ids, source_length)
        return [memory, keys, mask], state

    def step(
        self, ids: Numbers, source: Sequence[Numbers], state: Sequence[Numbers]
    ) -> tuple[Numbers, Numbers, list[Numbers]]:
        """Return log-probabilities (N, V), weights (N, S) and the state after ids (N,)."""
        log_probability, weights, *after = self.graphs["step.onnx"](ids, *source, *state)
        return log_probability, weights, after


def longest_read(config: RestoreConfig) -> int:
    """Return the most characters that are read at once."""
    longest = config.text.max_length
    return longest * EDITOR_LENGTHS if config.model.kind == "editor" else min(longest, WRITER_LENGTH)


def engine_beside(bundle: RestorerBundle, name: str) -> str:
    """Return the engine of a restorer beside a classifier on the engine called name: compiled kernels where it fits."""
    return "native" if name in PRECISIONS and misfit(bundle) is None else companion_engine(name)


def load_restorer_engine(
    bundle: RestorerBundle, name: str = "auto", device: str = "auto", threads: Optional[int] = None
) -> RestorerEngine:
    """Load the engine called name; "auto" is native where that is possible, else onnx, else (and on a GPU) gluon."""
    if name == "auto" and device != "gpu" and is_built() and misfit(bundle) is None:
        name = "native"
    has_graphs = next(iter(bundle.config.graphs)) in bundle.manifest["files"]
    chosen = chosen_engine(name, device, has_graphs, ("native", "onnx", "gluon"))
    if chosen == "native":
        return RestorerEngine({"model.onnx": native_editor(bundle)}, threads or cores())
    graphs = load_graphs(bundle, chosen, device)
    return RestorerEngine(graphs, (threads or cores()) if chosen == "onnx" else 1)


def misfit(bundle: RestorerBundle) -> Optional[str]:
    """Return why the kernels cannot compute a restorer's bundle, as "expected ..., found ..."; None if they can."""
    return other_kind(bundle.config.model, "kind editor")


class NativeEditor:
    """Runs an editor that `_network.load_editor` returned: source_ids (N, S, ROWS), source_length (N,) to three arrays.

    States and what they are multiplied by are rounded to 8 bits (editor.hpp), by every kernel alike. A text's results are
    the same to the bit whatever is beside it.
    """

    name, batch_size = "native", MOST_TEXTS

    def __init__(self, network: Any):
        self.run = partial(import_network().edit, network)

    def __call__(self, source_ids: Numbers, source_length: Numbers) -> list[Numbers]:
        """Return tags int32, certainty and spaces float32, (N, S) each; of padding KEEP, 1 and 0."""
        size = source_ids.shape[:2]
        tags, certainty, spaces = numpy.zeros(size, "int32"), numpy.ones(size, "float32"), numpy.zeros(size, "float32")
        self.run(source_ids, source_length, tags, certainty, spaces)
        return [tags, certainty, spaces]


def native_editor(bundle: RestorerBundle) -> NativeEditor:
    """Load the bundle's parameters into the kernel; ConfigError where they do not fit, MissingPackage where it was not built."""
    network, kernel = import_network(), kernel_name()
    if problem := misfit(bundle):
        raise ConfigError(f"the native engine does not compute {bundle.name}: {problem}; use --engine onnx or gluon")
    arrays = kernel_arrays(loaded(bundle.parameters()), bundle.config.model.encoder.layers)
    return NativeEditor(network.load_editor(kernel, *arrays))


def kernel_arrays(arrays: Arrays, layers: int) -> tuple[Any, ...]:
    """Return the arguments of `_network.load_editor` but the kernel, sizes rounded up to whole blocks with weights of 0."""
    given = []
    for number in range(layers):
        inputs, input_bias, recurrent, hidden_bias = gates_of(arrays, LAYER.format(number=number))
        inputs = of_states(inputs, hidden_bias.shape[1]) if number else inputs
        rounded = blocks(inputs, 2), blocks(input_bias, 2), blocks(blocks(recurrent, 2), 3), blocks(hidden_bias, 1)
        given.append(tuple(map(numpy.ascontiguousarray, rounded)))
    hidden = recurrent.shape[-1]
    # of both rows of a head their difference alone matters
    heads = numpy.concatenate([numpy.diff(arrays[f"{head}.weight"], axis=0) for head in HEADS])
    biases = numpy.concatenate([numpy.diff(arrays[f"{head}.bias"]) for head in HEADS])
    narrow, tag = of_states(blocks(arrays["narrow.weight"], 0), hidden), blocks(arrays["tag.weight"], 1)
    embedding, heads = arrays["reader.embedding.weight"], of_states(heads, hidden)
    return (embedding, tuple(given), heads, biases, narrow, tag, arrays["tag.bias"])


def blocks(array: Numbers, axis: int) -> Numbers:
    """Return an array with one axis rounded up to whole blocks by zeros."""
    more = [(0, 0)] * array.ndim
    more[axis] = (0, in_blocks(array.shape[axis]) - array.shape[axis])
    return numpy.pad(array, more)


def of_states(weights: Numbers, hidden: int) -> Numbers:
    """Return weights (..., 2 H) for states whose directions are rounded up to whole blocks."""
    whole = weights.shape[:-1]
    return blocks(weights.reshape(*whole, 2, hidden), len(whole) + 1).reshape(*whole, -1)
