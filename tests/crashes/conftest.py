"""Commands in child processes that are killed at a chosen moment."""

import os
import signal
import subprocess
import sys

import pytest

from nsmc_attention.classifier.settings import PRESETS
from nsmc_attention.training.task import nearest_preset

# Kills itself right before the k-th change (of one kind, or of any) that it makes in a folder
SUICIDE = """
import os, signal, sys
folder, kind, last, *arguments = sys.argv[1:]
CHANGES = {"open", "os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.chmod", "shutil.rmtree", "fsync"}
seen = 0

def count(event, values):
    global seen
    if event not in CHANGES or kind not in ("any", event) or folder not in str(values):
        return
    if event == "open" and not values[2] & (os.O_WRONLY | os.O_RDWR):
        return
    seen += 1
    if seen == int(last):
        os.kill(os.getpid(), signal.SIGKILL)

def fsync(descriptor, real=os.fsync):
    count("fsync", os.readlink(f"/proc/self/fd/{descriptor}"))
    real(descriptor)

os.fsync = fsync
sys.addaudithook(count)
"""
MAIN = "from nsmc_attention.cli import main\nmain(arguments)\n"


def start(*arguments, code="import sys\narguments = sys.argv[1:]\n", **options):
    """Start a command in a new session, with SIGINT as in a terminal: a shell's `&` makes children ignore it."""
    return subprocess.Popen(
        [sys.executable, "-c", code + MAIN, *map(str, arguments)],
        **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options},
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )


def die(folder, k, kind, *arguments, also=""):
    """Run a command, after code `also`, that kills itself; return whether it did so before its end."""
    with start(folder, kind, k, *arguments, code=SUICIDE + also) as process:
        _, errors = process.communicate(timeout=240)
    assert process.returncode in (0, -signal.SIGKILL), errors.decode()
    return process.returncode != 0


@pytest.fixture(scope="session", name="start")
def start_fixture():
    return start


@pytest.fixture(scope="session", name="die")
def die_fixture():
    return die


@pytest.fixture(scope="session")
def training(tiny):
    """The command of a training of seconds, but for its folder; uninterrupted, it leaves `run_folder`."""
    name, changes = nearest_preset(tiny, PRESETS)
    return ["train", "--data", "sample", "--preset", name, *changes, "--out"]
