"""Real commands in processes of their own, which die where they are told to.

One BLAS thread each: the models are so small that more would only wait for each other.
"""

import os
import random
import shlex
import signal
import subprocess
import sys
import time
from dataclasses import dataclass

import pytest

TRAIN = shlex.split(
    "train --data sample --embedding-size 8 --hidden-size 8 --attention-units 4 --ngram-buckets 500 --epochs 2 "
    "--batch-size 64 --learning-rate 0.02 --checkpoint-steps 5 --dev-fraction 0.1 --erasure-reviews 50 "
    "--erasure-epochs 1 --out"
)
# Kills itself right before the k-th change (of one kind, or of any) that it makes below a folder
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
# No file may grow beyond so many bytes: an error, as a full disk's, or death in the middle of a write
LIMITED = """
import resource, signal, sys
limit, *arguments = sys.argv[1:]
resource.setrlimit(resource.RLIMIT_FSIZE, (int(limit), int(limit)))
"""
DEADLY = "signal.signal(signal.SIGXFSZ, signal.SIG_DFL)\n"
PLAIN = "import sys\narguments = sys.argv[1:]\n"
MAIN = "from nsmc_attention.cli import main\nmain(arguments)\n"


@dataclass(frozen=True)
class Child:
    """How a command is run: `code` with `values` before it; killed from outside after `delay` seconds."""

    code: str = PLAIN
    values: tuple = ()
    delay: float = None

    @classmethod
    def dying_at(cls, folder, k, kind="any", also=""):
        return cls(SUICIDE + also, (folder, kind, k))

    @classmethod
    def dying_at_byte(cls, limit, also=""):
        return cls(LIMITED + DEADLY + also, (limit,))

    @classmethod
    def dying_after(cls, delay, also=""):
        return cls(PLAIN + also, (), delay)

    @classmethod
    def limited(cls, limit, also=""):
        return cls(LIMITED + also, (limit,))

    def start(self, *arguments, **options):
        """Start the command in a session of its own; a shell's `&` hands on that SIGINT is ignored, which is undone."""
        environment = {**os.environ, "OMP_NUM_THREADS": "1", **options.pop("env", {})}
        return subprocess.Popen(
            [sys.executable, "-c", self.code + MAIN, *map(str, self.values), *map(str, arguments)],
            **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options},
            env=environment,
            start_new_session=True,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )

    def run(self, *arguments, **options):
        """Run the command to its end, or its death; answer (exit code, stdout, stderr)."""
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
    """Random choices by a seed that is shown where the test fails; CRASH_SEED gives it again."""
    seed = int(os.environ.get("CRASH_SEED") or random.randrange(10**9))
    print(f"CRASH_SEED={seed}")
    return random.Random(seed)


@pytest.fixture(scope="session")
def training():
    """The command of a training of seconds, but for its folder."""
    return TRAIN


@pytest.fixture(scope="session")
def trained(tmp_path_factory):
    """A run that nobody interrupted: its folder and the seconds it took."""
    folder = tmp_path_factory.mktemp("whole")
    begun = time.monotonic()
    code, _, errors = Child().run(*TRAIN, folder / "run")
    assert code == 0, errors
    return folder / "run", time.monotonic() - begun
