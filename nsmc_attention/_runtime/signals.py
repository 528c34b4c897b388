"""SIGINT and SIGTERM as an exception, so that an interrupted command cleans up."""

import os
import signal
import sys
import threading
from contextlib import contextmanager
from types import FrameType
from typing import Iterator, NoReturn, Optional

# The last line of a command that a signal ended
ENDINGS = {signal.SIGINT: "interrupted", signal.SIGTERM: "terminated"}
# Seconds until a lost signal is sent again, when the finalizer has ended
DELAY = 0.1


class Ended(SystemExit):
    """A signal asked the process to end; `code` is 128 + its number."""

    code: int


@contextmanager
def as_exceptions() -> Iterator[None]:
    """Let the first SIGINT or SIGTERM raise Ended; later ones are ignored.

    Signals already ignored (nohup, &) stay ignored. Main thread only.
    """
    numbers = [number for number in ENDINGS if signal.getsignal(number) is not signal.SIG_IGN]
    for number in numbers:
        signal.signal(number, end)
    sys.unraisablehook = send_again
    try:
        yield
    finally:
        for number in numbers:
            if signal.getsignal(number) is end:
                # a signal during the interpreter's shutdown ends it
                signal.signal(number, signal.SIG_DFL)


def end(number: int, frame: Optional[FrameType]) -> NoReturn:
    for ending in ENDINGS:
        signal.signal(ending, signal.SIG_IGN)
    raise Ended(128 + number)


def send_again(problem: "sys.UnraisableHookArgs") -> None:
    """Send a signal again whose exception was lost in a finalizer, such as that of an MXNet array."""
    if not isinstance(problem.exc_value, Ended):
        sys.__unraisablehook__(problem)
        return
    number = problem.exc_value.code - 128
    signal.signal(number, end)
    threading.Timer(DELAY, os.kill, [os.getpid(), number]).start()


@contextmanager
def blocked() -> Iterator[None]:
    """Block both signals, here and for good in the processes and threads started meanwhile."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    from multiprocessing import resource_tracker

    # its start would unblock the signals
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ENDINGS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
