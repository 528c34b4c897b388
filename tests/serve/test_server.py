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
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil
import pytest

pytest.importorskip("fastapi")

import nsmc_attention.serve
from nsmc_attention.classification.predictor import load_classifier
from nsmc_attention.errors import ConfigError, MissingPackage
from nsmc_attention.serve.guard import SHARED
from nsmc_attention.serve.server import listen

QUESTION = json.dumps({"inputs": "최고의 영화"}).encode()
# Of 20 MB, so that neither side's buffers hold the answer
TABLE = "document,other\n" + f"최고,{'a' * 5000}\n" * 4000


def head(length, path="/predict", kind="application/json", more=""):
    return f"POST {path} HTTP/1.1\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n{more}\r\n".encode()


def status(answer):
    return int(answer.split()[1]) if answer else None


def drip(client, data, seconds=0.05):
    """Send a byte at a time until the server responds or disconnects; return its response."""
    for place in range(len(data)):
        try:
            client.sendall(data[place : place + 1])
        except ConnectionError:
            break
        client.settimeout(seconds)
        try:
            if found := client.recv(65536):
                return found
            return b""
        except socket.timeout:
            continue
        except ConnectionError:
            return b""
    client.settimeout(30)
    return client.recv(65536)


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
        client.sendall([b"", head(len(QUESTION)) + QUESTION[:-1], b"POST"][number % 3])
    for number, client in enumerate(clients):
        client.settimeout(30)
        found = client.recv(65536)
        assert status(found) == (None if number % 3 == 0 else 408)
        client.close()


def test_a_slow_but_steady_client_gets_its_response(hasty):
    with hasty.connect() as client:
        body = b'{"inputs": "' + b"a" * 1000 + b'"}'
        client.sendall(head(len(body)))
        for place in range(0, len(body), 50):
            client.sendall(body[place : place + 50])
            time.sleep(0.06)
        assert status(client.recv(65536)) == 200


@pytest.mark.parametrize("cut", [0, 10, len(head(len(QUESTION))), len(head(len(QUESTION))) + 5])
def test_a_request_in_two_parts_gets_its_response_and_the_first_alone_is_late(hasty, cut):
    request = head(len(QUESTION)) + QUESTION
    with hasty.connect() as client, hasty.connect() as late:
        client.settimeout(30)
        client.sendall(request[:cut])
        late.settimeout(30)
        late.sendall(request[:cut])
        time.sleep(0.1)
        client.sendall(request[cut:])
        assert status(client.recv(65536)) == 200
        assert status(late.recv(65536)) in ((408,) if cut else (None,))


def test_a_client_that_does_not_read_is_disconnected_and_its_table_removed(hasty):
    worker = psutil.Process(hasty.process.pid)
    clients = []
    body = TABLE.encode()
    while len(clients) < 3:
        client = socket.socket()
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.connect(("127.0.0.1", hasty.port))
        # on a busy machine this client may itself be too slow
        with suppress(ConnectionError):
            client.sendall(head(len(body), "/predict/batch", "text/csv") + body)
            client.recv(10)
            clients.append(client)
    ports = {client.getsockname()[1] for client in clients}
    while any(each.raddr and each.raddr.port in ports for each in connections(worker)):
        assert hasty.predict("최고")[0]["label"] == "positive"
    for client in clients:
        client.close()
    while tables_of(worker):
        time.sleep(0.1)


def test_a_client_that_does_not_read_a_small_response_is_disconnected_too(hasty):
    body = json.dumps({"inputs": ["배우는 좋은데 영화는 별로 " * 200] * 2, "parameters": {"weights": True}}).encode()
    with socket.socket() as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.connect(("127.0.0.1", hasty.port))
        client.sendall(head(len(body), more="Connection: close\r\n") + body)
        client.recv(1)
        port, worker = client.getsockname()[1], psutil.Process(hasty.process.pid)
        while any(each.raddr and each.raddr.port == port for each in connections(worker)):
            time.sleep(0.1)


def test_the_time_of_a_pipelined_body_begins_after_the_requests_before_it(hasty):
    first = json.dumps({"inputs": "최고"}).encode()
    # takes longer than the body may
    second = json.dumps({"inputs": "배우는 좋은데 영화는 별로 " * 200, "method": "erasure"}).encode()
    found = hasty.send(head(len(first)) + first + head(len(second), "/explain") + second + head(100) + b"{")
    assert [int(each) for each in re.findall(rb"HTTP/1.1 (\d+)", found)] == [200, 200, 408]


