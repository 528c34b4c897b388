"""A real server behind nginx with docs/serving/nginx.conf: slow clients cost it nothing.

    python -m pytest -n 0 -m system tests/apps/serve/test_nginx.py

The times of the configuration are shortened to a second.
"""

import copy
import json
import re
import shutil
import socket
import subprocess
import time
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest

from nsmc_attention.apps.serve.guard import Limits
from nsmc_attention.apps.serve.read import MOST_BYTES

CONFIGURATION = Path(__file__).parents[3] / "docs/serving/nginx.conf"
NGINX = shutil.which("nginx", path="/usr/sbin:/usr/bin:/usr/local/bin:/opt/homebrew/bin")
WITHOUT = pytest.mark.skipif(not NGINX, reason="no nginx; as root: apt-get install nginx-light")
pytestmark = [pytest.mark.system, WITHOUT]
QUESTION = {"inputs": "최고의 영화"}


@pytest.fixture(scope="module")
def behind(tmp_path_factory):
    """A function that starts nginx in front of a server, and returns a `Server` whose clients connect to nginx."""
    with ExitStack() as stack:

        def started(server, upstream=None):
            folder = tmp_path_factory.mktemp("nginx")
            with socket.create_server(("127.0.0.1", 0)) as free:
                port = free.getsockname()[1]
            text = CONFIGURATION.read_text(encoding="utf-8")
            for words, local, times in (
                (r"listen 8080;", f"listen 127.0.0.1:{port};", 1),
                (r"server serve:8000;", f"server 127.0.0.1:{upstream or server.port};", 1),
                (r"/var/cache/nginx", str(folder), 7),
                (r"(client_header|client_body|send)_timeout \d+s;", r"\1_timeout 1s;", 3),
                (r"^    keepalive_timeout \d+s;", "    keepalive_timeout 1s;", 1),
            ):
                text, found = re.subn(words, local, text, flags=re.MULTILINE)
                assert found == times, words
            (folder / "nginx.conf").write_text(text, encoding="utf-8")
            # the folder is this user's
            command = [NGINX, "-p", folder, "-c", folder / "nginx.conf", "-g", "daemon off; user root;"]
            process = stack.enter_context(subprocess.Popen([*map(str, command)], stderr=subprocess.DEVNULL))
            stack.callback(process.terminate)
            proxied = copy.copy(server)
            proxied.port = port
            while True:
                assert process.poll() is None
                with suppress(ConnectionRefusedError):
                    proxied.connect().close()
                    return proxied
                time.sleep(0.02)

        yield started


@pytest.fixture(scope="module")
def proxied(behind, server):
    return behind(server)


def connected(server):
    """Return the ports of those connected to the server itself."""
    return {each.raddr.port for each in server.sockets() if each.raddr and each.status == "ESTABLISHED"}


def is_ended(client):
    """Return whether the connection is over within a second or two, and nothing was sent over it."""
    client.settimeout(10)
    try:
        return client.recv(100) == b""
    except ConnectionError:
        return True


def error_of(answer):
    """Return (status, headers, line) of a raw response with an error."""
    head, _, body = answer.partition(b"\r\n\r\n")
    content = json.loads(body)
    assert list(content) == ["error"] and b"x-content-type-options: nosniff" in head.lower()
    return int(head.split()[1]), head.lower(), content["error"]


def test_requests_get_the_responses_of_the_server(proxied, server):
    assert proxied.predict(["최고", "별로"]) == server.predict(["최고", "별로"])
    table = "document\n최고\n별로\n".encode()
    for asked in (
        ("GET", "/"),
        ("GET", "/openapi.json"),
        ("GET", "/nowhere"),
        ("GET", "/healthz?" + "a" * 40_000),
        ("POST", "/predict", b"{"),
        ("POST", "/predict/batch", table, "text/csv"),
    ):
        (code, headers, body), expected = proxied.ask(*asked), server.ask(*asked)
        assert (code, body) == (expected[0], expected[2])
        for name in ("Content-Type", "Content-Security-Policy", "X-Text-Column"):
            assert headers[name] == expected[1][name]


@pytest.mark.parametrize(
    "whole, dripped",
    [
        (b"", b"G"),
        (b"GET / HTTP/1.1\r\nHost: a\r\n", b"A: " + b"a" * 50),
        (b"POST /predict HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n", b"["),
        (b"POST /predict/batch HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n", b"5\r\nab"),
    ],
    ids=["line", "headers", "body", "chunks"],
)
def test_slow_clients_are_disconnected_and_the_server_does_not_see_them(proxied, server, whole, dripped):
    seen = connected(server)
    with ExitStack() as stack:
        clients = [stack.enter_context(proxied.connect()) for _ in range(30)]
        for piece in (whole, *(bytes([each]) for each in dripped)):
            for client in clients:
                # the connection may be over
                with suppress(ConnectionError):
                    client.sendall(piece)
            time.sleep(0.03)
        # one for the prediction, if none was kept
        assert proxied.predict("최고") and len(connected(server) - seen) <= 1
        assert all(map(is_ended, clients))


def test_too_many_requests_of_one_address_are_refused(proxied):
    request = proxied.request(QUESTION)
    with ExitStack() as stack:
        clients = [stack.enter_context(proxied.connect()) for _ in range(100)]
        for client in clients:
            client.sendall(request[:-1])
        time.sleep(0.3)
        for client in clients:
            client.sendall(request[-1:])
        answers = [client.recv(65536) for client in clients]
    refused = [answer for answer in answers if proxied.status(answer) == 503]
    assert 30 <= len(refused) <= 36 and {proxied.status(answer) for answer in answers} == {200, 503}
    _, headers, line = error_of(refused[0])
    assert b"retry-after: 1" in headers and "too many requests at once" in line
    assert proxied.predict("최고")


LARGEST = {"/predict": Limits.body, "/read": MOST_BYTES, "/predict/batch": Limits.table, "/film": Limits.table}


@pytest.mark.parametrize("path, limit", LARGEST.items())
def test_a_body_that_is_too_large_is_refused_before_it_is_sent(proxied, path, limit):
    with proxied.connect() as client:
        client.sendall(proxied.head(limit + 1, path))
        status, _, line = error_of(client.recv(65536))
    assert status == 413 and "send less at a time" in line


@pytest.mark.parametrize(
    "sent, status, words",
    [
        (b"\x16\x03\x01\x02\x00\x01\r\n\r\n", 400, "expected HTTP/1.1"),
        (b"GET /?text=a b HTTP/1.1\r\nHost: a\r\n\r\n", 400, "spaces in the address escaped"),
        (b"POST /predict HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd", 400, "HTTP"),
        (b"GET / HTTP/1.1\r\nHost: a\r\nA: " + b"a" * 70_000, 431, "at most 65536 bytes"),
        (b"GET /" + b"a" * 70_000, 431, "at most 65536 bytes"),
        (b"TRACE / HTTP/1.1\r\nHost: a\r\n\r\n", 405, "Method Not Allowed"),
    ],
)
def test_garbage_gets_one_line(proxied, sent, status, words):
    with proxied.connect() as client:
        client.sendall(sent)
        answer = error_of(client.recv(65536))
    assert answer[0] == status and words in answer[2]


def test_a_server_that_is_gone_is_one_line(behind, server):
    with socket.create_server(("127.0.0.1", 0)) as free:
        nobody = free.getsockname()[1]
    with behind(server, nobody).connect() as client:
        client.sendall(b"GET / HTTP/1.0\r\n\r\n")
        status, headers, line = error_of(client.recv(65536))
    assert status == 502 and b"retry-after: 1" in headers and "does not respond" in line
