"""The fence around what strangers upload: a file is read in a process of its own, which is killed beyond its limits.

The processes come from a forkserver, which has the modules and no threads of an engine: one starts in milliseconds.
"""

import asyncio
import multiprocessing
import os
import resource
import signal
import traceback
from collections.abc import Callable, Sequence
from multiprocessing import forkserver
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from starlette.exceptions import HTTPException

from ...errors import BundleError, DataError, NsmcError

CONTEXT = multiprocessing.get_context("forkserver")
# Bytes that a process may allocate beyond its models'; seconds of the processor that it has, and bytes for one more
MEMORY, SECONDS, BYTES_A_SECOND = 400 * 2**20, 30, 100_000


class Fence:
    """Calls functions in processes of their own, `most` at a time; of more than `room` further ones are refused."""

    def __init__(self, most: int, room: int, modules: Sequence[str]) -> None:
        self.free, self.room = asyncio.Semaphore(most), room
        CONTEXT.set_forkserver_preload([*modules])
        forkserver.ensure_running()

    async def __call__(self, path: Path, load: Callable[[], Any], function: Callable[..., Any], *given: Any) -> Any:
        """Return the result of a function for the trusted model that `load` returns and a file of a request.

        HTTPException 413 if it takes too much, 503 if too many wait.
        """
        if not self.room:
            raise HTTPException(503, "too many files are being read; try again in a second")
        self.room -= 1
        try:
            async with self.free:
                answer = await sent(SECONDS + path.stat().st_size // BYTES_A_SECOND, load, function, given)
        finally:
            self.room += 1
        if isinstance(answer, Exception):
            raise answer
        return answer


async def sent(seconds: int, *what: Any) -> Any:
    """Return the result that `run` sends from a process, which is killed if this is cancelled."""
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
        return receiver.recv()
    except (EOFError, OSError) as problem:
        limits = f"{seconds} s and {MEMORY // 2**20} MB of memory"
        raise HTTPException(413, f"body: expected a file that is read in {limits}, found more; send less") from problem
    finally:
        loop.remove_reader(receiver.fileno())
        receiver.close()
        process.kill()


def run(sender: Connection, seconds: int, load: Callable[[], Any], function: Callable[..., Any], given: Any) -> None:
    """Call a function within limits, and send what it returns or raises; beyond them the process just ends."""
    # Ctrl-C is for the server, whose death ends this; its other requests go first
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    os.nice(5)
    # the other pools of pyarrow reserve more than they use; bars would be the server's
    os.environ.update(ARROW_DEFAULT_MEMORY_POOL="system", TQDM_DISABLE="1")
    model = load()
    # other systems do not say how much it is already
    if (size := Path("/proc/self/statm")).exists():
        memory = int(size.read_text().split()[0]) * resource.getpagesize() + MEMORY
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    # ends a process that sleeps too, and one whose server was killed
    signal.alarm(2 * seconds)
    answer: object
    try:
        answer = function(model, *given)
    except (MemoryError, RecursionError, BundleError):
        # engines say of too little memory that they cannot run a graph
        return
    except (NsmcError, OSError) as problem:
        answer = problem
    except Exception as problem:  # a library that a damaged file confuses; the log says more
        traceback.print_exc()
        answer = DataError(f"body: expected a file that can be read, found a damaged one ({type(problem).__name__})")
    sender.send(answer)
