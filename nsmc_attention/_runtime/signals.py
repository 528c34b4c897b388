"""SIGINT and SIGTERM as an exception, so that a command that is ended closes and removes what it has begun."""

import os
import signal
import sys
import threading
from contextlib import contextmanager
from types import FrameType
from typing import Iterator, NoReturn, Optional

# What a command that was ended so says
ENDINGS = {signal.SIGINT: "interrupted", signal.SIGTERM: "terminated"}
# Seconds until a signal is raised again
SOON = 0.01


class Ended(SystemExit):
    """A signal asked for the end; `code` is 128 + its number."""

    code: int


@contextmanager
def as_exceptions() -> Iterator[None]:
    """Within, the first SIGINT or SIGTERM raises Ended; further ones are ignored.

    A signal that was ignored stays so (`nohup`, a shell's `&`). For the main thread of a command.
    """
    numbers = [number for number in ENDINGS if signal.getsignal(number) is not signal.SIG_IGN]
    for number in numbers:
        signal.signal(number, end)
    sys.unraisablehook = again
    try:
        yield
    finally:
        for number in numbers:
            if signal.getsignal(number) is end:
                # what comes while the interpreter ends, ends it
                signal.signal(number, signal.SIG_DFL)


def end(number: int, frame: Optional[FrameType]) -> NoReturn:
    for each in ENDINGS:
        signal.signal(each, signal.SIG_IGN)
    raise Ended(128 + number)


def again(problem: "sys.UnraisableHookArgs") -> None:
    """Raise a signal again whose exception was lost because a finalizer was just running, as MXNet's arrays have."""
    if not isinstance(problem.exc_value, Ended):
        sys.__unraisablehook__(problem)
        return
    number = problem.exc_value.code - 128
    signal.signal(number, end)
    threading.Timer(SOON, os.kill, [os.getpid(), number]).start()


@contextmanager
def held_back() -> Iterator[None]:
    """Within, neither signal arrives here; processes and threads that are started never get one."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    from multiprocessing import resource_tracker

    # once it runs: its start would let them in again
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ENDINGS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
