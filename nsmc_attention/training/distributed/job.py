"""The processes of a distributed training: what each is to be, and how all end when one does.

MXNet's parameter server waits for ever for a process that died. So each process keeps a TCP connection to the
scheduler's, its lifeline; the system closes it when the process dies, whatever of, and the scheduler tells all
others. Knows the DMLC_* variables and nothing of MXNet or of learning.
"""

import os
import socket
import sys
import threading
import time
from collections import Counter
from dataclasses import dataclass

from ...errors import ConfigError, JobError

ROLES = ("scheduler", "server", "worker")
# The exit code of a process that ends because another one did
ABANDONED = 3
# Seconds within which all processes have to be there
JOIN_LIMIT = 600
DONE = "done"
# What dmlc's own launchers call a job on one machine: whoever started it speaks for all
LAUNCHED = {"DMLC_JOB_CLUSTER": "local"}


@dataclass(frozen=True)
class Place:
    """What one process is in a job, as the variables of dmlc's parameter server have it.

    Attributes
    ----------
    role : "scheduler", "server" or "worker"
    host, port : str, int
        Where the scheduler listens; it keeps the lifelines at the port after.
    servers, workers : int
    number : int
        Of a worker, 0 to workers - 1; 0 of the others.
    """

    role: str
    host: str
    port: int
    servers: int
    workers: int
    number: int

    @classmethod
    def from_environment(cls, variables=os.environ):
        """Read the Place; ConfigError where a variable is missing or impossible."""
        role = read(variables, "DMLC_ROLE", f"one of {', '.join(ROLES)}", lambda value: value in ROLES)
        host = read(variables, "DMLC_PS_ROOT_URI", "the scheduler's address", bool)
        port, servers, workers = (
            int(read(variables, name, f"a number from 1 to {high}", between(1, high)))
            for name, high in (("DMLC_PS_ROOT_PORT", 65534), ("DMLC_NUM_SERVER", 1000), ("DMLC_NUM_WORKER", 1000))
        )
        number = (
            read(
                variables,
                "DMLC_WORKER_ID",
                f"a number from 0 to {workers - 1}, another for each worker",
                between(0, workers - 1),
            )
            if role == "worker"
            else 0
        )
        return cls(role, host, port, servers, workers, int(number))

    @property
    def name(self):
        return f"{self.role} {self.number}" if self.role == "worker" else self.role


def read(variables, name, expected, fits):
    value = variables.get(name, "")
    if not fits(value):
        raise ConfigError(f"{name}: expected {expected}, found {repr(value) if value else 'nothing'}")
    return value


def between(low, high):
    return lambda value: value.isascii() and value.isdigit() and low <= int(value) <= high


def enter(place):
    """Tie this process to the job: it ends when another one dies. Answer its lifeline.

    Raises
    ------
    ConfigError
        The scheduler's port is taken.
    JobError
        No scheduler within JOIN_LIMIT seconds.
    """
    if place.role == "scheduler":
        Watch(place).start()
        return None
    lifeline = connect(place.host, place.port + 1, f"{place.name} at {socket.gethostname()}")
    in_background(obey, lifeline)
    return lifeline


def leave(lifeline):
    """Say that this process has done its part, so that its end is nobody else's."""
    lifeline.sendall(f"{DONE}\n".encode())


def connect(host, port, name, limit=JOIN_LIMIT):
    """Open a lifeline; as the processes start in any order, try again for `limit` seconds."""
    deadline = time.monotonic() + limit
    while True:
        try:
            lifeline = socket.create_connection((host, port), timeout=10)
            break
        except OSError as problem:
            if time.monotonic() > deadline:
                raise JobError(
                    f"{host}:{port}: expected the scheduler, found none in {limit} s ({problem}); start "
                    "it, or let its port and the one after through"
                ) from problem
            time.sleep(0.1)
    kept_alive(lifeline)
    lifeline.sendall(f"{name}\n".encode())
    return lifeline


