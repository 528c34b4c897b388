import os
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path

import pytest

from nsmc_attention._io.atomic import PREFIX, folder_lock, locked, temporary_sibling, release, replaced_folder, sweep, write_text
from nsmc_attention.errors import DataError


def test_what_was_swept_before_it_was_locked_is_made_again(tmp_path):
    """As another process may between the two."""
    made = []

    def create():
        path = tmp_path / f"{PREFIX}a.{len(made):08d}"
        path.touch()
        made.append(path)
        if len(made) < 3:
            sweep(tmp_path)
            assert not path.exists()
        return path

    path, held = locked(create)
    assert path == made[2] and path.exists()
    sweep(tmp_path)
    assert path.exists(), "what is held stays"
    release(held)
    sweep(tmp_path)
    assert not path.exists()


def test_a_file_that_took_the_name_is_not_the_one_that_is_held(tmp_path):
    with temporary_sibling(tmp_path / "a") as path:
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
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root, who may give files away")


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


@as_root
def test_a_file_that_root_replaces_stays_its_owners(tmp_path):
    (tmp_path / "a").touch(mode=0o600)
    os.chown(tmp_path / "a", NOBODY, NOBODY)
    write_text(tmp_path / "a", "나")
    found = (tmp_path / "a").stat()
    assert (found.st_uid, found.st_gid, found.st_mode & 0o777) == (NOBODY, NOBODY, 0o600)


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
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, tmp_path / "link"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout.readline() == "True\n"
        with folder_lock(tmp_path) as alone:
            assert not alone
        holder.kill()
        holder.wait()
        with folder_lock(tmp_path) as alone:
            assert alone
    assert [path.name for path in tmp_path.iterdir()] == ["link"]
