"""What stands around the application: no body larger than allowed, and headers that keep the page to itself."""

import asyncio
import json
import time

OWN = (
    b"default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; font-src 'self'; "
    b"connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
# FastAPI's page of the API brings its script from elsewhere
DOCS = (
    b"default-src 'none'; style-src 'unsafe-inline' https://cdn.jsdelivr.net; connect-src 'self'; "
    b"script-src 'unsafe-inline' https://cdn.jsdelivr.net; img-src data: https://fastapi.tiangolo.com; "
    b"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = [
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
]
# Of a body that nobody reads, so much is taken in before the answer: many clients read only when all is sent
UNREAD = 16_000_000


def headers_of(path):
    """Answer the headers of every answer to this path, whatever its status."""
    return [(b"content-security-policy", DOCS if path == "/docs" else OWN), *HEADERS]


def error(status, line):
    """Answer the messages of the answer {"error": line}."""
    body = json.dumps({"error": line}).encode()
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        (b"connection", b"close"),
    ]
    if status == 503:
        headers.append((b"retry-after", b"1"))
    return [
        {"type": "http.response.start", "status": status, "headers": headers},
        {"type": "http.response.body", "body": body},
    ]


class Guard:
    """An ASGI application around another.

    Parameters
    ----------
    application : ASGI application
    limit : callable
        path -> most bytes of a body.
    observe : callable
        Called with path, status and seconds of each answer begun.
    """

    def __init__(self, application, limit, observe):
        self.application, self.limit, self.observe = application, limit, observe

    async def __call__(self, scope, receive, send):
        if scope["type"] == "http":
            await Exchange(self, scope, receive, send).run()
        else:
            await self.application(scope, or_end(receive), send)


def or_end(receive):
    """Answer a lifespan's `receive` that takes being cancelled for its end: a second Ctrl-C, which is no bug either."""

    async def received():
        try:
            return await receive()
        except asyncio.CancelledError:
            return {"type": "lifespan.shutdown"}

    return received


class Exchange:
    """One request and its answer, passed on between the server and the application."""

    def __init__(self, guard, scope, receive, send):
        self.guard, self.scope = guard, scope
        self.receive_from, self.send_to = receive, send
        self.limit, self.read, self.whole = guard.limit(scope["path"]), 0, False
        self.answered = self.refused = False
        self.started = time.perf_counter()

    async def run(self):
        if declared(self.scope) > self.limit:
            await self.refuse()
            return
        try:
            await self.guard.application(self.scope, self.receive, self.send)
        except asyncio.CancelledError:
            # the server ends, and has waited long enough; raised on, it would be in the log as a bug
            self.whole = True
            for message in error(503, "the server ends; try again later") if not self.answered else ():
                await self.send(message)
        except Exception:
            # what is cut off in the middle cannot be read
            if not self.refused:
                raise

    async def receive(self):
        message = {"type": "http.disconnect"} if self.refused else await self.take()
        if self.read > self.limit:
            # an exception would come out of the application's task groups as something else
            await self.refuse()
            return {"type": "http.disconnect"}
        return message

    async def take(self):
        message = await self.receive_from()
        self.read += len(message.get("body", b""))
        self.whole = not message.get("more_body", False)
        return message

    async def send(self, message):
        if self.refused:
            return
        if message["type"] == "http.response.start":
            self.answered = True
            message = await self.begun(message)
        await self.send_to(message)

    async def begun(self, message):
        path, status = self.scope["path"], message["status"]
        self.guard.observe(path, status, time.perf_counter() - self.started)
        # no 100 is sent to who waits for it: the answer is this one
        waits = any(name == b"expect" for name, _ in self.scope["headers"])
        while not self.whole and not waits and max(self.read, declared(self.scope)) <= self.limit + UNREAD:
            await self.take()
        last = [] if self.whole else [(b"connection", b"close")]
        return {**message, "headers": [*message.get("headers", []), *headers_of(path), *last]}

    async def refuse(self):
        line = f"body: expected at most {self.limit} bytes, found more; send less at a time"
        for message in error(413, line) if not self.answered else ():
            await self.send(message)
        self.refused = True


def declared(scope):
    """Answer the body's length that the request names, 0 where it names none."""
    value = dict(scope["headers"]).get(b"content-length", b"0")
    return int(value) if value.isdigit() else 0
