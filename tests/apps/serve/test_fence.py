"""What is uploaded cannot take the server's memory and time: it is read behind the fence, and others do not wait."""

import asyncio
import io
import json
import signal
import threading
import time
import zipfile
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy
import openpyxl
import psutil
import pytest
from PIL import Image
from starlette.exceptions import HTTPException

from nsmc_attention.apps.serve import fence
from nsmc_attention.apps.serve.fence import MEMORY, Fence
from nsmc_attention.errors import DataError

XLSX, JSONL = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "application/x-ndjson"
REVIEW = "정말 재미있는 영화였어요"


def nothing():
    return None


def eat(model, path):
    return len(bytearray(2 * MEMORY))


def spin(model, path):
    while True:
        pass


def sleep(model, path):
    time.sleep(60)


def refuse(model, path):
    raise DataError(f"{path.name}: expected something else")


def fail(model, path):
    raise ZeroDivisionError


def size_of(model, path):
    return "가" * path.stat().st_size


async def behind(tmp_path, monkeypatch, *functions):
    """Return the result of each function behind a fence, all at once, or the exception."""
    monkeypatch.setattr(fence, "SECONDS", 1)
    path = tmp_path / "table"
    path.write_bytes(bytes(99_000))
    guarded = Fence(2, 9, [__name__])
    calls = [guarded(path, nothing, function, path) for function in functions]
    return await asyncio.gather(*calls, return_exceptions=True)


def test_what_takes_too_much_is_killed_and_the_rest_comes_back(tmp_path, monkeypatch):
    functions = (eat, spin, sleep, refuse, fail, size_of)
    *over, refused, failed, size = asyncio.run(behind(tmp_path, monkeypatch, *functions))
    for problem in over:
        assert isinstance(problem, HTTPException) and problem.status_code == 413
        assert problem.detail == "body: expected a file that is read in 1 s and 400 MB of memory, found more; send less"
    assert str(refused) == "table: expected something else" and "damaged one (ZeroDivisionError)" in str(failed)
    # more than a pipe holds
    assert size == "가" * 99_000


@contextmanager
def neighbour(server):
    """Ask for a prediction all the time; yields the seconds that each took."""
    seconds, over = [], threading.Event()

    def ask():
        while not over.wait(0.02):
            started = time.monotonic()
            server.predict("최고의 영화")
            seconds.append(time.monotonic() - started)

    thread = threading.Thread(target=ask)
    thread.start()
    yield seconds
    over.set()
    thread.join()


def dots(size):
    gray, file = numpy.full((size, size), 255, "uint8"), io.BytesIO()
    gray[::6, ::6] = 0
    Image.fromarray(gray).save(file, "PNG", optimize=True)
    return file.getvalue()


def shared_strings(count):
    """A workbook of few bytes with so many empty texts beside its cells."""
    workbook, book = openpyxl.Workbook(), io.BytesIO()
    workbook.active["A1"] = "review"
    workbook.save(book)
    with zipfile.ZipFile(book, "a", zipfile.ZIP_DEFLATED) as archive:
        main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
        archive.writestr("xl/sharedStrings.xml", f'<sst xmlns="{main}">{"<si><t/></si>" * count}</sst>')
    return book.getvalue()


HOSTILE = {
    "objects in a cell": ("/predict/batch", JSONL, b'{"document": "a", "b": [' + b"{}," * 4_000_000 + b"{}]}"),
    "dots": ("/read", "image/png", dots(6000)),
    "shared strings": ("/predict/batch", XLSX, shared_strings(1_000_000)),
    "letters": ("/predict/batch", "text/csv", ("document\n" + "ㅋ" * 60_000 + "\n" + "(" * 60_000 + "\n").encode()),
    "a header": ("/predict/batch", "text/csv", ("@1" * 30_000 + ",b\n1,2\n").encode()),
}


@pytest.mark.parametrize("path, kind, body", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_file_is_answered_in_one_line_and_nobody_waits(server, path, kind, body):
    server.takes_tables()
    with neighbour(server) as seconds:
        status, _, answer = server.ask("POST", path, body, kind)
    assert status in (200, 413, 422) and (status == 200 or answer.count(b"\n") == 0)
    # 0.1 s on an idle machine; the files take longer
    assert max(seconds) < 2


def test_five_large_uploads_take_bounded_memory_and_the_others_are_answered(server):
    row = json.dumps({"document": "최고", **{f"k{number}": number for number in range(900)}}, ensure_ascii=False) + "\n"
    body, statuses, most = (row * (6_000_000 // len(row))).encode(), [], 0
    assert server.takes_tables()

    def upload():
        statuses.append(server.ask("POST", "/predict/batch", body, JSONL)[0])

    uploads = [threading.Thread(target=upload) for _ in range(5)]
    with neighbour(server) as seconds:
        for thread in uploads:
            thread.start()
        while any(thread.is_alive() for thread in uploads):
            process, memory = psutil.Process(server.process.pid), 0
            for each in [process, *process.children(recursive=True)]:
                with suppress(psutil.NoSuchProcess):
                    memory += each.memory_info().rss
            most = max(most, memory)
            time.sleep(0.05)
    assert statuses == 5 * [200] and most < 1.2e9 and len(seconds) > 30
    assert sorted(seconds)[len(seconds) // 2] < 0.2
    assert not server.tables()


@pytest.mark.parametrize(
    "number, after", [(signal.SIGTERM, 0.0), pytest.param(signal.SIGINT, 1.2, marks=pytest.mark.slow)]
)
def test_a_server_whose_client_left_during_an_upload_ends_soon(start, number, after):
    server = start(characters=9_000)
    assert server.takes_tables()
    children = psutil.Process(server.process.pid).children(recursive=True)
    with server.connect() as client:
        client.sendall(server.batch(b"document\n" + f"{REVIEW}\n".encode() * 200_000))
        time.sleep(after)
    started = time.monotonic()
    server.process.send_signal(number)
    assert server.process.wait(30) == 0 and time.monotonic() - started < 5
    assert not psutil.wait_procs(children, 5)[1]
    assert not server.tables() and Path(server.folder).is_dir()


def test_the_process_of_a_client_that_left_ends(server):
    def readers():
        forkserver = psutil.Process(server.process.pid).children(recursive=True)
        return [each for each in forkserver if each.nice() == 5]

    with server.connect() as client:
        client.sendall(server.batch(b"document\n" + f"{REVIEW}\n".encode() * 200_000))
        server.eventually(readers)
    server.eventually(lambda: not readers())
    assert not server.tables()
