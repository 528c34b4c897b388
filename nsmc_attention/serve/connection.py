"""uvicorn's connection with deadlines: for a request to arrive, and for its answer to be taken.

uvicorn itself waits for ever for the rest of a request, and reads headers of any length. What HTTP does not allow,
what comes too slowly and what is too long is answered here, before there is a request that the application could see.
"""

from typing import Optional

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from .guard import error, headers_of

HEAD, BODY = "headers", "body"


class Connection(HttpToolsProtocol):
    """One client.

    Parameters
    ----------
    limits : serve.limits.Limits
    """

    def __init__(self, limits, **of_uvicorn):
        super().__init__(**of_uvicorn)
        self.limits = limits
        # what is being waited for, None between requests; since when, and how many bytes of it have come
        self.awaited: Optional[str] = None
        self.since, self.come = 0.0, 0
        self.arrival = self.departure = None

    def connection_made(self, transport):
        super().connection_made(transport)
        if len(self.connections) > self.limits.connections:
            self.refuse(503, "too many connections; try again in a second")
        else:
            self.arrival = self.loop.call_later(self.limits.head_seconds, self.check_arrival)

    def connection_lost(self, exc):
        super().connection_lost(exc)
        self._unset_keepalive_if_required()
        for timer in (self.arrival, self.departure):
            if timer:
                timer.cancel()

    def data_received(self, data):
        super().data_received(data)
        if self.awaited == HEAD:
            self.come += len(data)
            if self.come > self.limits.head:
                self.refuse(431, f"headers: expected at most {self.limits.head} bytes, found more")

    def on_message_begin(self):
        super().on_message_begin()
        self.wait_for(HEAD)

    def on_headers_complete(self):
        super().on_headers_complete()
        self.wait_for(BODY)

    def on_body(self, body):
        self.come += len(body)
        super().on_body(body)

    def on_message_complete(self):
        self.awaited = None
        super().on_message_complete()

    def wait_for(self, what):
        self.awaited, self.since, self.come = what, self.loop.time(), 0

    def left(self):
        """Answer the seconds until what is awaited is late."""
        if self.awaited == BODY:
            return self.since + self.limits.body_seconds + self.come / self.limits.rate - self.loop.time()
        return self.since + self.limits.head_seconds - self.loop.time()

    def check_arrival(self):
        # one timer that looks again costs a request nothing; between requests uvicorn's own counts
        self.arrival = None
        if self.cycle is None and self.awaited is None:
            self.transport.close()
        elif self.awaited and not self.flow.read_paused and self.left() <= 0 and not self.transport.is_closing():
            self.refuse(408, f"{self.awaited}: expected sooner; send faster")
        if self.transport.is_closing():
            self.see_off()
            return
        # also after a refusal that lets earlier answers go first
        seconds = max(self.left(), 0.01) if self.awaited and not self.flow.read_paused else self.limits.head_seconds
        self.arrival = self.loop.call_later(seconds, self.check_arrival)

    def pause_writing(self):
        super().pause_writing()
        self.expect_departure()

    def resume_writing(self):
        super().resume_writing()
        if self.departure:
            self.departure.cancel()
            self.departure = None
        self.see_off()

    def on_response_complete(self):
        super().on_response_complete()
        self.see_off()

    def shutdown(self):
        super().shutdown()
        self.see_off()

    def timeout_keep_alive_handler(self):
        super().timeout_keep_alive_handler()
        self.see_off()

    def see_off(self):
        # what is closing waits for ever for a client to take the last bytes, too few to pause the writing
        if self.transport.is_closing() and self.transport.get_write_buffer_size() and not self.departure:
            self.expect_departure()

    def expect_departure(self):
        if self.departure:
            self.departure.cancel()
        self.departure = self.loop.call_later(self.limits.answer_seconds, self.drop)

    def drop(self):
        """End the connection without a word."""
        if self.cycle:
            # or the application would write into what is closed
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        self.transport.abort()

    def send_400_response(self, msg):
        self.refuse(400, "request: expected HTTP/1.1, found something else")

    def refuse(self, status, line):
        """Answer {"error": line} and end the connection."""
        cycle = self.cycle
        if cycle and not cycle.response_complete:
            if self.pipeline or not cycle.more_body and self.awaited != BODY:
                # requests before this one are whole; their answers come first and are the last
                cycle.keep_alive = False
                self.flow.pause_reading()
                return
            if cycle.response_started:
                self.drop()
                return
            cycle.disconnected = True
            cycle.message_event.set()
        self.transport.write(as_bytes(error(status, line)))
        self.transport.close()
        self.see_off()


def as_bytes(messages):
    start, body = messages
    headers = [*start["headers"], *headers_of(None)]
    lines = [name + b": " + value + b"\r\n" for name, value in headers]
    return b"".join([STATUS_LINE[start["status"]], *lines, b"\r\n", body["body"]])
