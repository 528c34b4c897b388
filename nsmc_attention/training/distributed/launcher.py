"""A distributed training on one machine: a scheduler, a server and workers as supervised child processes."""

import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack, suppress
from typing import IO, Sequence

from ..._runtime.processes import cores
from ...errors import ConfigError, JobError
from .communicator import LAUNCHER

HOST = "127.0.0.1"
# Below the range for outgoing connections, one of which could take the port meanwhile
PORTS = range(15000, 32000)


def launch(arguments: Sequence[str], workers: int) -> None:
    """Run a command line of nsmc-attention as every process of a job; none of them survives the call.

    Worker 0 writes to this process's stderr; the others' output is shown only on failure. JobError if a process ended
    too early, ConfigError if a worker refused its input; SystemExit if that is worker 0, which has printed why.
    """
    children: dict[str, subprocess.Popen[bytes]] = {}
    outputs: dict[str, IO[bytes]] = {}
    with ExitStack() as stack:
        stack.callback(end_all, children)
        shared = variables(workers)
        for name in names(workers):
            role, _, number = name.partition(" ")
            if name != "worker 0":
                outputs[name] = stack.enter_context(tempfile.TemporaryFile())
            children[name] = subprocess.Popen(
                [sys.executable, "-m", "nsmc_attention", *arguments],
                env={**shared, "DMLC_ROLE": role, "DMLC_WORKER_ID": number},
                # an interrupt is for this process, which then ends the others
                start_new_session=True,
                stdin=subprocess.DEVNULL,
                stderr=outputs.get(name),
            )
        name, code = wait(children)
        if code == 0:
            return
        if name == "worker 0" and code == 2:
            raise SystemExit(2)
        end_all(children)
        text = ""
        if name in outputs:
            outputs[name].seek(0)
            text = outputs[name].read().decode("utf-8", "replace")
    if code == 2:
        raise ConfigError(f"{name}: {text.strip().splitlines()[-1].removeprefix('error: ')}")
    # a progress bar may occupy the line
    print("\n" + (text if code != -signal.SIGKILL else ""), end="", file=sys.stderr)
    how = f"was ended by {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"
    hint = "all other processes were ended; go on with the same command and --resume"
    raise JobError(f"{name} {how} before the training was done, and {hint}")


def names(workers: int) -> list[str]:
    return ["scheduler", "server", *(f"worker {number}" for number in range(workers))]


def variables(workers: int) -> dict[str, str]:
    """Return the environment shared by all processes of a job."""
    return {
        "OMP_NUM_THREADS": str(max(1, cores() // workers)),
        **os.environ,
        LAUNCHER: str(os.getpid()),
        "DMLC_PS_ROOT_URI": HOST,
        "DMLC_PS_ROOT_PORT": str(free_port()),
        "DMLC_NODE_HOST": HOST,
        "DMLC_NUM_SERVER": "1",
        "DMLC_NUM_WORKER": str(workers),
    }


def free_port() -> int:
    for port in random.SystemRandom().sample(PORTS, 100):
        with suppress(OSError), socket.create_server((HOST, port)):
            return port
    raise JobError(f"expected a free port between {PORTS[0]} and {PORTS[-1]}, found none in 100 tries")


def wait(children: dict[str, "subprocess.Popen[bytes]"]) -> tuple[str, int]:
    """Return the name and exit code of the first process that failed, or of worker 0 once it is done."""
    while True:
        for name, child in children.items():
            code = child.poll()
            if code or code == 0 and name == "worker 0":
                return name, code
        time.sleep(0.1)


def end_all(children: dict[str, "subprocess.Popen[bytes]"]) -> None:
    for child in children.values():
        child.kill()
        child.wait()
