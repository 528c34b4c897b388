"""The page and the HTTP API over one classifier and, where there are any, one model of each other task.

    GET  /                the page
    POST /predict         predictions as of Hugging Face's text-classification pipelines
    POST /explain         a review's words with one value each
    POST /predict/batch   a table in; streamed out with its columns and the predictions
    POST /restore         texts with their spaces and spelling corrected
    POST /fill            the likeliest words at the [MASK] of a text
    POST /film            a table in; a line of JSON for each of its films
    POST /read            a picture in; the lines of text on it, with their labels
    GET  /healthz, /readyz, /metrics, /docs

An error is one line without a path of this machine; bad input gets status 400, 413 or 422, /restore, /fill, /film
or /read without a model for it 404.
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
from fastapi.responses import HTMLResponse, PlainTextResponse, StreamingResponse
from fastapi.routing import APIRoute
from fastapi_offline import FastAPIOffline
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from ..._runtime.processes import exit_with_parent
from ...errors import NsmcError
from ...systems.reading.service import MEDIA_TYPES as PICTURE_TYPES
from .direct import Direct, respond_error
from .guard import Guard, Limits
from .models import Bundles
from .questions import Blank, Question, Reviews, Texts
from .service import ERRORS, MISSING, Service
from .uploads import FORM, MEDIA_TYPES

# Where the page of the API shows a request, under which title
TITLES = {
    "Reviews and texts": {
        "/predict": "Classify reviews",
        "/explain": "Explain a prediction by the words of its review",
        "/restore": "Correct spacing and spelling",
        "/fill": "Fill a blank",
    },
    "Tables": {"/predict/batch": "Classify the reviews of a table", "/film": "Predict the stars of a table's films"},
    "Pictures": {"/read": "Read the text of a screenshot"},
    "Server": {
        "/healthz": "Whether the process responds",
        "/readyz": "Whether the models are loaded, and which",
        "/metrics": "Counters for Prometheus",
    },
}
EXAMPLE = "film,document\n괴물,정말 재미있는 영화였어요\n괴물,배우는 좋은데 영화는 별로\n"
# Exit code of a process whose bundle cannot be loaded
BAD_BUNDLE = 2
LOG = logging.getLogger("uvicorn.error")


def create_app(bundles: Bundles = Bundles(), limits: Limits = Limits()) -> Guard:
    """Return the ASGI application, whose models are loaded after the start."""
    service = Service(bundles, limits)

    @asynccontextmanager
    async def lifespan(application: FastAPI) -> AsyncIterator[None]:
        task = asyncio.create_task(service.models.load())
        task.add_done_callback(after_load)
        parent = multiprocessing.parent_process()
        if parent:
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
    application.get("/healthz")(service.healthz)
    application.get("/readyz", responses={503: ERRORS[503]})(service.readyz)
    application.get("/metrics", response_class=PlainTextResponse)(service.metrics)
    # documented by FastAPI, answered by Direct
    routes: Any = {
        "/predict": (Reviews, service.predict),
        "/explain": (Question, service.explain),
        "/restore": (Texts, service.restore),
        "/fill": (Blank, service.fill),
    }
    for path, (_, respond) in routes.items():
        application.post(path, responses={**ERRORS, **MISSING.get(path, {})}, response_model=None)(respond)
    add_uploads(application, service)
    add_titles(application)
    # outermost, so that its response to a bug has the security headers too
    return Guard(Direct(application, routes), limits, service.counters)


def add_uploads(application: FastAPI, service: Service) -> None:
    """Add the requests whose bodies are files: tables and pictures."""
    text: Any = {"schema": {"type": "string"}}
    content, lines = {"content": dict.fromkeys(MEDIA_TYPES, text)}, {"content": {"application/x-ndjson": text}}
    form = {"type": "object", "properties": {"file": {"type": "string", "format": "binary"}}, "required": ["file"]}
    bodies = {**content["content"], "text/csv": {**text, "example": EXAMPLE}, FORM: {"schema": form}}
    body = {"requestBody": {"required": True, "content": bodies}}
    tables: Any = {"/predict/batch": (service.batch, content), "/film": (service.film, lines)}
    for path, (respond, answer) in tables.items():
        responses = {200: answer, **ERRORS, **MISSING.get(path, {})}
        application.post(path, response_class=StreamingResponse, responses=responses, openapi_extra=body)(respond)
    binary = {"schema": {"type": "string", "format": "binary"}}
    pictures = {"requestBody": {"required": True, "content": dict.fromkeys(PICTURE_TYPES, binary)}}
    application.post("/read", responses={**ERRORS, **MISSING["/read"]}, openapi_extra=pictures)(service.read)


def add_titles(application: FastAPI) -> None:
    """Give the requests on the page of the API their titles, in groups."""
    titles = {path: (tag, title) for tag, named in TITLES.items() for path, title in named.items()}
    for route in application.routes:
        if isinstance(route, APIRoute) and route.path in titles:
            route.tags, route.summary = [titles[route.path][0]], titles[route.path][1]


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
