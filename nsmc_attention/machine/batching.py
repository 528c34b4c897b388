"""Items that arrive while a model is busy: batched for its next run, those of several requests in turn."""

import asyncio
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from typing import Generic, Optional, TypeVar

from ..errors import NsmcError

ItemT = TypeVar("ItemT")
ResultT = TypeVar("ResultT")
# What a text costs beside one for each of its characters
COST = 64


def cost_of(text: str) -> int:
    return COST + len(text)


class Busy(NsmcError):
    """Too much is waiting."""


class Batcher(Generic[ItemT, ResultT]):
    """Runs a function in one thread over the items that arrived since its last run; an idle one starts when no more arrive.

    The function maps items to one result each. The items of a run cost about `largest` at most. A request whose items
    cost more goes into several runs and lets others go between; items of a request that was cancelled do not run. A
    request is refused where those before it cost `most` or more.
    """

    def __init__(
        self,
        function: Callable[[list[ItemT]], list[ResultT]],
        thread: ThreadPoolExecutor,
        cost: Callable[[ItemT], int],
        largest: int = 128 * 2 * COST,
        most: int = 8192 * 2 * COST,
    ) -> None:
        self.function, self.thread, self.cost, self.largest, self.most = function, thread, cost, largest, most
        # parts of requests, what they cost, and their results once there are any; what all requests cost
        self.waiting: deque[tuple[list[ItemT], int, asyncio.Future[list[ResultT]]]] = deque()
        self.pending = 0
        self.task: Optional[asyncio.Task[None]] = None

    async def __call__(self, items: list[ItemT]) -> list[ResultT]:
        """Return the results of these items; Busy if too much is waiting."""
        if self.pending >= self.most:
            raise Busy("too many reviews wait; try again in a second")
        total = sum(map(self.cost, items))
        self.pending += total
        results: list[ResultT] = []
        step = max(1, len(items) * self.largest // max(total, 1))
        try:
            for start in range(0, len(items), step):
                part = items[start : start + step]
                future: asyncio.Future[list[ResultT]] = asyncio.get_running_loop().create_future()
                self.waiting.append((part, sum(map(self.cost, part)), future))
                self.task = self.task or asyncio.create_task(self.work())
                results += await future
            return results
        finally:
            self.pending -= total

    async def work(self) -> None:
        """Run the function until nothing waits."""
        try:
            while self.waiting:
                before = 0
                # a run for each request that is sent already would take longer
                while before < len(self.waiting) and self.pending < self.largest:
                    before = len(self.waiting)
                    # one turn of the loop reads them, in the next their tasks begin
                    await asyncio.sleep(0)
                    await asyncio.sleep(0)
                await self.run()
        finally:
            self.task = None

    async def run(self) -> None:
        """Run the function over the first waiting parts that fit into a batch, but those that were cancelled."""
        batch: list[tuple[list[ItemT], asyncio.Future[list[ResultT]]]] = []
        room, results, error = self.largest, iter(list[ResultT]()), None
        while self.waiting and (not batch or self.waiting[0][1] <= room):
            part, cost, future = self.waiting.popleft()
            if not future.done():
                batch.append((part, future))
                room -= cost
        try:
            if items := [item for part, _ in batch for item in part]:
                results = iter(await asyncio.get_running_loop().run_in_executor(self.thread, self.function, items))
        except Exception as problem:  # of these requests, not of the loop that serves all
            error = problem
        for part, future in batch:
            answers = list(islice(results, len(part)))
            if not future.done():
                future.set_exception(error) if error else future.set_result(answers)


def one_by_one(function: Callable[[ItemT], ResultT], thread: ThreadPoolExecutor, most: int) -> Batcher[ItemT, ResultT]:
    """Return a Batcher whose function takes one item, so that an error is of that item alone; at most `most` wait."""
    return Batcher(lambda items: [function(items[0])], thread, lambda item: 1, 1, most)
