"""The cores there are, and worker processes on them."""

import math
import os
import threading
import time
from concurrent.futures import Executor
from contextlib import contextmanager
from typing import Iterator

from .signals import held_back


def cores() -> int:
    """Answer how many cores this process may use, which in a container is often fewer than there are."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def workers(count: int) -> Iterator[Executor]:
    """Give a pool of `count` processes, an Executor of concurrent.futures; all have ended when the block ends.

    The pool is loky's, which comes with joblib: its processes, unlike multiprocessing's, do not run the
    caller's main module again, so it works from scripts without a guard and from notebooks. SIGINT and SIGTERM
    are the caller's business; when it dies, they die.
    """
    from joblib.externals.loky import ProcessPoolExecutor

    with ProcessPoolExecutor(max_workers=count, initializer=follow, initargs=(os.getpid(),)) as pool:
        with held_back():
            # the first task starts all processes
            pool.submit(os.getpid)
        yield pool


def follow(parent: int) -> None:
    """Let this process end when its parent is no more: nobody would tell it to, and it would wait for ever."""
    from joblib.externals.loky import process_executor

    # a model that is loaded is no leak, for which loky would put another process in this one's place
    process_executor._MAX_MEMORY_LEAK_SIZE = math.inf

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