def test_the_headers_behind_a_request_in_progress_are_limited(server):
    """Without a limit on them a client could fill the memory while its first request is processed."""
    body = json.dumps({"inputs": "배우는 좋은데 영화는 별로 " * 200, "method": "erasure"}).encode()
    with server.connect() as client:
        client.sendall(head(len(body), "/explain") + body + b"GET / HTTP/1.1\r\nA: ")
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
    server = small
    held = [server.connect() for _ in range(8)]
    time.sleep(0.2)
    found = server.send()
    assert status(found) == 503 and b"retry-after: 1" in found and b'"error"' in found
    for client in held:
        client.close()
    time.sleep(0.2)
    assert server.predict("최고")


def test_too_many_tables_are_refused(small):
    server = small
    body = TABLE.encode()
    with server.connect() as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.sendall(head(len(body), "/predict/batch", "text/csv") + body)
        client.recv(10)
        code, headers, text = server.ask("POST", "/predict/batch", b"document\na\n", "text/csv")
        assert code == 503 and headers["Retry-After"] == "1" and b"too many tables" in text
    while server.ask("POST", "/predict/batch", b"document\na\n", "text/csv")[0] != 200:
        time.sleep(0.1)


def test_of_tables_that_arrive_at_once_one_is_scored_and_the_others_refused(small):
    server = small
    body = TABLE.encode()
    clients = [socket.socket() for _ in range(6)]
    for client in clients:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.connect(("127.0.0.1", server.port))
        client.sendall(head(len(body), "/predict/batch", "text/csv") + body[:-1])
    for client in clients:
        client.sendall(body[-1:])
    # the first keeps its slot, as nobody reads its response
    assert sorted(status(client.recv(100)) for client in clients) == [200] + 5 * [503]
    for client in clients:
        client.close()
    while server.ask("POST", "/predict/batch", b"document\na\n", "text/csv")[0] != 200:
        time.sleep(0.1)


async def ask_all(port, questions):
    """Return [(status, parsed body)], all connections open at once before the first request is sent."""
    opened = await asyncio.gather(*(asyncio.open_connection("127.0.0.1", port) for _ in questions))

    async def ask(reader, writer, question):
        body = json.dumps(question).encode()
        writer.write(head(len(body), more="Connection: close\r\n") + body)
        answer = await reader.read()
        writer.close()
        return status(answer), json.loads(answer.partition(b"\r\n\r\n")[2])

    return await asyncio.gather(*(ask(*pair, question) for pair, question in zip(opened, questions)))


@pytest.fixture(scope="module")
def expected():
    classifier = load_classifier()

    def of(texts):
        return [round(each["score"], 4) * (1 if each["label"] == "positive" else -1) for each in classifier(texts)]

    return of


def whole_and_last(body):
    return head(len(body), more="Connection: close\r\n") + body


def signed(answers):
    return [round(each["score"], 4) * (1 if each["label"] == "positive" else -1) for each in answers]


