"""Real jobs on this machine: a scheduler, a server and workers, some of which are killed.

The default run has one undisturbed job, one that is killed and resumed, and one without a launcher. All others:

    python -m pytest -m slow tests/training/test_distributed.py
"""

import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from nsmc_attention.bundle.format import load_bundle
from nsmc_attention.classification.settings import Config
from nsmc_attention.classification.task import LAYOUT
from nsmc_attention.classification.train import train
from nsmc_attention.cli import run
from nsmc_attention.errors import ConfigError
from nsmc_attention.training.description import flags as command_flags
from nsmc_attention.training.distributed.communicator import rank_and_count
from nsmc_attention.training.distributed.launcher import free_port, names

# No timing is asserted; what hangs is ended here
LIMIT = 240
STARTED = []
NO_DROPOUT = {"dropout": 0.0, "word_dropout": 0.0}


@pytest.fixture(autouse=True)
def none_left():
    """Where a test failed, end what it had started."""
    yield
    while STARTED:
        job = STARTED.pop()
        job.kill()
        job.wait()


def flags(config, **changes):
    return command_flags(config.with_fields(**changes), Config())


def start(*arguments, **environment):
    command = ["-m", "nsmc_attention", "train", "--data", "sample", "--kvstore", "dist_sync", *map(str, arguments)]
    return python(*command, **environment)


def python(*arguments, **environment):
    """Start a process with one thread: several with a thread for every core would wait for one another."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1", **environment}
    options = {"stdin": subprocess.DEVNULL, "stderr": subprocess.PIPE, "text": True, "env": environment}
    STARTED.append(subprocess.Popen([sys.executable, *map(str, arguments)], **options))
    return STARTED[-1]


def outcome(process):
    """Return the exit code and the error lines of standard error."""
    words = process.communicate(timeout=LIMIT)[1]
    return process.returncode, [line for line in words.replace("\r", "\n").splitlines() if line.startswith("error: ")]


def children(process):
    """Return a launcher's children by name."""
    found = {}
    for child in psutil.Process(process.pid).children():
        with suppress(psutil.Error):
            variables = child.environ()
            if "DMLC_ROLE" in variables:
                found[f"{variables['DMLC_ROLE']} {variables.get('DMLC_WORKER_ID', '')}".strip()] = child
    return found


