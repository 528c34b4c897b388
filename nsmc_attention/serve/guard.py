"""ASGI middleware: limits on the size and duration of a body, security headers, and the request counter.

FastAPI, Starlette and uvicorn limit neither the size of a body nor the time in which it arrives.
"""

import asyncio
import json
import time
from typing import Any, Callable

from anyio import move_on_after
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from .limits import Limits

Headers = list[tuple[bytes, bytes]]
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
DISCONNECT: Message = {"type": "http.disconnect"}


def security_headers(path: str = "") -> Headers:
    """Return the headers that every response to this path has."""
    return [(b"content-security-policy", DOCS_POLICY if path == "/docs" else PAGE_POLICY), *SECURITY_HEADERS]


def error_response(status: int, line: str) -> tuple[Headers, bytes]:
    """Return the headers and the body {"error": line} of a response that ends its connection."""
    body = json.dumps({"error": line}).encode()
    length = b"%d" % len(body)
    headers = [(b"content-type", b"application/json"), (b"content-length", length), (b"connection", b"close")]
    return headers + [(b"retry-after", b"1")] * (status == 503), body


class Guard:
    """An ASGI application around another one; `observe` gets the path, status and seconds of each response."""

    def __init__(self, application: ASGIApp, limits: Limits, observe: Callable[[str, int, float], None]) -> None:
        self.application, self.limits, self.observe = application, limits, observe

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            await Exchange(self, scope, receive, send).run(scope)
        else:
            await self.application(scope, until_cancelled(receive), send)


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
        self.too_large = 413, f"body: expected at most {self.limit} bytes, found more; send less at a time"
        # whether the body has been received, and whether the client waits for "100 Continue" before sending it
        self.whole, self.waits = not self.declared and b"transfer-encoding" not in headers, b"expect" in headers
        self.answered = self.refused = self.late = False
        # while the next part of the body is awaited
        self.waiting: Any = None
        # `connection.Connection`, or None under another server
        self.connection: Any = scope.get("state", {}).get("connection")
        self.started = time.perf_counter()

    async def run(self, scope: Scope) -> None:
        if self.connection:
            self.connection.begin(self)
        if self.declared > self.limit:
            await self.refuse(*self.too_large)
            return
        try:
            await self.guard.application(scope, self.receive, self.send)
        except asyncio.CancelledError:
            # the time for a graceful shutdown is over; raised, it would be logged as an error
            self.whole = True
            await self.refuse(503, "the server is shutting down; try again later")

    async def receive(self) -> Message:
        message = DISCONNECT if self.refused else await self.take()
        # an exception would leave the application's task groups as another one
        if self.read > self.limit:
            await self.refuse(*self.too_large)
        elif self.late:
            refusal = self.connection and self.connection.refusal
            await self.refuse(*(refusal or (408, "body: expected sooner; send faster")))
        return DISCONNECT if self.refused else message

    async def take(self) -> Message:
        """Return the next part of the body; set `late` if it does not arrive in time."""
        if self.whole:
            return await self.receive_next()
        # of a malformed body, what has not been received yet never will be
        malformed = self.connection and self.connection.refusal
        allowed = 0 if malformed else self.guard.limits.body_seconds + self.read / self.guard.limits.rate
        if self.connection and self.connection.has_body_part:
            return await self.take_next()
        with move_on_after(self.started + allowed - time.perf_counter()) as self.waiting:
            return await self.take_next()
        self.late = True
        return DISCONNECT

    async def take_next(self) -> Message:
        message = await self.receive_next()
        self.read += len(message.get("body", b""))
        self.whole = not message.get("more_body", False)
        return message

    async def send(self, message: Message) -> None:
        if self.refused or (self.connection and self.connection.stream.is_closing()):
            return
        if message["type"] == "http.response.start":
            self.answered = True
            self.guard.observe(self.path, message["status"], time.perf_counter() - self.started)
            while not (self.whole or self.late or self.waits) and max(self.read, self.declared) <= self.limit + DRAINED:
                await self.take()
            close = [] if self.whole else [(b"connection", b"close")]
            message = {**message, "headers": [*message["headers"], *security_headers(self.path), *close]}
        await self.send_on(message)
        if self.connection and message["type"] == "http.response.body" and not message.get("more_body"):
            self.connection.end()

    async def refuse(self, status: int, line: str) -> None:
        """Respond {"error": line}, and nothing else after it."""
        if not self.answered:
            headers, body = error_response(status, line)
            await self.send({"type": "http.response.start", "status": status, "headers": headers})
            await self.send({"type": "http.response.body", "body": body})
        self.refused = True
