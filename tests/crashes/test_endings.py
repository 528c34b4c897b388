"""A command ended by a signal ends at once, by a full disk with one line; it has its exit code and leaves nothing half-written.

The whole of it: python -m pytest -m "slow or not slow" tests/crashes/test_endings.py
"""

import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time

import pandas
import psutil
import pytest
from PIL import Image, ImageDraw, ImageFont

from nsmc_attention.bundle import load_bundle
from nsmc_attention.classifier.settings import LAYOUT
from nsmc_attention.corpora import nsmc
from nsmc_attention.drawing.figure import font_file
from nsmc_attention.machine.processes import cores

ENDINGS = (signal.SIGINT, signal.SIGTERM)
# Seconds within which workers end, also on a loaded machine; their work takes longer
LIMIT = 2
# Lines about the data of a command
ABOUT_DATA = rb"(?m)^(data: |left out: |.*: the table already has |.* reviews read$).*\n"


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """Seconds of work for worker processes."""
    path = tmp_path_factory.mktemp("table") / "in.csv"
    pandas.concat([nsmc.load("sample", "train").frame] * 200).to_csv(path, index=False)
    return path


def until(condition, process):
    for _ in range(1200):
        if condition():
            return
        assert process.poll() is None, process.stderr.read()
        time.sleep(0.05)
    pytest.fail("waited for a minute")


def check_end(process, send, number, code):
    """The command and its workers end before their work is done, without a line but those about its data."""
    family = psutil.Process(process.pid).children(recursive=True)
    send(process.pid, number)
    _, errors = process.communicate(timeout=60)
    _, alive = psutil.wait_procs(family, LIMIT)
    assert (process.returncode, re.sub(ABOUT_DATA, b"", errors), alive) == (code, b"", [])


SIGNALS = [("predict", os.killpg, signal.SIGINT), ("restore", os.kill, signal.SIGTERM)]
OTHERS = [("restore", os.killpg, signal.SIGINT), ("predict", os.kill, signal.SIGTERM)]
SIGNALS += [pytest.param(*each, marks=pytest.mark.slow) for each in OTHERS]


@pytest.mark.parametrize("name, send, number", SIGNALS)
def test_a_signal_ends_a_command_and_its_workers_at_once(start, table, tmp_path, name, send, number):
    process = start(name, "--input", table, "--output", "a.csv", cwd=tmp_path)
    until(lambda: psutil.Process(process.pid).children(), process)
    time.sleep(0.3)
    check_end(process, send, number, 128 + number)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("line", ["report {} --output a.html", "adapt {} --out run"])
def test_a_signal_ends_a_report_and_a_training_at_once(start, table, tmp_path, line):
    process = start(*line.format(table).split(), cwd=tmp_path)
    running = psutil.Process(process.pid)
    # a report's workers read; the time is more than the imports of a training take
    until(lambda: running.children() or running.cpu_times().user > 2.5, process)
    check_end(process, os.kill, signal.SIGINT, 130)
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(cores() < 2, reason="on one core predict starts no workers")
def test_workers_end_when_their_parent_is_killed(start, table, tmp_path):
    process = start("predict", "--input", table, "--output", tmp_path / "a.csv")
    until(lambda: psutil.Process(process.pid).children(), process)
    check_end(process, os.kill, signal.SIGKILL, -signal.SIGKILL)


@pytest.mark.slow
@pytest.mark.parametrize("number", ENDINGS)
def test_a_bulk_ends_clean_and_goes_on(start, command, bundle_folder, table, tmp_path, number):
    pytest.importorskip("distributed")
    arguments = ["bulk", table, "--output", tmp_path / "out", "--bundle", bundle_folder, "--rows", 8000]
    process = start(*arguments, "--workers", 2)
    until(lambda: list(tmp_path.rglob(".partial-*")), process)
    os.killpg(process.pid, number)
    _, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) == (128 + number, b"") and not list(tmp_path.rglob(".partial-*"))
    done = command(*arguments)
    assert done.returncode == 0 and "14 partitions" in done.stdout, done.stderr


MOMENTS = {"predict": "정말 재미있다", "read": "{picture}", "restore": "정말조앗다", "fill": "[MASK]"}
# Says by a line when the package begins to import what it needs; before that it has imported next to nothing
SEEN = """
import os, sys
def seen(event, values):
    global seen
    if event == "import" and values[0] == "nsmc_attention.cli.app":
        seen = lambda *_: None
        os.write(2, b"x")
sys.addaudithook(lambda *values: seen(*values))
arguments = sys.argv[1:]
"""


