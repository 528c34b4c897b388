"""The server's processes and clients: workers, kills and signals, addresses, open files, a full disk, and many at once."""

import asyncio
import json
import os
import re
import select
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil
import pytest

from nsmc_attention.apps.serve.app import listen
from nsmc_attention.apps.serve.guard import SHARED, Limits
from nsmc_attention.apps.serve.read import MOST_BYTES
from nsmc_attention.classifier.predictor import load_classifier
from nsmc_attention.errors import ConfigError

QUESTION = {"inputs": "최고의 영화"}


def counted(server):
    metrics = server.ask("GET", "/metrics")[2].decode()
    number = re.search(r"^nsmc_attention_reviews_total (\S+)$", metrics, re.MULTILINE)
    return float(number[1]) if number else 0


def test_workers_count_together_and_a_dead_one_is_replaced_and_loses_no_count(start):
    server = start(workers=2)
    before, ready = counted(server), server.count("ready: ")
    for _ in range(40):
        server.predict(["최고", "별로"])
    assert counted(server) == before + 80
    killed = server.workers()[0]
    killed.kill()
    server.wait_for("ready: ", ready + 1)
    assert len(server.workers()) == 2 and killed not in server.workers()
    for _ in range(40):
        server.predict(["최고", "별로"])
    assert server.takes_tables() and counted(server) == before + 161


def test_a_second_interrupt_ends_it_at_once_without_a_traceback(start):
    server = start(characters=9_999)
    with server.connect() as unfinished, server.connect() as reading:
        unfinished.sendall(server.head(1000, "/predict/batch", "text/csv") + b"document\n")
        reading.sendall(server.batch(b"document\n" + "정말 재미있는 영화\n".encode() * 300_000))
        server.eventually(lambda: len(server.tables()) == 2)
        server.process.send_signal(signal.SIGINT)
        server.wait_for("Waiting for connections")
        server.process.send_signal(signal.SIGINT)
        assert server.process.wait(30) == 0
    assert "Traceback" not in "".join(server.lines)


def command(*arguments):
    command = [sys.executable, "-m", "nsmc_attention", "serve", *arguments]
    return subprocess.run(command, capture_output=True, text=True, encoding="utf-8", timeout=60)


def test_it_listens_to_this_machine_alone_and_an_address_in_use_is_one_line(server):
    assert [each.laddr.ip for each in server.sockets() if each.status == "LISTEN"] == ["127.0.0.1"]
    done = command("--port", str(server.port), "--workers", "2")
    assert done.returncode == 2 and len(done.stderr.splitlines()) == 1
    assert done.stderr.startswith(f"error: 127.0.0.1:{server.port}: Address already in use")


@pytest.mark.parametrize("host, reason", [("192.0.2.1", "annot assign"), ("no.such.host.invalid", "")])
def test_an_address_of_another_machine_is_an_error(host, reason):
    with pytest.raises(ConfigError, match=f"{host}:0: .*{reason}.*; choose another --host or --port"):
        listen(host, 0)


