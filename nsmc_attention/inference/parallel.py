"""Probabilities for a stream of windows of reviews, computed by worker processes, in order.

Each worker holds one whole classifier on one thread, so that tokenizing (which holds Python's lock) and the
network use every core without waiting for each other. At most two windows a worker are under way: memory
does not grow with the stream.
"""

from collections import deque
from concurrent.futures import Future
from functools import lru_cache

from .._runtime.processes import cores, workers
from ..errors import BundleError


@lru_cache(maxsize=1)
def worker_classifier(folder, fingerprint, engine):
    """Load the bundle of a fingerprint, which stays loaded; BundleError where another stands there now.

    Whoever gave the work began with that one: rows by one model would stand among those by another.
    """
    from ..bundle.format import load_bundle
    from .engines import load_engine
    from .predictor import Classifier

    bundle = load_bundle(folder)
    if bundle.fingerprint != fingerprint:
        raise BundleError(f"{folder}: this bundle was replaced meanwhile by another; begin again")
    return Classifier(bundle, load_engine(bundle, engine, "cpu", threads=1))


def score_window(folder, fingerprint, engine, texts):
    """Answer (N,) float64, NaN where a text is blank; runs in a worker, whose classifier stays loaded."""
    return worker_classifier(folder, fingerprint, engine).probabilities(texts)


def probability_stream(classifier, windows, processes=None):
    """Yield (window, probabilities) for each window (a list of str), in order.

    Parameters
    ----------
    classifier : Classifier
        Its bundle is loaded again by each worker; its engine's kind is kept.
    windows : iterable of list of str
    processes : int or None
        None is the number of cores; 1 computes here.

    Raises
    ------
    BundleError
        Another bundle stands now where that of the classifier stood.
    """
    processes = processes or cores()
    if processes == 1:
        for window in windows:
            yield window, classifier.probabilities(window)
        return
    bundle = classifier.bundle
    same = (str(bundle.folder), bundle.fingerprint, classifier.engine.name)
    pending: deque[tuple[list[str], Future]] = deque()
    with workers(processes) as pool:
        for window in windows:
            pending.append((window, pool.submit(score_window, *same, window)))
            if len(pending) >= 2 * processes:
                done, future = pending.popleft()
                yield done, future.result()
        while pending:
            done, future = pending.popleft()
            yield done, future.result()
