import os
import tempfile
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

from nsmc_attention.errors import DataError
from nsmc_attention.machine.files import endings, read_json, replaced_file, replaced_folder, vacant, write_text


def test_of_many_writers_of_one_file_each_writes_it_whole(tmp_path):
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: write_text(tmp_path / "a", str(number) * 1000), range(200)))
    assert [path.name for path in tmp_path.iterdir()] == ["a"] and not endings
    content = (tmp_path / "a").read_text(encoding="utf-8")
    assert len(set(content[::1000])) <= 3 and int(content[: len(content) // 1000]) < 200


def test_a_folder_is_replaced_whole(tmp_path):
    for content in ("old", "new"):
        with replaced_folder(tmp_path / "folder") as temporary:
            (temporary / content).touch()
    assert [path.name for path in tmp_path.rglob("*")] == ["folder", "new"]


@pytest.mark.parametrize("replaced", [replaced_file, replaced_folder])
def test_an_error_leaves_what_was_there(tmp_path, replaced):
    with pytest.raises(ZeroDivisionError), replaced(tmp_path / "a") as temporary:
        assert temporary.exists() and vacant(tmp_path)
        raise ZeroDivisionError
    assert not list(tmp_path.iterdir()) and not endings


def test_a_link_is_kept_and_its_target_replaced(tmp_path):
    (tmp_path / "link").symlink_to("a")
    write_text(tmp_path / "link", "나")
    assert (tmp_path / "link").is_symlink() and (tmp_path / "a").read_text(encoding="utf-8") == "나"


def test_a_pipe_is_written_to(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with ThreadPoolExecutor(1) as pool:
        read = pool.submit((tmp_path / "pipe").read_text, encoding="utf-8")
        write_text(tmp_path / "pipe", "나")
    assert read.result() == "나"


@pytest.mark.parametrize("name, message", [("a", "is a folder"), ("b/c", "no such folder .*b")])
def test_where_no_file_can_be_is_one_line(tmp_path, name, message):
    (tmp_path / "a").mkdir()
    with pytest.raises(DataError, match=f"{name}: {message}; name a file in a folder that exists"):
        write_text(tmp_path / name, "나")


@pytest.mark.parametrize("content", ["[" * 100_000, "{", b"\xff", b"", '{"a": 1' + "0" * 5000 + "}"])
def test_damaged_json_is_one_line(content):
    with pytest.raises(DataError, match="^a.json line 3: expected a list, found "):
        read_json(content, "a.json line 3", DataError, "a list")


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


def test_a_file_is_written_in_a_folder_that_cannot_be_read_but_not_in_somebody_elses():
    with folder_of_nobody() as folder:
        (folder / "inside").mkdir()
        (folder / "inside").chmod(0o333)
        write_text(folder / "inside" / "a", "나")
        with replaced_folder(folder / "inside" / "b") as temporary:
            (temporary / "c").touch()
        (folder / "inside").chmod(0o700)
        assert sorted(path.name for path in (folder / "inside").iterdir()) == ["a", "b"]
        (folder / "inside").chmod(0o500)
        with pytest.raises(DataError, match="c: cannot be written: Permission denied; choose another path"):
            write_text(folder / "inside" / "c", "나")


@pytest.mark.parametrize("name", ["가" * 85, "a" * 255])
def test_a_name_as_long_as_file_systems_allow_is_written_and_replaced(name, tmp_path):
    for text in ("one", "two"):
        write_text(tmp_path / name, text)
    assert (tmp_path / name).read_text() == "two" and [path.name for path in tmp_path.iterdir()] == [name]
