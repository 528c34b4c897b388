"""Requests that arrive while the model is busy: answered together by its next run, or one after another."""

import asyncio
from concurrent.futures import ThreadPoolExecutor


class Busy(Exception):
    """So many reviews wait already that another would wait too long."""


class Batcher:
    """One thread that runs a function over whatever has come in since its last run.

    Nothing waits for company: an idle model answers at once, a busy one takes all that is waiting, up to
    `largest`. The function is called from that thread alone.

    Parameters
    ----------
    function : callable
        list of items -> list of answers, one each.
    largest, most_waiting : int
        Items of one run, and items that may wait.
    """

    def __init__(self, function, largest=128, most_waiting=4096):
        self.function, self.largest, self.most_waiting = function, largest, most_waiting
        self.waiting, self.task = [], None
        self.thread = ThreadPoolExecutor(1)

    async def __call__(self, items):
        """Answer the function's answers for these items; Busy where too many wait."""
        if len(self.waiting) + len(items) > self.most_waiting:
            raise Busy
        loop = asyncio.get_running_loop()
        futures = [loop.create_future() for _ in items]
        self.waiting.extend(zip(items, futures))
        if self.task is None:
            self.task = asyncio.create_task(self.work())
        return await asyncio.gather(*futures)

    async def alone(self, function, *arguments):
        """Answer function(*arguments), called in the same thread."""
        return await asyncio.get_running_loop().run_in_executor(self.thread, function, *arguments)

    async def work(self):
        try:
            while self.waiting:
                batch, self.waiting = self.waiting[: self.largest], self.waiting[self.largest :]
                await self.answer(batch)
        finally:
            self.task = None

    async def answer(self, batch):
        # whoever has gone away is not answered
        batch = [(item, future) for item, future in batch if not future.done()]
        try:
            answers = await self.alone(self.function, [item for item, _ in batch])
        except Exception as problem:  # it belongs to the requests, not to the loop that serves them
            for _, future in batch:
                if not future.done():
                    future.set_exception(problem)
            return
        for (_, future), found in zip(batch, answers):
            if not future.done():
                future.set_result(found)


class Turns:
    """Calls in one thread, each handed to it when the one before is done, so that others of the thread's come between.

    Who is cancelled while waiting is not called.

    Parameters
    ----------
    thread : concurrent.futures.ThreadPoolExecutor
        Of one thread.
    most : int
        Calls that may run or wait.
    """

    def __init__(self, thread, most):
        self.thread, self.most, self.inside, self.turn = thread, most, 0, asyncio.Lock()

    async def __call__(self, function, *arguments):
        """Answer function(*arguments); Busy where too many run or wait."""
        if self.inside >= self.most:
            raise Busy
        self.inside += 1
        try:
            async with self.turn:
                return await asyncio.get_running_loop().run_in_executor(self.thread, function, *arguments)
        finally:
            self.inside -= 1
