import asyncio
import os
from concurrent.futures import ThreadPoolExecutor

import pytest

pytest.importorskip("fastapi")

from nsmc_attention.reviews.tables import ROWS
from nsmc_attention.serve.guard import Limits
from nsmc_attention.serve.tables import STORED, StorageQuota, Table


async def pieces(*found):
    for piece in found:
        yield piece


@pytest.fixture
def make():
    """Return a function that makes a table."""
    threads = ThreadPoolExecutor(1)
    yield lambda quota, kind="csv": Table(kind, "document", False, threads, quota)
    threads.shutdown()


def test_slots_and_bytes_are_given_back_when_the_file_is_closed(make):
    quota = StorageQuota(Limits(tables=1, table=10))
    first, second = make(quota), make(quota)
    asyncio.run(first.store(pieces(b"a" * 10, b"a" * 10)))
    assert first.enter() and not second.enter()
    with pytest.raises(OSError, match="tables use all the space"):
        asyncio.run(second.store(pieces(*STORED * [b"a" * 10])))
    assert (quota.used_slots, quota.used_size) == (1, STORED * 10)
    for table in (first, second):
        table.close()
    first.threads.shutdown()
    assert (quota.used_slots, quota.used_size) == (0, 0) and first.file.closed and second.file.closed


def test_reading_stops_when_the_client_has_gone(make):
    table = make(StorageQuota(Limits()))
    asyncio.run(table.store(pieces(b"document\n", b"a\n" * 3 * ROWS)))
    assert table.count() == 3 * ROWS
    table.closed.set()
    assert table.count() == ROWS
    table.close()


def test_a_table_in_the_official_format_has_quotes_in_its_text(make):
    table = make(StorageQuota(Limits()), "tsv")
    asyncio.run(table.store(pieces('id\tdocument\tlabel\n1\t"최고\t1\n'.encode())))
    (frame,) = table.read().frames
    assert list(frame["document"]) == ['"최고']
    table.close()


def test_the_file_has_no_name(make, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    table = make(StorageQuota(Limits()))
    assert not os.listdir(tmp_path)
    table.close()


def test_a_table_without_a_place_is_an_error(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "none"))
    with pytest.raises(OSError):
        Table("csv", "document", False, None, StorageQuota(Limits()))
