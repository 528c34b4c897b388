"""Worker processes: each runs one task at a time, and ends with the process that started it.

They are new processes, as a fork beside an engine's threads may hang, and those of `multiprocessing` run the caller's
main module again. Tasks and results are pickled through pipes.
"""

import os
import pickle
import sys
import traceback
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Future, ThreadPoolExecutor
from queue import SimpleQueue
from subprocess import PIPE, Popen
from typing import Any

from .processes import collect_seldom, exit_with_parent

CODE = "import sys; sys.path[:] = {path!r}; from {module} import work; work({parent})"


class Workers(ThreadPoolExecutor):
    """A pool of `count` processes, for a `with` block, whose end ends them at once. BrokenExecutor if one was killed."""

    def __init__(self, count: int):
        # each thread waits for the result of a process
        super().__init__(count)
        code = CODE.format(path=sys.path, module=__name__, parent=os.getpid())
        self.processes: list[Popen[bytes]] = []
        self.idle: "SimpleQueue[Popen[bytes]]" = SimpleQueue()
        for _ in range(count):
            # in a session of its own, which Ctrl-C does not reach: it would complain
            process = Popen([sys.executable, "-c", code], stdin=PIPE, stdout=PIPE, start_new_session=True)
            self.processes.append(process)
            self.idle.put(process)

    def submit(self, fn: Callable[..., Any], /, *args: Any, **named: Any) -> "Future[Any]":
        return super().submit(self.run, pickle.dumps((fn, args, named)))

    def run(self, task: bytes) -> Any:
        process: Any = self.idle.get()
        try:
            pickle.dump(task, process.stdin)
            process.stdin.flush()
            result, error, trace = pickle.load(process.stdout)
        except (OSError, EOFError, pickle.UnpicklingError) as problem:
            raise BrokenExecutor from problem
        finally:
            self.idle.put(process)
        if error:
            raise error from RuntimeError(trace)
        return result

    def __exit__(self, *problem: object) -> None:
        for process in self.processes:
            process.kill()
        self.shutdown(cancel_futures=True)
        for process in self.processes:
            with process:
                process.wait()


def work(parent: int) -> None:
    """Run the tasks that come by stdin."""
    collect_seldom()
    exit_with_parent(parent)
    results = os.fdopen(os.dup(1), "wb")
    # what a library prints is no result
    os.dup2(2, 1)
    while True:
        try:
            task = pickle.load(sys.stdin.buffer)
            results.write(outcome(task))
            results.flush()
        except (EOFError, OSError):
            # the parent has ended
            os._exit(0)


def outcome(task: bytes) -> bytes:
    """Return the pickled result of a pickled task, None, ""; or None, what it raised, and where."""
    try:
        function, values, named = pickle.loads(task)
        return pickle.dumps((function(*values, **named), None, ""))
    except Exception as problem:
        return pickle.dumps((None, problem, traceback.format_exc()))
