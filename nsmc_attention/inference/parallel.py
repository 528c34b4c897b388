"""The output columns of a stream of windows of texts, computed by worker processes, in order.

Each worker holds a whole predictor on one thread, so that work in Python (tokenizing, which holds its
lock) and the network use every core. At most two windows a worker are under way: memory does not grow with the stream.
"""

from collections import deque
from typing import TYPE_CHECKING, Any, Iterable, Iterator, Optional

from .._runtime.processes import cores, workers
from ..errors import NsmcError
from .reference import Row, Scorer, worker_scorer

if TYPE_CHECKING:
    from concurrent.futures import Future


def score_window(reference: Any, texts: list[str]) -> list[tuple[Any, ...]]:
    """Return the output columns of a window, in a worker: between processes they are cheaper than rows."""
    return list(zip(*worker_scorer(reference).rows(texts)))


def row_stream(
    scorer: Scorer, windows: Iterable[list[str]], processes: Optional[int] = None
) -> Iterator[tuple[list[str], list[Row]]]:
    """Yield (window, `scorer.rows` of it) for each window of texts, in order.

    Each of the processes (None: one a core; 1: none but this) loads the scorer's bundles again; BundleError if one was
    replaced, NsmcError if a process was killed.
    """
    processes = processes or cores()
    if processes == 1:
        yield from ((window, scorer.rows(window)) for window in windows)
        return
    from concurrent.futures import BrokenExecutor

    try:
        yield from parallel_rows(scorer.reference, windows, processes)
    except BrokenExecutor as problem:
        raise NsmcError(
            "a worker process was killed, as the system does when memory runs out; begin again with more memory or "
            "on fewer cores"
        ) from problem


def parallel_rows(same: Any, windows: Iterable[list[str]], processes: int) -> Iterator[tuple[list[str], list[Row]]]:
    pending: "deque[tuple[list[str], Future[list[tuple[Any, ...]]]]]" = deque()
    with workers(processes) as pool:
        for window in windows:
            pending.append((window, pool.submit(score_window, same, window)))
            if len(pending) >= 2 * processes:
                done, future = pending.popleft()
                yield done, list(zip(*future.result()))
        for done, future in pending:
            yield done, list(zip(*future.result()))
