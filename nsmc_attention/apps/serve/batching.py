"""Items that arrive while a model is busy: batched for its next run, those of several requests in turn."""

import asyncio
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from typing import Callable, Generic, Iterator, Optional, TypeVar

from starlette.exceptions import HTTPException

ItemT = TypeVar("ItemT")
ResultT = TypeVar("ResultT")
# What a text costs beside one for each of its characters
COST = 64


def cost_of(text: str) -> int:
    return COST + len(text)


class Busy(HTTPException):
    """Too much is waiting."""

    def __init__(self) -> None:
        super().__init__(503, "too many reviews wait; try again in a second")


class Batcher(Generic[ItemT, ResultT]):
    """Runs a function in one thread over the items that arrived since its last run; an idle one starts when no more arrive.

    The function maps items to one result each. The items of a run cost at most `largest`, or there is one. A request whose
    items cost more goes into several runs and lets others go between; items of a request that was cancelled do not run. A
    request is refused as Busy where those before it cost `most` or more; of one run and of several are counted apart, so
    that a single large one keeps no small one out.
    """

    def __init__(
        self,
        function: Callable[[list[ItemT]], list[ResultT]],
        thread: ThreadPoolExecutor,
        cost: Callable[[ItemT], int],
        largest: int = 128 * 2 * COST,
        most: int = 4096 * 2 * COST,
    ) -> None:
        self.function, self.thread, self.cost, self.largest, self.most = function, thread, cost, largest, most
        # parts of requests, what they cost, and their results once there are any
        self.waiting: deque[tuple[list[ItemT], int, asyncio.Future[list[ResultT]]]] = deque()
        # what requests of one run, and of several, cost
        self.pending = [0, 0]
        self.task: Optional[asyncio.Task[None]] = None

    async def __call__(self, items: list[ItemT]) -> list[ResultT]:
        """Return the results of these items; Busy if too much is waiting."""
        total = sum(map(self.cost, items))
        large = total > self.largest
        if self.pending[large] >= self.most:
            raise Busy
        self.pending[large] += total
        results: list[ResultT] = []
        try:
            for part, cost in self.parts(items) if large else [(items, total)]:
                future: asyncio.Future[list[ResultT]] = asyncio.get_running_loop().create_future()
                self.waiting.append((part, cost, future))
                self.task = self.task or asyncio.create_task(self.work())
                results += await future
            return results
        finally:
            self.pending[large] -= total

    def parts(self, items: list[ItemT]) -> Iterator[tuple[list[ItemT], int]]:
        """Yield the items that go into one run, and what they cost."""
        part: list[ItemT] = []
        total = 0
        for item in items:
            cost = self.cost(item)
            if part and total + cost > self.largest:
                yield part, total
                part, total = [], 0
            part.append(item)
            total += cost
        yield part, total

    async def work(self) -> None:
        try:
            while self.waiting:
                await self.let_arrive()
                await self.run(self.next_batch())
        finally:
            self.task = None

    async def let_arrive(self) -> None:
        """Wait while requests that were sent already reach the batch: a run for each of them would take longer."""
        before = 0
        while before < len(self.waiting) and sum(self.pending) < self.largest:
            before = len(self.waiting)
            # one turn of the loop reads them, in the next their tasks begin
            await asyncio.sleep(0)
            await asyncio.sleep(0)

    def next_batch(self) -> "list[tuple[list[ItemT], asyncio.Future[list[ResultT]]]]":
        """Take the first waiting parts that fit into a batch, but those that were cancelled."""
        batch: list[tuple[list[ItemT], asyncio.Future[list[ResultT]]]] = []
        room = self.largest
        while self.waiting and (not batch or self.waiting[0][1] <= room):
            items, cost, future = self.waiting.popleft()
            if not future.done():
                batch.append((items, future))
                room -= cost
        return batch

    async def run(self, batch: "list[tuple[list[ItemT], asyncio.Future[list[ResultT]]]]") -> None:
        results: Iterator[ResultT] = iter(())
        error = None
        items = [item for part, _ in batch for item in part]
        try:
            if items:
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