@pytest.mark.parametrize("workers", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_a_thousand_clients_at_once_get_each_their_own_predictions(start, expected, workers):
    words = ["최고", "별로", "재미", "지루", "감동", "연출", "배우", "음악", "결말", "돈"]
    texts = [" ".join(words[int(digit)] for digit in f"{number:03}") + " 영화" * (number % 9) for number in range(1000)]
    wanted = expected(texts)
    assert len(set(wanted)) > 500, "distinguishable predictions"
    questions = [{"inputs": texts[number : number + 1 + number % 3]} for number in range(1000)]
    found = asyncio.run(ask_all(start(workers=workers).port, questions))
    assert {code for code, _ in found} == {200}
    for number, (_, answers) in enumerate(found):
        assert signed(answers) == pytest.approx(wanted[number : number + 1 + number % 3], abs=2e-4)


def test_pipelined_requests_get_their_responses_in_order(server, expected):
    texts = ["최고", "별로", "재미있지 않다"] * 5
    bodies = [json.dumps({"inputs": text}).encode() for text in texts]
    answers = server.send(b"".join(head(len(body)) + body for body in bodies[:-1]) + whole_and_last(bodies[-1]))
    assert signed([json.loads(each)[0] for each in re.findall(rb"\[\{.*?\}\]", answers)]) == pytest.approx(
        expected(texts), abs=2e-4
    )


def test_a_prediction_does_not_wait_for_explanations(server):
    body = json.dumps({"inputs": "배우는 좋은데 영화는 별로 " * 200, "method": "erasure"}).encode()
    clients = [server.connect() for _ in range(3)]
    for client in clients:
        client.sendall(head(len(body), "/explain") + body)
    assert server.predict("최고")
    assert not select.select(clients[-1:], [], [], 0)[0], "the last explanation is still under way"
    for client in clients:
        client.close()


def counted(server, name):
    found = re.search(rf"^{re.escape(name)} ([\d.]+)$", server.ask("GET", "/metrics")[2].decode(), re.MULTILINE)
    return float(found.group(1)) if found else 0


def workers_of(server):
    # multiprocessing's resource tracker is a child too
    return [each for each in psutil.Process(server.process.pid).children() if "spawn_main" in " ".join(each.cmdline())]


def tables_of(process):
    """Return the open files of a process that have no name, which are its tables."""
    folder = Path(f"/proc/{process.pid}/fd")
    links = []
    for file in folder.iterdir():
        # pytest captures stdout in such a file
        if file.name in "012":
            continue
        try:
            links.append(os.readlink(file))
        except OSError:
            continue
    return [link for link in links if link.endswith("(deleted)") and str(Path(tempfile.gettempdir()) / "") in link]


def kill_with_a_table(server):
    """Kill the worker that is being sent a table; return its number."""
    with server.connect() as client:
        client.sendall(head(100, "/predict/batch", "text/csv") + b"document\n")
        holders = []
        for _ in range(600):
            holders = [each for each in workers_of(server) if tables_of(each)]
            if holders:
                break
            time.sleep(0.05)
        holders[0].kill()
        assert client.recv(1) == b""
    return holders[0].pid


def test_workers_count_together_and_a_dead_one_loses_no_count(start):
    server = start(workers=2)
    before = counted(server, "nsmc_attention_reviews_total")
    for _ in range(40):
        server.predict(["최고", "별로"])
    assert counted(server, "nsmc_attention_reviews_total") == before + 80
    ready = sum("ready: " in line for line in server.lines)
    killed, started = kill_with_a_table(server), time.monotonic()
    while len({each.pid for each in workers_of(server)} - {killed}) < 2:
        assert time.monotonic() < started + 2
        time.sleep(0.05)
    server.wait_for("ready: ", ready + 1)
    assert len(workers_of(server)) == 2 and killed not in {each.pid for each in workers_of(server)}
    for _ in range(40):
        server.predict(["최고", "별로"])
    assert server.ask("POST", "/predict/batch", b"document\na\n", "text/csv")[0] == 200
    assert counted(server, "nsmc_attention_reviews_total") == before + 161


SLOW = pytest.mark.slow
ENDINGS = [
    (1, signal.SIGHUP),
    (2, signal.SIGTERM),
    pytest.param(1, signal.SIGINT, marks=SLOW),
    pytest.param(1, signal.SIGTERM, marks=SLOW),
    pytest.param(2, signal.SIGINT, marks=SLOW),
    pytest.param(2, signal.SIGHUP, marks=SLOW),
]


def shared_folders(server):
    """The folder in which the workers of a server count."""
    return {Path(each.environ()[SHARED]) for each in workers_of(server)}


@pytest.mark.parametrize("workers, number", ENDINGS)
def test_a_signal_ends_it_after_the_requests_in_progress(start, workers, number):
    server = start(workers=workers)
    folders = shared_folders(server) if workers > 1 else set()
    assert all(folder.is_dir() for folder in folders) and len(folders) == (workers > 1)
    with server.connect() as client:
        client.sendall(head(len(QUESTION)) + QUESTION[:5])
        time.sleep(0.2)
        server.process.send_signal(number)
        server.wait_for("Shutting down")
        client.sendall(QUESTION[5:])
        assert status(client.recv(65536)) == 200
    assert server.process.wait(30) == 0
    with pytest.raises(OSError):
        server.connect()
    assert not any(folder.exists() for folder in folders)


def test_a_second_interrupt_ends_it_at_once_without_a_traceback(start):
    server = start(rate=2500)
    with server.connect() as unfinished, server.connect() as reading:
        unfinished.sendall(head(1000, "/predict/batch", "text/csv") + b"document\n")
        body = TABLE.encode()
        reading.sendall(head(len(body), "/predict/batch", "text/csv") + body)
        assert status(reading.recv(100)) == 200
        server.process.send_signal(signal.SIGINT)
        server.wait_for("Waiting for connections")
        server.process.send_signal(signal.SIGINT)
        assert server.process.wait(30) == 0
    assert "Traceback" not in "".join(server.lines)


def test_workers_end_with_their_parent_after_the_requests_in_progress(start):
    server = start(workers=2)
    workers = workers_of(server)
    with server.connect() as client:
        client.sendall(head(len(QUESTION)) + QUESTION[:5])
        server.process.kill()
        while not any("Shutting down" in line for line in server.lines):
            time.sleep(0.05)
        client.sendall(QUESTION[5:])
        assert status(client.recv(100)) == 200
    assert not psutil.wait_procs(workers, 30)[1]
    with pytest.raises(OSError):
        server.connect()


def command(*arguments):
    return subprocess.run(
        [sys.executable, "-m", "nsmc_attention", "serve", *arguments],
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=60,
    )


def test_an_address_in_use_is_one_line(server):
    done = command("--port", str(server.port), "--workers", "2")
    assert done.returncode == 2 and len(done.stderr.splitlines()) == 1
    assert done.stderr.startswith(f"error: 127.0.0.1:{server.port}: Address already in use")


@pytest.mark.parametrize("host, reason", [("192.0.2.1", "annot assign"), ("no.such.host.invalid", "")])
def test_an_address_of_another_machine_is_an_error(host, reason):
    with pytest.raises(ConfigError, match=f"{host}:0: .*{reason}.*; choose another --host or --port"):
        listen(host, 0)


@pytest.mark.parametrize("workers", ["1", pytest.param("2", marks=pytest.mark.slow)])
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


def test_without_the_extra_one_line_names_it():
    code = "import sys; sys.modules['fastapi'] = None; from nsmc_attention.cli import main; main(['serve'])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 2 and done.stderr.count("\n") == 1
    assert "serve needs fastapi: pip install 'fastapi<" in done.stderr


@pytest.mark.parametrize("package", ["fastapi", "fastapi_offline", "python_multipart", "uvicorn", "prometheus_client"])
def test_each_package_of_the_extra_is_needed(package, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingPackage, match=f"serve needs {package}: pip install '{package.replace('_', '-')}"):
        importlib.reload(nsmc_attention.serve)


@contextmanager
def small_disk(folder, options):
    if subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)], capture_output=True).returncode:
        pytest.skip("mounting a tmpfs is not allowed here")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def fill(file):
    with open(file, "wb", buffering=0) as file, pytest.raises(OSError):
        while True:
            file.write(bytes(4096))


