"""uvicorn's connection with limits on a request's headers and on the time in which a client reads its response.

uvicorn reads headers of any length, waits forever for the rest of them, and keeps a connection whose client does not
read. Only methods of asyncio.Protocol and the response to malformed HTTP are extended. `guard` limits bodies.
"""

import asyncio
import math
import re
import time
from http import HTTPStatus
from typing import Any, Optional

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from .guard import Exchange, error_response, security_headers
from .limits import Limits

# A request line with bytes that an address has only as %XX: Korean letters, spaces
UNESCAPED = re.compile(rb"[A-Z]+ /[^\r\n]*(?:[\x80-\xff]|[^ \r\n] [^\r\n]* HTTP/)")
NO_HTTP = "request: expected HTTP/1.1, found something else"
NO_ADDRESS = (
    "request: expected an address with Korean letters and spaces escaped, found them as they are; "
    "with curl: -G --data-urlencode 'text=...'"
)


class Connection(HttpToolsProtocol):
    """One client; `guard` finds it in scope["state"], which is a copy of app_state."""

    def __init__(self, limits: Limits, app_state: dict[str, Any], **uvicorn: Any) -> None:
        super().__init__(app_state={**app_state, "connection": self}, **uvicorn)
        self.limits = limits
        # the request in progress; bytes of the next one's headers, which may be those of its body until it begins
        self.exchange: Optional[Exchange] = None
        self.head_bytes = 0
        self.unescaped = False
        # status and line of the response to what follows the last whole request
        self.refusal: Optional[tuple[int, str]] = None
        # when the time for headers began, and when the client stopped reading
        self.since, self.unread_since = time.monotonic(), 0.0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.stream = transport
        # uvicorn's set of the connections of this process
        if len(self.connections) > self.limits.connections:
            self.close_with(503, "too many connections; try again in a second")
        self.schedule_check()

    def connection_lost(self, exc: Optional[Exception]) -> None:
        super().connection_lost(exc)
        self.timer.cancel()

    def data_received(self, data: bytes) -> None:
        if not self.exchange or self.exchange.whole:
            if not self.head_bytes:
                self.since, self.unescaped = time.monotonic(), bool(UNESCAPED.match(data))
            self.head_bytes += len(data)
        super().data_received(data)
        if self.head_bytes > self.limits.head:
            # after the start of a request whose headers these bytes may have completed
            asyncio.get_running_loop().call_soon(self.check_head)

    @property
    def has_body_part(self) -> bool:
        """Whether `receive` returns at once: a scope for the time takes longer than all else of a request's guard.

        Of the last request that began; where a pipelined one did, the body of those before it is whole.
        """
        return self.cycle.message_event.is_set()

    def begin(self, exchange: Exchange) -> None:
        """Note that the headers of a request are complete."""
        self.exchange, self.head_bytes = exchange, 0

    def end(self) -> None:
        """Note that a response is complete; uvicorn limits the time until the next request begins."""
        self.exchange, self.since = None, time.monotonic() if self.head_bytes else math.inf
        if self.refusal:
            self.refuse(*self.refusal)

    def pause_writing(self) -> None:
        super().pause_writing()
        self.unread_since = time.monotonic()

    def resume_writing(self) -> None:
        super().resume_writing()
        self.unread_since = 0

    def check_head(self) -> None:
        if self.head_bytes > self.limits.head and not self.stream.is_closing():
            self.refuse(431, f"headers: expected at most {self.limits.head} bytes, found more")

    def schedule_check(self) -> None:
        interval = min(self.limits.head_seconds, self.limits.answer_seconds, 4) / 4
        self.timer = asyncio.get_running_loop().call_later(interval, self.check_time)

    def check_time(self) -> None:
        """Close the connection of a client that does not send headers or does not read."""
        now = time.monotonic()
        if self.stream.is_closing() and not self.unread_since:
            # the rest of a response is too small to pause writing
            self.unread_since = now
        if self.unread_since:
            if now - self.unread_since > self.limits.answer_seconds:
                self.stream.abort()
        elif not self.exchange and now - self.since > self.limits.head_seconds:
            self.close_with(408, "headers: expected sooner; send faster") if self.head_bytes else self.stream.close()
        self.schedule_check()

    def send_400_response(self, msg: str) -> None:
        self.refuse(400, NO_ADDRESS if self.unescaped else NO_HTTP)

    def refuse(self, status: int, line: str) -> None:
        """Respond {"error": line} and close the connection, after the responses to the whole requests before."""
        self.refusal = status, line
        if not self.stream.is_closing():
            self.stream.pause_reading()
        if self.exchange and self.exchange.waiting and not self.exchange.whole:
            self.exchange.waiting.cancel()
        # after the start of a request that has just been received
        asyncio.get_running_loop().call_soon(self.close_refused)

    def close_refused(self) -> None:
        if self.refusal and not self.exchange and not self.stream.is_closing():
            self.close_with(*self.refusal)

    def close_with(self, status: int, line: str) -> None:
        headers, body = error_response(status, line)
        lines = b"".join(b"%b: %b\r\n" % pair for pair in [*headers, *security_headers()])
        phrase = HTTPStatus(status).phrase.encode()
        self.stream.write(b"HTTP/1.1 %d %b\r\n%b\r\n%b" % (status, phrase, lines, body))
        self.stream.close()
