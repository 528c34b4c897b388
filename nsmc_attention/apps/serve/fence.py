"""The fence around uploaded files: each is read in a separate process with limits on memory and time.

A forkserver, which has imported the modules and runs no engine threads, starts these processes in milliseconds.
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
# Bytes that a process may allocate after loading its models; its processor seconds, and bytes of a file per more second
MEMORY, SECONDS, BYTES_A_SECOND = 400 * 2**20, 30, 100_000


class Fence:
    """A pool that calls functions in separate processes: `most` at a time, `room` including those that wait."""

    def __init__(self, most: int, room: int, modules: Sequence[str]) -> None:
        self.free, self.room = asyncio.Semaphore(most), room
        CONTEXT.set_forkserver_preload([*modules])
        forkserver.ensure_running()

    async def __call__(self, path: Path, load: Callable[[], Any], function: Callable[..., Any], *arguments: Any) -> Any:
        """Return function(load(), *arguments), called in a process whose time depends on the size of the file `path`.

        HTTPException 413 if it exceeds its limits, 503 if too many calls wait.
        """
        if not self.room:
            raise HTTPException(503, "too many files are being read; try again in a second")
        self.room -= 1
        try:
            async with self.free:
                result = await call(SECONDS + path.stat().st_size // BYTES_A_SECOND, load, function, arguments)
        finally:
            self.room += 1
        if isinstance(result, Exception):
            raise result
        return result


async def call(seconds: int, *arguments: Any) -> Any:
    """Return the result that `run` sends from a new process; cancellation kills the process."""
    receiver, sender = CONTEXT.Pipe(duplex=False)
    process = CONTEXT.Process(target=run, args=(sender, seconds, *arguments), daemon=True)
    process.start()
    sender.close()
    loop, arrived = asyncio.get_running_loop(), asyncio.Event()
    loop.add_reader(receiver.fileno(), arrived.set)
    try:
        await arrived.wait()
        # uvloop makes the pipe non-blocking
        os.set_blocking(receiver.fileno(), True)
        return receiver.recv()
    except (EOFError, OSError) as problem:
        limits = f"{seconds} s and {MEMORY // 2**20} MB of memory"
        raise HTTPException(413, f"body: expected a file that is read in {limits}, found more; send less") from problem
    finally:
        loop.remove_reader(receiver.fileno())
        receiver.close()
        process.kill()


def run(sender: Connection, seconds: int, load: Callable[[], Any], function: Callable[..., Any], rest: Any) -> None:
    """Call a function within limits and send its result or error; beyond the limits, end the process silently."""
    # ignore Ctrl-C, because the end of the server ends this process; give other requests priority
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    os.nice(5)
    # pyarrow's other pools reserve more than they use; progress bars would appear on the server's terminal
    os.environ.update(ARROW_DEFAULT_MEMORY_POOL="system", TQDM_DISABLE="1")
    model = load()
    # Linux only: other systems do not report the memory in use
    if (size := Path("/proc/self/statm")).exists():
        memory = int(size.read_text().split()[0]) * resource.getpagesize() + MEMORY
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    # also ends a sleeping process, and one whose server was killed
    signal.alarm(2 * seconds)
    result: object
    try:
        result = function(model, *rest)
    except (MemoryError, RecursionError, BundleError):
        # without enough memory, engines raise BundleError
        return
    except (NsmcError, OSError) as problem:
        result = problem
    except Exception as problem:  # a library fails on a damaged file; the log has the traceback
        traceback.print_exc()
        result = DataError(f"body: expected a file that can be read, found a damaged one ({type(problem).__name__})")
    sender.send(result)
