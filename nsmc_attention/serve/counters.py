"""The counters of /metrics, for Prometheus: the duration of requests and the number of classified reviews.

Each worker counts into files in a shared folder, and any worker reports the sum. The successor of a dead worker
continues its files, so that no count is lost and no file is left over.
"""

import os
from itertools import count
from pathlib import Path

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest, values
from prometheus_client.multiprocess import MultiProcessCollector

PATHS = {"/", "/predict", "/explain", "/predict/batch", "/healthz", "/readyz", "/metrics", "/docs", "/openapi.json"}
BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 10)


class Counters:
    """The counters of this process; `folder` is shared with the other workers, empty if there is no other."""

    def __init__(self, folder: str = "") -> None:
        self.folder, self.registry = folder, CollectorRegistry()
        if folder:
            self.share(Path(folder))
        name, about = "nsmc_attention_request_seconds", "Time until the response starts"
        self.seconds = Histogram(name, about, ["path", "status"], registry=self.registry, buckets=BUCKETS)
        self.reviews = Counter("nsmc_attention_reviews", "Reviews classified", registry=self.registry)

    def share(self, folder: Path) -> None:
        """Count into files of the first number that no living process has locked."""
        import fcntl

        for number in count():
            self.lock = open(folder / f"{number}.lock", "w", encoding="utf-8")
            try:
                fcntl.flock(self.lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                self.lock.close()
        # read by prometheus_client
        os.environ["PROMETHEUS_MULTIPROC_DIR"] = str(folder)
        values.ValueClass = values.MultiProcessValue(lambda: number)  # type: ignore[no-untyped-call]

    def observe(self, path: str, status: int, seconds: float) -> None:
        """Count a response."""
        self.seconds.labels(path if path in PATHS else "other", status).observe(seconds)

    def text(self) -> bytes:
        """Return the counters of all workers in Prometheus' text format."""
        registry = CollectorRegistry() if self.folder else self.registry
        if self.folder:
            MultiProcessCollector(registry, self.folder)  # type: ignore[no-untyped-call]
        return generate_latest(registry)
