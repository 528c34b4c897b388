"""Real processes and sockets: slow clients, many clients, several workers, kills and signals."""

import asyncio
import importlib
import json
import os
import re
import select
import signal
import socket
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

pytest.importorskip("fastapi")

import nsmc_attention.serve
from nsmc_attention.classification.predictor import load_classifier
from nsmc_attention.errors import ConfigError, MissingPackage
from nsmc_attention.serve.guard import SHARED
from nsmc_attention.serve.server import listen

SLOW = pytest.mark.slow
# Of 20 MB, so that neither side's buffers hold the answer; a client that reads slowly has a small one
TABLE, SMALL = ("document,other\n" + f"최고,{'a' * 5000}\n" * 4000).encode(), 4096


def head(length, path="/predict", kind="application/json", more=""):
    return f"POST {path} HTTP/1.1\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n{more}\r\n".encode()


def request(question, path="/predict", **options):
    body = json.dumps(question).encode()
    return head(len(body), path, **options) + body


def batch(body=b"document\na\n"):
    return head(len(body), "/predict/batch", "text/csv") + body


QUESTION = request({"inputs": "최고의 영화"})
# Takes longer than a slow client may
EXPLANATION = request({"inputs": "배우는 좋은데 영화는 별로 " * 200, "method": "erasure"}, "/explain")


def status(answer):
    return int(answer.split()[1]) if answer else None


def drip(client, data):
    """Send a byte at a time until the server responds or disconnects; return its response."""
    client.settimeout(0.05)
    for place in range(len(data)):
        try:
            client.sendall(data[place : place + 1])
            return client.recv(65536)
        except socket.timeout:
            continue
        except ConnectionError:
            return b""
    client.settimeout(30)
    return client.recv(65536)


def eventually(condition):
    """Wait until a condition holds, which it does sooner or later if a promise is kept."""
    for _ in range(600):
        if condition():
            return
        time.sleep(0.1)
    raise AssertionError("it never came")


def is_connected(server, ports):
    return any(each.raddr and each.raddr.port in ports for each in connections(psutil.Process(server.process.pid)))


def takes_tables(server):
    return server.ask("POST", "/predict/batch", b"document\na\n", "text/csv")[0] == 200


@pytest.fixture
def hasty(start):
    return start(request_seconds=1.0, rate=100, answer_seconds=1.0)


@pytest.fixture
def small(start):
    return start(connections=8, tables=1, answer_seconds=30)


@pytest.mark.parametrize(
    "whole, dripped, expected",
    [
        (b"", b"G" * 1000, 400),
        (b"GET / HTTP/1.1\r\n", b"A: " + b"a" * 1000, 408),
        (head(1000), b"[" * 1000, 408),
        (head(1000, kind="text/plain"), b"[" * 1000, (408, 422)),
        (head(1000, "/predict/batch", "text/csv"), b"a" * 1000, 408),
        (head(1000, "/nowhere"), b"a" * 1000, (404, 408)),
        (head(1000, more="Expect: 100-continue\r\n"), b"a" * 1000, (100, 408)),
    ],
    ids=["line", "headers", "body", "unread body", "table", "nowhere", "expecting"],
)
def test_a_client_that_sends_single_bytes_is_refused_and_blocks_nobody(hasty, whole, dripped, expected):
    with hasty.connect() as client:
        client.sendall(whole)
        with ThreadPoolExecutor(1) as pool:
            slow = pool.submit(drip, client, dripped)
            while not slow.done():
                assert hasty.predict("최고")[0]["label"] == "positive"
            assert status(slow.result()) in (expected if isinstance(expected, tuple) else (expected,))


def test_a_client_that_sends_nothing_or_stops_is_disconnected(hasty):
    clients = [hasty.connect() for _ in range(20)]
    for number, client in enumerate(clients):
        client.sendall([b"", QUESTION[:-1], b"POST"][number % 3])
    for number, client in enumerate(clients):
        assert status(client.recv(65536)) == (None if number % 3 == 0 else 408)
        client.close()


def test_a_slow_but_steady_client_gets_its_response(hasty):
    with hasty.connect() as client:
        body = b'{"inputs": "' + b"a" * 1000 + b'"}'
        client.sendall(head(len(body)))
        for place in range(0, len(body), 50):
            client.sendall(body[place : place + 50])
            time.sleep(0.06)
        assert status(client.recv(65536)) == 200


@pytest.mark.parametrize("cut", [0, 10, QUESTION.index(b"{"), QUESTION.index(b"{") + 5])
def test_a_request_in_two_parts_gets_its_response_and_the_first_alone_is_late(hasty, cut):
    with hasty.connect() as client, hasty.connect() as late:
        client.sendall(QUESTION[:cut])
        late.sendall(QUESTION[:cut])
        time.sleep(0.1)
        client.sendall(QUESTION[cut:])
        assert status(client.recv(65536)) == 200
        assert status(late.recv(65536)) in ((408,) if cut else (None,))


