"""What stands before the application: no body larger than allowed, and headers that keep the page to itself."""
import json

HEADERS = [
    (b"content-security-policy", b"default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; "
                                 b"font-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; "
                                 b"form-action 'none'; frame-ancestors 'none'"),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
]
# FastAPI's page of the API brings its script from elsewhere: it gets no policy
WITHOUT_POLICY = ("/docs",)


class Guard:
    """An ASGI application around another.

    Parameters
    ----------
    application : ASGI application
    limit : callable
        path -> most bytes of a body.
    """

    def __init__(self, application, limit):
        self.application, self.limit = application, limit

    async def __call__(self, scope, receive, send):
        if scope["type"] != "http":
            await self.application(scope, receive, send)
            return
        limit, read, answered = self.limit(scope["path"]), 0, False
        headers = HEADERS[1:] if scope["path"] in WITHOUT_POLICY else HEADERS

        async def guarded_send(message):
            nonlocal answered
            if message["type"] == "http.response.start":
                answered = True
                message = {**message, "headers": [*message.get("headers", []), *headers]}
            await send(message)

        async def guarded_receive():
            nonlocal read
            message = await receive()
            read += len(message.get("body", b""))
            if read > limit:
                raise TooLarge
            return message

        try:
            if declared(scope) > limit:
                raise TooLarge
            await self.application(scope, guarded_receive, guarded_send)
        except TooLarge:
            if not answered:
                await refuse(guarded_send, limit)


class TooLarge(BaseException):
    """Goes through the application's own handlers of errors, as it is none of its own."""


def declared(scope):
    """Answer the body's length that the request names, 0 where it names none."""
    value = dict(scope["headers"]).get(b"content-length", b"0")
    return int(value) if value.isdigit() else 0


async def refuse(send, limit):
    body = json.dumps({"error": f"body: expected at most {limit} bytes, found more; send less at a time"}).encode()
    await send({"type": "http.response.start", "status": 413,
                "headers": [(b"content-type", b"application/json"), (b"connection", b"close")]})
    await send({"type": "http.response.body", "body": body})
