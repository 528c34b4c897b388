"""Commands in child processes that can be killed at a chosen moment."""

import os
import random
import signal
import subprocess
import sys
from dataclasses import dataclass

import pytest

# A training with the settings of tests/conftest.py, but for its folder
TRAIN = (
    "train --data sample --embedding-size 8 --hidden-size 8 --attention-units 4 --ngram-buckets 500 --epochs 3 "
    "--batch-size 32 --learning-rate 0.02 --checkpoint-steps 5 --dev-fraction 0.1 --erasure-reviews 100 "
    "--erasure-epochs 2 --out"
).split()
# Kills itself right before the k-th change (of one kind, or of any) that it makes in a folder
SUICIDE = """
import atexit, os, signal, sys
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
atexit.register(lambda: print("changes", seen, file=sys.stderr))
"""
# Limits the size of files: death in the middle of a write
LIMITED = """
import resource, signal, sys
limit, *arguments = sys.argv[1:]
resource.setrlimit(resource.RLIMIT_FSIZE, (int(limit), int(limit)))
signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
"""
PLAIN = "import sys\narguments = sys.argv[1:]\n"
MAIN = "from nsmc_attention.cli import main\nmain(arguments)\n"


@dataclass(frozen=True)
class Child:
    """A command run after `code`, which gets `values` as its first arguments; killed after `delay` seconds."""

    code: str = PLAIN
    values: tuple = ()
    delay: float = None

    @classmethod
    def dying_at(cls, folder, k, kind="any", also=""):
        return cls(SUICIDE + also, (folder, kind, k))

    @classmethod
    def dying_at_byte(cls, limit, also=""):
        return cls(LIMITED + also, (limit,))

    @classmethod
    def dying_after(cls, delay, also=""):
        return cls(PLAIN + also, (), delay)

    def start(self, *arguments, **options):
        """Start the command in a new session, with SIGINT as in a terminal: a shell's `&` makes children ignore it."""
        environment = {**os.environ, "OMP_NUM_THREADS": "1", **options.pop("env", {})}
        return subprocess.Popen(
            [sys.executable, "-c", self.code + MAIN, *map(str, self.values), *map(str, arguments)],
            **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options},
            env=environment,
            start_new_session=True,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )

    def run(self, *arguments, **options):
        """Run the command until it ends or is killed; return (exit code, stdout, stderr)."""
        process = self.start(*arguments, **options)
        try:
            process.wait(self.delay) if self.delay is not None else None
        except subprocess.TimeoutExpired:
            process.kill()
        try:
            output, errors = process.communicate(timeout=240)
        finally:
            process.kill()
        return process.returncode, output.decode(), errors.decode()


@pytest.fixture(scope="session")
def child():
    return Child


@pytest.fixture
def draw():
    """Random choices; a failing test prints the seed, CRASH_SEED sets it."""
    seed = int(os.environ.get("CRASH_SEED") or random.randrange(10**9))
    print(f"CRASH_SEED={seed}")
    return random.Random(seed)


@pytest.fixture(scope="session")
def training():
    """The command of a training of seconds, but for its folder; uninterrupted, it leaves `run_folder`."""
    return TRAIN
