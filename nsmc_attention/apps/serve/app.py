"""The page and the HTTP API over one classifier and the models of other systems, where there are any.

    GET  /                the page
    POST /predict         predictions as of Hugging Face's text-classification pipelines
    POST /explain         a review's words with one value each
    POST /predict/batch   a table in; out with its columns and the predictions
    POST                  the requests of each system (its `service.py`)
    GET  /healthz, /readyz, /metrics, /docs

An error is one line without a path of this machine; bad input gets status 400, 413 or 422, a request without a
model for it 404.
"""

import asyncio
import gc
import logging
import multiprocessing
import os
import re
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse, PlainTextResponse
from fastapi_offline import FastAPIOffline
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from ..._runtime.processes import exit_with_parent
from ...errors import NsmcError
from .guard import Guard, Limits
from .models import Bundles
from .plug import ERRORS
from .service import Server

SERVER_TITLES = {
    "/healthz": "Whether the process responds",
    "/readyz": "Whether the models are loaded, and which",
    "/metrics": "Counters for Prometheus",
}
# Exit code of a process whose bundle cannot be loaded
BAD_BUNDLE = 2
# Options of the command line in messages, whose names are those of parameters in the address: sheet (--sheet)
OPTION = re.compile(r" \(--[^()]*\)|--(?=[a-z])")
LOG = logging.getLogger("uvicorn.error")


def create_app(bundles: Bundles = Bundles(), limits: Limits = Limits()) -> Guard:
    """Return the ASGI application, whose models are loaded after the start."""
    service = Server(bundles, limits)

    @asynccontextmanager
    async def lifespan(application: FastAPI) -> AsyncIterator[None]:
        task = asyncio.create_task(service.load())
        task.add_done_callback(after_load)
        if parent := multiprocessing.parent_process():
            # SIGTERM, because requests in progress finish first
            exit_with_parent(parent.pid or 0, partial(os.kill, os.getpid(), signal.SIGTERM))
            end_on_hangup()
            # another worker responds meanwhile
            await asyncio.wait([task])
        # a second Ctrl-C ends it without a shutdown
        with suppress(asyncio.CancelledError):
            yield
        task.cancel()

    about: Any = {"title": "nsmc_attention", "description": "Korean film-review sentiment with its attention"}
    # /docs from files of this package, not from a CDN
    application = FastAPIOffline(
        **about,
        lifespan=lifespan,
        redoc_url=None,
        redirect_slashes=False,
        generate_unique_id_function=lambda route: route.name,
    )
    for kind in (HTTPException, RequestValidationError, ClientDisconnect, NsmcError, Exception):
        application.add_exception_handler(kind, respond_error)
    # the first are found the fastest
    for route in service.routes:
        application.router.add_api_route(route.path, route.respond, methods=["POST"], **route.described)
    page = application.api_route("/", methods=["GET", "HEAD"], response_class=HTMLResponse, include_in_schema=False)
    page(service.page)
    application.get("/font.woff", include_in_schema=False)(service.font)
    for path, handler in (("/healthz", service.healthz), ("/readyz", service.readyz), ("/metrics", service.metrics)):
        more: Any = {"/readyz": {"responses": {503: ERRORS[503]}}, "/metrics": {"response_class": PlainTextResponse}}
        application.get(path, tags=["Server"], summary=SERVER_TITLES[path], **more.get(path, {}))(handler)
    # outermost, so that its response to a bug has the security headers too
    return Guard(application, limits, service.counters, {one.path: one.largest for one in service.routes})


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
        status, line = 422, OPTION.sub("", str(problem))
    content: dict[str, object] = {"error": "".join(each if each.isprintable() else "?" for each in line)[:500]}
    for kind in ("columns", "sheets"):
        if names := getattr(problem, kind, None):
            # JSON may have lone surrogates, UTF-8 may not
            content[kind] = [name.encode("utf-8", "replace").decode() for name in names]
    return JSONResponse(content, status, headers)


def after_load(task: "asyncio.Task[None]") -> None:
    """Stop the process, with one line, if the bundles cannot be loaded."""
    if task.cancelled():
        return
    if task.exception():
        LOG.error("error: %s", task.exception())
        os._exit(BAD_BUNDLE)
    # spares each garbage collection 60 ms over what stays forever
    gc.collect()
    gc.freeze()


def end_on_hangup() -> None:
    """Treat SIGHUP, from a closed terminal, as SIGTERM, unless it is ignored (nohup)."""
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        signal.signal(signal.SIGHUP, lambda *_: signal.raise_signal(signal.SIGTERM))