def test_a_client_that_does_not_read_is_disconnected_and_its_table_removed(hasty):
    clients = []
    while len(clients) < 3:
        client = hasty.connect(SMALL)
        # on a busy machine this client may itself be too slow
        with suppress(ConnectionError):
            client.sendall(batch(TABLE))
            client.recv(10)
            clients.append(client)
    ports = {client.getsockname()[1] for client in clients}
    while is_connected(hasty, ports):
        assert hasty.predict("최고")[0]["label"] == "positive"
    for client in clients:
        client.close()
    eventually(lambda: not tables_of(hasty.process))


def test_a_client_that_does_not_read_a_small_response_is_disconnected_too(hasty):
    question = {"inputs": ["배우는 좋은데 영화는 별로 " * 200] * 2, "parameters": {"weights": True}}
    with hasty.connect(SMALL) as client:
        client.sendall(request(question, more="Connection: close\r\n"))
        client.recv(1)
        eventually(lambda: not is_connected(hasty, [client.getsockname()[1]]))


def test_the_time_of_a_pipelined_body_begins_after_the_requests_before_it(hasty):
    answers = hasty.send(QUESTION + EXPLANATION + head(100) + b"{")
    assert [int(each) for each in re.findall(rb"HTTP/1.1 (\d+)", answers)] == [200, 200, 408]


def test_the_headers_behind_a_request_in_progress_are_limited(server):
    """Without a limit on them a client could fill the memory while its first request is processed."""
    with server.connect() as client:
        client.sendall(EXPLANATION + b"GET / HTTP/1.1\r\nA: ")
        client.settimeout(0.2)
        sent, ended = 0, time.monotonic() + 2
        while time.monotonic() < ended and sent < 50_000_000:
            try:
                sent += client.send(b"a" * 65536)
            except OSError:
                break
    # the response may be lost with the connection, which is closed while the client is sending
    assert sent < 50_000_000 and server.predict("최고")


def connections(process):
    return process.net_connections() if hasattr(process, "net_connections") else process.connections()


def test_too_many_connections_are_refused(small):
    held = [small.connect() for _ in range(8)]
    time.sleep(0.2)
    answer = small.send()
    assert status(answer) == 503 and b"retry-after: 1" in answer and b'"error"' in answer
    for client in held:
        client.close()
    time.sleep(0.2)
    assert small.predict("최고")


def test_of_tables_that_arrive_at_once_one_is_scored_and_the_others_refused(small):
    clients = [small.connect(SMALL) for _ in range(6)]
    for client in clients:
        client.sendall(batch(TABLE)[:-1])
    for client in clients:
        client.sendall(TABLE[-1:])
    # the first keeps its slot, as nobody reads its response
    assert sorted(status(client.recv(100)) for client in clients) == [200] + 5 * [503]
    code, headers, text = small.ask("POST", "/predict/batch", b"document\na\n", "text/csv")
    assert code == 503 and headers["Retry-After"] == "1" and b"too many tables" in text
    for client in clients:
        client.close()
    eventually(lambda: takes_tables(small))


async def ask_all(port, questions):
    """Return [(status, parsed body)], all connections open at once before the first request is sent."""
    opened = await asyncio.gather(*(asyncio.open_connection("127.0.0.1", port) for _ in questions))

    async def ask(reader, writer, question):
        writer.write(request(question, more="Connection: close\r\n"))
        answer = await reader.read()
        writer.close()
        return status(answer), json.loads(answer.partition(b"\r\n\r\n")[2])

    return await asyncio.gather(*(ask(*pair, question) for pair, question in zip(opened, questions)))


def signed(answers):
    return [round(each["score"], 4) * (1 if each["label"] == "positive" else -1) for each in answers]


@pytest.fixture(scope="module")
def expected():
    classifier = load_classifier()
    return lambda texts: pytest.approx(signed(classifier(texts)), abs=2e-4)


@pytest.mark.parametrize("workers", [1, pytest.param(2, marks=SLOW)])
def test_a_thousand_clients_at_once_get_each_their_own_predictions(start, expected, workers):
    words = ["최고", "별로", "재미", "지루", "감동", "연출", "배우", "음악", "결말", "돈"]
    texts = [" ".join(words[int(digit)] for digit in f"{number:03}") + " 영화" * (number % 9) for number in range(1000)]
    assert len(set(expected(texts).expected)) > 500, "distinguishable predictions"
    groups = [texts[number : number + 1 + number % 3] for number in range(1000)]
    answers = asyncio.run(ask_all(start(workers=workers).port, [{"inputs": group} for group in groups]))
    assert {code for code, _ in answers} == {200}
    scores = [score for _, predictions in answers for score in signed(predictions)]
    assert scores == expected([text for group in groups for text in group])


