"""The application, its page and its HTTP API (docs/serving.md), and the processes that serve it.

Errors are one line without local paths: status 400, 413 or 422 for bad input, 404 for a request without its model.
"""

import asyncio
import gc
import logging
import multiprocessing
import os
import re
import resource
import signal
import socket
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager, suppress
from functools import partial
from multiprocessing.connection import wait
from typing import Any

import uvicorn
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse, PlainTextResponse
from fastapi_offline import FastAPIOffline
from starlette.exceptions import HTTPException
from starlette.middleware.exceptions import ExceptionMiddleware
from starlette.requests import ClientDisconnect

from ...bundle import load_bundle, read_contents
from ...classifier.settings import LAYOUT
from ...errors import ConfigError, NsmcError
from ...machine.batching import Busy
from ...machine.processes import exit_with_parent
from ...registry import SYSTEMS
from ...version import __version__
from .guard import SHARED, Guard, Limits
from .plug import ERRORS, JsonRoute
from .service import Bundles, Server

LOG = logging.getLogger("uvicorn.error")
ABOUT: Any = {"title": "nsmc_attention", "version": __version__, "redoc_url": None, "redirect_slashes": False}
ABOUT["description"] = "Korean film-review sentiment with its attention"
# h11, because httptools drops the body of requests with `Upgrade` (by Java's HttpClient and `curl --http2`), and does not
# limit the request line and the headers
SETTINGS: Any = {"factory": True, "http": "h11", "h11_max_incomplete_event_size": 65_536, "ws": "none"}
SETTINGS.update(access_log=False, server_header=False, proxy_headers=False)
SETTINGS.update(timeout_graceful_shutdown=15, timeout_keep_alive=20)
EXPECTED = (HTTPException, RequestValidationError, ClientDisconnect, NsmcError)
# Limit of open files to request (a connection with a table has two); exit code of a worker that cannot load a bundle
MOST_FILES, BAD_BUNDLE = 65_536, 2
# Command-line options in messages, which HTTP clients know as parameters: sheet (--sheet)
OPTION = re.compile(r" \(--[^()]*\)|--(?=[a-z])")


def create_app(bundles: Bundles = Bundles(), limits: Limits = Limits()) -> Guard:
    """Return the ASGI application, which loads its models after the start."""
    service = Server(bundles, limits)

    @asynccontextmanager
    async def lifespan(application: FastAPI) -> AsyncIterator[None]:
        task = asyncio.create_task(service.load())
        task.add_done_callback(after_load)
        if parent := multiprocessing.parent_process():
            # SIGTERM lets requests in progress finish
            exit_with_parent(parent.pid or 0, partial(os.kill, os.getpid(), signal.SIGTERM))
            end_on_hangup()
            # another worker responds in the meantime
            await asyncio.wait([task])
        # a second Ctrl-C cancels this without a shutdown
        with suppress(asyncio.CancelledError):
            yield
        task.cancel()

    # serves /docs without a CDN
    application = FastAPIOffline(lifespan=lifespan, generate_unique_id_function=lambda route: route.name, **ABOUT)
    for kind in (*EXPECTED, Exception):
        application.add_exception_handler(kind, respond_error)
    # first, because routes are matched in order
    for route in service.routes:
        options = {"methods": ["POST"], "tags": [route.tag], "summary": route.title, "responses": ERRORS}
        json: Any = {"route_class_override": JsonRoute, "response_model": None} if route.largest is None else {}
        application.router.add_api_route(route.path, route.respond, **{**options, **json, **route.options})
    page: Any = {"methods": ["GET", "HEAD"], "response_class": HTMLResponse, "include_in_schema": False}
    application.add_api_route("/", service.page, **page)
    application.get("/font.woff", include_in_schema=False)(service.font)
    get: Any = partial(application.get, tags=["Server"])
    get("/healthz", summary="Whether the process responds")(service.healthz)
    not_ready = {503: ERRORS[503]}
    get("/readyz", summary="Whether the models are loaded, and which", responses=not_ready)(service.readyz)
    get("/metrics", summary="Counters for Prometheus", response_class=PlainTextResponse)(service.metrics)
    handlers = {**dict.fromkeys(EXPECTED, respond_error), Exception: respond_bug}
    routes = (route for route in application.routes if isinstance(route, JsonRoute))
    short = {route.path: ExceptionMiddleware(route.respond, handlers) for route in routes}
    # outermost, so that responses to internal errors have security headers too
    return Guard(application, limits, service.counters, {route.path: route.largest for route in service.routes}, short)


async def respond_bug(request: Request, problem: Exception) -> JSONResponse:
    """Log an internal error and return its response."""
    LOG.error("%s", request.url.path, exc_info=problem)
    return await respond_error(request, problem)


