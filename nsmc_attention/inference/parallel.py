"""Probabilities of a stream of windows of reviews, computed by worker processes, in order.

Each worker holds a whole classifier on one thread, so that tokenizing (which holds Python's lock) and the network use
every core. At most two windows a worker are under way: memory does not grow with the stream.
"""

from collections import deque
from concurrent.futures import Future
from functools import lru_cache
from typing import Iterable, Iterator, Optional

import numpy
from numpy.typing import NDArray

from .._runtime.processes import cores, workers
from ..bundle.format import load_bundle
from ..errors import BundleError
from .engines import load_engine
from .predictor import Classifier

Scores = NDArray[numpy.float64]


@lru_cache(maxsize=1)
def worker_classifier(folder: str, fingerprint: str, engine: str) -> Classifier:
    """Load the bundle of a fingerprint and keep it; BundleError if its folder holds another, which would mix two models."""
    bundle = load_bundle(folder)
    if bundle.fingerprint != fingerprint:
        raise BundleError(f"{folder}: this bundle was replaced meanwhile by another; begin again")
    return Classifier(bundle, load_engine(bundle, engine, "cpu", threads=1))


def score_window(folder: str, fingerprint: str, engine: str, texts: list[str]) -> Scores:
    """Return the probabilities, in a worker."""
    return worker_classifier(folder, fingerprint, engine).probabilities(texts)


def probability_stream(
    classifier: Classifier, windows: Iterable[list[str]], processes: Optional[int] = None
) -> Iterator[tuple[list[str], Scores]]:
    """Yield (window, probabilities (N,)) for each window of reviews, in order, NaN where a text is blank.

    Each of the processes (None: one a core; 1: none but this) loads the classifier's bundle again; BundleError if it
    was replaced.
    """
    processes = processes or cores()
    if processes == 1:
        yield from ((window, classifier.probabilities(window)) for window in windows)
        return
    bundle = classifier.bundle
    same = (str(bundle.folder), bundle.fingerprint, classifier.engine.name)
    pending: deque[tuple[list[str], Future[Scores]]] = deque()
    with workers(processes) as pool:
        for window in windows:
            pending.append((window, pool.submit(score_window, *same, window)))
            if len(pending) >= 2 * processes:
                done, future = pending.popleft()
                yield done, future.result()
        for done, future in pending:
            yield done, future.result()
