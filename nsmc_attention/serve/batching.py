"""Requests that arrive while the model is busy: batched for its next run, or run one after another."""

import asyncio
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from typing import Any, Callable, Iterator, Optional

from starlette.exceptions import HTTPException

Function = Callable[..., Any]
# Items of one request, and their results once there are any
Part = tuple[list[Any], "asyncio.Future[list[Any]]"]


class Busy(HTTPException):
    """Too many reviews are waiting."""

    def __init__(self) -> None:
        super().__init__(503, "too many reviews wait; try again in a second")


class Batcher:
    """Runs a function in one thread over the items that arrived since its last run; an idle one starts when no more arrive.

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
        # parts of requests, each of at most `largest` items, and how many items they are
        self.waiting: deque[Part] = deque()
        self.count = 0
        self.task: Optional[asyncio.Task[None]] = None
        self.thread = thread or ThreadPoolExecutor(1)

    async def __call__(self, items: list[Any]) -> list[Any]:
        """Return the results of these items; Busy if too many wait."""
        if self.count + len(items) > self.most_waiting:
            raise Busy
        loop = asyncio.get_running_loop()
        starts = range(0, len(items), self.largest)
        parts: list[Part] = [(items[start : start + self.largest], loop.create_future()) for start in starts]
        self.waiting.extend(parts)
        self.count += len(items)
        self.task = self.task or loop.create_task(self.work())
        if len(parts) == 1:
            return await parts[0][1]
        return [result for part in await asyncio.gather(*(future for _, future in parts)) for result in part]

    async def run_alone(self, function: Function, *arguments: Any) -> Any:
        """Return function(*arguments), called in the same thread."""
        return await asyncio.get_running_loop().run_in_executor(self.thread, function, *arguments)

    async def work(self) -> None:
        try:
            while self.waiting:
                await self.let_arrive()
                await self.run(self.next_batch())
        finally:
            self.task = None

    async def let_arrive(self) -> None:
        """Wait while requests that were sent already reach the batch: a run for each of them would take longer."""
        seen = 0
        while seen < self.count < self.largest:
            seen = self.count
            # one turn of the loop reads them, in the next their tasks begin
            await asyncio.sleep(0)
            await asyncio.sleep(0)

    def next_batch(self) -> "list[Part]":
        """Take the first waiting parts that fit into a batch, but those that were cancelled."""
        batch, room = [], self.largest
        while self.waiting and len(self.waiting[0][0]) <= room:
            items, future = self.waiting.popleft()
            self.count -= len(items)
            if not future.done():
                batch.append((items, future))
                room -= len(items)
        return batch

    async def run(self, batch: "list[Part]") -> None:
        results: Iterator[Any] = iter(())
        error = None
        try:
            results = iter(await self.run_alone(self.function, [item for items, _ in batch for item in items]))
        except Exception as problem:  # of these requests, not of the loop that serves all
            error = problem
        for items, future in batch:
            found = list(islice(results, len(items)))
            if not future.done():
                future.set_exception(error) if error else future.set_result(found)


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
