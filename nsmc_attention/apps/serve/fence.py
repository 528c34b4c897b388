"""The fence around what strangers upload: a file is read in a process of its own, which is killed beyond its limits.

    Fence -> a process from a forkserver -> memory, processor time and time by the clock limited -> what a function returns

The forkserver has the modules and no threads of an engine; a process costs some milliseconds, and loads what it needs.
"""

import asyncio
import multiprocessing
import os
import resource
import signal
import traceback
from collections.abc import Callable, Sequence
from multiprocessing import forkserver, reduction
from multiprocessing.connection import Connection
from typing import Any, BinaryIO

from starlette.exceptions import HTTPException

from ...errors import BundleError, DataError, NsmcError

CONTEXT = multiprocessing.get_context("forkserver")
# Bytes that a process may allocate beyond those of the forkserver, and seconds of the processor for the smallest file
MEMORY, SECONDS = 400 * 2**20, 30
# Bytes for which there is a second more, a tenth of what is usual, and the most seconds
BYTES_A_SECOND, MOST_SECONDS = 100_000, 600


class UploadedFile:
    """An open file, without a name, that a fenced process gets as a path."""

    def __init__(self, file: BinaryIO) -> None:
        self.file = file

    def __reduce__(self) -> Any:
        return path_of, (reduction.DupFd(self.file.fileno()),)


def path_of(descriptor: Any) -> str:
    return f"/dev/fd/{descriptor.detach()}"


class Fence:
    """Calls functions in processes of their own, `most` at a time; where `room` is for so many, further ones are refused."""

    def __init__(self, most: int, room: int, modules: Sequence[str]) -> None:
        self.free, self.room = asyncio.Semaphore(most), room
        CONTEXT.set_forkserver_preload([*modules])
        forkserver.ensure_running()

    async def __call__(self, file: BinaryIO, load: Callable[[], Any], function: Callable[..., Any], *given: Any) -> Any:
        """Return what a function makes of what `load` returns, which is trusted, and of a file that is given to it.

        HTTPException 413 if it takes too much, 503 if too many wait.
        """
        if not self.room:
            raise HTTPException(503, "too many files are being read; try again in a second")
        self.room -= 1
        try:
            async with self.free:
                seconds = SECONDS + os.fstat(file.fileno()).st_size // BYTES_A_SECOND
                return await call(min(MOST_SECONDS, seconds), load, function, given)
        finally:
            self.room += 1


async def call(seconds: int, *what: Any) -> Any:
    """Return what `run` sends from a process, which is killed if this is cancelled."""
    receiver, sender = CONTEXT.Pipe(duplex=False)
    process = CONTEXT.Process(target=run, args=(sender, seconds, *what), daemon=True)
    process.start()
    sender.close()
    loop, arrived = asyncio.get_running_loop(), asyncio.Event()
    loop.add_reader(receiver.fileno(), arrived.set)
    try:
        await arrived.wait()
        # uvloop makes it non-blocking
        os.set_blocking(receiver.fileno(), True)
        answer = receiver.recv()
    except (EOFError, OSError) as problem:
        limits = f"{seconds} s and {MEMORY // 2**20} MB of memory"
        raise HTTPException(413, f"body: expected a file that is read in {limits}, found more; send less") from problem
    finally:
        loop.remove_reader(receiver.fileno())
        receiver.close()
        process.kill()
    if isinstance(answer, Exception):
        raise answer
    return answer


def run(sender: Connection, seconds: int, load: Callable[[], Any], function: Callable[..., Any], given: Any) -> None:
    """Call a function within limits, and send what it returns or raises; beyond them the process ends without a word."""
    # Ctrl-C is for the server, which finishes the requests in progress
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # the server's other requests go first
    os.nice(5)
    # the other pools of pyarrow reserve more than they use
    os.environ["ARROW_DEFAULT_MEMORY_POOL"] = "system"
    model = load()
    # ends a process that sleeps too, and one whose server was killed
    signal.alarm(2 * seconds)
    resource.setrlimit(resource.RLIMIT_CPU, (seconds,) * 2)
    resource.setrlimit(resource.RLIMIT_AS, (size_now() + MEMORY,) * 2)
    answer: object
    try:
        answer = function(model, *given)
    except (MemoryError, RecursionError, BundleError):
        # engines say of their memory that a graph cannot be run
        return
    except (NsmcError, OSError) as problem:
        answer = problem
    except Exception as problem:  # a library that a damaged file confuses; the log says more
        traceback.print_exc()
        answer = DataError(f"body: expected a file that can be read, found a damaged one ({type(problem).__name__})")
    sender.send(answer)


def size_now() -> int:
    """Return the bytes of this process's address space."""
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[0]) * resource.getpagesize()
