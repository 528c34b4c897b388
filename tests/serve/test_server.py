"""Real processes and sockets: slow clients, many clients, several workers, kills and signals."""

import asyncio
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
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from nsmc_attention.inference.predictor import load_classifier

pytest.importorskip("fastapi")

QUESTION = json.dumps({"inputs": "최고의 영화"}).encode()
# Of 20 MB, so that neither side's buffers hold the answer
TABLE = "document,other\n" + f"최고,{'a' * 5000}\n" * 4000


def head(length, path="/predict", kind="application/json", more=""):
    return f"POST {path} HTTP/1.1\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n{more}\r\n".encode()


def status(answer):
    return int(answer.split()[1]) if answer else None


def drip(client, data, seconds=0.05):
    """Send a byte at a time for as long as the server takes them; answer what it says."""
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
    return start(head_seconds=0.5, body_seconds=0.5, answer_seconds=1.0)


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
def test_who_sends_a_byte_at_a_time_is_told_and_does_not_stay(hasty, whole, dripped, expected):
    with hasty.connect() as client:
        client.sendall(whole)
        with ThreadPoolExecutor(1) as pool:
            slow = pool.submit(drip, client, dripped)
            while not slow.done():
                assert hasty.predict("최고")[0]["label"] == "positive"
            assert status(slow.result()) in (expected if isinstance(expected, tuple) else (expected,))


def test_who_says_nothing_or_stops_in_between_is_not_waited_for(hasty):
    clients = [hasty.connect() for _ in range(20)]
    for number, client in enumerate(clients):
        client.sendall([b"", head(len(QUESTION)) + QUESTION[:-1], b"POST"][number % 3])
    for number, client in enumerate(clients):
        client.settimeout(30)
        found = client.recv(65536)
        assert status(found) == (None if number % 3 == 0 else 408)
        client.close()


def test_who_sends_slowly_but_steadily_is_answered(start):
    server = start(head_seconds=0.3, body_seconds=1.0, rate=100)
    with server.connect() as client:
        body = b'{"inputs": "' + b"a" * 1000 + b'"}'
        client.sendall(head(len(body)))
        for place in range(0, len(body), 50):
            client.sendall(body[place : place + 50])
            time.sleep(0.1)
        assert status(client.recv(65536)) == 200


def test_who_reads_too_slowly_is_left_and_leaves_nothing_behind(hasty):
    folder = Path(tempfile.gettempdir())
    before = set(folder.glob("*.csv"))
    worker = psutil.Process(hasty.process.pid)
    clients = []
    for _ in range(3):
        client = socket.socket()
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.connect(("127.0.0.1", hasty.port))
        body = TABLE.encode()
        client.sendall(head(len(body), "/predict/batch", "text/csv") + body)
        client.recv(10)
        clients.append(client)
    ports = {client.getsockname()[1] for client in clients}
    while any(each.raddr and each.raddr.port in ports for each in connections(worker)):
        assert hasty.predict("최고")[0]["label"] == "positive"
    for client in clients:
        client.close()
    while set(folder.glob("*.csv")) - before:
        time.sleep(0.1)


def test_who_reads_nothing_of_the_last_answer_is_left_too(hasty):
    body = json.dumps({"inputs": ["배우는 좋은데 영화는 별로 " * 200] * 2, "parameters": {"weights": True}}).encode()
    with socket.socket() as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.connect(("127.0.0.1", hasty.port))
        client.sendall(head(len(body), more="Connection: close\r\n") + body)
        client.recv(1)
        port, worker = client.getsockname()[1], psutil.Process(hasty.process.pid)
        while any(each.raddr and each.raddr.port == port for each in connections(worker)):
            time.sleep(0.1)


def test_a_body_that_does_not_come_is_not_waited_for_behind_other_requests(hasty):
    first = json.dumps({"inputs": "최고"}).encode()
    # takes longer than the body may
    second = json.dumps({"inputs": "배우는 좋은데 영화는 별로 " * 200, "method": "erasure"}).encode()
    found = hasty.send(head(len(first)) + first + head(len(second), "/explain") + second + head(100) + b"{")
    assert [int(each) for each in re.findall(rb"HTTP/1.1 (\d+)", found)] == [200, 200, 408]


def connections(process):
    return process.net_connections() if hasattr(process, "net_connections") else process.connections()


def test_too_many_connections_are_told_so(start):
    server = start(connections=5)
    held = [server.connect() for _ in range(5)]
    time.sleep(0.2)
    found = server.send()
    assert status(found) == 503 and b"retry-after: 1" in found and b'"error"' in found
    for client in held:
        client.close()
    time.sleep(0.2)
    assert server.predict("최고")


def test_too_many_tables_are_told_so(start):
    server = start(tables=1, answer_seconds=30)
    body = TABLE.encode()
    with server.connect() as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.sendall(head(len(body), "/predict/batch", "text/csv") + body)
        client.recv(10)
        code, headers, text = server.ask("POST", "/predict/batch", b"document\na\n", "text/csv")
        assert code == 503 and headers["Retry-After"] == "1" and b"too many tables" in text
    while server.ask("POST", "/predict/batch", b"document\na\n", "text/csv")[0] != 200:
        time.sleep(0.1)