@pytest.mark.parametrize("workers", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_a_full_disk_is_one_line_without_a_path_and_ends_no_worker(start, tmp_path, monkeypatch, workers):
    with small_disk(tmp_path, "size=1m,nr_inodes=10"):
        monkeypatch.setenv("TMPDIR", str(tmp_path))
        server = start(workers=workers, rate=4002)
        before = {worker.pid for worker in workers_of(server)}

        def ask(body):
            code, _, response = server.ask("POST", "/predict/batch", body, "text/csv")
            if code != 200:
                assert json.loads(response) == {"error": "no space for a table; try again later"}
            return code

        small, large = b"document\na\n", b"document\n" + b"a\n" * 2**20
        assert [ask(body) for body in (large, small, large, small)] == [503, 200, 503, 200]
        while tables_of(server.process):
            time.sleep(0.1)
        with pytest.raises(OSError):
            for number in range(10):
                (tmp_path / str(number)).touch()
        # another worker has not chosen a folder for its tables yet
        assert ask(small) == 503 or workers > 1
        (tmp_path / "0").unlink()
        fill(tmp_path / "0")
        assert ask(small) == 503 or workers > 1
        for path in ("/", "/docs", "/readyz", "/nowhere", "/metrics", "/openapi.json"):
            assert server.ask("GET", path)[0] == (404 if path == "/nowhere" else 200)
        assert {worker.pid for worker in workers_of(server)} == before
        server.stop()
