"""Real servers with the packaged bundle: child processes, each on a free port and started once for the same limits."""

import http.client
import json
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import contextmanager

import pytest

CODE = """
from nsmc_attention._runtime.signals import as_exceptions
from nsmc_attention.serve.guard import Limits
from nsmc_attention.serve.models import Bundles
from nsmc_attention.serve.server import serve
# as in the command
if __name__ == "__main__":
    with as_exceptions():
        serve(port=0, workers={workers}, bundles=Bundles(**{bundles}), limits=Limits(**{limits}))
"""


class Server:
    """A server with these workers, bundles and limits; its log is in `lines`."""

    def __init__(self, workers=1, **options):
        bundles = {name: str(options.pop(name)) for name in [*options] if name.endswith("bundle")}
        limits = options
        code = CODE.format(workers=workers, limits=limits, bundles=bundles)
        # these tests may run under nohup
        self.process = subprocess.Popen(
            [sys.executable, "-c", code], stderr=subprocess.PIPE, text=True, encoding="utf-8", preexec_fn=restore_sighup
        )
        self.lines, self.port = [], None
        threading.Thread(target=self.read, daemon=True).start()
        self.wait_for("ready: ", workers)
        self.port = int(re.search(r"http://[\d.]+:(\d+)", "".join(self.lines)).group(1))
        self.wait_for("startup complete", workers)

    def read(self):
        self.lines.extend(iter(self.process.stderr.readline, ""))

    def wait_for(self, words, times=1):
        for _ in range(6000):
            if sum(words in line for line in self.lines) >= times:
                return
            assert self.process.poll() is None, "".join(self.lines)
            time.sleep(0.01)
        raise AssertionError(f"no {words!r} in {''.join(self.lines)}")

    def connect(self):
        return socket.create_connection(("127.0.0.1", self.port), 60)

    def send(self, *pieces):
        """Return everything received on a new connection until it is closed."""
        with self.connect() as client:
            for piece in pieces:
                client.sendall(piece)
            return everything(client)

    def ask(self, method, path, body=None, kind="application/json"):
        """Return (status, headers, body)."""
        client = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        client.request(method, path, body, {"Content-Type": kind} if body is not None else {})
        answer = client.getresponse()
        found = answer.status, answer.headers, answer.read()
        client.close()
        return found

    def predict(self, inputs):
        status, _, body = self.ask("POST", "/predict", json.dumps({"inputs": inputs}).encode())
        assert status == 200, body
        return json.loads(body)

    def stop(self):
        self.process.terminate()
        return self.process.wait(30)


def restore_sighup():
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


def everything(client):
    pieces = []
    try:
        while piece := client.recv(65536):
            pieces.append(piece)
    except ConnectionError:
        pass
    return b"".join(pieces)


@pytest.fixture(scope="package")
def start():
    """Return a function that starts a `Server`, once for the same arguments."""
    pytest.importorskip("fastapi")
    started = {}

    def started_with(**arguments):
        key = tuple(sorted(arguments.items()))
        if key not in started or started[key].process.poll() is not None:
            started[key] = Server(**arguments)
        return started[key]

    yield started_with
    for server in started.values():
        server.process.terminate()
    for server in started.values():
        server.process.wait(30)
        assert "Traceback" not in "".join(server.lines), "".join(server.lines)[-5000:]


@pytest.fixture(scope="package")
def server(start):
    return start()


@pytest.fixture(scope="session")
def ready():
    """A function from an application to a client of it, in a `with` block, once its models are loaded."""
    testclient = pytest.importorskip("starlette.testclient")

    @contextmanager
    def started(application):
        with testclient.TestClient(application, raise_server_exceptions=False) as client:
            while client.get("/readyz").status_code != 200:
                pass
            yield client

    return started
