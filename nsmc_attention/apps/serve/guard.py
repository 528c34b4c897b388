"""Limits on what a client may use, security headers, and the counters of /metrics, around every request.

FastAPI, Starlette and uvicorn do not limit the size of a body; a proxy limits the time in which it arrives. Where
$PROMETHEUS_MULTIPROC_DIR is set, as `server` does for several workers, each counts into files in that folder and any of
them reports the sum, dead ones included.
"""

import asyncio
import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Optional

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

SHARED = "PROMETHEUS_MULTIPROC_DIR"
# Without those of routes
PATHS = "/ /healthz /readyz /metrics /docs /openapi.json".split()
BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 10)
PAGE_POLICY = (
    b"default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; font-src 'self'; "
    b"connect-src 'self'; img-src data: blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
# FastAPI's page of the API has its script and style in files, and shows no picture of the client's
DOCS_POLICY = PAGE_POLICY.replace(b"-inline'", b"-inline' 'self'").replace(b"data: blob:", b"data: 'self'")
SECURITY_HEADERS = [
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
]
# Bytes beyond the limit to drain before refusing a body: many clients read only after sending everything
DRAINED = 16_000_000
FOREIGN = "request: expected one by this server's page or by a program, found one by a page of another site"


@dataclass(frozen=True)
class Limits:
    """Sizes in bytes; connections, tables and explanations are those of a worker at once."""

    reviews: int = 512
    characters: int = 10_000
    # reviews of a request for weights, a T x T matrix each
    weighted: int = 16
    body: int = 2_000_000
    table: int = 512_000_000
    connections: int = 4_000
    # once they have been received
    tables: int = 8
    explanations: int = 8


class Counters:
    """The counters of this process."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.paths = {*PATHS}
        name, about = "nsmc_attention_request_seconds", "Time until the response starts"
        seconds = Histogram(name, about, ["path", "status"], registry=self.registry, buckets=BUCKETS)
        # of a path and status; finding it again takes longer than counting
        self.seconds = lru_cache(maxsize=None)(seconds.labels)
        self.reviews = self.counter("reviews", "Reviews classified")

    def counter(self, name: str, about: str) -> Counter:
        """Return a new counter of these."""
        return Counter(f"nsmc_attention_{name}", about, registry=self.registry)

    def observe(self, path: str, status: int, seconds: float) -> None:
        """Count a response."""
        self.seconds(path if path in self.paths else "other", status).observe(seconds)

    def text(self) -> bytes:
        """Return the counters of all workers in Prometheus' text format."""
        registry = self.registry
        if SHARED in os.environ:
            registry = CollectorRegistry()
            MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
        return generate_latest(registry)


def security_headers(path: str = "") -> list[tuple[bytes, bytes]]:
    """Return the headers that every response to this path has."""
    return [(b"content-security-policy", DOCS_POLICY if path == "/docs" else PAGE_POLICY), *SECURITY_HEADERS]


class Guard:
    """An ASGI application around another one, each of whose responses is counted."""

    def __init__(
        self, application: ASGIApp, limits: Limits, counters: Counters, largest: Mapping[str, Optional[int]]
    ) -> None:
        """`largest` are the most bytes of the body of each route, None the limit of JSON."""
        self.application, self.limits, self.counters = application, limits, counters
        self.largest = {path: limits.body if most is None else most for path, most in largest.items()}
        counters.paths.update(largest)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.application(scope, until_cancelled(receive), send)
            return
        exchange = Exchange(self, scope, receive, send)
        # a browser says that a page of another site sends this, which could only cost time and disk here
        if scope["method"] == "POST" and (b"sec-fetch-site", b"cross-site") in scope["headers"]:
            await JSONResponse({"error": FOREIGN}, 403)(scope, exchange.receive, exchange.send)
            return
        try:
            await self.application(scope, exchange.receive, exchange.send)
        except asyncio.CancelledError:
            # the time for a graceful shutdown is over; raised, it would be logged as an error
            if not exchange.answered:
                refusal = JSONResponse({"error": "the server is shutting down; try again later"}, 503)
                exchange.whole = True
                await refusal(scope, receive, exchange.send)


def until_cancelled(receive: Receive) -> Receive:
    """Return a lifespan's `receive` for which cancellation, by a second Ctrl-C, is the shutdown and not an error."""

    async def received() -> Message:
        try:
            return await receive()
        except asyncio.CancelledError:
            return {"type": "lifespan.shutdown"}

    return received


class Exchange:
    """One request and its response, between the server and the application."""

    def __init__(self, guard: Guard, scope: Scope, receive: Receive, send: Send) -> None:
        self.guard, self.path, self.receive_next, self.send_on = guard, scope["path"], receive, send
        headers = dict(scope["headers"])
        length = headers.get(b"content-length", b"0")
        self.declared, self.read = int(length) if length.isdigit() else 0, 0
        self.limit = guard.largest.get(self.path, guard.limits.body)
        # whether there is no more to receive; a client that expects "100 Continue" sends nothing before it
        self.whole = b"expect" in headers or (not self.declared and b"transfer-encoding" not in headers)
        self.answered = False
        self.started = time.perf_counter()

    async def receive(self) -> Message:
        """Return the next part of the body; HTTPException if it is too large."""
        if self.declared > self.limit + DRAINED and self.answered:
            # what is left is not read: the connection is closed behind the answer
            return {"type": "http.disconnect"}
        message: Message = {"type": "http.request"}
        if self.declared <= self.limit + DRAINED:
            message = await self.receive_next()
            self.read += len(message.get("body", b""))
            self.whole = not message.get("more_body", False)
        if max(self.read, self.declared) > self.limit and not self.answered:
            raise HTTPException(413, f"body: expected at most {self.limit} bytes, found more; send less at a time")
        return message

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.answered = True
            self.guard.counters.observe(self.path, message["status"], time.perf_counter() - self.started)
            while not self.whole and max(self.read, self.declared) <= self.limit + DRAINED:
                await self.receive()
            close = [] if self.whole else [(b"connection", b"close")]
            message = {**message, "headers": [*message["headers"], *security_headers(self.path), *close]}
        await self.send_on(message)