def test_pipelined_requests_get_their_responses_in_order(server, expected):
    texts = ["최고", "별로", "재미있지 않다"] * 5
    first, last = (b"".join(request({"inputs": text}) for text in texts[:-1]), {"inputs": texts[-1]})
    answers = server.send(first, request(last, more="Connection: close\r\n"))
    assert signed(json.loads(answer)[0] for answer in re.findall(rb"\[\{.*?\}\]", answers)) == expected(texts)


def test_a_prediction_does_not_wait_for_explanations(server):
    clients = [server.connect() for _ in range(3)]
    for client in clients:
        client.sendall(EXPLANATION)
    assert server.predict("최고")
    assert not select.select(clients[-1:], [], [], 0)[0], "the last explanation is still under way"
    for client in clients:
        client.close()


def counted(server):
    metrics = server.ask("GET", "/metrics")[2].decode()
    number = re.search(r"^nsmc_attention_reviews_total (\S+)$", metrics, re.MULTILINE)
    return float(number[1]) if number else 0


def tables_of(process):
    """Return the open files of a process that have no name, which are its tables."""
    links = []
    for file in Path(f"/proc/{process.pid}/fd").iterdir():
        # pytest captures stdout in such a file
        with suppress(OSError):
            links += [os.readlink(file)] if file.name not in "012" else []
    return [link for link in links if link.endswith("(deleted)") and str(Path(tempfile.gettempdir()) / "") in link]


def test_workers_count_together_and_a_dead_one_is_replaced_and_loses_no_count(start):
    server = start(workers=2)
    before, ready = counted(server), server.count("ready: ")
    for _ in range(40):
        server.predict(["최고", "별로"])
    assert counted(server) == before + 80
    with server.connect() as client:
        client.sendall(head(100, "/predict/batch", "text/csv") + b"document\n")
        eventually(lambda: any(map(tables_of, server.workers())))
        (killed,) = (worker for worker in server.workers() if tables_of(worker))
        killed.kill()
        assert client.recv(1) == b""
    server.wait_for("ready: ", ready + 1)
    assert len(server.workers()) == 2 and killed not in server.workers()
    for _ in range(40):
        server.predict(["최고", "별로"])
    assert takes_tables(server) and counted(server) == before + 161


ENDINGS = [(1, signal.SIGHUP), (2, signal.SIGTERM)]
OTHERS = [(1, signal.SIGINT), (1, signal.SIGTERM), (2, signal.SIGINT), (2, signal.SIGHUP)]
ENDINGS += [pytest.param(*ending, marks=SLOW) for ending in OTHERS]


@pytest.mark.parametrize("workers, number", ENDINGS)
def test_a_signal_ends_it_after_the_requests_in_progress(start, workers, number):
    server = start(workers=workers)
    # in which the workers count
    folders = {Path(worker.environ()[SHARED]) for worker in server.workers()}
    assert all(folder.is_dir() for folder in folders) and len(folders) == (workers > 1)
    with server.connect() as client:
        client.sendall(QUESTION[:-5])
        time.sleep(0.2)
        server.process.send_signal(number)
        server.wait_for("Shutting down")
        client.sendall(QUESTION[-5:])
        assert status(client.recv(65536)) == 200
    assert server.process.wait(30) == 0
    with pytest.raises(OSError):
        server.connect()
    assert not any(folder.exists() for folder in folders)


def test_a_second_interrupt_ends_it_at_once_without_a_traceback(start):
    server = start(rate=2500)
    with server.connect() as unfinished, server.connect() as reading:
        unfinished.sendall(head(1000, "/predict/batch", "text/csv") + b"document\n")
        reading.sendall(batch(TABLE))
        assert status(reading.recv(100)) == 200
        server.process.send_signal(signal.SIGINT)
        server.wait_for("Waiting for connections")
        server.process.send_signal(signal.SIGINT)
        assert server.process.wait(30) == 0
    assert "Traceback" not in "".join(server.lines)


def test_workers_end_with_their_parent_after_the_requests_in_progress(start):
    server = start(workers=2)
    workers = server.workers()
    with server.connect() as client:
        client.sendall(QUESTION[:-5])
        server.process.kill()
        eventually(lambda: server.count("Shutting down"))
        client.sendall(QUESTION[-5:])
        assert status(client.recv(100)) == 200
    assert not psutil.wait_procs(workers, 30)[1]
    with pytest.raises(OSError):
        server.connect()


