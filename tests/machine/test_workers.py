import os
import pickle
from concurrent.futures import BrokenExecutor

import pytest

from nsmc_attention.errors import DataError
from nsmc_attention.machine.workers import Workers
from nsmc_attention.text.encoding import tokenize_many


def test_results_come_in_the_order_of_the_tasks():
    with Workers(2) as pool:
        assert list(pool.map(pow, range(50), [2] * 50)) == [number**2 for number in range(50)]
        assert len({pool.submit(os.getpid).result() for _ in range(20)}) <= 2
        assert pool.submit(os.getenv, "OMP_NUM_THREADS").result() == "1"
    assert all(process.returncode is not None for process in pool.processes)


def test_what_a_task_prints_is_no_result_and_what_it_raises_is_raised_here():
    with Workers(1) as pool:
        assert pool.submit(print, "가").result() is None
        with pytest.raises(ZeroDivisionError) as caught:
            pool.submit(divmod, 1, 0).result()
        assert "outcome" in str(caught.value.__cause__)
        with pytest.raises(DataError, match="^a: b$"):
            pool.submit(exec, "from nsmc_attention.errors import DataError\nraise DataError('a: b')").result()
        # what cannot be pickled, there and here
        with pytest.raises((AttributeError, pickle.PicklingError, TypeError)):
            pool.submit(eval, "lambda: 0").result()
        with pytest.raises((AttributeError, pickle.PicklingError, TypeError)):
            pool.submit(lambda: 0)
        assert pool.submit(tokenize_many, ["좋다"], "characters").result() == [["좋", "다"]]


def test_a_process_that_is_killed_breaks_the_pool_and_an_error_ends_all():
    with pytest.raises(BrokenExecutor), Workers(2) as pool:
        # this one would take a minute
        pool.submit(exec, "import time; time.sleep(60)")
        pool.submit(os._exit, 1).result()
    assert all(process.returncode is not None for process in pool.processes)
