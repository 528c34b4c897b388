"""The networks of `restore` behind plain calls, run by ONNX Runtime or by MXNet.

editor(source_ids, source_length) -> tags (N, S), certainty (N, S), spaces (N, S)
writer.begin(source_ids, source_length) -> source, state;  writer.step(ids, source, state): a `search.Decoder`
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Optional, Union

import numpy
from numpy.typing import NDArray

from .._runtime.processes import cores
from ..errors import BundleError
from ..inference.sessions import GLUON_BATCH, PIECE, chosen_engine, gluon_network, import_check, run, session_of
from .characters import Characters
from .layout import RestorerBundle
from .settings import EditorConfig, RestoreConfig, WriterConfig, most_written

Array = NDArray[Any]

# An editor reads texts this many times as long as those that it was trained on at once; a writer does not
EDITOR_LENGTHS = 4


class RestorerEngine:
    """Base; `batch_size` texts are read at once, and several batches by `each` at the same time, a thread each."""

    name = "onnx"
    batch_size = PIECE

    def __init__(self, threads: Optional[int] = None):
        threads = threads or cores()
        self.pool = ThreadPoolExecutor(threads) if threads > 1 else None

    def each(self, run: Callable[[Any], Any], batches: Sequence[Any]) -> Iterable[Any]:
        """Return run(batch) of each batch, in order."""
        return self.pool.map(run, batches) if self.pool and len(batches) > 1 else map(run, batches)


class EditorEngine(RestorerEngine):
    """Runs an editor's model.onnx, which can write `vocab_size` characters."""

    def __init__(self, model: bytes, vocab_size: int, threads: Optional[int] = None):
        super().__init__(threads)
        self.session, self.vocab_size = session_of(model), vocab_size

    def __call__(self, source_ids: Array, source_length: Array) -> tuple[Array, Array, Array]:
        tags, certainty, spaces = run(self.session, {"source_ids": source_ids, "source_length": source_length})
        shapes = {each.shape for each in (tags, certainty, spaces)}
        require(shapes == {source_ids.shape[:2]} and tags.min() >= 0 and tags.max() < self.vocab_size)
        require(numpy.isfinite(certainty).all() and numpy.isfinite(spaces).all())
        return tags, certainty, spaces


class WriterEngine(RestorerEngine):
    """Runs a writer's source.onnx and step.onnx, which can write `vocab_size` characters."""

    def __init__(
        self, source: bytes, step: bytes, names: Iterable[str], vocab_size: int, threads: Optional[int] = None
    ):
        super().__init__(threads)
        self.source, self.decoder, self.vocab_size = session_of(source), session_of(step), vocab_size
        # of a step's arguments in their order, and those of them that this graph reads
        self.names = tuple(names)
        self.inputs = [item.name for item in self.decoder.get_inputs()]

    def begin(self, source_ids: Array, source_length: Array) -> tuple[list[Array], list[Array]]:
        """Return what does not change between steps, (memory, keys, mask), and the first state."""
        memory, keys, mask, *states = run(self.source, {"source_ids": source_ids, "source_length": source_length})
        before = [numpy.zeros_like(states[0])] if "before" in self.names else []
        return [memory, keys, mask], [*before, *states]

    def step(self, ids: Array, source: Sequence[Array], state: Sequence[Array]) -> tuple[Array, Array, list[Array]]:
        """Return log-probabilities (N, V), weights (N, S) and the state after ids (N,)."""
        given = dict(zip(self.names, [ids.astype("int32"), *source, *state]))
        log_probability, weights, *after = run(self.decoder, {name: given[name] for name in self.inputs})
        shapes = (log_probability.shape, weights.shape)
        require(shapes == ((len(ids), self.vocab_size), source[2].shape) and not numpy.isnan(log_probability).any())
        return log_probability, weights, after


