"""The available cores, and worker processes on them."""

import gc
import math
import os
import threading
import time
from contextlib import ExitStack, contextmanager
from functools import lru_cache, partial
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Callable, Iterable, Iterator, Sequence

from .signals import blocked

if TYPE_CHECKING:
    from concurrent.futures import Executor, ThreadPoolExecutor


def cores() -> int:
    """Return the number of cores this process may use; in a container often fewer than the machine has."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def thread_pool(threads: int) -> "ThreadPoolExecutor":
    """Return this process's pool of so many threads; a forked process makes its own, as it inherits none of them."""
    return pool_of(threads, os.getpid())


def in_threads(threads: int, run: Callable[[Any], Any], items: Sequence[Any]) -> Iterable[Any]:
    """Return run(item) of each item, in order, by so many threads where there are several of both."""
    return thread_pool(threads).map(run, items) if threads > 1 and len(items) > 1 else map(run, items)


@lru_cache(maxsize=None)
def pool_of(threads: int, process: int) -> "ThreadPoolExecutor":
    # with logging and queues, which a single review needs as little
    from concurrent.futures import ThreadPoolExecutor

    return ThreadPoolExecutor(threads)


def can_start_workers(files: int = 20 + cores()) -> bool:
    """Return whether `workers` can be started, which requires joblib, for its locks a writable /dev/shm, and open files."""
    if find_spec("joblib") is None:
        return False
    from multiprocessing import get_context

    try:
        get_context().Lock()
        with ExitStack() as opened:
            for _ in range(files):
                opened.enter_context(open(os.devnull))
    except (ImportError, OSError):
        return False
    return True


@contextmanager
def workers(count: int) -> "Iterator[Executor]":
    """Yield a pool of `count` processes, all ended after the block; the caller handles SIGINT and SIGTERM.

    joblib's loky: unlike multiprocessing's, its processes do not run the caller's main module again.
    """
    from joblib.externals.loky import ProcessPoolExecutor

    with ProcessPoolExecutor(max_workers=count, initializer=start_worker, initargs=(os.getpid(),)) as pool:
        with blocked():
            # the first task starts all processes
            pool.submit(os.getpid)
        yield pool


def start_worker(parent: int) -> None:
    from joblib.externals.loky import process_executor

    # loky would take a loaded model for a memory leak and replace the process
    process_executor._MAX_MEMORY_LEAK_SIZE = math.inf
    collect_seldom()
    exit_with_parent(parent)


def collect_seldom() -> None:
    """Look for cycles of objects seldom: a table makes many tuples in none, and each search walks over them."""
    gc.set_threshold(50_000, 20, 20)


def exit_with_parent(parent: int, end: Callable[[], object] = partial(os._exit, 1)) -> None:
    """Call `end` within a second of the parent's death; otherwise an orphaned worker waits forever."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1)
        end()

    threading.Thread(target=watch, daemon=True).start()
