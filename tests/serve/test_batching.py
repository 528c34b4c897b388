import asyncio
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("fastapi")

from nsmc_attention.serve.batching import Batcher, Busy, SerialExecutor


def test_items_that_arrive_while_it_is_busy_are_batched_and_each_gets_its_result():
    sizes, go = [], threading.Event()

    def double(items):
        sizes.append(len(items))
        go.wait(5)
        return [2 * item for item in items]

    async def ask():
        batcher = Batcher(double, largest=64)
        tasks = [asyncio.create_task(batcher([number, number + 1000])) for number in range(50)]
        await asyncio.sleep(0.1)
        go.set()
        return await asyncio.gather(*tasks)

    answers = asyncio.run(ask())
    assert answers == [[2 * number, 2 * number + 2000] for number in range(50)]
    assert sum(sizes) == 100 and max(sizes) == 64 and len(sizes) < 10


@given(st.lists(st.integers(0, 9), max_size=6), st.integers(1, 5))
def test_every_request_gets_its_own_results_in_order_however_many_fit_into_a_batch(lengths, largest):
    sizes = []

    def negate(items):
        sizes.append(len(items))
        return [-item for item in items]

    async def ask():
        batcher = Batcher(negate, largest)
        requests = [[10 * number + place for place in range(length)] for number, length in enumerate(lengths)]
        return requests, await asyncio.gather(*map(batcher, requests)), batcher

    requests, answers, batcher = asyncio.run(ask())
    assert answers == [[-item for item in request] for request in requests]
    assert max(sizes, default=0) <= largest and sum(sizes) == sum(lengths) and not batcher.count


def test_an_error_reaches_its_batch_and_the_next_batch_succeeds():
    def function(items):
        if "bad" in items:
            raise ValueError("bad")
        return items

    async def ask():
        batcher = Batcher(function)
        with pytest.raises(ValueError):
            await batcher(["bad"])
        return await batcher(["good"])

    assert asyncio.run(ask()) == ["good"]


def test_too_many_waiting_items_are_refused_and_cancelled_ones_are_not_run():
    go, seen = threading.Event(), []

    def function(items):
        seen.extend(items)
        go.wait(5)
        return items

    async def ask():
        batcher = Batcher(function, largest=1, most_waiting=2)
        first = asyncio.create_task(batcher([1]))
        await asyncio.sleep(0.05)
        second = asyncio.create_task(batcher([2]))
        await asyncio.sleep(0.01)
        with pytest.raises(Busy):
            await batcher([3, 4])
        second.cancel()
        third = asyncio.create_task(batcher([5]))
        await asyncio.sleep(0.01)
        go.set()
        return await first, await third

    assert asyncio.run(ask()) == ([1], [5]) and seen == [1, 5]


def test_serial_calls_let_other_calls_between_refuse_too_many_and_skip_cancelled_ones():
    go, seen = threading.Event(), []

    def call(item):
        seen.append(item)
        go.wait(5)
        return item

    async def ask():
        batcher = Batcher(call)
        serial = SerialExecutor(batcher.thread, 3)
        tasks = [asyncio.create_task(serial(call, number)) for number in range(3)]
        await asyncio.sleep(0.05)
        with pytest.raises(Busy):
            await serial(call, 3)
        tasks[1].cancel()
        other = asyncio.create_task(batcher(["other"]))
        await asyncio.sleep(0.01)
        go.set()
        assert await serial(call, 4) == 4
        return await asyncio.gather(tasks[0], other, tasks[2])

    assert asyncio.run(ask()) == [0, ["other"], 2] and seen == [0, ["other"], 2, 4]
