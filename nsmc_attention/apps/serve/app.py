"""The application, its page and its HTTP API (docs/serving.md), and the processes that serve it.

An error is one line without a path of this machine; bad input gets status 400, 413 or 422, a request without a
model for it 404.
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
# httptools, unlike h11, drops a body beside `Upgrade`, which Java's HttpClient and `curl --http2` send, and does not
# limit the bytes of the request line and the headers
SETTINGS: Any = {"factory": True, "http": "h11", "h11_max_incomplete_event_size": 65_536, "ws": "none"}
SETTINGS.update(access_log=False, server_header=False, proxy_headers=False)
SETTINGS.update(timeout_graceful_shutdown=15, timeout_keep_alive=20)
EXPECTED = (HTTPException, RequestValidationError, ClientDisconnect, NsmcError)
# Open files that are asked for, two of a connection with a table; exit code of a process whose bundle cannot be loaded
MOST_FILES, BAD_BUNDLE = 65_536, 2
# Options of the command line in messages, whose names are those of parameters in the address: sheet (--sheet)
OPTION = re.compile(r" \(--[^()]*\)|--(?=[a-z])")


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

    # /docs from files of this package, not from a CDN
    application = FastAPIOffline(lifespan=lifespan, generate_unique_id_function=lambda route: route.name, **ABOUT)
    for kind in (*EXPECTED, Exception):
        application.add_exception_handler(kind, respond_error)
    # the first are found the fastest
    for route in service.routes:
        options = {"methods": ["POST"], "tags": [route.tag], "summary": route.title, "responses": ERRORS}
        json: Any = {"route_class_override": JsonRoute, "response_model": None} if route.largest is None else {}
        application.router.add_api_route(route.path, route.respond, **{**options, **json, **route.options})
    page: Any = {"methods": ["GET", "HEAD"], "response_class": HTMLResponse, "include_in_schema": False}
    application.add_api_route("/", service.page, **page)
    application.get("/font.woff", include_in_schema=False)(service.font)
    tell: Any = partial(application.get, tags=["Server"])
    tell("/healthz", summary="Whether the process responds")(service.healthz)
    unready = {503: ERRORS[503]}
    tell("/readyz", summary="Whether the models are loaded, and which", responses=unready)(service.readyz)
    tell("/metrics", summary="Counters for Prometheus", response_class=PlainTextResponse)(service.metrics)
    handlers = {**dict.fromkeys(EXPECTED, respond_error), Exception: respond_bug}
    routes = (route for route in application.routes if isinstance(route, JsonRoute))
    short = {route.path: ExceptionMiddleware(route.respond, handlers) for route in routes}
    # outermost, so that its response to a bug has the security headers too
    return Guard(application, limits, service.counters, {one.path: one.largest for one in service.routes}, short)


async def respond_bug(request: Request, problem: Exception) -> JSONResponse:
    """Log what no client can have caused, and say so."""
    LOG.error("%s", request.url.path, exc_info=problem)
    return await respond_error(request, problem)


async def respond_error(request: Request, problem: Exception) -> JSONResponse:
    """Give all errors the form {"error": line}; of the request it repeats at most the name of a key."""
    status, line, headers = 500, "internal error; the server's log says more", {}
    if isinstance(problem, HTTPException):
        status, line, headers = problem.status_code, problem.detail, dict(problem.headers or {})
    elif isinstance(problem, RequestValidationError):
        first = problem.errors()[0]
        status, line = 422, f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
    elif isinstance(problem, ClientDisconnect):
        # nobody reads it, and it is not the server's error
        status, line = 400, "body: cut off"
    elif isinstance(problem, NsmcError):
        status, line = 503 if isinstance(problem, Busy) else 422, OPTION.sub("", str(problem))
    headers.update({"Retry-After": "1"} if status == 503 else {})
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


def serve(
    host: str = "127.0.0.1", port: int = 8000, workers: int = 1, bundles: Bundles = Bundles(), limits: Limits = Limits()
) -> None:
    """Serve until SIGINT, SIGTERM or SIGHUP, then exit with 0; requests in progress have 15 seconds to finish.

    Host 127.0.0.1 is this machine alone, 0.0.0.0 every network it is in; port 0 is any free one. ConfigError if the
    address is in use or not one of this machine, BundleError if a bundle cannot be read.
    """
    # before any process starts
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
            # in memory: writing to the mapped files of prometheus_client on a full disk kills the process
            memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
            folder = tempfile.TemporaryDirectory(prefix="nsmc_attention-", dir=memory)
            os.environ[SHARED] = stack.enter_context(folder)
        config = uvicorn.Config(partial(create_app, bundles, limits), limit_concurrency=limits.connections, **SETTINGS)
        LOG.info("http://%s:%d (Ctrl-C ends it)", *listener.getsockname()[:2])
        if workers > 1:
            sys.exit(supervise(workers, config, listener))
        run(config, listener)


def run(config: uvicorn.Config, listener: socket.socket) -> None:
    config.configure_logging()  # once more in a worker
    uvicorn.Server(config).run([listener])


def supervise(count: int, *arguments: Any) -> int:
    """Keep so many workers running until a signal; return BAD_BUNDLE if one of them could not load its bundles."""
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
    """Treat SIGHUP, from a closed terminal, as SIGTERM, unless it is ignored (nohup)."""
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        signal.signal(signal.SIGHUP, lambda *_: signal.raise_signal(signal.SIGTERM))


def listen(host: str, port: int) -> socket.socket:
    """Return a listening socket; ConfigError if there cannot be one."""
    try:
        return socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    except (OSError, UnicodeError) as problem:
        reason = getattr(problem, "strerror", None) or problem
        raise ConfigError(f"{host}:{port}: {reason}; choose another --host or --port") from problem
