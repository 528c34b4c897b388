"""The server's processes: workers, kills and signals, addresses, open files and a full disk."""

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil
import pytest

from nsmc_attention.apps.serve.app import listen
from nsmc_attention.apps.serve.commands import require_packages
from nsmc_attention.apps.serve.guard import SHARED, Limits
from nsmc_attention.errors import ConfigError, MissingPackage
from nsmc_attention.systems.reading.service import MOST_BYTES

SLOW = pytest.mark.slow
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
        client.sendall(server.request(QUESTION)[:-5])
        time.sleep(0.2)
        server.process.send_signal(number)
        server.wait_for("Shutting down")
        client.sendall(server.request(QUESTION)[-5:])
        assert server.status(client.recv(65536)) == 200
    assert server.process.wait(30) == 0
    with pytest.raises(OSError):
        server.connect()
    assert not any(folder.exists() for folder in folders)


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


def test_workers_end_with_their_parent_after_the_requests_in_progress(start):
    server = start(workers=2)
    workers = server.workers()
    with server.connect() as client:
        client.sendall(server.request(QUESTION)[:-5])
        server.process.kill()
        server.eventually(lambda: server.count("Shutting down"))
        client.sendall(server.request(QUESTION)[-5:])
        assert server.status(client.recv(100)) == 200
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
    listening = [each.laddr.ip for each in server.sockets() if each.status == "LISTEN"]
    assert listening == ["127.0.0.1"]


def test_nginx_takes_bodies_as_large_as_the_server_does():
    folder = Path(__file__).parents[3]
    text = (folder / "docs/serving/nginx.conf").read_text(encoding="utf-8")
    sizes = re.findall(r"client_max_body_size (\d+);", text)
    assert [*map(int, sizes)] == [Limits.body, Limits.table, MOST_BYTES]
    assert "./docs/serving/nginx.conf:" in (folder / "compose.yaml").read_text(encoding="utf-8")


@pytest.mark.skipif(not os.path.exists("/proc/self/fd"), reason="needs /proc")
def test_clients_that_go_away_leave_no_file_open(server):
    server.predict("최고")
    before = len(os.listdir(f"/proc/{server.process.pid}/fd"))
    for number in range(200):
        with server.connect() as client:
            client.sendall(server.head(9, ["/predict", "/predict/batch"][number % 2], "text/csv") + b"document")
    for _ in range(20):
        server.predict("최고")
    assert len(os.listdir(f"/proc/{server.process.pid}/fd")) <= before + 2


@pytest.mark.parametrize("package", ["fastapi", "fastapi_offline", "python_multipart", "uvicorn", "prometheus_client"])
def test_each_package_of_the_extra_is_needed(package, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingPackage, match=f"serve needs {package}: pip install '{package.replace('_', '-')}"):
        require_packages()


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