class GluonEditor(RestorerEngine):
    """Runs an editor on MXNet."""

    name, batch_size = "gluon", GLUON_BATCH

    def __init__(self, network: Any, device: Any):
        from .._runtime.mxnet_shim import import_mxnet

        super().__init__(1)
        self.nd, self.network, self.device = import_mxnet().nd, network, device

    def arrays(self, *arrays: Array) -> Iterator[Any]:
        return (self.nd.array(array, ctx=self.device, dtype=array.dtype) for array in arrays)

    def __call__(self, source_ids: Array, source_length: Array) -> tuple[Array, Array, Array]:
        tags, spaces = self.network(*self.arrays(source_ids, source_length.astype("float32")))
        probability = tags.softmax(axis=-1)
        arrays = (tags.argmax(axis=2), probability.max(axis=2), spaces.softmax(axis=-1)[:, :, 1])
        best, certainty, space = (array.asnumpy() for array in arrays)
        return best.astype("int32"), certainty, space


class GluonWriter(GluonEditor):
    """Runs a writer on MXNet."""

    def begin(self, source_ids: Array, source_length: Array) -> tuple[list[Array], list[Array]]:
        source, state = self.network.begin(*self.arrays(source_ids, source_length.astype("float32")))
        return [array.asnumpy() for array in source], [array.asnumpy() for array in state]

    def step(self, ids: Array, source: Sequence[Array], state: Sequence[Array]) -> tuple[Array, Array, list[Array]]:
        logits, weights, *after = self.network.step(*self.arrays(ids.astype("int32"), *source, *state))
        return logits.log_softmax().asnumpy(), weights.asnumpy(), [array.asnumpy() for array in after]


def require(condition: Any) -> None:
    """Raise BundleError where a graph's results are none: the graph may be a stranger's, or its parameters too large."""
    if not condition:
        raise BundleError(
            "expected tags or probabilities of each character from the bundle's ONNX model, found something else: its "
            "parameters are too large, or it is another model; train again, or take another bundle"
        )


def load_restorer_engine(
    bundle: RestorerBundle, name: str = "auto", device: str = "auto", threads: Optional[int] = None
) -> Any:
    """Load the engine called name for an editor's or writer's bundle; "auto" is onnx where the bundle has its models."""
    models = list(bundle.config.model.graphs)
    if chosen_engine(name, device, models[0] in bundle.manifest["files"]) == "gluon":
        return gluon_restorer(bundle, device)
    contents = {model: bundle.read(model) for model in models}
    if not bundle.packaged:
        contents = checked(bundle, contents)
    if bundle.config.model.kind == "editor":
        return EditorEngine(contents["model.onnx"], len(bundle.codec), threads)
    step = bundle.config.model.graphs["step.onnx"].inputs
    return WriterEngine(contents["source.onnx"], contents["step.onnx"], step, len(bundle.codec), threads)


def longest_read(config: RestoreConfig) -> int:
    """Return the most characters that are read at once."""
    return config.text.max_length * (EDITOR_LENGTHS if config.model.kind == "editor" else 1)


def checked(bundle: RestorerBundle, contents: dict[str, bytes]) -> dict[str, bytes]:
    """Return the graphs of a bundle that did not come with the package; BundleError if one of them may not be run."""
    longest = longest_read(bundle.config)
    return check_restorer(
        contents, bundle.config.model, bundle.codec, [(1, 1), (3, 7), (PIECE, longest)], bundle.folder
    )


def check_restorer(
    contents: Mapping[str, bytes],
    settings: Union[EditorConfig, WriterConfig],
    characters: Characters,
    batches: Sequence[tuple[int, int]],
    folder: Path,
) -> dict[str, bytes]:
    """Return the serialized graphs of an editor or writer, {file: content}, as `onnx.check.check_graph` does.

    `batches` are sizes (N, S), for a decoder's step N being the hypotheses of all texts.
    """
    check = import_check().check_graph
    rows, sizes = {"source_ids": characters.rows, "ids": len(characters)}, {**settings.sizes, "V": len(characters)}
    places = [
        {"N": texts, "S": length, "W": most_written(length), "W+1": most_written(length) + 1}
        for texts, length in batches
    ]
    return {
        name: check(contents[name], rows, interface, sizes, places, folder / name)
        for name, interface in settings.graphs.items()
    }


def gluon_restorer(bundle: RestorerBundle, device: str) -> GluonEditor:
    """Build the bundle's network with the parameters of its weights.params."""
    network, context = gluon_network(bundle, device)
    network.hybridize()
    return (GluonEditor if bundle.config.model.kind == "editor" else GluonWriter)(network, context)