def kept_alive(connection):
    """Have the system notice in about a minute that the other machine is gone."""
    connection.settimeout(None)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in (("TCP_KEEPIDLE", 30), ("TCP_KEEPINTVL", 10), ("TCP_KEEPCNT", 3)):
        if hasattr(socket, name):
            connection.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)


def words(connection):
    """Yield the lines that come over a lifeline until its other end is gone."""
    try:
        with connection.makefile(encoding="utf-8", errors="replace") as lines:
            for line in lines:
                yield line.strip()
    except OSError:
        # reset or timed out: gone all the same
        return


def obey(lifeline):
    """End this process as soon as the scheduler says so, or is gone."""
    end(next(words(lifeline), "the scheduler ended before its time"))


def launched():
    """Tell whether a launcher on this machine started this process and speaks for it."""
    return LAUNCHED.items() <= os.environ.items()


def end(word):
    """End this process at once, whatever native code its main thread waits in."""
    if word != DONE and not launched():
        # a bar of progress may stand unfinished on the line
        print(
            f"\nerror: {word}; all processes of this training end: start them again with --resume",
            file=sys.stderr,
            flush=True,
        )
    os._exit(0 if word == DONE else ABANDONED)


def in_background(function, *arguments):
    threading.Thread(target=function, args=arguments, daemon=True).start()


class Watch:
    """The scheduler's end of all lifelines.

    Parameters
    ----------
    place : Place
        The scheduler's.
    """

    def __init__(self, place):
        self.wanted = Counter({"server": place.servers, **{f"worker {number}": 1 for number in range(place.workers)}})
        self.came: Counter[str] = Counter()
        self.done: Counter[str] = Counter()
        self.lifelines: list[socket.socket] = []
        self.lock = threading.Lock()
        here = place.host if place.host == "127.0.0.1" else ""
        try:
            self.door = socket.create_server((here, place.port + 1))
        except OSError as problem:
            raise ConfigError(
                f"port {place.port + 1}: {problem.strerror}; choose another DMLC_PS_ROOT_PORT"
            ) from problem

    def start(self):
        in_background(self.welcome)
        in_background(self.wait_for_all)
        if launched():
            in_background(self.follow_launcher)

    def welcome(self):
        while True:
            lifeline, _ = self.door.accept()
            kept_alive(lifeline)
            in_background(self.follow, lifeline)

    def follow(self, lifeline):
        """Hold one lifeline to its end."""
        said = words(lifeline)
        greeting = next(said, "")
        name, at, _ = greeting.partition(" at ")
        # whoever else finds the port has no say
        if not at:
            return
        with self.lock:
            self.lifelines.append(lifeline)
            self.came[name] += 1
            if self.came - self.wanted:
                self.tell(f"{greeting}: expected {listed(self.wanted)}, found {listed(self.came)}")
        last = None
        for last in said:
            pass
        with self.lock:
            if last != DONE:
                self.tell(f"{greeting} ended before its time")
            self.done[name] += 1
            if not self.wanted - self.done - Counter({"server": self.wanted["server"]}):
                self.tell(DONE)

    def follow_launcher(self):
        """End the job when the launcher does: it holds the other end of the standard input."""
        sys.stdin.buffer.read()
        with self.lock:
            self.tell("the launcher ended before its time")

    def wait_for_all(self):
        """End the job unless everyone is there in time."""
        time.sleep(JOIN_LIMIT)
        with self.lock:
            if self.wanted - self.came:
                self.tell(f"after {JOIN_LIMIT} s: expected {listed(self.wanted)}, found {listed(self.came)}")

    def tell(self, word):
        """Let every process know, and end this one too."""
        for lifeline in self.lifelines:
            try:
                lifeline.sendall(f"{word}\n".encode())
            except OSError:
                # it is gone already
                continue
        end(word)


def listed(names):
    return ", ".join(sorted(names.elements())) or "nobody"
