"""The counters of /metrics, for Prometheus: the duration of requests and the number of classified reviews.

Each worker counts into files in a shared folder; any worker reports the sum. The successor of a dead worker continues
its files, so that no count is lost and no file is left over.
"""

import logging
import os
from itertools import count
from pathlib import Path
from typing import IO, Optional

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest, values
from prometheus_client.multiprocess import MultiProcessCollector

PATHS = {"/", "/predict", "/explain", "/predict/batch", "/healthz", "/readyz", "/metrics", "/docs", "/openapi.json"}
BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 10)
# Bytes of a worker's files: all paths with a dozen statuses each need 300,000
SIZES = {"counter": 1 << 16, "histogram": 1 << 19}
LOG = logging.getLogger("uvicorn.error")


class Counters:
    """The counters of this process.

    Parameters
    ----------
    folder : path or None
        Shared with the other workers; None if there is no other.
    """

    def __init__(self, folder: Optional[str] = None) -> None:
        self.folder = folder
        if folder:
            try:
                self.share(Path(folder))
            except OSError as problem:
                LOG.warning("/metrics counts this worker only: no space for its counters (%s)", problem.strerror)
                self.folder = None
        self.registry = CollectorRegistry()
        options = {"registry": self.registry, "buckets": BUCKETS}
        about = "Time until the response starts"
        self.seconds = Histogram("nsmc_attention_request_seconds", about, ["path", "status"], **options)
        self.reviews = Counter("nsmc_attention_reviews", "Reviews classified", registry=self.registry)

    def share(self, folder: Path) -> None:
        """Count into files in this folder; OSError if they cannot be made."""
        number, self.lock = lock_free_number(folder)
        for kind, size in SIZES.items():
            allocate(folder / f"{kind}_{number}.db", size)
        # read by prometheus_client
        os.environ["PROMETHEUS_MULTIPROC_DIR"] = str(folder)
        values.ValueClass = values.MultiProcessValue(lambda: number)

    def observe(self, path: str, status: int, seconds: float) -> None:
        """Count a response."""
        self.seconds.labels(path if path in PATHS else "other", status).observe(seconds)

    def text(self) -> bytes:
        """Return the counters of all workers in Prometheus' text format."""
        registry = self.registry
        if self.folder:
            registry = CollectorRegistry()
            MultiProcessCollector(registry, self.folder)
        return generate_latest(registry)


def allocate(path: Path, size: int) -> None:
    """Make a file of zeros under its name at once, unless it exists.

    prometheus_client makes it with holes: writing into a hole of a mapped file kills the process (SIGBUS) if the disk
    is full.
    """
    new = path.with_suffix(".new")
    try:
        if not path.exists():
            new.write_bytes(bytes(size))
            new.rename(path)
    except OSError:
        new.unlink(missing_ok=True)
        raise


def lock_free_number(folder: Path) -> tuple[int, IO[str]]:
    """Return the first number whose lock file no living process has locked, and that file."""
    import fcntl

    for number in count():
        file = open(folder / f"{number}.lock", "w", encoding="utf-8")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            break
        except BlockingIOError:
            file.close()
    return number, file
