"""A command ended by a signal prints nothing, by a full disk one line; it has its exit code and leaves the last good state.

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
from pathlib import Path

import pandas
import pytest

from nsmc_attention._runtime.processes import cores
from nsmc_attention.bundle import load_bundle
from nsmc_attention.classification.system import LAYOUT
from nsmc_attention.drawing.figure import font_file
from nsmc_attention.tables import nsmc

ENDINGS = (signal.SIGINT, signal.SIGTERM)


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


def ended(process, folder, number):
    """The command ended by a signal as it should."""
    _, errors = process.communicate(timeout=120)
    assert (process.returncode, errors) == (128 + number, b"")
    assert not list(folder.rglob(".partial-*"))
    assert until(lambda: not living(process.pid)), living(process.pid)


@pytest.mark.parametrize(
    "send, number",
    [
        (os.killpg, signal.SIGINT),
        (os.kill, signal.SIGTERM),
        pytest.param(os.kill, signal.SIGINT, marks=pytest.mark.slow),
        pytest.param(os.killpg, signal.SIGTERM, marks=pytest.mark.slow),
    ],
)
def test_a_prediction_by_workers_ends_clean(child, bundle_folder, table, tmp_path, send, number):
    process = child().start("predict", "--input", table, "--output", tmp_path / "out.csv", "--bundle", bundle_folder)
    assert until(lambda: any(each.stat().st_size for each in tmp_path.glob(".partial-*")), process)
    send(process.pid, number)
    ended(process, tmp_path, number)
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
@pytest.mark.parametrize("number", ENDINGS)
def test_a_bulk_ends_clean_and_goes_on(child, bundle_folder, table, tmp_path, number):
    pytest.importorskip("distributed")
    arguments = ["bulk", table, "--output", tmp_path / "out", "--bundle", bundle_folder, "--rows", 8000]
    process = child().start(*arguments, "--workers", 2)
    assert until(lambda: list(tmp_path.rglob(".partial-0000-*")), process)
    os.killpg(process.pid, number)
    ended(process, tmp_path, number)
    code, output, errors = child().run(*arguments)
    assert code == 0 and "5 partitions" in output, errors


@pytest.mark.skipif(cores() < 2, reason="on one core predict starts no workers")
def test_workers_end_when_their_parent_is_killed(child, bundle_folder, table, tmp_path):
    process = child().start("predict", "--input", table, "--output", tmp_path / "out.csv", "--bundle", bundle_folder)
    assert until(lambda: len(living(process.pid)) > 3, process)
    process.kill()
    process.communicate()
    assert until(lambda: not living(process.pid)), living(process.pid)


# Says by its descriptor 3 when the package begins to import what it needs; before that it has imported next to nothing
SEEN = """
import os, sys
def seen(event, values):
    global seen
    if event == "import" and values[0] == "nsmc_attention.cli.app":
        seen = lambda *_: None
        os.write(3, b"x")
sys.addaudithook(lambda *values: seen(*values))
from nsmc_attention.cli import main
main()
"""
MOMENTS = [("predict", "정말 재미있다"), ("restore", "정말조앗다"), ("fill", "정말 [MASK]"), ("read", "{picture}")]


def interrupted_at(words, number, delay):
    """Send a signal so many seconds after the start; return (exit code, stdout, stderr), None if it had ended."""
    reading, writing = os.pipe()

    def before():
        signal.signal(number, signal.SIG_DFL)
        os.dup2(writing, 3)

    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "pass_fds": (3, writing)}
    with subprocess.Popen([sys.executable, "-c", SEEN, *words], preexec_fn=before, **options) as process:
        os.close(writing)
        os.read(reading, 1)
        os.close(reading)
        time.sleep(delay)
        # a process that the system takes apart has no command line any more
        at_work = Path(f"/proc/{process.pid}/cmdline").read_bytes()
        process.send_signal(number)
        output, errors = process.communicate(timeout=60)
    return (process.returncode, output, errors) if at_work else None


@pytest.mark.skipif(not os.path.exists("/proc/self/cmdline"), reason="needs /proc")
@pytest.mark.parametrize("moments", [3, pytest.param(125, marks=pytest.mark.slow)])
@pytest.mark.parametrize("words", MOMENTS, ids=[name for name, _ in MOMENTS])
def test_at_any_moment_a_signal_ends_a_command_without_a_line(words, moments, draw, tmp_path):
    pytest.importorskip("PIL")
    from PIL import Image, ImageDraw, ImageFont

    picture = Image.new("L", (300, 60), 255)
    ImageDraw.Draw(picture).text((20, 20), "정말 재미있다", font=ImageFont.truetype(str(font_file()), 20))
    picture.save(tmp_path / "a.png")
    words = [word.format(picture=tmp_path / "a.png") for word in words]
    started = time.monotonic()
    whole = interrupted_at(words, signal.SIGCONT, 0)
    longest = time.monotonic() - started
    assert whole[1] and whole == (0, whole[1], b"")
    for _ in range(moments):
        number = draw.choice(ENDINGS)
        ending = interrupted_at(words, number, draw.uniform(0, longest))
        # None or the whole answer: the signal came when the work was done
        assert ending in (None, whole) or (ending[0], ending[2]) == (128 + number, b"")


def test_what_a_library_makes_of_an_interrupt_is_still_one():
    """ONNX Runtime, interrupted while it is imported, says that it cannot be initialized."""
    code = """
import os, signal, sys
from importlib.abc import MetaPathFinder
from nsmc_attention.cli import main
class Finder(MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name == "onnxruntime":
            try:
                os.kill(os.getpid(), signal.SIGINT)
            except BaseException:
                raise ImportError("initialization failed")
sys.meta_path.insert(0, Finder())
main(["predict", "--engine", "onnx", "좋다"])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


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


def test_a_library_cannot_warn_of_a_signal():
    code = """
import os, signal, warnings
from nsmc_attention._runtime import signals
with signals.as_exceptions():
    try:
        os.kill(os.getpid(), signal.SIGTERM)
    finally:
        warnings.warn("Cython module failed to patch module with custom type", RuntimeWarning)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
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


# Runs a command with few open files, or without a place for the locks of processes; never changes the /dev/shm of others
FEW_FILES = ["bash", "-c", 'ulimit -n 24 && exec "$@"', "bash"]
NO_LOCKS = ["unshare", "-m", "bash", "-c", 'mount -t tmpfs -o ro none /dev/shm && exec "$@"', "bash"]


@pytest.mark.parametrize("limited", [FEW_FILES, NO_LOCKS], ids=["few files", "no locks"])
@pytest.mark.parametrize("name", ["predict", "bulk"])
def test_where_no_worker_can_be_started_a_large_table_is_scored_all_the_same(limited, name, table, tmp_path):
    if subprocess.run([*limited, "true"], capture_output=True).returncode:
        pytest.skip("needs bash, and root for a mount of its own")
    arguments = {
        "predict": ["--input", table, "--output", "a.csv"],
        "bulk": [table, "--output", "a", "--format", "csv"],
    }
    if name == "bulk":
        pytest.importorskip("distributed")
    command = [*limited, sys.executable, "-m", "nsmc_attention", name, *map(str, arguments[name])]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0 and "Traceback" not in done.stderr, done.stderr
    (output,) = tmp_path.rglob("*.csv")
    assert len(pandas.read_csv(output)) == len(pandas.read_csv(table)) and not list(tmp_path.rglob(".partial-*"))


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
    for name in ("model.safetensors", "model.onnx"):
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
