"""A command ended by a signal or a full disk prints one line, has its exit code and leaves the last good state.

The whole of it: python -m pytest -m "slow or not slow" tests/crashes/test_endings.py
"""

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import pandas
import pytest

from nsmc_attention._runtime.processes import cores
from nsmc_attention.bundle.format import load_bundle
from nsmc_attention.classification.system import LAYOUT
from nsmc_attention.reviews import nsmc

INTERRUPTED, TERMINATED = (signal.SIGINT, "interrupted"), (signal.SIGTERM, "terminated")


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """Seconds of work for worker processes."""
    path = tmp_path_factory.mktemp("table") / "in.csv"
    pandas.DataFrame({"document": nsmc.load("sample", "train").documents * 60}).to_csv(path, index=False)
    return path


def until(condition, process=None):
    for _ in range(1200):
        if condition():
            return True
        assert process is None or process.poll() is None, process.stderr.read()
        time.sleep(0.05)
    return False


def living(session):
    """Return the processes of a session that are not zombies."""
    listed = subprocess.run(["ps", "-eo", "sess=,stat=,args="], capture_output=True, text=True).stdout.splitlines()
    return [line for line in listed if line.split()[0] == str(session) and line.split()[1][0] != "Z"]


def ended(process, folder, number, word):
    """The command ended by a signal as it should."""
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 128 + number, errors
    assert errors.decode().splitlines()[-1] == word and b"Traceback" not in errors, errors
    assert not list(folder.rglob(".partial-*"))
    assert until(lambda: not living(process.pid)), living(process.pid)


@pytest.mark.parametrize(
    "send, number, word",
    [
        (os.killpg, *INTERRUPTED),
        (os.kill, *TERMINATED),
        pytest.param(os.kill, *INTERRUPTED, marks=pytest.mark.slow),
        pytest.param(os.killpg, *TERMINATED, marks=pytest.mark.slow),
    ],
)
def test_a_prediction_by_workers_ends_clean(child, bundle_folder, table, tmp_path, send, number, word):
    process = child().start("predict", "--input", table, "--output", tmp_path / "out.csv", "--bundle", bundle_folder)
    assert until(lambda: any(each.stat().st_size for each in tmp_path.glob(".partial-*")), process)
    send(process.pid, number)
    ended(process, tmp_path, number, word)
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
@pytest.mark.parametrize("number, word", [INTERRUPTED, TERMINATED])
def test_a_bulk_ends_clean_and_goes_on(child, bundle_folder, table, tmp_path, number, word):
    pytest.importorskip("distributed")
    arguments = ["bulk", table, "--output", tmp_path / "out", "--bundle", bundle_folder, "--rows", 8000]
    process = child().start(*arguments, "--workers", 2)
    assert until(lambda: list(tmp_path.rglob(".partial-0000-*")), process)
    os.killpg(process.pid, number)
    ended(process, tmp_path, number, word)
    code, output, errors = child().run(*arguments)
    assert code == 0 and "5 partitions" in output, errors


@pytest.mark.skipif(cores() < 2, reason="on one core predict starts no workers")
def test_workers_end_when_their_parent_is_killed(child, bundle_folder, table, tmp_path):
    process = child().start("predict", "--input", table, "--output", tmp_path / "out.csv", "--bundle", bundle_folder)
    assert until(lambda: len(living(process.pid)) > 3, process)
    process.kill()
    process.communicate()
    assert until(lambda: not living(process.pid)), living(process.pid)


def test_a_signal_within_a_finalizer_is_not_lost():
    code = """
import os, signal, sys, time
from nsmc_attention._runtime import signals

class Array:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(0.01)

with signals.as_exceptions():
    array = Array()
    del array
    time.sleep(30)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=25)
    assert (done.returncode, done.stderr) == (143, "")


def test_a_signal_that_the_shell_ignores_stays_ignored():
    code = """
import os, signal
from nsmc_attention._runtime import signals
signal.signal(signal.SIGINT, signal.SIG_IGN)
with signals.as_exceptions():
    os.kill(os.getpid(), signal.SIGINT)