def test_of_tables_that_arrive_at_once_each_is_scored_or_told_so(start):
    server = start(tables=1, answer_seconds=30)
    body = TABLE.encode()
    clients = [socket.socket() for _ in range(6)]
    for client in clients:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.connect(("127.0.0.1", server.port))
        client.sendall(head(len(body), "/predict/batch", "text/csv") + body[:-1])
    for client in clients:
        client.sendall(body[-1:])
    # who is scored keeps the place, as nobody reads on
    assert sorted(status(client.recv(100)) for client in clients) == [200] + 5 * [503]
    for client in clients:
        client.close()
    while server.ask("POST", "/predict/batch", b"document\na\n", "text/csv")[0] != 200:
        time.sleep(0.1)


async def ask_all(port, questions):
    """Answer [(status, parsed body)], all connections open at once before the first request is sent."""
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


def signed(answers):
    return [round(each["score"], 4) * (1 if each["label"] == "positive" else -1) for each in answers]


@pytest.mark.parametrize("workers", [1, 2])
def test_a_thousand_at_once_get_each_their_own_answer(start, expected, workers):
    words = ["최고", "별로", "재미", "지루", "감동", "연출", "배우", "음악", "결말", "돈"]
    texts = [" ".join(words[int(digit)] for digit in f"{number:03}") + " 영화" * (number % 9) for number in range(1000)]
    wanted = expected(texts)
    assert len(set(wanted)) > 500, "answers that can be told apart"
    questions = [{"inputs": texts[number : number + 1 + number % 3]} for number in range(1000)]
    found = asyncio.run(ask_all(start(workers=workers).port, questions))
    assert {code for code, _ in found} == {200}
    for number, (_, answers) in enumerate(found):
        assert signed(answers) == pytest.approx(wanted[number : number + 1 + number % 3], abs=2e-4)


def test_pipelined_requests_are_answered_in_their_order_and_before_garbage(server, expected):
    texts = ["최고", "별로", "재미있지 않다"] * 5
    bodies = [json.dumps({"inputs": text}).encode() for text in texts]
    answers = server.send(b"".join(head(len(body)) + body for body in bodies) + b"GARBAGE\r\n\r\n")
    found = [json.loads(each)[0] for each in re.findall(rb"\[\{.*?\}\]", answers)]
    assert signed(found) == pytest.approx(expected(texts)[: len(found)], abs=2e-4)
    assert b" 500 " not in answers


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
    # beside them runs multiprocessing's resource tracker
    return [each for each in psutil.Process(server.process.pid).children() if "spawn_main" in " ".join(each.cmdline())]


def kill_with_a_table(server, folder):
    """Kill the worker that is being sent a table; answer its number."""
    with server.connect() as client:
        client.sendall(head(100, "/predict/batch", "text/csv") + b"document\n")
        holders = []
        for _ in range(600):
            holders = [
                each for each in workers_of(server) if any(".partial-table" in file.path for file in each.open_files())
            ]
            if holders:
                break
            time.sleep(0.05)
        holders[0].kill()
        assert client.recv(1) == b""
    assert list(folder.glob(".partial-table*"))
    return holders[0].pid


def test_workers_count_together_and_a_dead_one_loses_nothing_and_leaves_nothing(start):
    server = start(workers=2)
    before = counted(server, "nsmc_attention_reviews_total")
    for _ in range(40):
        server.predict(["최고", "별로"])
    assert counted(server, "nsmc_attention_reviews_total") == before + 80
    (folder,) = {
        Path(file.path).parent
        for worker in workers_of(server)
        for file in worker.open_files()
        if "/nsmc_attention-" in file.path
    }
    files = sorted(folder.iterdir())
    ready = sum("ready: " in line for line in server.lines)
    killed = kill_with_a_table(server, folder)
    server.wait_for("ready: ", ready + 1)
    assert len(workers_of(server)) == 2 and killed not in {each.pid for each in workers_of(server)}
    for _ in range(40):
        server.predict(["최고", "별로"])
    assert server.ask("POST", "/predict/batch", b"document\na\n", "text/csv")[0] == 200
    assert counted(server, "nsmc_attention_reviews_total") == before + 161
    assert sorted(folder.iterdir()) == files


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_ends_it_after_what_is_under_way(start, workers, number):
    server = start(workers=workers, rate=2001 + number)
    folders = set(Path(tempfile.gettempdir()).glob("nsmc_attention-*"))
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
    left = set(Path(tempfile.gettempdir()).glob("nsmc_attention-*"))
    # one worker has no folder to share
    assert left < folders if workers > 1 else left <= folders


def test_who_asks_twice_does_not_wait_and_sees_no_traceback(start):
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
        assert status(unfinished.recv(100)) == 503
    assert "Traceback" not in "".join(server.lines)