def wait_for(condition):
    deadline = time.monotonic() + LIMIT
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def is_gone(process):
    try:
        return process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def records(folder, *wanted):
    lines = (folder / "history.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line)[name] for line in lines for name in wanted]


def parameters(folder):
    return (folder / "bundle" / "weights.params").read_bytes()


@pytest.fixture(scope="module")
def plain(tiny):
    """A config that draws nothing while it learns."""
    return tiny.with_fields(epochs=2, erasure_epochs=2, **NO_DROPOUT)


def undisturbed(config, out):
    assert outcome(start("--workers", 2, *flags(config), "--out", out)) == (0, [])
    return out


@pytest.fixture(scope="module")
def shared_run(plain, tmp_path_factory):
    """A run of two workers that nothing happened to."""
    return undisturbed(plain, tmp_path_factory.mktemp("shared") / "run")


@pytest.fixture(scope="module")
def drawing_run(tiny, tmp_path_factory):
    """Another one, with dropout."""
    return undisturbed(tiny, tmp_path_factory.mktemp("drawing") / "run")


@pytest.mark.slow
def test_two_workers_learn_what_one_process_learns(shared_run, plain, tmp_path):
    """The same batches make the same steps; without dropout, what is left is the order in which is added up."""
    train("sample", plain, tmp_path / "run", quiet=True)
    for stage in (".", "attention"):
        one, two = (
            records(run / stage, "train_loss", "dev_log_loss", "dev_accuracy", "dev_entropy")
            for run in (tmp_path / "run", shared_run)
        )
        assert two == pytest.approx(one, abs=1e-3)
    one, two = (
        load_bundle(run / "bundle", LAYOUT).manifest["metrics"]["dev"] for run in (tmp_path / "run", shared_run)
    )
    assert two["accuracy"] == pytest.approx(one["accuracy"], abs=1.01 / 54)  # of 54 reviews, one


@pytest.mark.parametrize("workers", [2, pytest.param(5, marks=pytest.mark.slow)])
def test_all_workers_make_the_step_that_one_process_would_make(tmp_path, workers):
    """Of batches of 32, 7, 2 and 1 reviews, with a gradient far above its clipping norm; started without a launcher."""
    out, port = tmp_path / "told", free_port()
    script = Path(__file__).with_name("one_step.py")
    jobs = [python(script, out, **place(name, workers, port)) for name in names(workers)]
    assert [job.wait(LIMIT) for job in jobs] == [0] * len(jobs)
    told = [json.loads(Path(f"{out}.{rank}").read_text(encoding="utf-8")) for rank in range(workers)]
    steps, others = told[0][:-1], told[0][-1]
    for each in steps:
        assert each["apart"] < 1e-6 < 0.01 < each["largest"]
        assert each["loss"] == pytest.approx(each["expected_loss"], abs=1e-6)
        assert each["rows"][0] == each["rows"][1]
    assert others["once"] == [[0.0, 1.0, 2.0], [1.0, 1.0]]
    assert others["bytes"] == hashlib.sha256(bytes(range(256)) * 301 + b"x").hexdigest()
    for heard in told[1:]:
        assert heard[-1] == others
        for name in ("gradient", "parameters", "loss"):
            assert [each[name] for each in heard[:-1]] == [each[name] for each in steps]


@pytest.mark.slow
def test_two_workers_of_one_number_are_refused(tmp_path):
    port = free_port()
    jobs = [start("--out", tmp_path / "run", **place(name, 2, port)) for name in names(2)[:2] + ["worker 1"] * 2]
    for job in jobs[2:]:
        code, (line,) = outcome(job)
        assert code == 2 and "DMLC_WORKER_ID: expected each number below 2 once" in line


def killed(config, out, name):
    """Start a job, kill one of its processes in the middle; return the outcome."""
    job = start("--workers", 2, *flags(config), "--out", out)
    wait_for(lambda: list(out.glob("checkpoint-*20.safetensors")) or job.poll() is not None)
    processes = {**children(job), "launcher": psutil.Process(job.pid)}
    assert set(processes) == {*names(2), "launcher"}
    processes[name].kill()
    found = outcome(job)
    wait_for(lambda: all(map(is_gone, processes.values())))
    return found


def resumed(out):
    assert outcome(start("--workers", 2, "--out", out, "--resume")) == (0, [])
    return parameters(out)


@pytest.mark.slow
def test_a_killed_worker_ends_the_job_and_resume_ends_as_if_nothing_had_happened(shared_run, plain, tmp_path):
    code, lines = killed(plain, tmp_path / "run", "worker 1")
    assert code == 2 and lines == [
        "error: worker 1 was ended by SIGKILL before the training was done, and all other "
        "processes were ended; go on with the same command and --resume"
    ]
    assert resumed(tmp_path / "run") == parameters(shared_run)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["worker 0", "server", "scheduler", "launcher"])
def test_whichever_process_is_killed_none_stays_behind(drawing_run, tiny, tmp_path, name):
    code, lines = killed(tiny, tmp_path / "run", name)
    if name == "launcher":
        assert code == -signal.SIGKILL and not lines
    else:
        assert code == 2 and len(lines) == 1 and lines[0].startswith(f"error: {name} was ended by SIGKILL")
    assert resumed(tmp_path / "run") == parameters(drawing_run)


def place(name, workers, port):
    """Return the variables of one process on a machine of its own, where there is no launcher."""
    role, _, number = name.partition(" ")
    return {
        "DMLC_ROLE": role,
        "DMLC_WORKER_ID": number,
        "DMLC_NUM_SERVER": "1",
        "DMLC_NUM_WORKER": str(workers),
        "DMLC_NODE_HOST": "127.0.0.1",
        "DMLC_PS_ROOT_URI": "127.0.0.1",
        "DMLC_PS_ROOT_PORT": str(port),
    }


