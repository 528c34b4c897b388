"""Dynamic batching: items that arrive while a model is busy are batched for its next run, requests in turn."""

import asyncio
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from typing import Generic, Optional, TypeVar

from ..errors import NsmcError

ItemT = TypeVar("ItemT")
ResultT = TypeVar("ResultT")
# Constant cost of a text, besides one for each character
COST = 64


def cost_of(text: str) -> int:
    return COST + len(text)


class Busy(NsmcError):
    """The queue is full."""


class Batcher(Generic[ItemT, ResultT]):
    """Runs a function in one thread over the items that arrived since its last run; an idle one waits until no more arrive.

    The function maps items to one result each. The items of a run cost at most about `largest`. A request whose items
    cost more is divided over several runs, between which others may run; items of a cancelled request do not run. A
    request is refused if the requests before it cost `most` or more.
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
        # (items of a request, their cost, their future results); `pending` is the cost of all requests
        self.waiting: deque[tuple[list[ItemT], int, asyncio.Future[list[ResultT]]]] = deque()
        self.pending = 0
        self.task: Optional[asyncio.Task[None]] = None

    async def __call__(self, items: list[ItemT]) -> list[ResultT]:
        """Return the results of these items; Busy if the queue is full."""
        if self.pending >= self.most:
            raise Busy("too many reviews wait; try again in a second")
        total = sum(map(self.cost, items))
        self.pending += total
        results: list[ResultT] = []
        step = max(1, len(items) * self.largest // max(total, 1))
        try:
            for start in range(0, len(items), step):
                chunk = items[start : start + step]
                future: asyncio.Future[list[ResultT]] = asyncio.get_running_loop().create_future()
                self.waiting.append((chunk, sum(map(self.cost, chunk)), future))
                self.task = self.task or asyncio.create_task(self.work())
                results += await future
            return results
        finally:
            self.pending -= total

    async def work(self) -> None:
        """Run the function until the queue is empty."""
        try:
            while self.waiting:
                before = 0
                # wait for requests that were already sent: a run for each would take longer
                while before < len(self.waiting) and self.pending < self.largest:
                    before = len(self.waiting)
                    # one turn of the event loop reads requests, the next begins their tasks
                    await asyncio.sleep(0)
                    await asyncio.sleep(0)
                await self.run()
        finally:
            self.task = None

    async def run(self) -> None:
        """Run the function over the first waiting chunks that fit into a batch, without cancelled ones."""
        batch: list[tuple[list[ItemT], asyncio.Future[list[ResultT]]]] = []
        room, results, error = self.largest, iter(list[ResultT]()), None
        while self.waiting and (not batch or self.waiting[0][1] <= room):
            chunk, cost, future = self.waiting.popleft()
            if not future.done():
                batch.append((chunk, future))
                room -= cost
        try:
            if items := [item for chunk, _ in batch for item in chunk]:
                results = iter(await asyncio.get_running_loop().run_in_executor(self.thread, self.function, items))
        except Exception as problem:  # an error of these requests, which must not end the loop
            error = problem
        for chunk, future in batch:
            chunk_results = list(islice(results, len(chunk)))
            if not future.done():
                future.set_exception(error) if error else future.set_result(chunk_results)


def one_by_one(function: Callable[[ItemT], ResultT], thread: ThreadPoolExecutor, most: int) -> Batcher[ItemT, ResultT]:
    """Return a Batcher for a function of one item, so that an error concerns only that item; at most `most` wait."""
    return Batcher(lambda items: [function(items[0])], thread, lambda item: 1, 1, most)
