"""The available cores, pools of threads, and helpers for worker processes."""

import gc
import os
import threading
import time
from contextlib import ExitStack
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, Callable, Iterable, Sequence

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor


def cores() -> int:
    """Return the number of cores this process may use, in a container often fewer than the machine has."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def thread_pool(threads: int) -> "ThreadPoolExecutor":
    """Return this process's pool of `threads` threads; a forked process creates its own, as threads are not inherited."""
    return pool_of(threads, os.getpid())


def in_threads(threads: int, run: Callable[[Any], Any], items: Sequence[Any]) -> Iterable[Any]:
    """Return run(item) of each item, in order, by a pool of threads if there are several threads and items."""
    return thread_pool(threads).map(run, items) if threads > 1 and len(items) > 1 else map(run, items)


@lru_cache(maxsize=None)
def pool_of(threads: int, process: int) -> "ThreadPoolExecutor":
    # imports logging and queues, which a single review does not need
    from concurrent.futures import ThreadPoolExecutor

    return ThreadPoolExecutor(threads)


def can_start_workers() -> bool:
    """Return whether `workers.Workers` can be started: on POSIX, if enough files can be opened."""
    if os.name != "posix":
        return False
    try:
        with ExitStack() as files:
            for _ in range(20 + cores()):
                files.enter_context(open(os.devnull))
    except OSError:
        return False
    return True


def collect_seldom() -> None:
    """Collect garbage seldom: a table creates many tuples without cycles, and each collection visits them."""
    gc.set_threshold(50_000, 20, 20)


def exit_with_parent(parent: int, end: Callable[[], object] = partial(os._exit, 1)) -> None:
    """Call `end` within half a second after the parent's death; an orphaned worker would wait forever."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(0.5)
        end()

    threading.Thread(target=watch, daemon=True).start()
