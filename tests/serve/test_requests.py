"""Whatever is sent, the response is a prediction or {"error": line} without a path or traceback, and never a 500.

The long form: `python -m pytest -m slow tests/serve/test_requests.py`.
"""

import json
import re
import subprocess
import sys

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

pytest.importorskip("schemathesis")

HEAD = b"POST /predict HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Type: application/json\r\n"
GOOD = b'{"inputs": "a"}'


def with_body(body, *headers, head=HEAD):
    return head + b"".join(header + b"\r\n" for header in headers) + b"Content-Length: %d\r\n\r\n" % len(body) + body


def chunked(*chunks):
    return HEAD + b"Transfer-Encoding: chunked\r\n\r\n" + b"".join(chunks)


GARBAGE = {
    "raw byte": (400, with_body(b"\xff")),
    "raw byte in text": (400, with_body(b'{"inputs": "\xff"}')),
    "UTF-16": ((200, 400, 422), with_body(GOOD.decode().encode("utf-16"))),
    "lone surrogate": (200, with_body(b'{"inputs": "\\ud800 \\udc00"}')),
    "lone surrogate as method": (
        422,
        with_body(b'{"inputs": "a", "method": "\\ud800"}', head=HEAD.replace(b"predict", b"explain")),
    ),
    "NUL": (200, with_body(b'{"inputs": "a\\u0000b"}')),
    "wrong type": (422, with_body(b'{"inputs": {"a": [1]}}')),
    "key of surrogates": (422, with_body(b'{"\\ud800": 1}')),
    "null": (422, with_body(b"null")),
    "nested": ((400, 422), with_body(b"[" * 500_000)),
    "nested whole": ((400, 422), with_body(b'{"inputs":' + b'{"a":' * 100_000 + b"1" + b"}" * 100_001)),
    "huge number": (422, with_body(b'{"inputs": 1e999}')),
    "number of 100,000 digits": ((400, 422), with_body(b'{"inputs": ' + b"9" * 100_000 + b"}")),
    "NaN": (422, with_body(b'{"inputs": NaN}')),
    "no body": (400, with_body(b"")),
    "other type": ((200, 415, 422), with_body(GOOD, head=HEAD.replace(b"application/json", b"image/png"))),
    "broken type": ((200, 415, 422), with_body(GOOD, head=HEAD.replace(b"application/json", b"\xff/;;==\xfe"))),
    "form": (422, with_body(b"inputs=a", head=HEAD.replace(b"application/json", b"application/x-www-form-urlencoded"))),
    "multipart": (
        422,
        with_body(b"--x\r\n", head=HEAD.replace(b"application/json", b"multipart/form-data; boundary=x")),
    ),
    "gzip that is none": ((400, 422), with_body(b"\x1f\x8b\xff\xff", b"Content-Encoding: gzip")),
    "chunked": (200, chunked(b"5\r\n" + GOOD[:5] + b"\r\n", b"%x\r\n" % len(GOOD[5:]) + GOOD[5:] + b"\r\n0\r\n\r\n")),
    "bad chunk": (400, chunked(b"zz\r\nabc")),
    "chunk too long": (400, chunked(b"3\r\nabcdef\r\n")),
    "chunked and length": (400, HEAD + b"Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\nabc"),
    "two lengths": (400, HEAD + b"Content-Length: 3\r\nContent-Length: 4\r\n\r\nabcd"),
    "negative length": (400, HEAD + b"Content-Length: -3\r\n\r\nabc"),
    "huge length": (413, HEAD + b"Content-Length: 9999999999\r\n\r\nabc"),
    "impossible length": ((400, 413), HEAD + b"Content-Length: " + b"9" * 5000 + b"\r\n\r\nabc"),
    "large body": (413, with_body(b'{"inputs": "' + b"a" * 3_000_000)),
    "long headers": (431, b"GET / HTTP/1.1\r\n" + b"A: " + b"a" * 300_000 + b"\r\n\r\n"),
    "many headers": (431, b"GET / HTTP/1.1\r\n" + b"A: a\r\n" * 60_000 + b"\r\n"),
    "endless line": (431, b"GET /" + b"a" * 300_000),
    "HTTP/1.0": (200, with_body(GOOD, head=HEAD.replace(b"HTTP/1.1", b"HTTP/1.0"))),
    "HTTP/3.7": (400, b"GET / HTTP/3.7\r\n\r\n"),
    "HTTP/2": (400, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
    "TLS": (400, b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"),
    "unknown method": (400, b"BREW / HTTP/1.1\r\n\r\n"),
    "CONNECT": ((400, 404, 405), b"CONNECT a:1 HTTP/1.1\r\nConnection: close\r\n\r\n"),
    "OPTIONS *": ((400, 404, 405), b"OPTIONS * HTTP/1.1\r\nConnection: close\r\n\r\n"),
    "TRACE": ((400, 405), b"TRACE / HTTP/1.1\r\nConnection: close\r\n\r\n"),
    "other host's address": ((200, 404), b"GET http://b/ HTTP/1.1\r\nConnection: close\r\n\r\n"),
    "raw path": ((400, 404), b"GET /\xff HTTP/1.1\r\nConnection: close\r\n\r\n"),
    "escaped raw path": (404, b"GET /%ff%00%ed%a0%80 HTTP/1.1\r\nConnection: close\r\n\r\n"),
    "out of the folder": (404, b"GET /../../etc/passwd HTTP/1.1\r\nConnection: close\r\n\r\n"),
    "websocket": (
        (400, 404, 405),
        b"GET /predict HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
        b"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n\r\n",
    ),
    "h2c": (405, b"GET /predict HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n"),
    "raw column": (
        422,
        with_body(
            b"a\n1\n",
            head=HEAD.replace(b"predict", b"predict/batch?text_column=%ff%00").replace(
                b"application/json", b"text/csv"
            ),
        ),
    ),
    "surrogate in a table": (
        200,
        with_body(
            b'{"document": "\\ud800"}\n{"document": "a", "\\ud800": 1}\n',
            head=HEAD.replace(b"predict", b"predict/batch").replace(b"application/json", b"application/jsonl"),
        ),
    ),
    "nested table": (
        422,
        with_body(
            b'{"document": ' + b"[" * 100_000,
            head=HEAD.replace(b"predict", b"predict/batch").replace(b"application/json", b"application/jsonl"),
        ),
    ),
}


def parts(answer):
    """Return (status, headers, body) of a raw response."""
    head, _, body = answer.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    return int(first.split()[1]), {line.partition(": ")[0].lower(): line.partition(": ")[2] for line in lines}, body


def check(answer):
    """Check a raw response and return its status."""
    status, headers, body = parts(answer)
    assert status != 500 and headers["x-content-type-options"] == "nosniff" and "content-security-policy" in headers
    if status >= 400:
        error = json.loads(re.sub(rb"^[0-9a-f]+\r\n|\r\n0\r\n\r\n$", b"", body))
        assert set(error) <= {"error", "columns"} and error["error"].isprintable()
        assert not re.search(r"Traceback|/tmp|\.py\b|site-packages|line \d+, in", error["error"]), error
    return status


@pytest.mark.parametrize("name", GARBAGE)
def test_garbage_gets_one_line(server, name):
    expected, sent = GARBAGE[name]
    if name in ("websocket", "h2c"):
        with server.connect() as client:
            client.sendall(sent)
            answer = b""
            # after a request to change the protocol the connection stays open
            while not answer.endswith(b"}"):
                answer += client.recv(65536)
    else:
        answer = server.send(sent)
    assert check(answer) in (expected if isinstance(expected, tuple) else (expected,))
    assert server.predict("최고")[0]["label"] == "positive"


@pytest.mark.parametrize("address", ["/?text=정말", "/?text=정말 좋다", "/?text=a b"])
def test_an_address_with_letters_to_escape_is_answered_with_how_to(server, address):
    answer = server.send(f"GET {address} HTTP/1.1\r\nHost: a\r\n\r\n".encode())
    assert check(answer) == 400 and b"--data-urlencode" in answer


def mutations():
    """Requests with some bytes replaced."""
    requests = st.sampled_from([sent for _, sent in GARBAGE.values() if len(sent) < 1000] + [with_body(GOOD)])
    places = st.lists(st.tuples(st.integers(0, 999), st.binary(min_size=0, max_size=4)), min_size=1, max_size=6)

    def mutate(request, changes):
        for place, found in changes:
            place %= len(request)
            request = request[:place] + found + request[place + 1 :]
        return request

    return st.builds(mutate, requests, places)


def check_mutation(start, sent):
    # an incomplete request is refused after this time
    server = start(request_seconds=0.05)
    answer = server.send(sent)
    assert not answer or check(answer) != 500
    assert server.process.poll() is None


FUZZ = {"deadline": None, "suppress_health_check": list(HealthCheck)}


@settings(max_examples=8, **FUZZ)
@given(mutations())
def test_mutated_requests_get_an_answer_or_an_end(start, sent):
    check_mutation(start, sent)


@pytest.mark.slow
@settings(max_examples=1000, **FUZZ)
@given(mutations())
def test_very_many_mutated_requests_get_an_answer_or_an_end(start, sent):
    check_mutation(start, sent)


def check_api(server, folder, examples, *options):
    # a blank review, or text that is no table, is refused, which a schema cannot express
    command = [
        sys.executable,
        "-m",
        "schemathesis.cli",
        "run",
        f"http://127.0.0.1:{server.port}/openapi.json",
        "--max-examples",
        str(examples),
        "--checks",
        "all",
        "--exclude-checks",
        "positive_data_acceptance",
        "--no-color",
        *options,
    ]
    if sys.version_info < (3, 10):
        # the newest schemathesis for it cannot make a csv
        command += ["--exclude-path", "/predict/batch"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, encoding="utf-8")
    assert done.returncode == 0, done.stdout[-20_000:] + done.stderr[-2000:]


def test_the_api_is_what_its_description_says(server, tmp_path):
    check_api(server, tmp_path, 4, "--generation-deterministic")


@pytest.mark.slow
def test_the_api_is_what_its_description_says_at_length(server, tmp_path):
    check_api(server, tmp_path, 300)
