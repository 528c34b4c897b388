"""The cores there are, and worker processes on them."""
import os


def cores():
    """Answer how many cores this process may use, which in a container is often fewer than there are."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()


def workers(count):
    """Answer a pool of `count` processes, to be used in a `with` block; an Executor of concurrent.futures.

    The pool is loky's, which comes with joblib: its processes, unlike multiprocessing's, do not run the
    caller's main module again, so it works from scripts without a guard and from notebooks.
    """
    from joblib.externals.loky import ProcessPoolExecutor

    return ProcessPoolExecutor(max_workers=count)