async def respond_error(request: Request, problem: Exception) -> JSONResponse:
    """Return {"error": line} for any error; the line quotes at most a key of the request."""
    status, line, headers = 500, "internal error; the server's log says more", {}
    if isinstance(problem, HTTPException):
        status, line, headers = problem.status_code, problem.detail, dict(problem.headers or {})
    elif isinstance(problem, RequestValidationError):
        first = problem.errors()[0]
        status, line = 422, f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
    elif isinstance(problem, ClientDisconnect):
        # nobody reads the response, but the status counts as the client's error
        status, line = 400, "body: cut off"
    elif isinstance(problem, NsmcError):
        status, line = 503 if isinstance(problem, Busy) else 422, OPTION.sub("", str(problem))
    headers.update({"Retry-After": "1"} if status == 503 else {})
    content: dict[str, object] = {"error": "".join(char if char.isprintable() else "?" for char in line)[:500]}
    for kind in ("columns", "sheets"):
        if names := getattr(problem, kind, None):
            # JSON allows lone surrogates, UTF-8 does not
            content[kind] = [name.encode("utf-8", "replace").decode() for name in names]
    return JSONResponse(content, status, headers)


def after_load(task: "asyncio.Task[None]") -> None:
    """Exit with a logged line if the bundles could not be loaded."""
    if task.cancelled():
        return
    if task.exception():
        LOG.error("error: %s", task.exception())
        os._exit(BAD_BUNDLE)
    # saves 60 ms of each garbage collection, which would traverse the models
    gc.collect()
    gc.freeze()


def serve(
    host: str = "127.0.0.1", port: int = 8000, workers: int = 1, bundles: Bundles = Bundles(), limits: Limits = Limits()
) -> None:
    """Serve until SIGINT, SIGTERM or SIGHUP, then exit with 0; requests in progress have 15 seconds to finish.

    Host 127.0.0.1 accepts connections from this machine only, 0.0.0.0 from all its networks; port 0 takes a free one.
    ConfigError if the address is in use or of another machine, BundleError if a bundle cannot be read.
    """
    # check the bundles before any process starts
    read_contents(load_bundle(bundles.bundle, LAYOUT))
    for name, other in bundles.others.items():
        if other:
            read_contents(load_bundle(other, SYSTEMS[name].layout))
    for number in (signal.SIGINT, signal.SIGTERM):
        # after a graceful shutdown uvicorn raises the signal again
        signal.signal(number, lambda *_: sys.exit(0))
    end_on_hangup()
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, MOST_FILES)), hard))
    with ExitStack() as stack:
        listener = stack.enter_context(listen(host, port))
        if workers > 1:
            # in memory, because writing to prometheus_client's mapped files kills the process if the disk is full
            memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
            folder = tempfile.TemporaryDirectory(prefix="nsmc_attention-", dir=memory)
            os.environ[SHARED] = stack.enter_context(folder)
        config = uvicorn.Config(partial(create_app, bundles, limits), limit_concurrency=limits.connections, **SETTINGS)
        LOG.info("http://%s:%d (Ctrl-C ends it)", *listener.getsockname()[:2])
        if workers > 1:
            sys.exit(supervise(workers, config, listener))
        run(config, listener)


def run(config: uvicorn.Config, listener: socket.socket) -> None:
    config.configure_logging()  # a spawned worker has not inherited it
    uvicorn.Server(config).run([listener])


def supervise(count: int, *arguments: Any) -> int:
    """Keep `count` workers running until a signal; return BAD_BUNDLE if a worker cannot load its bundles."""
    context = multiprocessing.get_context("spawn")
    workers: list[Any] = []
    try:
        while not any(worker.exitcode == BAD_BUNDLE for worker in workers):
            for ended in [worker for worker in workers if not worker.is_alive()]:
                LOG.warning("worker %d ended (%s); another one starts", ended.pid, ended.exitcode)
                workers.remove(ended)
            while len(workers) < count:
                workers.append(context.Process(target=run, args=arguments))
                workers[-1].start()
            wait([worker.sentinel for worker in workers])
        return BAD_BUNDLE
    finally:
        for worker in workers:
            worker.terminate()
        for worker in workers:
            worker.join()


def end_on_hangup() -> None:
    """Handle SIGHUP, sent by a closing terminal, as SIGTERM, unless it is ignored (nohup)."""
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        signal.signal(signal.SIGHUP, lambda *_: signal.raise_signal(signal.SIGTERM))


def listen(host: str, port: int) -> socket.socket:
    """Return a listening socket; ConfigError if the address is in use or invalid."""
    try:
        return socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    except (OSError, UnicodeError) as problem:
        reason = getattr(problem, "strerror", None) or problem
        raise ConfigError(f"{host}:{port}: {reason}; choose another --host or --port") from problem
