"""ASGI middleware: the limit on the size of a body, security headers, and the counter of responses.

FastAPI, Starlette and uvicorn do not limit the size of a body; `connection` limits the time in which it arrives.
"""

import asyncio
import time
from typing import Callable

from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from .limits import Limits

PAGE_POLICY = (
    b"default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; font-src 'self'; "
    b"connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
# FastAPI's page of the API has its script and style in files
DOCS_POLICY = PAGE_POLICY.replace(b"-inline'", b"-inline' 'self'").replace(b"data:", b"data: 'self'")
SECURITY_HEADERS = [
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
]
# Bytes beyond the limit to drain before refusing a body: many clients read only after sending everything
DRAINED = 16_000_000
# Whose bodies are tables
TABLE_PATHS = ("/predict/batch", "/film")


def security_headers(path: str = "") -> list[tuple[bytes, bytes]]:
    """Return the headers that every response to this path has."""
    return [(b"content-security-policy", DOCS_POLICY if path == "/docs" else PAGE_POLICY), *SECURITY_HEADERS]


class Guard:
    """An ASGI application around another one; `observe` gets the path, status and seconds of each response."""

    def __init__(self, application: ASGIApp, limits: Limits, observe: Callable[[str, int, float], None]) -> None:
        self.application, self.limits, self.observe = application, limits, observe

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.application(scope, until_cancelled(receive), send)
            return
        exchange = Exchange(self, scope, receive, send)
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
        self.limit = guard.limits.table if self.path in TABLE_PATHS else guard.limits.body
        # whether there is no more to receive; a client that expects "100 Continue" sends nothing before it
        self.whole = b"expect" in headers or (not self.declared and b"transfer-encoding" not in headers)
        self.answered = False
        self.started = time.perf_counter()

    async def receive(self) -> Message:
        """Return the next part of the body; HTTPException if it is too large."""
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
            self.guard.observe(self.path, message["status"], time.perf_counter() - self.started)
            while not self.whole and max(self.read, self.declared) <= self.limit + DRAINED:
                await self.receive()
            close = [] if self.whole else [(b"connection", b"close")]
            message = {**message, "headers": [*message["headers"], *security_headers(self.path), *close]}
        await self.send_on(message)
