"""Middleware for every request: limits on its size, security headers, and the counters of /metrics."""

import asyncio
import os
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from typing import Optional

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

# Environment variable of prometheus_client: the folder of all workers' counters, of which each worker reports the sum
SHARED = "PROMETHEUS_MULTIPROC_DIR"
# GET paths, which are counted by name
PATHS = "/ /healthz /readyz /metrics /docs /openapi.json".split()
BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 10)
PAGE_POLICY = (
    b"default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; font-src 'self'; "
    b"connect-src 'self'; img-src data: blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
# FastAPI's page of the API has scripts and styles in files, and needs no blob: images
DOCS_POLICY = PAGE_POLICY.replace(b"-inline'", b"-inline' 'self'").replace(b"data: blob:", b"data: 'self'")
# Headers of all responses, and of pages
NO_SNIFFING = (b"x-content-type-options", b"nosniff")
PAGE_HEADERS = [
    NO_SNIFFING,
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
]
TOO_LARGE = "body: expected at most {} bytes, found more; send less at a time"
FOREIGN = "request: expected one by this server's page or by a program, found one by a page of another site"


@dataclass(frozen=True)
class Limits:
    """Limits of requests, sizes in bytes; connections, read, files and explanations are limits of a worker at one time.

    `weighted` is for reviews with weights, `body` for JSON bodies. `files` counts tables and pictures that wait or are
    being read, and `read` only the latter.
    """

    reviews: int = 512
    characters: int = 10_000
    weighted: int = 16
    body: int = 1_000_000
    table: int = 512_000_000
    connections: int = 4_000
    read: int = 2
    files: int = 16
    explanations: int = 8


class Counters:
    """Prometheus counters of this process."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        name, about = "nsmc_attention_request_seconds", "Time until the response starts"
        seconds = Histogram(name, about, ["path", "status"], registry=self.registry, buckets=BUCKETS)
        # cached by path and status, because looking it up takes longer than counting
        self.seconds = lru_cache(maxsize=None)(seconds.labels)
        self.reviews = self.counter("reviews", "Reviews classified")

    def counter(self, name: str, about: str) -> Counter:
        return Counter(f"nsmc_attention_{name}", about, registry=self.registry)

    def text(self) -> bytes:
        """Return the counters of all workers in Prometheus' text format."""
        registry = self.registry
        if SHARED in os.environ:
            registry = CollectorRegistry()
            MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
        return generate_latest(registry)


class Guard:
    """An ASGI middleware that limits bodies, adds security headers and counts responses.

    `largest` has the maximum body size of each route, None for the limit of JSON. `short` has the applications of JSON
    routes, which bypass FastAPI because its layers take as much time as the classification.
    """

    def __init__(
        self,
        application: ASGIApp,
        limits: Limits,
        counters: Counters,
        largest: Mapping[str, Optional[int]],
        short: Mapping[str, ASGIApp],
    ):
        self.application, self.limits, self.counters, self.short = application, limits, counters, short
        self.largest = {path: most or limits.body for path, most in {**dict.fromkeys(PATHS), **largest}.items()}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.application(scope, receive, send)
            return
        path, started, read = scope["path"], time.perf_counter(), 0
        limit, headers = self.largest.get(path, self.limits.body), dict(scope["headers"])

        async def limited() -> Message:
            nonlocal read
            message = await receive()
            read += len(message.get("body", b""))
            if read > limit:
                raise HTTPException(413, TOO_LARGE.format(limit))
            return message

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                name = path if path in self.largest else "other"
                self.counters.seconds(name, message["status"]).observe(time.perf_counter() - started)
                # only one header for JSON, because each costs time in h11
                security = [NO_SNIFFING]
                if scope["method"] != "POST":
                    policy = DOCS_POLICY if path == "/docs" else PAGE_POLICY
                    security = [*PAGE_HEADERS, (b"content-security-policy", policy)]
                message["headers"] = [*message["headers"], *security]
            await send(message)

        application = self.short.get(path, self.application) if scope["method"] == "POST" else self.application
        # refuse requests by pages of other websites, which would only cost time and disk space
        if scope["method"] == "POST" and headers.get(b"sec-fetch-site") == b"cross-site":
            application = JSONResponse({"error": FOREIGN}, 403)
        elif int(headers.get(b"content-length", 0)) > limit:
            application = JSONResponse({"error": TOO_LARGE.format(limit)}, 413)
        # a second Ctrl-C cancels requests in progress
        with suppress(asyncio.CancelledError):
            await application(scope, limited, guarded)