print("done")
"""
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "done\n"


def check_refused(done, message):
    """The last line says where and what to do."""
    assert done.returncode == 2 and done.stdout == "" and "Traceback" not in done.stderr, done
    last = done.stderr.splitlines()[-1]
    assert re.fullmatch(f"error: .*{message}.*; (choose another path|free some space).*", last), last


@pytest.mark.slow
def test_a_training_on_a_full_disk_keeps_its_state_and_goes_on_when_there_is_room(command, training, run_folder, disk):
    place = disk("size=500k")
    check_refused(command(*training, place / "run"), "run.*: cannot be written: No space left on device")
    assert list(place.rglob("checkpoint-*.safetensors")) and not list(place.rglob(".partial-*"))
    disk("remount", "size=20m")
    done = command(*training, place / "run", "--resume")
    assert done.returncode == 0, done.stderr
    for name in ("weights.params", "model.onnx"):
        assert (place / "run" / "bundle" / name).read_bytes() == (run_folder / "bundle" / name).read_bytes()


# A training of seconds, whose checkpoint is larger than what is left
SMALL = "--epochs 1 --embedding-size 8 --hidden-size 8".split()


@pytest.fixture
def full(disk, bundle_folder):
    """A disk with a bundle on it and 8 KiB left."""
    place = disk("size=200k")
    shutil.copytree(bundle_folder, place / "bundle")
    (place / "rest").write_bytes(bytes(shutil.disk_usage(place).free - 8192))
    return place


@pytest.mark.parametrize(
    "arguments",
    [
        ["predict", "--input", "{table}", "--output", "{place}/out.csv", "--bundle", "{place}/bundle"],
        ["export", "--bundle", "{place}/bundle"],
        pytest.param(["export", "--bundle", "{place}/bundle", "--output", "{place}/out.onnx"], marks=pytest.mark.slow),
        ["bulk", "{table}", "--output", "{place}/out", "--bundle", "{place}/bundle", "--workers", "1"],
        ["train", "--task", "restore", "--data", "sample", "--out", "{place}/out", *SMALL],
        pytest.param(
            ["train", "--task", "language", "--preset", "gru", "--data", "sample", "--out", "{place}/out", *SMALL],
            marks=pytest.mark.slow,
        ),
        pytest.param(
            ["train", "--task", "film", "--data", "{films}", "--out", "{place}/out", "--epochs", "1"],
            marks=pytest.mark.slow,
        ),
    ],
    ids=["predict", "export", "export elsewhere", "bulk", "restore", "language", "film"],
)
def test_a_full_disk_is_one_line_and_nothing_half_written(command, full, films_table, arguments):
    table = nsmc.sample_folder() / nsmc.FILES["train"]
    words = (word.format(table=table, films=films_table, place=full) for word in arguments)
    check_refused(command(*words), "No space left on device")
    assert {path.name for path in full.iterdir()} <= {"bundle", "rest", "out"}
    assert [path.name for path in (full / "out").glob("*")] in ([], ["_plan.json"], ["settings.json"])
    load_bundle(full / "bundle", LAYOUT)


@pytest.mark.parametrize(
    "output, temporary", [("{full}/out.xlsx", "{tmp}"), ("/dev/full", "{tmp}"), ("{tmp}/out.xlsx", "{full}")]
)
def test_a_workbook_for_a_full_disk_is_one_line(full, tmp_path, output, temporary):
    """Its sheet is in a temporary file at first. A process of its own, as what is collected at the end complains too."""
    table, places = nsmc.sample_folder() / nsmc.FILES["train"], {"full": full, "tmp": tmp_path}
    words = ["predict", "--input", table, "--output", output.format(**places), "--format", "xlsx"]
    done = subprocess.run(
        [sys.executable, "-m", "nsmc_attention", *words, "--bundle", full / "bundle"],
        capture_output=True,
        text=True,
        env={**os.environ, "TMPDIR": temporary.format(**places)},
    )
    check_refused(done, "No space left on device")
    assert len(done.stderr.splitlines()) == 1 and [path.name for path in tmp_path.iterdir()] == ["disk"], done.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ["predict", "좋다", "--output", "{place}/out.csv", "--bundle", "{place}/bundle"],
        pytest.param(["export", "--bundle", "{place}/bundle"], marks=pytest.mark.slow),
        ["bulk", "{table}", "--output", "{place}/out", "--bundle", "{place}/bundle", "--workers", "1"],
        ["train", "--data", "sample", "--out", "{place}/run"],
        ["explain", "좋다", "--output", "{place}/a.html", "--bundle", "{place}/bundle"],
    ],
    ids=["predict", "export", "bulk", "train", "explain"],
)
def test_a_read_only_folder_is_one_line(command, full, disk, table, arguments):
    disk("remount", "ro")
    check_refused(command(*(each.format(table=table, place=full) for each in arguments)), "Read-only file system")


def test_a_download_to_a_full_disk_is_one_line(command, full):
    """The folder is tried before the network."""
    (full / "more").write_bytes(bytes(8192))
    done = command("fetch", "nsmc", "--data-dir", full / "a" / "b")
    assert done.returncode == 2 and len(done.stderr.splitlines()) == 1, done.stderr


@pytest.mark.skipif(os.getuid() != 0, reason="needs root, to become somebody else")
def test_a_folder_of_somebody_else_is_one_line():
    """Permissions do not bind root: the child gives up its rights after its imports."""
    code = """
import os, sys
from nsmc_attention._io.atomic import write_text
from nsmc_attention.errors import DataError
os.setuid(65534)
try:
    write_text(sys.argv[1], "text")
except DataError as problem:
    print(problem)
"""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        done = subprocess.run([sys.executable, "-c", code, f"{folder}/a.txt"], capture_output=True, text=True)
        assert done.stdout.endswith("a.txt: cannot be written: Permission denied; choose another path\n")
