"""The promises of `load.py`, kept for some seconds.

For ten minutes: `python -m pytest -m slow tests/serve/test_load.py`.
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("fastapi")


def check(seconds):
    done = subprocess.run(
        [sys.executable, Path(__file__).parent / "load.py", "--seconds", str(seconds)],
        capture_output=True,
        text=True,
        encoding="utf-8",
    )
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads(done.stdout)
    assert found["kept"] and found["statuses"]["200"] > 100


@pytest.mark.slow
def test_mixed_load_with_a_killed_worker_gets_right_answers():
    check(4)


@pytest.mark.slow
def test_ten_minutes_of_it_leave_memory_as_it_was():
    check(600)
