"""SIGINT and SIGTERM as an exception, so that an interrupted command cleans up."""

import signal
import sys
import warnings
from contextlib import contextmanager
from importlib import import_module
from types import FrameType
from typing import Iterator, NoReturn, Optional

ENDINGS = (signal.SIGINT, signal.SIGTERM)
# The signal that ends this process, once there is one
received: list[int] = []
# Seconds until a lost exception is raised again, when the finalizer has ended
DELAY = 0.1


class Ended(SystemExit):
    """A signal asked the process to end; `code` is 128 + its number."""

    code: int


@contextmanager
def as_exceptions() -> Iterator[None]:
    """Let the first SIGINT or SIGTERM raise Ended, unless it is ignored (nohup, &); later ones are. Main thread only."""
    before = {number: handler for number in ENDINGS if (handler := signal.getsignal(number)) is not signal.SIG_IGN}
    for number in before:
        signal.signal(number, end)
    sys.unraisablehook = raise_again
    try:
        yield
    finally:
        for number, handler in before.items():
            if signal.getsignal(number) is end:
                signal.signal(number, handler or signal.SIG_DFL)


def end(number: int, frame: Optional[FrameType]) -> NoReturn:
    for ending in ENDINGS:
        signal.signal(ending, signal.SIG_IGN)
    received.append(number)
    # Cython warns if the exception comes while it prepares a module
    warnings.simplefilter("ignore")
    raise Ended(128 + number)


def raise_again(problem: "sys.UnraisableHookArgs") -> None:
    """Raise an exception again that was lost in a finalizer, such as that of an MXNet array."""
    if not isinstance(problem.exc_value, Ended):
        sys.__unraisablehook__(problem)
    elif hasattr(signal, "setitimer"):
        signal.signal(signal.SIGALRM, lambda *_: end(received[0], None))
        signal.setitimer(signal.ITIMER_REAL, DELAY)


@contextmanager
def held() -> Iterator[None]:
    """Hold the signals of `as_exceptions` back: what they raise within a library's C++ would abort the process."""
    numbers = [number for number in ENDINGS if signal.getsignal(number) is end]
    for number in numbers:
        signal.signal(number, lambda number, frame: received.append(number))
    try:
        yield
    finally:
        for number in numbers:
            signal.signal(number, end)
        if numbers and received:
            end(received[0], None)


@contextmanager
def blocked() -> Iterator[None]:
    """Block both signals, here and for good in the processes and threads started meanwhile."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    # its start would unblock the signals
    import_module("multiprocessing.resource_tracker").ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ENDINGS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
