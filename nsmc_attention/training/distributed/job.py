"""One process of a distributed training: its place in the job, and its end when another process dies.

MXNet's parameter server waits forever for a dead process. Processes started by `launcher` exit with it, and it watches
them. Without it, as on several machines, each keeps a TCP connection to the scheduler, its lifeline, which the system
closes when the process dies for any reason; the scheduler then informs all others.
"""

import os
import socket
import sys
import threading
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing.connection import wait
from typing import Any, Callable, Iterable, Iterator, Mapping, NoReturn, Optional

from ..._runtime.processes import exit_with_parent
from ...errors import ConfigError, JobError

ROLES = ("scheduler", "server", "worker")
# The exit code of a process that ends because another one did, and the word of a normal end
ABANDONED, DONE = 3, "done"
# Seconds until all processes must have joined
JOIN_LIMIT = 600
# Variable with the process number of the launcher
LAUNCHER = "NSMC_ATTENTION_LAUNCHER"


@dataclass(frozen=True)
class Place:
    """The role of a process in a job, from the variables of dmlc's parameter server.

    `host` and `port` are the scheduler's address; lifelines use the next port. `number` is a worker's rank, else 0.
    """

    role: str
    host: str
    port: int
    servers: int
    workers: int
    number: int

    @classmethod
    def from_environment(cls, variables: Mapping[str, str] = os.environ) -> "Place":
        """Read the Place; ConfigError where a variable is missing or invalid."""

        def read(name: str, expected: str, valid: Callable[[str], bool]) -> str:
            value = variables.get(name, "")
            if not valid(value):
                raise ConfigError(f"{name}: expected {expected}, found {repr(value) if value else 'nothing'}")
            return value

        def number(name: str, low: int, high: int, hint: str = "") -> int:
            expected = f"a number from {low} to {high}{hint}"
            return int(read(name, expected, lambda value: value.isdecimal() and low <= int(value) <= high))

        role = read("DMLC_ROLE", f"one of {', '.join(ROLES)}", lambda value: value in ROLES)
        host = read("DMLC_PS_ROOT_URI", "the scheduler's address", bool)
        port = number("DMLC_PS_ROOT_PORT", 1, 65534)
        servers, workers = number("DMLC_NUM_SERVER", 1, 1000), number("DMLC_NUM_WORKER", 1, 1000)
        rank = number("DMLC_WORKER_ID", 0, workers - 1, ", another for each worker") if role == "worker" else 0
        return cls(role, host, port, servers, workers, rank)


@contextmanager
def supervised(place: Place) -> Iterator[None]:
    """Within, this process ends when another one of the job dies; a worker's normal end is not a death.

    ConfigError if the scheduler's port is taken, JobError if there is no scheduler within JOIN_LIMIT seconds.
    """
    if LAUNCHER in os.environ:
        exit_with_parent(int(os.environ[LAUNCHER]))
        yield
    elif place.role == "scheduler":
        threading.Thread(target=watch, args=(place, listen(place)), daemon=True).start()
        yield
    else:
        name = f"worker {place.number}" if place.role == "worker" else place.role
        lifeline = connect(place.host, place.port + 1, f"{name} at {socket.gethostname()}")
        done = threading.Event()
        threading.Thread(target=obey, args=(lifeline, done), daemon=True).start()
        yield
        done.set()
        lifeline.sendall(DONE.encode())


def obey(lifeline: socket.socket, done: threading.Event) -> NoReturn:
    """End this process at the scheduler's word, or when the scheduler itself ends."""
    word = receive(lifeline)
    end(word or (DONE if done.is_set() else "the scheduler ended before its time"))


def listen(place: Place) -> socket.socket:
    try:
        return socket.create_server((place.host if place.host == "127.0.0.1" else "", place.port + 1))
    except OSError as problem:
        raise ConfigError(f"port {place.port + 1}: {problem.strerror}; choose another DMLC_PS_ROOT_PORT") from problem


def watch(place: Place, door: socket.socket) -> NoReturn:
    """Follow all lifelines, in the scheduler, until all workers are done or one process is lost."""
    lifelines: dict[socket.socket, str] = {}
    joined: list[str] = []
    running, deadline = place.workers, time.monotonic() + JOIN_LIMIT
    while True:
        complete = len(joined) == place.servers + place.workers
        ready: list[Any] = wait([door, *lifelines], None if complete else deadline - time.monotonic())
        if not ready:
            expected = f"{place.servers} servers and {place.workers} workers"
            end(f"after {JOIN_LIMIT} s: expected {expected}, found {', '.join(joined) or 'nobody'}", lifelines)
        for each in ready:
            if each is door:
                lifeline, _ = door.accept()
                keep_alive(lifeline, timeout=10)
                greeting = receive(lifeline)
                name, at, _ = greeting.partition(" at ")
                # anybody else may find the port
                if not at:
                    continue
                lifelines[lifeline] = greeting
                if name in joined and name != "server":
                    end(f"{greeting}: another {name} has joined before", lifelines)
                joined.append(name)
            elif receive(each) == DONE:
                del lifelines[each]
                running -= 1
                if not running:
                    end(DONE, lifelines)
            else:
                end(f"{lifelines.pop(each)} ended before its time", lifelines)


def receive(lifeline: socket.socket) -> str:
    # nothing if it was reset or timed out
    with suppress(OSError):
        return lifeline.recv(1000).decode(errors="replace").strip()
    return ""


def connect(host: str, port: int, name: str, limit: float = JOIN_LIMIT) -> socket.socket:
    """Open a lifeline; as the processes start in any order, retry for `limit` seconds."""
    deadline = time.monotonic() + limit
    while True:
        try:
            lifeline = socket.create_connection((host, port), timeout=10)
            keep_alive(lifeline)
            lifeline.sendall(name.encode())
            return lifeline
        except OSError as problem:
            if time.monotonic() > deadline:
                where = f"{host}:{port}: expected the scheduler, found none in {limit} s ({problem})"
                raise JobError(f"{where}; start it, or let its port and the one after through") from problem
            time.sleep(0.1)


def keep_alive(lifeline: socket.socket, timeout: Optional[float] = None) -> None:
    """Let the system notice within about a minute that the other machine is gone."""
    lifeline.settimeout(timeout)
    lifeline.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in (("TCP_KEEPIDLE", 30), ("TCP_KEEPINTVL", 10), ("TCP_KEEPCNT", 3)):
        if hasattr(socket, name):
            lifeline.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)


def end(word: str, lifelines: Iterable[socket.socket] = ()) -> NoReturn:
    """End this process at once, also while native code blocks its main thread; first tell others why, or DONE."""
    for lifeline in lifelines:
        with suppress(OSError):
            lifeline.sendall(word.encode())
    if word == DONE:
        os._exit(0)
    # a progress bar may occupy the line
    line = f"\nerror: {word}; all processes of this training end: start them again with --resume"
    print(line, file=sys.stderr, flush=True)
    os._exit(ABANDONED)
