"""Reviews as vectors, by the frozen encoder of a classifier: what `film` reads.

texts -> Encoded -> (M, F): what the classifier's last layer reads, and the log-odds of positive
"""

from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Optional

import numpy
from numpy.typing import NDArray

from ..._io.atomic import replaced_file
from ..._runtime.progress import progress_bar
from ...classification.predictor import WINDOW, TokenScorer
from ...classification.system import ClassifierBundle
from ...evaluation.calibration import log_odds
from ...text.encoding import Encoded
from .engines import reading_engine

Vectors = NDArray[numpy.float32]
# Raise when the content of a cached file changes
LAYOUT = 1


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
