import asyncio
from concurrent.futures import ThreadPoolExecutor

import pytest

pytest.importorskip("fastapi")

from nsmc_attention.reviews.tables import ROWS
from nsmc_attention.serve.limits import Limits
from nsmc_attention.serve.tables import STORED, Room, Table


async def pieces(*found):
    for piece in found:
        yield piece


@pytest.fixture
def make(tmp_path):
    """Answer a function that makes a table in tmp_path."""
    threads = ThreadPoolExecutor(1)
    yield lambda room: Table("text/csv", "document", False, tmp_path, threads, room)
    threads.shutdown()


def test_places_and_bytes_are_given_back_when_the_file_is_gone(make, tmp_path):
    room = Room(Limits(tables=1, table=10))
    first, second = make(room), make(room)
    asyncio.run(first.store(pieces(b"a" * 10, b"a" * 10)))
    assert first.enter() and not second.enter()
    with pytest.raises(OSError, match="tables take all the room"):
        asyncio.run(second.store(pieces(*STORED * [b"a" * 10])))
    assert (room.taken, room.stored) == (1, STORED * 10)
    for table in (first, second):
        table.close()
    first.threads.shutdown()
    assert (room.taken, room.stored) == (0, 0) and not list(tmp_path.iterdir())


def test_a_table_that_nobody_waits_for_is_not_read_to_its_end(make):
    table = make(Room(Limits()))
    asyncio.run(table.store(pieces(b"document\n", b"a\n" * 3 * ROWS)))
    assert table.count() == 3 * ROWS
    table.ended.set()
    assert table.count() == ROWS
    table.close()


def test_a_table_that_cannot_be_made_leaves_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "none"))
    with pytest.raises(OSError):
        Table("text/csv", "document", False, None, None, Room(Limits()))
