"""A job over two machines, as the README starts it: two network namespaces with a cable between them (Linux, root).

`sudo python -m pytest -m system tests/training/test_two_machines.py`: two to four minutes.
"""

import os
import shutil
import subprocess
import sys

import pytest

from nsmc_attention.training.distributed.launcher import names

pytestmark = [
    pytest.mark.system,
    pytest.mark.skipif(not shutil.which("ip") or os.geteuid() != 0, reason="needs ip and root"),
]
LIMIT = 400
ADDRESSES = {"a": "10.0.0.1", "b": "10.0.0.2"}
JOB = {
    "DMLC_PS_ROOT_URI": ADDRESSES["a"],
    "DMLC_PS_ROOT_PORT": "9091",
    "DMLC_NUM_SERVER": "1",
    "DMLC_NUM_WORKER": "2",
    "OMP_NUM_THREADS": "1",
}
TINY = (
    "--embedding-size 8 --hidden-size 8 --attention-units 4 --ngram-buckets 500 --epochs 3 --batch-size 32 "
    "--checkpoint-steps 5 --dev-fraction 0.1 --erasure-reviews 100"
).split()
TRAIN = [sys.executable, "-m", "nsmc_attention", "train", "--data", "sample", "--kvstore", "dist_sync", "--out", "run"]


def ip(*arguments):
    return subprocess.run(["ip", *arguments], capture_output=True, text=True)


@pytest.fixture
def machines(tmp_path):
    """Two machines that share nothing but a cable: {"a": folder, "b": folder} of what each writes."""
    spaces = {name: f"nsmc-{os.getpid()}-{name}" for name in ADDRESSES}
    if any(ip("netns", "add", space).returncode for space in spaces.values()):
        pytest.skip("network namespaces are not allowed here")
    try:
        ip("-n", spaces["a"], "link", "add", "cable", "type", "veth", "peer", "name", "cable", "netns", spaces["b"])
        for name, space in spaces.items():
            ip("-n", space, "addr", "add", f"{ADDRESSES[name]}/24", "dev", "cable")
            ip("-n", space, "link", "set", "lo", "up")
            assert ip("-n", space, "link", "set", "cable", "up").returncode == 0
            (tmp_path / name).mkdir()
        yield {name: (space, tmp_path / name) for name, space in spaces.items()}
    finally:
        for space in spaces.values():
            ip("netns", "delete", space)


def start(machines, *arguments):
    """Start a process for each name of the launcher's: worker 1 on b, all others on a."""
    started = {}
    for name in names(2):
        place = "b" if name == "worker 1" else "a"
        role, _, number = name.partition(" ")
        space, folder = machines[place]
        own = {
            **JOB,
            "DMLC_NODE_HOST": ADDRESSES[place],
            "DMLC_ROLE": role,
            **({"DMLC_WORKER_ID": number} if number else {}),
        }
        with open(folder / f"{name}.log", "wb") as log:
            started[name] = subprocess.Popen(
                ["ip", "netns", "exec", space, *TRAIN, *arguments],
                cwd=folder,
                stderr=log,
                stdin=subprocess.DEVNULL,
                env={**os.environ, **own},
            )
    return started


def ends(machines, started):
    """Return {name: (exit code, its line of error or None)}."""
    found = {}
    try:
        for name, process in started.items():
            process.wait(LIMIT)
            log = (machines["b" if name == "worker 1" else "a"][1] / f"{name}.log").read_text("utf-8", "replace")
            errors = [line for line in log.replace("\r", "\n").splitlines() if line.startswith("error: ")]
            found[name] = process.returncode, *(errors or [None])
    finally:
        for process in started.values():
            process.kill()
            process.wait()
    return found


def parameters(folder):
    return (folder / "run" / "bundle" / "weights.params").read_bytes()


def test_two_machines_learn_as_two_processes_do(machines, tmp_path):
    """No folder is shared, and all processes end."""
    together = tmp_path / "together"
    together.mkdir()
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    command = [*TRAIN, *TINY, "--workers", "2"]
    subprocess.run(command, cwd=together, stderr=subprocess.DEVNULL, env=environment, check=True)
    assert set(ends(machines, start(machines, *TINY)).values()) == {(0, None)}
    here, there = machines["a"][1], machines["b"][1]
    assert parameters(here) == parameters(together)
    assert not (there / "run").exists()