@pytest.mark.parametrize("moments", [1, pytest.param(125, marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    "name", ["predict", "read", *(pytest.param(name, marks=pytest.mark.slow) for name in [*MOMENTS][2:])]
)
def test_at_any_moment_a_signal_ends_a_command_without_a_line(start, name, moments, tmp_path):
    picture = Image.new("L", (300, 60), 255)
    ImageDraw.Draw(picture).text((20, 20), "정말 재미있다", font=ImageFont.truetype(str(font_file()), 20))
    picture.save(tmp_path / "a.png")
    words = [name, MOMENTS[name].format(picture=tmp_path / "a.png")]
    started = time.monotonic()
    whole, errors = start(*words).communicate(timeout=60)
    longest = time.monotonic() - started
    assert whole and not errors
    for _ in range(moments):
        number = random.choice(ENDINGS)
        with start(*words, code=SEEN) as process:
            assert process.stderr.read(1) == b"x"
            time.sleep(random.uniform(0, longest))
            process.send_signal(number)
            output, errors = process.communicate(timeout=60)
        # the whole answer: the signal came when the work was done
        ends = [(0, whole, b""), (128 + number, b"", b""), (128 + number, whole, b"")]
        assert (process.returncode, output, errors) in ends


def test_a_signal_within_a_finalizer_is_not_lost():
    code = """
import os, signal, time
from nsmc_attention import cli

class Array:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(0.01)

def run(arguments):
    array = Array()
    del array
    time.sleep(30)

import nsmc_attention.cli.app
nsmc_attention.cli.app.main = run
cli.main([])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=25)
    assert (done.returncode, done.stderr) == (143, "")


def test_a_signal_that_the_shell_ignores_stays_ignored(tmp_path):
    code = """
import os, signal
signal.signal(signal.SIGINT, signal.SIG_IGN)
from nsmc_attention import cli
import nsmc_attention.cli.app
nsmc_attention.cli.app.main = lambda arguments: os.kill(os.getpid(), signal.SIGINT)
cli.main([])
print("done")
"""
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "done\n"


# Runs a command with few open files
FEW_FILES = ["bash", "-c", 'ulimit -n 24 && exec "$@"', "bash"]


def test_where_no_worker_can_be_started_a_large_table_is_scored_all_the_same(tmp_path):
    table, rows = tmp_path / "in.txt", 9000
    table.write_text("정말 재미있다\n" * rows, encoding="utf-8")
    if subprocess.run([*FEW_FILES, "true"], capture_output=True).returncode:
        pytest.skip("needs bash")
    command = [*FEW_FILES, sys.executable, "-m", "nsmc_attention", "predict", "--input", table, "--output", "a.csv"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0 and "Traceback" not in done.stderr, done.stderr
    assert len(pandas.read_csv(tmp_path / "a.csv")) == rows and not list(tmp_path.rglob(".partial-*"))


def check_refused(done, message):
    """The last line says where and what to do."""
    assert done.returncode == 2 and done.stdout == "" and "Traceback" not in done.stderr, done
    last = done.stderr.splitlines()[-1]
    assert re.fullmatch(f"error: .*{message}.*; (choose another path|free some space).*", last), last


@pytest.fixture
def full(disk, bundle_folder):
    """A disk with a bundle on it and 8 KiB left."""
    place = disk("size=200k")
    shutil.copytree(bundle_folder, place / "bundle")
    (place / "rest").write_bytes(bytes(shutil.disk_usage(place).free - 8192))
    return place


FILLING = [
    "predict --input {table} --output {place}/out.csv --bundle {place}/bundle",
    "export --bundle {place}/bundle",
    "bulk {table} --output {place}/out --bundle {place}/bundle --workers 1",
    "train --task restore --data sample --out {place}/out --epochs 1 --embedding-size 8 --hidden-size 8",
]


@pytest.mark.parametrize("line", FILLING)
def test_a_full_disk_is_one_line_and_nothing_half_written(command, full, line):
    table = nsmc.sample_folder() / nsmc.FILES["train"]
    check_refused(command(*line.format(table=table, place=full).split()), "No space left on device")
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
    assert done.stderr.count("error: ") == 1 and [path.name for path in tmp_path.iterdir()] == ["disk"], done.stderr


@pytest.mark.parametrize(
    "line", ["predict 좋다 --output {0}/out.csv --bundle {0}/bundle", "train --data sample --out {0}/run"]
)
def test_a_read_only_folder_is_one_line(command, full, disk, line):
    disk("remount", "ro")
    check_refused(command(*line.format(full).split()), "Read-only file system")


def test_a_download_to_a_full_disk_is_one_line(command, full):
    """The folder is tried before the network."""
    (full / "more").write_bytes(bytes(8192))
    done = command("fetch", "nsmc", "--data-dir", full / "a" / "b")
    assert done.returncode == 2 and len(done.stderr.splitlines()) == 1, done.stderr
