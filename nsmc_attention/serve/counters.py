"""The counters of /metrics, for Prometheus: the duration of requests, and how many texts were classified, restored or filled.

Where $PROMETHEUS_MULTIPROC_DIR is set, as `server` does for several workers, each counts into files in that folder and
any of them reports the sum, dead ones included.
"""

import os
from functools import lru_cache

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector

SHARED = "PROMETHEUS_MULTIPROC_DIR"
PATHS = {
    *"/ /predict /explain /predict/batch /restore /fill /film /healthz /readyz /metrics /docs /openapi.json".split()
}
BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 10)


class Counters:
    """The counters of this process."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        name, about = "nsmc_attention_request_seconds", "Time until the response starts"
        seconds = Histogram(name, about, ["path", "status"], registry=self.registry, buckets=BUCKETS)
        # of a path and status; finding it again takes longer than counting
        self.seconds = lru_cache(maxsize=None)(seconds.labels)
        self.reviews = Counter("nsmc_attention_reviews", "Reviews classified", registry=self.registry)
        self.restored = Counter("nsmc_attention_restored", "Texts restored", registry=self.registry)
        self.filled = Counter("nsmc_attention_filled", "Texts whose [MASK] was filled", registry=self.registry)

    def observe(self, path: str, status: int, seconds: float) -> None:
        """Count a response."""
        self.seconds(path if path in PATHS else "other", status).observe(seconds)

    def text(self) -> bytes:
        """Return the counters of all workers in Prometheus' text format."""
        registry = self.registry
        if SHARED in os.environ:
            registry = CollectorRegistry()
            MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
        return generate_latest(registry)
