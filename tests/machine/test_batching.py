import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nsmc_attention.machine.batching import Batcher, Busy, one_by_one


def batcher(function, cost=lambda item: 1, **options):
    return Batcher(function, ThreadPoolExecutor(1), cost, **options)


@given(st.lists(st.lists(st.integers(1, 9), max_size=5), max_size=6), st.integers(1, 20))
def test_every_request_gets_its_own_results_in_order(requests, largest):
    runs = []

    def negate(items):
        runs.append(items)
        return [-item for item in items]

    async def ask():
        function = batcher(negate, cost=lambda item: item, largest=largest)
        return await asyncio.gather(*map(function, requests)), function.pending

    answers, pending = asyncio.run(ask())
    assert answers == [[-item for item in request] for request in requests] and not pending
    assert sum(map(len, runs)) == sum(map(len, requests))


def test_items_that_arrive_while_it_is_busy_share_a_run_and_a_large_request_lets_others_go_between():
    runs, go = [], threading.Event()

    def echo(items):
        runs.append(items)
        go.wait(5)
        return items

    async def ask():
        function = batcher(echo, largest=2)
        tasks = [asyncio.create_task(function(items)) for items in (["a"] * 6, ["b"], ["c"])]
        await asyncio.sleep(0.1)
        go.set()
        await asyncio.gather(*tasks)

    asyncio.run(ask())
    assert runs == [["a", "a"], ["b", "c"], ["a", "a"], ["a", "a"]]


def test_too_many_are_refused_cancelled_ones_do_not_run_and_an_error_is_of_its_run_alone():
    go, seen = threading.Event(), []

    def call(item):
        seen.append(item)
        go.wait(5)
        if item == "bad":
            raise ValueError(item)
        return item

    async def ask():
        function = one_by_one(call, ThreadPoolExecutor(1), 4)
        tasks = [asyncio.create_task(function([item])) for item in ("first", "cancelled", "bad", "last")]
        await asyncio.sleep(0.1)
        with pytest.raises(Busy):
            await function(["one too many"])
        tasks.pop(1).cancel()
        await asyncio.sleep(0.01)
        go.set()
        return await asyncio.gather(*tasks, return_exceptions=True)

    first, bad, last = asyncio.run(ask())
    assert (first, last) == (["first"], ["last"]) and isinstance(bad, ValueError)
    assert seen == ["first", "bad", "last"]
