"""ASGI middleware that answers requests for JSON: the body's model in, a line of JSON out.

FastAPI, which documents these requests, takes as long for one as the network does for a review: without this, a server
answers 0.6 of the requests of 8 clients in the same processor time, and 0.76 of those of one (`python -m benchmarks.serving`).
"""

import asyncio
import json
import re
from typing import Any, Awaitable, Callable, Coroutine, Union

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ValidationError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Receive, Scope, Send

from ...errors import DataError, NsmcError, did_you_mean

# Bytes of a body whose answer takes less time than it is worth to look whether the client is still there
SHORT = 1000
# What messages say of the command line, and what they say over HTTP, the more special ones first
COMMAND_WORDS = [
    (re.compile(words), said)
    for words, said in (
        (r"name its encoding by encoding \(--encoding\)", "send UTF-8"),
        (r"\b(text_column|group_by|sheet|header|share) \(--[a-z-]+[^)]*\)", r"\1= in the address"),
        (r"--text-column\b", "text_column="),
        (r"--group-by\b", "group_by="),
        (r"--(sheet|header|share)\b:?", r"\1="),
        (r"; (?:or )?(?:use|write|choose) (?:a )?--[a-z-]+[^;]*", ""),
        (r", or use `nsmc-attention [^`]*`", ""),
        (r" \(--[a-z-]+\)", ""),
    )
]


class Direct:
    """Answers POST requests to these paths with a function of the body's model; all else is the application's."""

    def __init__(
        self, app: ASGIApp, routes: dict[str, tuple[type[BaseModel], Callable[[Any], Coroutine[Any, Any, str]]]]
    ) -> None:
        self.app, self.routes = app, routes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        route = self.routes.get(scope.get("path", ""))
        if route is None or scope["method"] != "POST":
            await self.app(scope, receive, send)
            return
        request, bug = Request(scope, receive), None
        try:
            # without Starlette's stream and response, which take a tenth of a request
            message = await receive()
            pieces = [message.get("body", b"")]
            while message.get("more_body"):
                message = await receive()
                pieces.append(message.get("body", b""))
            if message["type"] != "http.request":
                raise ClientDisconnect
            body = b"".join(pieces)
            answer = route[1](read(scope, body, route[0]))
            content = (await (answer if len(body) < SHORT else unless_gone(request, answer))).encode()
            headers = [(b"content-length", b"%d" % len(content)), (b"content-type", b"application/json")]
            await send({"type": "http.response.start", "status": 200, "headers": headers})
            await send({"type": "http.response.body", "body": content})
        except Exception as problem:
            response = await respond_error(request, problem)
            bug = problem if response.status_code == 500 else None
            await response(scope, receive, send)
        if bug:
            # logged by the server, as Starlette's ServerErrorMiddleware leaves it
            raise bug


def read(scope: Scope, body: bytes, model: type[BaseModel]) -> BaseModel:
    """Return the model of a JSON body; HTTPException 400 or DataError if it is none."""
    kind = next((value for name, value in scope["headers"] if name == b"content-type"), b"")
    if kind.partition(b";")[0].strip().lower() != b"application/json":
        wrong = repr(kind[:60].decode("latin-1")) if kind else "none"
        hint = "with curl: -H 'Content-Type: application/json'"
        raise DataError(f"Content-Type: expected application/json, found {wrong}; {hint}")
    try:
        value = json.loads(body)
    except (ValueError, RecursionError) as problem:
        raise HTTPException(400, f"body: expected JSON, found something else ({str(problem)[:100]})") from problem
    try:
        return model.model_validate(value)
    except ValidationError as problem:
        # of a list, what is wrong in it and not that it is no text
        errors = problem.errors(include_url=False, include_input=False, include_context=False)
        first = max(errors, key=lambda error: len(error["loc"]))
        loc, line = first["loc"], first["msg"]
        if first["type"] == "extra_forbidden":
            fields: Any = model.model_fields
            for key in loc[:-1]:
                fields = fields[key].annotation.model_fields
            line = f"unknown key{did_you_mean(str(loc[-1])[:100], fields)}"
        # without pydantic's union branch
        loc = loc[:1] + loc[2:3] if loc[:1] == ("inputs",) else loc
        raise DataError(f"{'.'.join(map(str, ('body', *loc)))}: {line}") from problem


async def respond_error(request: Request, problem: Exception) -> JSONResponse:
    """Give all errors the form {"error": line}; of the request it repeats at most the name of a key."""
    status, line, headers = 500, "internal error; the server's log says more", {}
    if isinstance(problem, HTTPException):
        status, line, headers = problem.status_code, problem.detail, dict(problem.headers or {})
        headers.update({"Retry-After": "1"} if status == 503 else {})
    elif isinstance(problem, RequestValidationError):
        first = problem.errors()[0]
        status, line = 422, f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
    elif isinstance(problem, ClientDisconnect):
        # nobody reads it, and it is not the server's error
        status, line = 400, "body: cut off"
    elif isinstance(problem, NsmcError):
        status, line = 422, str(problem)
        for words, said in COMMAND_WORDS:
            line = words.sub(said, line)
    content: dict[str, Union[str, list[str]]] = {
        "error": "".join(character if character.isprintable() else "?" for character in line)[:500]
    }
    for kind in ("columns", "sheets"):
        if names := getattr(problem, kind, None):
            # JSON may have lone surrogates, UTF-8 may not
            content[kind] = [name.encode("utf-8", "replace").decode() for name in names]
    return JSONResponse(content, status, headers)


async def unless_gone(request: Request, work: Awaitable[Any]) -> Any:
    """Return the result of work; if the client disconnects, cancel it and raise ClientDisconnect."""
    task = asyncio.ensure_future(work)
    while not (await asyncio.wait([task], timeout=0.1))[0]:
        if await request.is_disconnected():
            task.cancel()
            raise ClientDisconnect
    return task.result()
