import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

from nsmc_attention._io import atomic
from nsmc_attention._io.atomic import PREFIX, folder_lock, replaced_folder, shortened, sweep, write_text
from nsmc_attention._io.bounded import read_json
from nsmc_attention.errors import DataError


def test_writers_of_one_file_do_not_remove_each_others_temporary_files(tmp_path):
    """Each sweeps before it writes, also between the creation of another's file and its lock."""
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: write_text(tmp_path / "a", str(number) * 1000), range(200)))
    assert [path.name for path in tmp_path.iterdir()] == ["a"]
    content = (tmp_path / "a").read_text(encoding="utf-8")
    assert len(set(content[::1000])) <= 3 and int(content[: len(content) // 1000]) < 200


def test_a_leftover_is_removed_by_the_next_write_of_its_target_alone(tmp_path):
    for name in ("a", "b"):
        (tmp_path / f"{PREFIX}{name}.abcdefgh").mkdir()
    write_text(tmp_path / "a", "나")
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"{PREFIX}b.abcdefgh", "a"]
    sweep(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_a_folder_is_replaced_whole(tmp_path):
    for content in ("old", "new"):
        with replaced_folder(tmp_path / "folder") as temporary:
            (temporary / content).touch()
    assert [path.name for path in tmp_path.rglob("*")] == ["folder", "new"]


@pytest.mark.parametrize("content", ["[" * 100_000, "{", b"\xff", b"", '{"a": 1' + "0" * 5000 + "}"])
def test_damaged_json_is_one_line(content):
    with pytest.raises(DataError, match="^a.json line 3: expected a list, found "):
        read_json(content, "a.json line 3", DataError, "a list")


def test_a_temporary_file_in_use_is_not_swept(tmp_path):
    with atomic.temporary_sibling(tmp_path / "a") as path:
        held = os.stat(path).st_ino
        sweep(tmp_path)
        assert os.stat(path).st_ino == held
    assert not list(tmp_path.iterdir())


def test_a_file_that_is_replaced_keeps_who_may_read_it(tmp_path):
    (tmp_path / "a").touch()
    (tmp_path / "a").chmod(0o600)
    write_text(tmp_path / "a", "나")
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o600 and (tmp_path / "a").read_text(encoding="utf-8") == "나"


NOBODY = 65534


@contextmanager
def folder_of_nobody():
    """A folder for whoever this process is while it lasts: not root, who may do anything."""
    number = os.geteuid()
    with tempfile.TemporaryDirectory() as name:
        if number == 0:
            os.chown(name, NOBODY, NOBODY)
            os.seteuid(NOBODY)
        try:
            yield Path(name)
        finally:
            os.seteuid(number)


def test_a_file_is_written_in_a_folder_that_cannot_be_read():
    with folder_of_nobody() as folder:
        (folder / "inside").mkdir()
        (folder / "inside").chmod(0o333)
        write_text(folder / "inside" / "a", "나")
        with replaced_folder(folder / "inside" / "b") as temporary:
            (temporary / "c").touch()
        (folder / "inside").chmod(0o700)
        assert sorted(path.name for path in (folder / "inside").iterdir()) == ["a", "b"]


def test_a_pipe_with_a_leftovers_name_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / f"{PREFIX}a.abcdefgh")
    write_text(tmp_path / "a", "나")
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


@pytest.mark.parametrize("write", [lambda path: write_text(path, "나"), lambda path: replaced_folder(path).__enter__()])
def test_a_link_to_itself_is_one_line(tmp_path, write):
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(DataError, match="loop: is a link that cannot be followed"):
        write(tmp_path / "loop")
    assert [path.name for path in tmp_path.iterdir()] == ["loop"]


HOLDER = """
import sys
from pathlib import Path
from nsmc_attention._io.atomic import folder_lock
with folder_lock(Path(sys.argv[1])) as alone:
    print(alone, flush=True)
    sys.stdin.read()
"""


def test_a_folder_is_held_by_one_until_it_ends_however_it_ends(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path)
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, "-c", HOLDER, tmp_path / "link"], **pipes) as holder:
        assert holder.stdout.readline() == "True\n"
        with folder_lock(tmp_path) as alone:
            assert not alone
        holder.kill()
        holder.wait()
        with folder_lock(tmp_path) as alone:
            assert alone
    assert [path.name for path in tmp_path.iterdir()] == ["link"]


@pytest.mark.parametrize("name", ["가" * 85, "a" * 255, "a" * 236])
def test_a_name_as_long_as_file_systems_allow_is_written_replaced_and_swept(name, tmp_path):
    path = tmp_path / name
    for text in ("one", "two"):
        write_text(path, text)
        # as a killed process leaves it
        (tmp_path / f"{PREFIX}{shortened(name)}.01234567").write_text("left")
    write_text(path, "three")
    assert path.read_text() == "three" and list(tmp_path.iterdir()) == [path]
    path.unlink()
    for _ in range(2):
        with replaced_folder(path) as folder:
            (folder / "a").write_text("a")
    assert [entry.name for entry in path.iterdir()] == ["a"]
