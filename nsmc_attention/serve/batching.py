"""Requests that arrive while the model is busy: batched for its next run, or run one after another."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Callable, Optional

from starlette.exceptions import HTTPException

Function = Callable[..., Any]


class Busy(HTTPException):
    """Too many reviews are waiting."""

    def __init__(self) -> None:
        super().__init__(503, "too many reviews wait; try again in a second")


class Batcher:
    """Runs a function in one thread over the items that arrived since its last run; an idle one starts at once.

    The function maps at most `largest` items to one result each; at most `most_waiting` items wait. The thread is one
    of its own unless given.
    """

    def __init__(
        self,
        function: Function,
        largest: int = 128,
        most_waiting: int = 4096,
        thread: Optional[ThreadPoolExecutor] = None,
    ) -> None:
        self.function, self.largest, self.most_waiting = function, largest, most_waiting
        self.waiting: list[tuple[Any, asyncio.Future[Any]]] = []
        self.task: Optional[asyncio.Task[None]] = None
        self.thread = thread or ThreadPoolExecutor(1)

    async def __call__(self, items: list[Any]) -> list[Any]:
        """Return the results of these items; Busy if too many wait."""
        if len(self.waiting) + len(items) > self.most_waiting:
            raise Busy
        futures = [asyncio.get_running_loop().create_future() for _ in items]
        self.waiting.extend(zip(items, futures))
        self.task = self.task or asyncio.create_task(self.work())
        return await asyncio.gather(*futures)

    async def run_alone(self, function: Function, *arguments: Any) -> Any:
        """Return function(*arguments), called in the same thread."""
        return await asyncio.get_running_loop().run_in_executor(self.thread, function, *arguments)

    async def work(self) -> None:
        try:
            while self.waiting:
                batch, self.waiting = self.waiting[: self.largest], self.waiting[self.largest :]
                await self.run([pair for pair in batch if not pair[1].done()])
        finally:
            self.task = None

    async def run(self, batch: list[tuple[Any, "asyncio.Future[Any]"]]) -> None:
        results, error = [], None
        try:
            results = await self.run_alone(self.function, [item for item, _ in batch])
        except Exception as problem:  # of these requests, not of the loop that serves all
            error = problem
        for place, (_, future) in enumerate(batch):
            if not future.done():
                future.set_exception(error) if error else future.set_result(results[place])


class SerialExecutor:
    """Runs calls in one thread, each submitted after the one before, so that the thread's other users get a turn.

    A call that is cancelled while it waits does not run. Busy if more than `most` calls would run or wait.
    """

    def __init__(self, thread: ThreadPoolExecutor, most: int) -> None:
        self.thread, self.most, self.pending, self.lock = thread, most, 0, asyncio.Lock()

    async def __call__(self, function: Function, *arguments: Any) -> Any:
        if self.pending >= self.most:
            raise Busy
        self.pending += 1
        try:
            async with self.lock:
                return await asyncio.get_running_loop().run_in_executor(self.thread, function, *arguments)
        finally:
            self.pending -= 1
