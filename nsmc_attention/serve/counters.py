"""What Prometheus reads from /metrics: how long answers took, and how many reviews were answered.

Workers count each into a file of its own in a folder they share; any of them answers the sum. A worker that takes
the place of a dead one goes on with its file, so that nothing counted is lost and no file is left behind.
"""

import logging
import os
from itertools import count
from pathlib import Path

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest, values
from prometheus_client.multiprocess import MultiProcessCollector

PATHS = {"/", "/predict", "/explain", "/predict/batch", "/healthz", "/readyz", "/metrics", "/docs", "/openapi.json"}
BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 10)
FOLDER = "PROMETHEUS_MULTIPROC_DIR"
# Bytes of a worker's files: all paths with a dozen statuses each need 300,000
ROOM = {"counter": 1 << 16, "histogram": 1 << 19}
LOG = logging.getLogger("uvicorn.error")


class Counters:
    """The counters of this process.

    Parameters
    ----------
    folder : path or None
        Shared with the other workers; None where there is no other.
    """

    def __init__(self, folder=None):
        self.folder = folder
        if folder:
            try:
                self.share(folder)
            except OSError as problem:
                LOG.warning("/metrics counts this worker alone: no room for its counters (%s)", problem.strerror)
                self.folder = None
        self.registry = CollectorRegistry()
        self.seconds = Histogram(
            "nsmc_attention_request_seconds",
            "Time until the answer begins",
            ["path", "status"],
            registry=self.registry,
            buckets=BUCKETS,
        )
        self.reviews = Counter("nsmc_attention_reviews", "Reviews answered", registry=self.registry)

    def share(self, folder):
        """Count into files in this folder; OSError where they cannot be made."""
        place, self.lock = free_place(folder)
        for kind, size in ROOM.items():
            reserve(Path(folder) / f"{kind}_{place}.db", size)
        # read by prometheus_client
        os.environ[FOLDER] = str(folder)
        values.ValueClass = values.MultiProcessValue(lambda: place)

    def observe(self, path, status, seconds):
        """Count an answer."""
        self.seconds.labels(path if path in PATHS else "other", status).observe(seconds)

    def text(self):
        """Answer the counters of all workers, bytes in Prometheus' text format."""
        if not self.folder:
            return generate_latest(self.registry)
        together = CollectorRegistry()
        MultiProcessCollector(together, self.folder)
        return generate_latest(together)


def reserve(path, size):
    """Make a file of prometheus_client's with all its room on the disk; one that is there is left as it is.

    Its own has holes, and who writes into a hole of a mapped file when the disk is full is killed (SIGBUS).
    """
    if path.exists():
        return
    # a worker that adds up all files must not meet an empty one
    new = path.with_suffix(".new")
    try:
        with open(new, "wb") as file:
            file.write(bytes(size))
        new.rename(path)
    except OSError:
        new.unlink(missing_ok=True)
        raise


def free_place(folder):
    """Answer (number, lock): the first number whose file no living process has locked."""
    import fcntl

    for number in count():
        file = open(Path(folder) / f"{number}.lock", "w", encoding="utf-8")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.close()
        else:
            return number, file
