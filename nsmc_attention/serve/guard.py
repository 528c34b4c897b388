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
        headers = HEADERS[1:] if scope["path"] in WITHOUT_POLICY else HEADERS
        limit, read, answered, refused = self.limit(scope["path"]), 0, False, False

        async def guarded_send(message):
            nonlocal answered
            if refused:
                return
            if message["type"] == "http.response.start":
                answered = True
                message = {**message, "headers": [*message.get("headers", []), *headers]}
            await send(message)

        async def refuse():
            nonlocal refused
            if not answered:
                for message in too_large(limit):
                    await guarded_send(message)
            refused = True

        async def guarded_receive():
            nonlocal read
            message = {"type": "http.disconnect"} if refused else await receive()
            read += len(message.get("body", b""))
            if read > limit:
                # an exception would come out of the application's task groups as something else
                await refuse()
                return {"type": "http.disconnect"}
            return message

        if declared(scope) > limit:
            await refuse()
            return
        try:
            await self.application(scope, guarded_receive, guarded_send)
        except Exception:
            # what is cut off in the middle cannot be read
            if not refused:
                raise


def declared(scope):
    """Answer the body's length that the request names, 0 where it names none."""
    value = dict(scope["headers"]).get(b"content-length", b"0")
    return int(value) if value.isdigit() else 0


def too_large(limit):
    """Answer the messages of the answer 413."""
    body = json.dumps({"error": f"body: expected at most {limit} bytes, found more; send less at a time"}).encode()
    return [{"type": "http.response.start", "status": 413,
             "headers": [(b"content-type", b"application/json"), (b"connection", b"close")]},
            {"type": "http.response.body", "body": body}]