def test_workers_end_with_their_parent(start):
    server = start(workers=2, rate=3000)
    workers = workers_of(server)
    server.process.kill()
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


@pytest.mark.parametrize("workers", ["1", "2"])
@pytest.mark.parametrize(
    "host, reason",
    [("127.0.0.1", "Address already in use"), ("192.0.2.1", "annot assign"), ("no.such.host.invalid", "")],
)
def test_an_address_that_cannot_be_had_is_one_line(server, workers, host, reason):
    done = command("--host", host, "--port", str(server.port), "--workers", workers)
    assert done.returncode == 2 and len(done.stderr.splitlines()) == 1
    assert done.stderr.startswith(f"error: {host}:{server.port}: ") and reason in done.stderr


@pytest.mark.parametrize("workers", ["1", "2"])
def test_an_engine_that_cannot_be_loaded_ends_the_server(workers, tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    done = command("--port", "0", "--workers", workers, "--engine", "onyx")
    assert done.returncode == 2 and "did you mean 'onnx'?" in done.stderr and "Traceback" not in done.stderr
    assert not list(tmp_path.glob("nsmc_attention-*"))


def test_it_listens_to_this_machine_alone(server):
    listening = [each.laddr.ip for each in connections(psutil.Process(server.process.pid)) if each.status == "LISTEN"]
    assert listening == ["127.0.0.1"]


def test_few_open_files_are_told_and_many_are_asked_for():
    code = (
        "import resource; resource.setrlimit(resource.RLIMIT_NOFILE, (64, {hard}))\n"
        "from nsmc_attention.serve.server import fitting\nfrom nsmc_attention.serve.limits import Limits\n"
        "import logging; logging.basicConfig()\n"
        "print(fitting(Limits()).connections, resource.getrlimit(resource.RLIMIT_NOFILE)[0])"
    )
    run = [
        subprocess.run([sys.executable, "-c", code.format(hard=hard)], capture_output=True, text=True)
        for hard in (3100, 20_000)
    ]
    assert run[0].stdout.split() == ["1000", "3100"] and "at most 1000 connections" in run[0].stderr
    assert run[1].stdout.split() == ["4000", "20000"] and not run[1].stderr


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


@pytest.mark.parametrize("package", ["fastapi", "uvicorn", "prometheus_client"])
def test_without_the_extra_one_line_names_it(package):
    code = f"import sys; sys.modules[{package!r}] = None; from nsmc_attention.cli import main; main(['serve'])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 2 and done.stderr.count("\n") == 1
    assert "pip install 'nsmc_attention[serve]'" in done.stderr


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


def test_a_full_disk_is_told_without_a_path_and_forgotten_when_there_is_room(start, tmp_path, monkeypatch):
    with small_disk(tmp_path, "size=1m"):
        monkeypatch.setenv("TMPDIR", str(tmp_path))
        server = start(rate=4000)
        small, large = b"document\na\n", b"document\n" + b"a\n" * 2**20
        for body in (large, small, large):
            code, _, answer = server.ask("POST", "/predict/batch", body, "text/csv")
            assert code == (200 if body is small else 503)
            assert body is small or json.loads(answer) == {"error": "no room for a table; try again later"}
        server.stop()


def test_a_table_whose_file_cannot_be_made_is_told_so(start, tmp_path, monkeypatch):
    with small_disk(tmp_path, "size=1m,nr_inodes=10"):
        monkeypatch.setenv("TMPDIR", str(tmp_path))
        server = start(rate=4001)

        def ask():
            return server.ask("POST", "/predict/batch", b"document\na\n", "text/csv")[0]

        assert ask() == 200
        while list(tmp_path.iterdir()):
            time.sleep(0.1)
        with pytest.raises(OSError):
            for number in range(10):
                (tmp_path / str(number)).touch()
        # neither a folder nor, in one that is there, a file
        found = [ask()]
        (tmp_path / "0").unlink()
        found.append(ask())
        assert found == [503, 503] and not list(tmp_path.glob("nsmc_attention-*"))
        server.stop()


def test_a_full_disk_ends_no_worker(start, tmp_path, monkeypatch):
    with small_disk(tmp_path, "size=2m"):
        monkeypatch.setenv("TMPDIR", str(tmp_path))
        server = start(workers=2, rate=4002)
        before = {worker.pid for worker in workers_of(server)}
        fill(tmp_path / "full")
        for _ in range(10):
            for path in ("/", "/docs", "/readyz", "/nowhere", "/metrics", "/openapi.json", "/font.woff"):
                assert server.ask("GET", path)[0] == (404 if path == "/nowhere" else 200)
        assert {worker.pid for worker in workers_of(server)} == before
        code = (
            "from nsmc_attention.serve.counters import Counters; import sys\ncounters = Counters(sys.argv[1])\n"
            "counters.observe('/', 200, 1); print(counters.text().decode())"
        )
        done = subprocess.run([sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True)
        assert 'seconds_count{path="/",status="200"} 1.0' in done.stdout
        assert done.stderr.count("\n") == 1 and "counts this worker alone" in done.stderr
        server.stop()
