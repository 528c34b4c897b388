"""The processes that serve: a socket, one worker or several, the end of them.

uvicorn supervises several workers and starts a dead one anew.
"""

import logging
import signal
import socket
import sys
import tempfile
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from inspect import signature
from typing import Any

import uvicorn
from uvicorn.supervisors import Multiprocess

from ..bundle.format import load_bundle
from ..errors import ConfigError
from .app import NO_BUNDLE, create_app, end_on_hangup
from .connection import Connection
from .limits import Limits

LOG = logging.getLogger("uvicorn.error")
# Files a worker opens beside its connections
OTHER_FILES = 100
# and for each connection, which may bring a table: its own, the table's and the table's lock
FILES_EACH = 3
# Each ends the server; Windows has no SIGHUP
ENDS = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
MOST_FILES = 65_536


def serve(host="127.0.0.1", port=8000, bundle=None, engine="auto", workers=1, limits=Limits()):
    """Serve until SIGINT, SIGTERM or SIGHUP, then exit by 0; requests under way have 15 seconds to finish.

    Parameters
    ----------
    host : str
        127.0.0.1 is for this machine alone, 0.0.0.0 for every network it is in.
    port : int
        0 is any that is free.
    bundle, engine
        As of `inference.predictor.load_classifier`.
    workers : int
    limits : Limits

    Raises
    ------
    ConfigError
        The address is taken or is none of this machine's.
    BundleError
    """
    # told here, before any process is started
    load_bundle(bundle)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, end)
    end_on_hangup()
    with ExitStack() as held:
        listener = held.enter_context(listening(host, port))
        # one worker shares nothing, and when it has no bundle it ends without removing anything
        folder = held.enter_context(tempfile.TemporaryDirectory(prefix="nsmc_attention-")) if workers > 1 else None
        limits = fitting(limits)
        application = partial(create_app, bundle, engine, limits, folder)
        # uvicorn takes any callable that makes a protocol, and declares a class
        http: Any = partial(Connection, limits)
        config = uvicorn.Config(
            application,
            factory=True,
            http=http,
            ws="none",
            workers=workers,
            log_level="info",
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=15,
            timeout_keep_alive=20,
        )
        LOG.info("http://%s:%d (Ctrl-C ends it)", *listener.getsockname()[:2])
        if workers == 1:
            uvicorn.Server(config).run([listener])
        elif run_workers(config, listener):
            sys.exit(NO_BUNDLE)


def end(number, frame):
    """End well: uvicorn raises the signal it was sent again when it has ended what was under way."""
    # a further one would break into the end of the interpreter
    for each in ENDS:
        signal.signal(each, signal.SIG_IGN)
    sys.exit(0)


def run_workers(config, listener):
    """Supervise workers until a signal; answer whether one of them could not load its bundle."""
    # releases that Python 3.9 has want to be told what a worker runs
    run = {"target": uvicorn.Server(config).run} if "target" in signature(Multiprocess).parameters else {}
    handlers = {number: signal.getsignal(number) for number in ENDS if number not in (signal.SIGINT, signal.SIGTERM)}
    supervisor = Multiprocess(config, sockets=[listener], **run)
    # uvicorn would start all workers anew
    for number, handler in handlers.items():
        signal.signal(number, handler)
    supervisor.run()
    return any(worker.process.exitcode == NO_BUNDLE for worker in supervisor.processes)


def listening(host, port):
    """Answer a listening socket; ConfigError where there can be none."""
    try:
        return socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    except (OSError, UnicodeError) as problem:
        reason = getattr(problem, "strerror", None) or problem
        raise ConfigError(f"{host}:{port}: {reason}; choose another --host or --port") from problem


def fitting(limits):
    """Let this process open as many files as it may, and answer limits whose connections fit into them."""
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return limits
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = MOST_FILES if hard == resource.RLIM_INFINITY else min(hard, MOST_FILES)
    soft = max(soft, most)
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    fit = max(1, (soft - OTHER_FILES) // FILES_EACH)
    if fit < limits.connections:
        LOG.warning("at most %d connections at once, found a limit of %d open files; raise it: ulimit -n", fit, soft)
    return replace(limits, connections=min(limits.connections, fit))
