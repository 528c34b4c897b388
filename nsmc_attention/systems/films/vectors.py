"""Reviews as vectors, by the frozen encoder of a classifier: what `film` reads.

texts -> Encoded -> (M, F): what the classifier's last layer reads, and the log-odds of positive
"""

from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, Optional, Union

import numpy
from numpy.typing import NDArray

from ..._io.atomic import replaced_file
from ..._runtime.processes import cores
from ..._runtime.progress import progress_bar
from ...classification import native
from ...classification.engines import GraphEngine
from ...classification.predictor import WINDOW, TokenScorer
from ...classification.system import ClassifierBundle
from ...errors import BundleError
from ...evaluation.calibration import log_odds
from ...inference.engines import OnnxGraph
from ...model.graphs import CONTEXTS
from ...text.encoding import Encoded

Vectors = NDArray[numpy.float32]
# Raise when the content of a cached file changes
LAYOUT = 1
# What stands between the last layer and the probability of positive, backwards
BEHIND = ("Squeeze", "Slice", "Softmax")


class ReviewReader:
    """Reads reviews by a classifier's encoder, with the native engine or ONNX Runtime."""

    def __init__(self, bundle: ClassifierBundle, threads: Optional[int] = None):
        self.bundle, self.engine = bundle, reading_engine(bundle, threads)
        self.batches = TokenScorer(bundle.codec, self.engine, bundle.config).batches
        _, batch = next(self.batches([bundle.codec.encode("가")]))
        # and the log-odds
        self.width = self.engine.contexts(*batch)[0].shape[1] + 1

    def __call__(self, texts: Sequence[str]) -> Vectors:
        """Return (M, F) float32 of M texts, none of them blank; the last column is the log-odds of positive."""
        return self.read(self.bundle.codec.encode_many(texts))[0]

    def read(self, reviews: Sequence[Encoded]) -> tuple[Vectors, NDArray[numpy.float64]]:
        """Return (M, F) float32 of M encoded reviews, and the probability of positive (M,); 0 and NaN of a blank one."""
        vectors = numpy.zeros((len(reviews), self.width), dtype="float32")
        positive = numpy.full(len(reviews), numpy.nan)
        for members, batch in self.batches(reviews):
            contexts, probability = self.engine.contexts(*batch)
            positive[members] = probability
            vectors[members] = numpy.column_stack([contexts, log_odds(positive[members])])
        return vectors, positive


def cached_vectors(
    texts: Sequence[str], reader: ReviewReader, cache: Path, quiet: bool = False
) -> NDArray[numpy.float16]:
    """Return (M, F) float16 of M texts, from a file of the folder `cache` if they were read before."""
    depends_on = sha256(f"{LAYOUT} {reader.bundle.fingerprint}\n".encode())
    depends_on.update("\n".join(texts).encode())
    path = cache / f"vectors-{depends_on.hexdigest()[:32]}.float16"
    if path.exists():
        return numpy.fromfile(path, dtype="float16").reshape(len(texts), reader.width)
    vectors = numpy.empty((len(texts), reader.width), dtype="float16")
    with progress_bar(shown=False if quiet else None, total=len(texts), desc="reading", unit=" reviews") as bar:
        for start in range(0, len(texts), WINDOW):
            part = texts[start : start + WINDOW]
            vectors[start : start + len(part)] = reader(part)
            bar.update(len(part))
    cache.mkdir(parents=True, exist_ok=True)
    with replaced_file(path) as temporary, open(temporary, "wb") as file:
        vectors.tofile(file)
    return vectors


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
        content = with_contexts(content, where)
        interface = interface._replace(outputs={**interface.outputs, CONTEXTS: ("N", "F")})
    return GraphEngine(OnnxGraph(content, interface, threads or cores(), bundle.parameters(), where))


def with_contexts(content: bytes, where: object) -> bytes:
    """Return a serialized classifier with the further output `contexts` (N, F) float32.

    BundleError, in whose message the file is called `where`, if it does not end with a dense layer.
    """
    from onnx import ModelProto, TensorProto, helper

    model = ModelProto.FromString(content)
    writers = {output: node for node in model.graph.node for output in node.output}
    node = writers.get("probability")
    for operator in BEHIND:
        if node and node.op_type == operator:
            node = writers.get(node.input[0])
    if not node or node.op_type != "Gemm":
        found = node.op_type if node else "nothing"
        raise BundleError(
            f"{where}: expected a dense layer before the probability, found {found}; write the graph again with "
            "`nsmc-attention export`"
        )
    model.graph.node.append(helper.make_node("Identity", [node.input[0]], [CONTEXTS]))
    model.graph.output.append(helper.make_tensor_value_info(CONTEXTS, TensorProto.FLOAT, ["N", None]))
    return bytes(model.SerializeToString())
