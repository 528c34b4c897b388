"""Worker processes: each runs one task at a time, and ends with its parent. Tasks and results are pickled through pipes.

They are new processes: a fork of an engine's threads may hang, and `multiprocessing` runs the caller's main module again.
"""

import os
import sys
import traceback
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Future, ThreadPoolExecutor
from multiprocessing.connection import Connection, Pipe
from multiprocessing.reduction import ForkingPickler
from queue import SimpleQueue
from subprocess import DEVNULL, Popen
from typing import Any

from .processes import collect_seldom, exit_with_parent

CODE = "import sys; sys.path[:] = {path!r}; from {module} import work; work({parent}, {descriptor})"


class Workers(ThreadPoolExecutor):
    """A pool of `count` processes, killed at the end of its `with` block. BrokenExecutor if one was killed before."""

    def __init__(self, count: int):
        # each thread waits for the result of a process
        super().__init__(count)
        self.processes: list[Popen[bytes]] = []
        self.idle: "SimpleQueue[Connection]" = SimpleQueue()
        for _ in range(count):
            connection, other = Pipe()
            descriptor = other.fileno()
            code = CODE.format(path=sys.path, module=__name__, parent=os.getpid(), descriptor=descriptor)
            # libraries must not print to stdout; Ctrl-C does not reach a new session
            options: Any = {"stdin": DEVNULL, "stdout": DEVNULL, "start_new_session": True}
            self.processes.append(Popen([sys.executable, "-c", code], pass_fds=[descriptor], **options))
            other.close()
            self.idle.put(connection)

    def submit(self, fn: Callable[..., Any], /, *args: Any, **named: Any) -> "Future[Any]":
        return super().submit(self.run, bytes(ForkingPickler.dumps((fn, args, named))))

    def run(self, task: bytes) -> Any:
        connection = self.idle.get()
        try:
            connection.send_bytes(task)
            result, error, trace = connection.recv()
        except (OSError, EOFError) as problem:
            raise BrokenExecutor from problem
        finally:
            self.idle.put(connection)
        if error:
            raise error from RuntimeError(trace)
        return result

    def __exit__(self, *problem: object) -> None:
        for process in self.processes:
            process.kill()
        self.shutdown(cancel_futures=True)
        for process in self.processes:
            process.wait()


def work(parent: int, descriptor: int) -> None:
    """Run the tasks from a pipe; numpy gets one thread, because its idle threads keep the cores busy."""
    os.environ["OMP_NUM_THREADS"] = "1"
    exit_with_parent(parent)
    collect_seldom()
    with Connection(descriptor) as connection:
        while True:
            try:
                connection.send_bytes(outcome(connection.recv_bytes()))
            except (EOFError, OSError):
                # the parent has ended
                os._exit(0)


def outcome(task: bytes) -> bytes:
    """Run a pickled task; return the pickled (result, None, "") or (None, exception, traceback)."""
    try:
        function, values, named = ForkingPickler.loads(task)
        return bytes(ForkingPickler.dumps((function(*values, **named), None, "")))
    except Exception as problem:
        return bytes(ForkingPickler.dumps((None, problem, traceback.format_exc())))
