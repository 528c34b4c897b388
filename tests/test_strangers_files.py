"""Files from strangers: refused with one line, or read; nothing run, nothing else touched, memory bounded.

The campaign in full, 2,500 mutated files, minutes:

    python -m pytest tests/test_strangers_files.py -m slow
"""

import ast
import json
import os
import stat
import struct
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import nsmc_attention
from nsmc_attention.errors import DataError
from nsmc_attention.tables import raw
from nsmc_attention.tables.table import open_table

FUZZ = Path(__file__).parent / "fuzz"
PACKAGE = Path(nsmc_attention.__file__).parent


@pytest.mark.parametrize("count, first", [(210, 0), pytest.param(2500, 10_000, marks=pytest.mark.slow)])
def test_mutated_files_are_refused_or_read(count, first):
    command = [sys.executable, "-W", "ignore", FUZZ / "files.py", str(count), str(first)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    counts = json.loads(done.stdout)
    print(counts)
    assert counts["refused"] + counts["answered"] == counts["tried"] == count and counts["refused"] > count / 2


def archive(path, *entries):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for item, content in entries:
            file.writestr(item, content)
    return path


def entry(name="x/raw/1.json", attributes=0o100644 << 16, compression=zipfile.ZIP_DEFLATED):
    item = zipfile.ZipInfo(name)
    item.external_attr, item.compress_type = attributes, compression
    return item


REVIEW = b'[{"review_id": "1", "review": "a", "rating": "8", "movie_id": "1"}]'


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize(
    "entries, problem",
    [
        ([(entry("/raw/1.json"), REVIEW)], "leads out"),
        ([(entry("x/../../raw/1.json"), REVIEW)], "leads out"),
        ([(entry(), REVIEW), (entry(), REVIEW)], "is a duplicate"),
        ([(entry(attributes=stat.S_IFLNK << 16), b"/etc/passwd")], "is a link"),
        ([(entry(compression=zipfile.ZIP_BZIP2), REVIEW)], "is not deflated"),
        ([(entry(compression=zipfile.ZIP_LZMA), REVIEW)], "is not deflated"),
        ([(entry(), b" " * (2**23 + 1))], "expected at most"),
    ],
)
def test_a_zip_with_what_no_archive_of_reviews_has_is_refused(tmp_path, entries, problem):
    with pytest.raises(DataError, match=problem):
        raw.load(archive(tmp_path / "raw.zip", *entries), [])


def test_a_zip_that_lies_about_its_sizes_or_is_encrypted_is_refused(tmp_path):
    content = archive(tmp_path / "raw.zip", (entry(), b" " * 2**22)).read_bytes()
    true = struct.pack("<I", 2**22)
    assert content.count(true) == 2
    for size in (100, 50_000):
        (tmp_path / "raw.zip").write_bytes(content.replace(true, struct.pack("<I", size)))
        with pytest.raises(DataError, match="zip"):
            raw.load(tmp_path / "raw.zip", [])
    directory = content.index(b"PK\x01\x02") + 8
    (tmp_path / "raw.zip").write_bytes(content[:directory] + b"\x01" + content[directory + 1 :])
    with pytest.raises(DataError, match="is encrypted"):
        raw.load(tmp_path / "raw.zip", [])


def test_a_folder_of_films_with_a_link_or_a_pipe_is_refused(tmp_path):
    (tmp_path / "1.json").symlink_to("/etc/passwd")
    with pytest.raises(DataError, match="1.json: expected a regular file, found a link"):
        raw.load(tmp_path, [])
    (tmp_path / "1.json").unlink()
    os.mkfifo(tmp_path / "1.json")
    with pytest.raises(DataError, match="expected a regular file"):
        raw.load(tmp_path, [])


def test_a_message_is_one_line_that_steers_no_terminal(tmp_path):
    (tmp_path / "a.csv").write_text('"a\x1b[2J\nb",c\n1,2\n', encoding="utf-8")
    with pytest.raises(DataError) as problem:
        list(open_table(tmp_path / "a.csv").parts)
    assert str(problem.value).isprintable() and "a [2J b" in str(problem.value)


MODULES = {"pickle", "cPickle", "dill", "cloudpickle", "marshal", "shelve", "yaml"}
CALLS = {"eval", "exec", "numpy.load", "nd.load", "mxnet.nd.load", "torch.load", "joblib.load"}
METHODS = {"read_pickle", "load_parameters", "load_states", "save_states", "extractall", "extract"}


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.py")), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_nothing_that_runs_what_it_reads_is_called(path):
    """No pickle, also not through numpy, pandas or MXNet; nor MXNet's native reader of files."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            assert not MODULES & {getattr(node, "module", None), *(name.name for name in node.names)}
        if isinstance(node, ast.Call):
            called = ast.unparse(node.func)
            assert called not in CALLS and called.rpartition(".")[2] not in METHODS, called
