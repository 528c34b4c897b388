"""The server's processes: a socket, one or several workers, and their end."""

import logging
import multiprocessing
import os
import signal
import socket
import sys
import tempfile
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from multiprocessing.connection import wait
from types import FrameType
from typing import Any, NoReturn, Optional

import uvicorn

from ...bundle import load_bundle, read_contents
from ...classification.system import LAYOUT
from ...errors import ConfigError
from ...registry import system
from .app import BAD_BUNDLE, create_app, end_on_hangup
from .connection import Connection
from .guard import SHARED, Limits
from .models import Bundles

LOG = logging.getLogger("uvicorn.error")
# Open files of a worker beside its connections; of a connection, which may send a table: its own and the table's
OTHER_FILES, FILES_EACH, MOST_FILES = 100, 2, 65_536
SETTINGS: Any = {"access_log": False, "server_header": False, "timeout_graceful_shutdown": 15, "timeout_keep_alive": 20}
# Signals that end the server; Windows has no SIGHUP
ENDS = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]


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
        read_contents(load_bundle(other, system(name).layout))
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, end)
    end_on_hangup()
    with ExitStack() as stack:
        listener = stack.enter_context(listen(host, port))
        if workers > 1:
            # in memory: writing to the mapped files of prometheus_client on a full disk kills the process
            memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
            folder = tempfile.TemporaryDirectory(prefix="nsmc_attention-", dir=memory)
            os.environ[SHARED] = stack.enter_context(folder)
        limits = fit_open_files(limits)
        config = config_of(bundles, limits)
        LOG.info("http://%s:%d (Ctrl-C ends it)", *listener.getsockname()[:2])
        if workers == 1:
            uvicorn.Server(config).run([listener])
        else:
            sys.exit(supervise(workers, listener, bundles, limits))


def config_of(bundles: Bundles, limits: Limits) -> uvicorn.Config:
    # any callable that makes a protocol; uvicorn declares a class
    http: Any = partial(Connection, limits.connections)
    return uvicorn.Config(partial(create_app, bundles, limits), factory=True, http=http, ws="none", **SETTINGS)


def run_worker(listener: socket.socket, bundles: Bundles, limits: Limits) -> None:
    uvicorn.Server(config_of(bundles, limits)).run([listener])


def supervise(count: int, *arguments: Any) -> int:
    """Keep so many workers running until a signal; return BAD_BUNDLE if one of them could not load its bundles."""
    context = multiprocessing.get_context("spawn")
    workers: list[Any] = []
    try:
        while True:
            while len(workers) < count:
                workers.append(context.Process(target=run_worker, args=arguments))
                workers[-1].start()
            wait([worker.sentinel for worker in workers])
            ended = [worker for worker in workers if not worker.is_alive()]
            if any(worker.exitcode == BAD_BUNDLE for worker in ended):
                return BAD_BUNDLE
            for worker in ended:
                LOG.warning("worker %d ended (%s); another one starts", worker.pid, worker.exitcode)
                workers.remove(worker)
    finally:
        for worker in workers:
            worker.terminate()
        for worker in workers:
            worker.join()


def end(number: int, frame: Optional[FrameType]) -> NoReturn:
    """Exit with 0: after a graceful shutdown uvicorn raises the signal again."""
    # another one would interrupt the interpreter's exit
    for signal_number in ENDS:
        signal.signal(signal_number, signal.SIG_IGN)
    sys.exit(0)


def listen(host: str, port: int) -> socket.socket:
    """Return a listening socket; ConfigError if there cannot be one."""
    try:
        return socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    except (OSError, UnicodeError) as problem:
        reason = getattr(problem, "strerror", None) or problem
        raise ConfigError(f"{host}:{port}: {reason}; choose another --host or --port") from problem


def fit_open_files(limits: Limits) -> Limits:
    """Raise this process's limit of open files, and return limits whose connections fit into it; ConfigError for none."""
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return limits
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    soft = max(soft, MOST_FILES if hard == resource.RLIM_INFINITY else min(hard, MOST_FILES))
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    fit = (soft - OTHER_FILES) // FILES_EACH
    if fit < 1:
        expected = f"expected a limit of at least {OTHER_FILES + FILES_EACH}"
        raise ConfigError(f"open files: {expected}, found {soft}; raise it: ulimit -n 1024")
    if fit < limits.connections:
        LOG.warning("at most %d connections at once: the limit of open files is %d; raise it: ulimit -n", fit, soft)
    return replace(limits, connections=min(limits.connections, fit))
