"""The page and the HTTP API over one classifier and the models of other systems, where there are any.

    GET  /                the page
    POST /predict         predictions as of Hugging Face's text-classification pipelines
    POST /explain         a review's words with one value each
    POST /predict/batch   a table in; streamed out with its columns and the predictions
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
import signal
from contextlib import asynccontextmanager
from functools import partial
from typing import Any, AsyncIterator

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, PlainTextResponse
from fastapi_offline import FastAPIOffline
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from ..._runtime.processes import exit_with_parent
from ...errors import NsmcError
from .direct import Direct, respond_error
from .guard import Guard, Limits
from .models import Bundles
from .plug import Route, problems
from .service import ERRORS, Server

SERVER_TITLES = {
    "/healthz": "Whether the process responds",
    "/readyz": "Whether the models are loaded, and which",
    "/metrics": "Counters for Prometheus",
}
# Exit code of a process whose bundle cannot be loaded
BAD_BUNDLE = 2
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
    page = application.api_route("/", methods=["GET", "HEAD"], response_class=HTMLResponse, include_in_schema=False)
    page(service.page)
    application.get("/font.woff", include_in_schema=False)(service.font)
    for path, handler in (("/healthz", service.healthz), ("/readyz", service.readyz), ("/metrics", service.metrics)):
        more: Any = {"/readyz": {"responses": {503: ERRORS[503]}}, "/metrics": {"response_class": PlainTextResponse}}
        application.get(path, tags=["Server"], summary=SERVER_TITLES[path], **more.get(path, {}))(handler)
    routes = service.routes
    for route in routes:
        add_route(application, route)
    # documented by FastAPI, answered by Direct
    answered: Any = {route.path: (route.body, route.respond) for route in routes if route.body}
    # outermost, so that its response to a bug has the security headers too
    return Guard(Direct(application, answered), limits, service.counters, {one.path: one.largest for one in routes})


def add_route(application: FastAPI, route: Route) -> None:
    options: dict[str, Any] = {**route.options, "tags": [route.tag], "summary": route.title}
    missing = problems({404: route.missing}) if route.missing else {}
    options["responses"] = {**options.get("responses", {}), **ERRORS, **missing}
    if route.body:
        options["response_model"] = None
    application.post(route.path, **options)(route.respond)


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
    if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        signal.signal(signal.SIGHUP, lambda *_: signal.raise_signal(signal.SIGTERM))
