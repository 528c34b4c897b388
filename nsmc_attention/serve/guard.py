"""ASGI middleware: limits on the size and time of a body, security headers, and the request counter.

Neither FastAPI, Starlette nor uvicorn bounds a body or the time in which it arrives.
"""

import asyncio
import json
import time
from typing import Callable, Optional, Protocol

from anyio import move_on_after
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from .limits import Limits

Headers = list[tuple[bytes, bytes]]
PAGE_POLICY = (
    b"default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; font-src 'self'; "
    b"connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
# FastAPI's page of the API loads its script from a CDN
DOCS_POLICY = (
    b"default-src 'none'; style-src 'unsafe-inline' https://cdn.jsdelivr.net; connect-src 'self'; "
    b"script-src 'unsafe-inline' https://cdn.jsdelivr.net; img-src data: https://fastapi.tiangolo.com; "
    b"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
SECURITY_HEADERS = [
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
]
# Bytes beyond the limit to drain before refusing a body: many clients read only after sending everything
DRAINED = 16_000_000
DISCONNECT: Message = {"type": "http.disconnect"}


def security_headers(path: str = "") -> Headers:
    """Return the headers that every response to this path has."""
    return [(b"content-security-policy", DOCS_POLICY if path == "/docs" else PAGE_POLICY), *SECURITY_HEADERS]


def error_response(status: int, line: str) -> tuple[Headers, bytes]:
    """Return the headers and the body {"error": line} of a response that ends its connection."""
    body = json.dumps({"error": line}).encode()
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", b"%d" % len(body)),
        (b"connection", b"close"),
    ]
    return headers + [(b"retry-after", b"1")] * (status == 503), body


class Connected(Protocol):
    """A connection that distinguishes the time of a request from the time between two (see `connection`)."""

    def begin(self, exchange: "Exchange") -> None: ...

    def end(self) -> None: ...


class Guard:
    """An ASGI application around another one.

    Parameters
    ----------
    application : ASGI application
    limits : Limits
    observe : callable
        Called with path, status and seconds when a response starts.
    """

    def __init__(self, application: ASGIApp, limits: Limits, observe: Callable[[str, int, float], None]) -> None:
        self.application, self.limits, self.observe = application, limits, observe

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            await Exchange(self, scope, receive, send).run()
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
        self.application = guard.application, scope
        headers = dict(scope["headers"])
        self.head = len(scope["query_string"]) + sum(len(name) + len(value) for name, value in scope["headers"])
        length = headers.get(b"content-length", b"0")
        self.declared = int(length) if length.isdigit() else 0
        self.limit, self.read = guard.limits.body_of(self.path), 0
        # whether all of the body has been received; whether the client waits for "100 Continue" before sending it
        self.whole, self.waits = not self.declared and b"transfer-encoding" not in headers, b"expect" in headers
        self.answered = self.refused = self.late = self.last = False
        self.connection: Optional[Connected] = scope.get("state", {}).get("connection")
        self.started = time.perf_counter()

    async def run(self) -> None:
        if self.connection:
            self.connection.begin(self)
        if self.head > self.guard.limits.head:
            await self.refuse(431, f"headers: expected at most {self.guard.limits.head} bytes, found more")
        elif self.declared > self.limit:
            await self.refuse_size()
        else:
            await self.respond()

    async def respond(self) -> None:
        application, scope = self.application
        try:
            await application(scope, self.receive, self.send)
        except asyncio.CancelledError:
            # the time for a graceful shutdown is over; raised, it would be logged as an error
            self.whole = True
            await self.refuse(503, "the server is shutting down; try again later")
        except Exception:
            # an application cannot process a body that was cut off
            if not self.refused:
                raise

    async def receive(self) -> Message:
        message = DISCONNECT if self.refused else await self.take()
        # an exception would leave the application's task groups as another one
        if self.read > self.limit:
            await self.refuse_size()
        elif self.late:
            await self.refuse(408, "body: expected sooner; send faster")
        return DISCONNECT if self.refused else message

    async def take(self) -> Message:
        """Return the next part of the body; sets `late` where it does not come in time."""
        if self.whole:
            return await self.receive_next()
        limits = self.guard.limits
        spent = time.perf_counter() - self.started
        with move_on_after(limits.body_seconds + self.read / limits.rate - spent):
            message = await self.receive_next()
            self.read += len(message.get("body", b""))
            self.whole = not message.get("more_body", False)
            return message
        self.late = True
        return DISCONNECT

    async def send(self, message: Message) -> None:
        if self.refused:
            return
        if message["type"] == "http.response.start":
            self.answered = True
            message = await self.start(message)
        await self.send_on(message)
        if self.connection and message["type"] == "http.response.body" and not message.get("more_body"):
            self.connection.end()

    async def start(self, message: Message) -> Message:
        self.guard.observe(self.path, message["status"], time.perf_counter() - self.started)
        while not (self.whole or self.late or self.waits) and max(self.read, self.declared) <= self.limit + DRAINED:
            await self.take()
        close = [] if self.whole and not self.last else [(b"connection", b"close")]
        return {**message, "headers": [*message.get("headers", []), *security_headers(self.path), *close]}

    async def refuse_size(self) -> None:
        await self.refuse(413, f"body: expected at most {self.limit} bytes, found more; send less at a time")

    async def refuse(self, status: int, line: str) -> None:
        if not self.answered:
            headers, body = error_response(status, line)
            await self.send({"type": "http.response.start", "status": status, "headers": headers})
            await self.send({"type": "http.response.body", "body": body})
        self.refused = True
