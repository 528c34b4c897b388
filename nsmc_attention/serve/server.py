"""The server's processes: a socket, one or several workers that uvicorn supervises, and their end."""

import logging
import os
import signal
import socket
import sys
import tempfile
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from inspect import signature
from types import FrameType
from typing import Any, NoReturn, Optional

import uvicorn
from uvicorn.supervisors import Multiprocess

from ..bundle.format import load_bundle, read_contents
from ..classification.layout import LAYOUT
from ..errors import ConfigError
from ..films.layout import LAYOUT as FILM_NETWORK
from ..language.layout import LAYOUT as LANGUAGE_MODEL
from ..restoration.layout import LAYOUT as RESTORER
from .app import BAD_BUNDLE, Bundle, end_on_hangup
from .counters import SHARED
from .limits import Limits
from .worker import make_app, make_connection

LOG = logging.getLogger("uvicorn.error")
# Open files of a worker beside its connections; of a connection, which may send a table: its own and the table's
OTHER_FILES, FILES_EACH, MOST_FILES = 100, 2, 65_536
SETTINGS: Any = {"access_log": False, "server_header": False, "timeout_graceful_shutdown": 15, "timeout_keep_alive": 20}
# Seconds until a worker that does not answer its supervisor is killed: uvicorn's five include the start of Python, which
# takes longer on a busy machine; older releases have no such setting
if "timeout_worker_healthcheck" in signature(uvicorn.Config).parameters:
    SETTINGS["timeout_worker_healthcheck"] = 60
# Signals that end the server; Windows has no SIGHUP
ENDS = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]


def serve(
    host: str = "127.0.0.1",
    port: int = 8000,
    bundle: Bundle = None,
    engine: str = "auto",
    workers: int = 1,
    limits: Limits = Limits(),
    restore_bundle: Bundle = None,
    language_bundle: Bundle = None,
    film_bundle: Bundle = None,
) -> None:
    """Serve until SIGINT, SIGTERM or SIGHUP, then exit with 0; requests in progress have 15 seconds to finish.

    Host 127.0.0.1 is this machine alone, 0.0.0.0 every network it is in; port 0 is any free one; bundle and engine are
    as in `classification.predictor.load_classifier`, the other bundles as in `app.create_app`. ConfigError
    if the address is in use or not one of this machine, BundleError if a bundle cannot be read.
    """
    # before any process starts
    read_contents(load_bundle(bundle, LAYOUT))
    for other, layout in ((restore_bundle, RESTORER), (language_bundle, LANGUAGE_MODEL), (film_bundle, FILM_NETWORK)):
        if other:
            read_contents(load_bundle(other, layout))
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, end)
    end_on_hangup()
    with ExitStack() as stack:
        listener = stack.enter_context(listen(host, port))
        if workers > 1:
            # in memory: writing to the mapped files of prometheus_client on a full disk kills the process
            place = "/dev/shm" if os.path.isdir("/dev/shm") else None
            folder = tempfile.TemporaryDirectory(prefix="nsmc_attention-", dir=place)
            os.environ[SHARED] = stack.enter_context(folder)
        limits = fit_open_files(limits)
        application = partial(make_app, bundle, engine, limits, restore_bundle, language_bundle, film_bundle)
        # any callable that makes a protocol; uvicorn declares a class
        http: Any = partial(make_connection, limits)
        config = uvicorn.Config(application, factory=True, http=http, ws="none", workers=workers, **SETTINGS)
        LOG.info("http://%s:%d (Ctrl-C ends it)", *listener.getsockname()[:2])
        if workers == 1:
            uvicorn.Server(config).run([listener])
        elif run_workers(config, listener):
            sys.exit(BAD_BUNDLE)


def end(number: int, frame: Optional[FrameType]) -> NoReturn:
    """Exit with 0: after a graceful shutdown uvicorn raises the signal again."""
    # another one would interrupt the interpreter's exit
    for each in ENDS:
        signal.signal(each, signal.SIG_IGN)
    sys.exit(0)


def run_workers(config: uvicorn.Config, listener: socket.socket) -> bool:
    """Supervise workers until a signal; return whether one of them could not load its bundle."""
    # the releases for Python 3.9 need the worker's function
    options: Any = {"target": uvicorn.Server(config).run} if "target" in signature(Multiprocess).parameters else {}
    hangup = {number: signal.getsignal(number) for number in ENDS[2:]}
    supervisor = Multiprocess(config, sockets=[listener], **options)
    # uvicorn's handler of SIGHUP restarts the workers
    for number, handler in hangup.items():
        signal.signal(number, handler)
    supervisor.run()
    return any(worker.process.exitcode == BAD_BUNDLE for worker in supervisor.processes)


def listen(host: str, port: int) -> socket.socket:
    """Return a listening socket; ConfigError if there cannot be one."""
    try:
        return socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    except (OSError, UnicodeError) as problem:
        reason = getattr(problem, "strerror", None) or problem
        raise ConfigError(f"{host}:{port}: {reason}; choose another --host or --port") from problem


def fit_open_files(limits: Limits) -> Limits:
    """Raise this process's limit of open files, and return limits whose connections fit into it."""
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return limits
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    soft = max(soft, MOST_FILES if hard == resource.RLIM_INFINITY else min(hard, MOST_FILES))
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    fit = max(1, (soft - OTHER_FILES) // FILES_EACH)
    if fit < limits.connections:
        LOG.warning("at most %d connections at once: the limit of open files is %d; raise it: ulimit -n", fit, soft)
    return replace(limits, connections=min(limits.connections, fit))
