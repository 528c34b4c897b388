"""A distributed training on one machine: a scheduler, a server and workers as child processes, watched to the end."""

import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack

from ..._runtime.processes import cores
from ...errors import ConfigError, JobError
from .job import ABANDONED, LAUNCHED

HOST = "127.0.0.1"
# Below those that systems give to outgoing connections, which come and go
PORTS = range(15000, 32000, 2)
# Seconds that the others get to end by themselves once one has ended
GRACE = 10


def launch(arguments, workers):
    """Run a command line of nsmc-attention as every process of a job.

    Only worker 0 is heard, on this process's stderr; of the others what they said is shown where they failed.

    Raises
    ------
    JobError
        One of the processes ended before its time; all others have ended when this is raised.
    ConfigError
        What a worker other than 0 refused.
    SystemExit
        Where worker 0 has said itself what is wrong.
    """
    with ExitStack() as stack:
        said = {name: stack.enter_context(tempfile.TemporaryFile()) for name in names(workers)}
        codes = run_all(arguments, said, variables(workers))
        if codes["worker 0"] == 0:
            return
        if codes["worker 0"] == 2:
            raise SystemExit(2)
        culprit = next((name for name, code in codes.items() if code not in (None, 0, ABANDONED)), "scheduler")
        said[culprit].seek(0)
        words = said[culprit].read().decode("utf-8", "replace")
    if codes[culprit] == 2:
        raise ConfigError(f"{culprit}: {words.strip().splitlines()[-1].removeprefix('error: ')}")
    # a bar of progress may stand unfinished on the line; who was killed had no last words
    print("\n" + (words if codes[culprit] != -signal.SIGKILL else ""), end="", file=sys.stderr)
    raise JobError(
        f"{culprit} {ending(codes[culprit])} before the training was done, and all other processes were "
        "ended; go on with the same command and --resume"
    )


def names(workers):
    return ["scheduler", "server", *(f"worker {number}" for number in range(workers))]


def variables(workers):
    """Answer the environment that all processes of the job have in common."""
    return {
        "OMP_NUM_THREADS": str(max(1, cores() // workers)),
        **os.environ,
        **LAUNCHED,
        "DMLC_PS_ROOT_URI": HOST,
        "DMLC_PS_ROOT_PORT": str(free_port()),
        "DMLC_NODE_HOST": HOST,
        "DMLC_NUM_SERVER": "1",
        "DMLC_NUM_WORKER": str(workers),
    }


def free_port():
    """Answer a port that is free, as is the one after it."""
    for port in random.SystemRandom().sample(PORTS, len(PORTS)):
        with socket.socket() as first, socket.socket() as second:
            try:
                first.bind((HOST, port))
                second.bind((HOST, port + 1))
                return port
            except OSError:
                continue
    raise JobError(f"expected two free ports side by side between {PORTS[0]} and {PORTS[-1]}, found none")


def run_all(arguments, said, common):
    """Start the processes and answer their exit codes, None of one that had to be killed; none is left behind."""
    children = {}
    try:
        for name, output in said.items():
            role, _, number = name.partition(" ")
            own = {**common, "DMLC_ROLE": role, **({"DMLC_WORKER_ID": number} if number else {})}
            # a session of its own: an interrupt is for this process, which then ends the others
            children[name] = subprocess.Popen(
                [sys.executable, "-m", "nsmc_attention", *arguments],
                env=own,
                start_new_session=True,
                # by which the scheduler notices when this process is killed
                stdin=subprocess.PIPE if name == "scheduler" else subprocess.DEVNULL,
                stderr=None if name == "worker 0" else output,
            )
        return wait(children)
    finally:
        for child in children.values():
            child.kill()
            child.wait()


def wait(children):
    """Answer the exit codes once all have ended, or GRACE seconds after one failed or worker 0 was done."""
    deadline = float("inf")
    while True:
        codes = {name: child.poll() for name, child in children.items()}
        over = codes["worker 0"] is not None or any(codes.values())
        deadline = min(deadline, time.monotonic() + GRACE) if over else deadline
        if None not in codes.values() or time.monotonic() > deadline:
            return codes
        time.sleep(0.1)


def ending(code):
    return f"was ended by {signal.Signals(-code).name}" if code and code < 0 else f"ended with exit code {code}"
