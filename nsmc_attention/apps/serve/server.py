"""The server's processes: a socket, one or several workers, and their end."""

import logging
import multiprocessing
import os
import resource
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

from ...bundle.format import load_bundle, read_contents
from ...classification.system import LAYOUT
from ...errors import ConfigError
from ...registry import system
from .app import BAD_BUNDLE, create_app, end_on_hangup
from .guard import SHARED, Limits
from .models import Bundles

LOG = logging.getLogger("uvicorn.error")
# Open files of a worker beside those of its connections, two of each, which may send a table; the most that are asked for
OTHER_FILES, MOST_FILES = 100, 65_536
# h11, because httptools drops a body beside `Upgrade`, which Java's HttpClient and `curl --http2` send; bytes of the
# request line and the headers together
SETTINGS: Any = {"http": "h11", "h11_max_incomplete_event_size": 65_536, "ws": "none", "factory": True}
SETTINGS.update(access_log=False, server_header=False, timeout_graceful_shutdown=15, timeout_keep_alive=20)
# Signals that end the server
ENDS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


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
    return uvicorn.Config(partial(create_app, bundles, limits), limit_concurrency=limits.connections, **SETTINGS)


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
    """Raise this process's limit of open files, and return limits whose connections fit into it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    soft = max(soft, MOST_FILES if hard == resource.RLIM_INFINITY else min(hard, MOST_FILES))
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    fit = max(1, (soft - OTHER_FILES) // 2)
    if fit < limits.connections:
        LOG.warning("at most %d connections at once: the limit of open files is %d; raise it: ulimit -n", fit, soft)
    return replace(limits, connections=min(limits.connections, fit))