def test_an_engine_that_cannot_be_loaded_ends_the_server(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    done = command("--port", "0", "--workers", "2", "--engine", "onyx")
    assert done.returncode == 2 and "did you mean 'onnx'?" in done.stderr and "Traceback" not in done.stderr
    assert not list(tmp_path.glob("nsmc_attention-*"))


def test_nginx_and_the_page_take_bodies_as_large_as_the_server_does():
    folder = Path(__file__).parents[3]
    text = (folder / "docs/serving/nginx.conf").read_text(encoding="utf-8")
    sizes = re.findall(r"client_max_body_size (\d+);", text)
    assert [*map(int, sizes)] == [Limits.body, Limits.table, MOST_BYTES]
    assert "./docs/serving/nginx.conf:" in (folder / "compose.yaml").read_text(encoding="utf-8")
    page = folder / "nsmc_attention/apps/serve/pages/read/page.js"
    assert f"LARGEST = {MOST_BYTES:_};" in page.read_text(encoding="utf-8")


def test_a_full_disk_is_one_line_without_a_path(start, disk, monkeypatch):
    folder = disk("size=1m")
    # the names of sockets are short
    short = tempfile.mkdtemp(dir="/tmp")
    os.symlink(folder, f"{short}/a")
    monkeypatch.setenv("TMPDIR", f"{short}/a")
    server = start(characters=9_998)

    def ask(body):
        code, _, response = server.ask("POST", "/predict/batch", body, "text/csv")
        if code != 200:
            assert json.loads(response) == {"error": "no space for a table; try again later"}
        return code

    small, half, large = b"document\na\n", b"document\n" + b"a\n" * 300_000, b"document\n" + b"a\n" * 2**20
    assert [ask(body) for body in (large, small, half, small)] == [503, 200, 503, 200]
    server.eventually(lambda: not server.tables())
    with open(folder / "0", "wb", buffering=0) as file, pytest.raises(OSError):
        while True:
            file.write(bytes(4096))
    assert ask(small) == 503
    for path in ("/", "/docs", "/readyz", "/nowhere", "/metrics", "/openapi.json"):
        assert server.ask("GET", path)[0] == (404 if path == "/nowhere" else 200)
    server.process.terminate()
    server.process.wait(30)


TABLE = ("document,other\n" + f"최고,{'a' * 100}\n" * 4000).encode()
# Takes about a second
EXPLANATION = {"inputs": "배우는 좋은데 영화는 별로 " * 200, "method": "erasure"}, "/explain"


def test_clients_that_stop_in_the_middle_block_nobody_and_leave_no_file_open(server):
    """nginx ends them in time: test_nginx.py."""
    server.predict("최고")
    before = psutil.Process(server.process.pid).num_fds()
    clients = [server.connect() for _ in range(200)]
    for number, client in enumerate(clients):
        client.sendall([b"", b"GET / HTTP", server.request(QUESTION)[:-1], server.batch(TABLE[:99])[:-1]][number % 4])
    assert server.predict("최고")[0]["label"] == "positive"
    for client in clients:
        client.close()
    server.eventually(lambda: not server.tables() and psutil.Process(server.process.pid).num_fds() <= before + 2)


SMALL = {"connections": 8, "read": 1, "files": 2}


def test_too_many_connections_are_refused(start):
    small = start(**SMALL)
    held = [small.connect() for _ in range(8)]
    time.sleep(0.2)
    with small.connect() as client:
        client.sendall(small.request(QUESTION))
        assert small.status(client.recv(65536)) == 503
    for client in held:
        client.close()
    time.sleep(0.2)
    assert small.predict("최고")


def test_of_tables_that_arrive_at_once_those_that_may_not_wait_are_refused(start):
    small = start(**SMALL)
    clients = [small.connect() for _ in range(6)]
    for client in clients:
        client.sendall(small.batch(TABLE)[:-1])
    for client in clients:
        client.sendall(TABLE[-1:])
    answers = [client.recv(65536) for client in clients]
    assert sorted(map(small.status, answers)) == 2 * [200] + 4 * [503]
    assert all(b"retry-after: 1" in answer for answer in answers if small.status(answer) == 503)
    for client in clients:
        client.close()
    assert small.takes_tables()
    small.eventually(lambda: not small.tables())


async def ask_all(server, questions):
    """Return [(status, parsed body)], all connections open at once before the first request is sent."""
    opened = await asyncio.gather(*(asyncio.open_connection("127.0.0.1", server.port) for _ in questions))

    async def ask(reader, writer, question):
        writer.write(server.request(question, more="Connection: close\r\n"))
        answer = await reader.read()
        writer.close()
        return server.status(answer), json.loads(answer.partition(b"\r\n\r\n")[2])

    return await asyncio.gather(*(ask(*pair, question) for pair, question in zip(opened, questions)))


def signed(answers):
    return [round(each["score"], 4) * (1 if each["label"] == "positive" else -1) for each in answers]


@pytest.mark.parametrize("options", [{}, pytest.param({"workers": 2}, marks=pytest.mark.slow)])
def test_a_thousand_clients_at_once_get_each_their_own_predictions(start, options):
    words = ["최고", "별로", "재미", "지루", "감동", "연출", "배우", "음악", "결말", "돈"]
    texts = [" ".join(words[int(digit)] for digit in f"{number:03}") + " 영화" * (number % 9) for number in range(1000)]
    expected = {text: signed([one])[0] for text, one in zip(texts, load_classifier()(texts))}
    assert len(set(expected.values())) > 500, "distinguishable predictions"
    groups = [texts[number : number + 1 + number % 3] for number in range(1000)]
    answers = asyncio.run(ask_all(start(**options), [{"inputs": group} for group in groups]))
    assert {code for code, _ in answers} == {200}
    scores = [score for _, predictions in answers for score in signed(predictions)]
    assert scores == pytest.approx([expected[text] for group in groups for text in group], abs=2e-4)


def test_a_prediction_does_not_wait_for_explanations(server):
    clients = [server.connect() for _ in range(3)]
    for client in clients:
        client.sendall(server.request(*EXPLANATION))
    assert server.predict("최고")
    assert not select.select(clients[-1:], [], [], 0)[0], "the last explanation is still under way"
    for client in clients:
        client.close()


# of the servers that tests above have started
ENDINGS = [(SMALL, signal.SIGHUP), ({"workers": 2}, signal.SIGTERM), ({"workers": 2}, signal.SIGKILL)]
OTHERS = [(SMALL, signal.SIGTERM), ({"workers": 2}, signal.SIGHUP), *((each, signal.SIGINT) for each, _ in ENDINGS[:2])]
ENDINGS += [pytest.param(*ending, marks=pytest.mark.slow) for ending in OTHERS]


@pytest.mark.parametrize("options, number", ENDINGS)
def test_a_signal_ends_it_after_the_requests_in_progress(start, options, number):
    """Workers whose parent is killed end so too."""
    server, workers = start(**options), options.get("workers", 1)
    processes = server.workers()
    # in which the workers count
    folders = {Path(worker.environ()[SHARED]) for worker in processes}
    assert all(folder.is_dir() for folder in folders) and len(folders) == (workers > 1)
    with server.connect() as client:
        client.sendall(server.request(QUESTION)[:-5])
        time.sleep(0.2)
        server.process.send_signal(number)
        server.eventually(lambda: server.count("Shutting down"))
        client.sendall(server.request(QUESTION)[-5:])
        assert server.status(client.recv(65536)) == 200
    killed = number == signal.SIGKILL
    assert server.process.wait(30) == (-number if killed else 0)
    assert not psutil.wait_procs(processes, 30)[1]
    assert killed or not any(folder.exists() for folder in folders)