@pytest.mark.slow
def test_without_a_launcher_a_worker_with_another_setting_is_refused(tiny, tmp_path):
    port, others = free_port(), {"worker 1": tiny.with_fields(hidden_size=9)}
    jobs = {
        name: start(*flags(others.get(name, tiny)), "--out", tmp_path / name, **place(name, 2, port))
        for name in names(2)
    }
    found = {name: outcome(jobs[name]) for name in ("worker 0", "worker 1")}
    for code, (line,) in found.values():
        assert code == 2 and line.endswith("; start all with the same command, data and versions")
    assert "this worker cannot join with another --hidden-size: the run has 8, found 9" in found["worker 1"][1][0]
    assert not (tmp_path / "worker 0").exists() and not (tmp_path / "worker 1").exists()


@pytest.mark.slow
def test_machines_without_a_folder_in_common_need_none(drawing_run, tiny, tmp_path):
    port = free_port()
    jobs = {name: start(*flags(tiny), "--out", tmp_path / name, **place(name, 2, port)) for name in names(2)}
    assert {name: outcome(job) for name, job in jobs.items()} == {name: (0, []) for name in names(2)}
    assert parameters(tmp_path / "worker 0") == parameters(drawing_run)
    assert [path.name for path in tmp_path.iterdir()] == ["worker 0"]


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["--workers", "0"], "'--workers': 0 is not in the range"),
        (["--kvstore", "dist_async"], "'dist_async' is not one of 'local', 'dist_sync'"),
        (["--kvstore", "local", "--workers", "2"], "--workers: expected --kvstore dist_sync beside it, found local"),
        (["--kvstore", "dist_sync", "--epochs", "0"], "training.labels.epochs: expected at least 1, found 0"),
    ],
)
def test_bad_input_is_one_line(arguments, message, tmp_path, capsys):
    assert run(["train", "--data", "sample", "--out", str(tmp_path / "run"), *arguments]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("error: ") and message in line


@pytest.mark.slow
def test_bad_input_of_a_worker_is_one_line(tmp_path):
    code, (line,) = outcome(start("--out", tmp_path / "run", "--workers", "1", "--data", "none.csv"))
    assert code == 2 and line.startswith("error: none.csv: no such file")


def test_a_role_without_its_variables_is_one_line(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("DMLC_ROLE", "worker")
    assert run(["train", "--data", "sample", "--out", str(tmp_path / "run"), "--kvstore", "dist_sync"]) == 2
    assert capsys.readouterr().err == "error: DMLC_PS_ROOT_URI: expected the scheduler's address, found nothing\n"


@pytest.mark.parametrize(
    "name, value, message",
    [
        ("ROLE", "boss", "ROLE: expected one of scheduler, server, worker, found 'boss'"),
        ("PS_ROOT_PORT", None, "PS_ROOT_PORT: expected a number from 1 to 65535, found nothing"),
        ("PS_ROOT_PORT", "65536", "PS_ROOT_PORT: expected a number from 1 to 65535, found '65536'"),
        ("NUM_SERVER", "0", "NUM_SERVER: expected a number from 1"),
        ("NUM_WORKER", "two", "NUM_WORKER: expected a number from 1"),
        ("WORKER_ID", "2", "WORKER_ID: expected a number from 0 to 1, another for each worker, found '2'"),
        ("WORKER_ID", None, "WORKER_ID: expected a number from 0 to 1, another for each worker, found nothing"),
    ],
)
def test_each_variable_is_checked(name, value, message):
    given = place("worker 1", 2, 9091)
    assert rank_and_count(given) == (1, 2)
    given = {key: each for key, each in {**given, f"DMLC_{name}": value}.items() if each}
    with pytest.raises(ConfigError, match=f"DMLC_{message}"):
        rank_and_count(given)
