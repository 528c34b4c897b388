"""uvicorn's connection, with four things that no setting of uvicorn changes; it stays HTTP/1.1.

A request that offers another protocol (`Upgrade`, as Java's HttpClient and `curl --http2` send) keeps its body, which
uvicorn drops together with the requests behind it. Bytes that are no HTTP, and connections beyond the limit, get an
error in the form of all others. Headers that would fill the memory are refused. Slow clients are left to a proxy:
docs/serving/nginx.conf.
"""

import asyncio
import re
from http import HTTPStatus
from typing import Any

from httptools import HttpParserError, HttpParserUpgrade, HttpRequestParser
from starlette.responses import JSONResponse
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from .guard import security_headers

# A request line with bytes that an address has only as %XX: Korean letters, spaces
UNESCAPED = re.compile(rb"[A-Z]+ /[^\r\n]*(?:[\x80-\xff]|[^ \r\n] [^\r\n]* HTTP/)")
NO_HTTP = "request: expected HTTP/1.1, found something else"
NO_ADDRESS = (
    "request: expected an address with Korean letters and spaces escaped, found them as they are; "
    "with curl: -G --data-urlencode 'text=...'"
)
# Bytes of the request line and the headers together
HEAD = 65_536
TOO_LONG = f"headers: expected at most {HEAD} bytes, found more"
TOO_MANY = "too many connections; try again in a second"


class Connection(HttpToolsProtocol):
    """One client; requests on a connection beyond the first `most` ones are refused."""

    def __init__(self, most: int, **uvicorn: Any) -> None:
        super().__init__(**uvicorn)
        # bytes since the last ones of a body: of headers that have not ended, or of what follows a chunked body
        self.most, self.data, self.head = most, b"", 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        # uvicorn's set of the connections of this process
        if len(self.connections) > self.most:
            self.app = refusal(503, TOO_MANY)

    def data_received(self, data: bytes) -> None:
        self._unset_keepalive_if_required()
        self.data = data
        self.head += len(data)
        self.parse(data)
        if self.head > HEAD:
            self.refuse(431, TOO_LONG)

    def parse(self, data: bytes) -> None:
        while data:
            try:
                self.parser.feed_data(data)
                return
            except HttpParserUpgrade as problem:
                data = self.head_without_upgrade() + data[problem.args[0] :]
                self.parser = HttpRequestParser(self)
                # as uvicorn's
                self.parser.set_dangerous_leniencies(lenient_data_after_close=True)
            except HttpParserError:
                self.send_400_response(NO_HTTP)
                return

    def head_without_upgrade(self) -> bytes:
        """Return the request line and headers that were read, as those of a request that stays HTTP/1.1."""
        line = b"%b %b HTTP/%b" % (self.parser.get_method(), self.url, self.parser.get_http_version().encode())
        return b"\r\n".join([line, *(b"%b: %b" % pair for pair in self.headers if pair[0] != b"upgrade"), b"", b""])

    def on_headers_complete(self) -> None:
        if self.parser.get_method() == b"CONNECT":
            # would be an upgrade without the header too
            raise ValueError("CONNECT")
        # each header with ": " and a line end, as the line of the request, which has its method and version too
        if len(self.url) + 16 + sum(len(name) + len(value) + 4 for name, value in self.headers) > HEAD:
            self.refuse(431, TOO_LONG)
            # ends the parser, which would go on to a body
            raise ValueError(TOO_LONG)
        self.head = 0
        # with `Upgrade` the request is parsed again
        if not self.parser.should_upgrade():
            super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        self.head = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        if not self.parser.should_upgrade():
            super().on_message_complete()

    def send_400_response(self, msg: str) -> None:
        self.refuse(400, NO_ADDRESS if UNESCAPED.match(self.data) else msg)

    def refuse(self, status: int, line: str) -> None:
        """Respond {"error": line}, once, and end the connection."""
        if self.transport.is_closing():
            return
        response = refusal(status, line)
        lines = b"".join(b"%b: %b\r\n" % pair for pair in response.raw_headers)
        phrase = HTTPStatus(status).phrase.encode()
        self.transport.write(b"HTTP/1.1 %d %b\r\n%b\r\n%b" % (status, phrase, lines, bytes(response.body)))
        self.transport.close()


def refusal(status: int, line: str) -> Any:
    """Return the response {"error": line}, also an ASGI application, that ends the connection."""
    retry = {"retry-after": "1"} if status == 503 else {}
    response = JSONResponse({"error": line}, status, {"connection": "close", **retry})
    response.raw_headers += security_headers()
    return response