def command(*arguments):
    command = [sys.executable, "-m", "nsmc_attention", "serve", *arguments]
    return subprocess.run(command, capture_output=True, text=True, encoding="utf-8", timeout=60)


def test_an_address_in_use_is_one_line(server):
    done = command("--port", str(server.port), "--workers", "2")
    assert done.returncode == 2 and len(done.stderr.splitlines()) == 1
    assert done.stderr.startswith(f"error: 127.0.0.1:{server.port}: Address already in use")


@pytest.mark.parametrize("host, reason", [("192.0.2.1", "annot assign"), ("no.such.host.invalid", "")])
def test_an_address_of_another_machine_is_an_error(host, reason):
    with pytest.raises(ConfigError, match=f"{host}:0: .*{reason}.*; choose another --host or --port"):
        listen(host, 0)


@pytest.mark.parametrize("workers", ["1", pytest.param("2", marks=SLOW)])
def test_an_engine_that_cannot_be_loaded_ends_the_server(workers, tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    done = command("--port", "0", "--workers", workers, "--engine", "onyx")
    assert done.returncode == 2 and "did you mean 'onnx'?" in done.stderr and "Traceback" not in done.stderr
    assert not list(tmp_path.glob("nsmc_attention-*"))


def test_it_listens_to_this_machine_alone(server):
    listening = [each.laddr.ip for each in connections(psutil.Process(server.process.pid)) if each.status == "LISTEN"]
    assert listening == ["127.0.0.1"]


def test_the_limit_of_open_files_is_raised_and_limits_the_connections():
    code = (
        "import resource, logging; logging.basicConfig()\n"
        "from nsmc_attention.serve.server import fit_open_files\nfrom nsmc_attention.serve.guard import Limits\n"
        "for hard in (20_000, 2100):\n"
        "    resource.setrlimit(resource.RLIMIT_NOFILE, (64, hard))\n"
        "    print(fit_open_files(Limits()).connections, resource.getrlimit(resource.RLIMIT_NOFILE)[0])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.split() == ["4000", "20000", "1000", "2100"]
    assert done.stderr.count("\n") == 1 and "at most 1000 connections" in done.stderr


@pytest.mark.skipif(not os.path.exists("/proc/self/fd"), reason="needs /proc")
def test_clients_that_go_away_leave_no_file_open(server):
    server.predict("최고")
    before = len(os.listdir(f"/proc/{server.process.pid}/fd"))
    for number in range(200):
        with server.connect() as client:
            client.sendall(head(9, ["/predict", "/predict/batch"][number % 2], "text/csv") + b"document")
    for _ in range(20):
        server.predict("최고")
    assert len(os.listdir(f"/proc/{server.process.pid}/fd")) <= before + 2


@pytest.mark.parametrize("package", ["fastapi", "fastapi_offline", "python_multipart", "uvicorn", "prometheus_client"])
def test_each_package_of_the_extra_is_needed(package, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingPackage, match=f"serve needs {package}: pip install '{package.replace('_', '-')}"):
        importlib.reload(nsmc_attention.serve)


@pytest.mark.parametrize("workers", [1, pytest.param(2, marks=SLOW)])
def test_a_full_disk_is_one_line_without_a_path_and_ends_no_worker(start, disk, monkeypatch, workers):
    folder = disk("size=1m", "nr_inodes=10")
    monkeypatch.setenv("TMPDIR", str(folder))
    server = start(workers=workers, rate=4002)
    before = {worker.pid for worker in server.workers()}

    def ask(body):
        code, _, response = server.ask("POST", "/predict/batch", body, "text/csv")
        if code != 200:
            assert json.loads(response) == {"error": "no space for a table; try again later"}
        return code

    small, large = b"document\na\n", b"document\n" + b"a\n" * 2**20
    assert [ask(body) for body in (large, small, large, small)] == [503, 200, 503, 200]
    eventually(lambda: not tables_of(server.process))
    with pytest.raises(OSError):
        for number in range(10):
            (folder / str(number)).touch()
    # another worker has not chosen a folder for its tables yet
    assert ask(small) == 503 or workers > 1
    (folder / "0").unlink()
    with open(folder / "0", "wb", buffering=0) as file, pytest.raises(OSError):
        while True:
            file.write(bytes(4096))
    assert ask(small) == 503 or workers > 1
    for path in ("/", "/docs", "/readyz", "/nowhere", "/metrics", "/openapi.json"):
        assert server.ask("GET", path)[0] == (404 if path == "/nowhere" else 200)
    assert {worker.pid for worker in server.workers()} == before
    server.process.terminate()
    server.process.wait(30)
