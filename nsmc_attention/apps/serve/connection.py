"""uvicorn's connection, ended where its client lets it wait or sends too many headers; it stays HTTP/1.1.

uvicorn reads headers of any length, waits forever for a request that has begun, and keeps a connection whose client does
not read. A server behind a proxy hardly needs this; one that is not would otherwise be kept busy, or fill the memory, by
a single client. And uvicorn drops what follows the headers of a request that would rather speak another protocol (`Upgrade`,
as Java's HttpClient and `curl --http2` send): its body, and the start of the next request.
"""

import asyncio
import re
import time
from http import HTTPStatus
from typing import Any, Optional

from httptools import HttpParserError, HttpParserUpgrade, HttpRequestParser
from starlette.responses import JSONResponse
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from .guard import Limits, security_headers

# A request line with bytes that an address has only as %XX: Korean letters, spaces
UNESCAPED = re.compile(rb"[A-Z]+ /[^\r\n]*(?:[\x80-\xff]|[^ \r\n] [^\r\n]* HTTP/)")
NO_HTTP = "request: expected HTTP/1.1, found something else"
NO_ADDRESS = (
    "request: expected an address with Korean letters and spaces escaped, found them as they are; "
    "with curl: -G --data-urlencode 'text=...'"
)


class Connection(HttpToolsProtocol):
    """One client."""

    def __init__(self, limits: Limits, **uvicorn: Any) -> None:
        super().__init__(**uvicorn)
        self.limits = limits
        # since when the client is waited for, and bytes received since then, or of headers alone
        self.since, self.received, self.head = time.monotonic(), 0, 0
        # since when it does not read
        self.unread_since = 0.0
        self.data = b""
        # True while `resume` gives the new parser headers that were already read
        self.resumes = False
        # status and line of the response to what follows the last whole request
        self.refusal: Optional[tuple[int, str]] = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        # uvicorn's set of the connections of this process
        if len(self.connections) > self.limits.connections:
            self.refuse(503, "too many connections; try again in a second")
        self.check_time()

    def connection_lost(self, exc: Optional[Exception]) -> None:
        super().connection_lost(exc)
        self.timer.cancel()

    def data_received(self, data: bytes) -> None:
        if self.refusal:
            return
        cycle, self.data = self.cycle, data
        headers = cycle is None or not cycle.more_body
        self.parse(data)
        self.data = b""
        self.received += len(data)
        if self.cycle is not cycle:
            # the headers of a request are complete
            self.since, self.received, self.head = time.monotonic(), 0, 0
        elif headers:
            self.head += len(data)
            if self.head > self.limits.head:
                self.refuse_head()

    def parse(self, data: bytes) -> None:
        """Parse received bytes, with a parser of its own what follows headers with `Upgrade`."""
        self._unset_keepalive_if_required()
        while not self.refusal:
            try:
                self.parser.feed_data(data)
            except HttpParserUpgrade as problem:
                data = data[problem.args[0] :]
                self.resume()
                continue
            except HttpParserError:
                self.send_400_response(NO_HTTP)
            return

    def resume(self) -> None:
        """Begin a parser that expects the body of the request whose headers were read."""
        framing = [pair for pair in self.headers if pair[0] in (b"content-length", b"transfer-encoding")]
        self.parser, self.resumes = HttpRequestParser(self), True
        self.parser.feed_data(b"POST / HTTP/1.1\r\n%b\r\n" % b"".join(b"%b: %b\r\n" % pair for pair in framing))
        self.resumes = False

    def on_message_begin(self) -> None:
        if not self.resumes:
            super().on_message_begin()

    def on_url(self, url: bytes) -> None:
        if not self.resumes:
            super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        if not self.resumes:
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        if self.resumes:
            return
        if len(self.url) + sum(len(name) + len(value) for name, value in self.headers) > self.limits.head:
            self.refuse_head()
            # ends the parser, which would go on to a body
            raise ValueError("too many headers")
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        # with `Upgrade` the parser says so before the body
        if not self.parser.should_upgrade():
            super().on_message_complete()

    def refuse_head(self) -> None:
        self.refuse(431, f"headers: expected at most {self.limits.head} bytes, found more")

    def pause_writing(self) -> None:
        super().pause_writing()
        self.unread_since = time.monotonic()

    def resume_writing(self) -> None:
        super().resume_writing()
        self.unread_since = 0

    def check_time(self) -> None:
        """End the connection of a client that does not send or does not read in time, now and again."""
        now, limits, cycle = time.monotonic(), self.limits, self.cycle
        if self.transport.is_closing():
            # the rest of a response may be too small to pause writing
            self.unread_since = self.unread_since or now
        if self.unread_since:
            if now - self.unread_since > limits.answer_seconds:
                self.transport.abort()
        elif self.refusal:
            self.close_refused()
        elif cycle and not cycle.response_complete and (self.pipeline or not cycle.more_body):
            self.since, self.received = now, 0
        elif now - self.since > limits.request_seconds + self.received / limits.rate:
            begun = self.received or (cycle and not cycle.response_complete)
            self.refuse(408, "request: expected sooner; send faster") if begun else self.transport.close()
        interval = min(limits.request_seconds, limits.answer_seconds, 4) / 4
        self.timer = asyncio.get_running_loop().call_later(interval, self.check_time)

    def send_400_response(self, msg: str) -> None:
        if not self.refusal:
            self.refuse(400, NO_ADDRESS if UNESCAPED.match(self.data) else NO_HTTP)

    def refuse(self, status: int, line: str) -> None:
        """Respond {"error": line} and end the connection, after the responses to the whole requests before."""
        self.refusal = status, line
        self.transport.pause_reading()
        self.close_refused()

    def close_refused(self) -> None:
        cycle = self.cycle
        if cycle and not cycle.response_complete:
            if self.pipeline or not cycle.more_body or cycle.response_started:
                return
            # its body will never be whole
            cycle.disconnected = True
            cycle.message_event.set()
        assert self.refusal
        status, line = self.refusal
        retry = {"retry-after": "1"} if status == 503 else {}
        response = JSONResponse({"error": line}, status, {"connection": "close", **retry})
        lines = b"".join(b"%b: %b\r\n" % pair for pair in [*response.raw_headers, *security_headers()])
        phrase = HTTPStatus(status).phrase.encode()
        self.transport.write(b"HTTP/1.1 %d %b\r\n%b\r\n%b" % (status, phrase, lines, bytes(response.body)))
        self.transport.close()
