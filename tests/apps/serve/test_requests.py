"""Whatever is sent, the response is a prediction or {"error": line} without a path or traceback, and never a 500.

The long form: `python -m pytest -m slow tests/apps/serve/test_requests.py`, and of the mutated ones `-m hypothesis
--hypothesis-profile=long`.
"""

import json
import re
import select
import socket
import subprocess
import sys
import time
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("schemathesis")

from nsmc_attention.apps.serve.guard import Limits
from nsmc_attention.systems.restoration.service import MOST_ALIGNED, MOST_CHARACTERS

MANY, LONG = ["a"] * (Limits.reviews + 1), "a" * (Limits.characters + 1)
STRING = "Input should be a valid string"
# {path: [(body, the line about it)]}
WRONG = {
    "/predict": [
        ({"inputs": ["a", 5]}, f"body.inputs.1: {STRING}"),
        (b'{"inputs": [' + b"1," * 900_000 + b"1]}", f"body.inputs.0: {STRING}"),
        ({"inputs": "a", **{f"k{number}": 1 for number in range(100_000)}}, "body.k0: unknown key"),
        ({"inputs": "a", "top_k": 2}, "body.top_k: unknown key; known: inputs, parameters"),
        ({"inputs": "a", "parameters": {"topk": 2, "weigths": True}}, "topk: unknown key; did you mean 'top_k'?"),
        ({"inputs": "a", "parameters": {"top_k": 3}}, "top_k"),
        ({"inputs": "a", "parameters": {"top_k": float("nan")}}, "top_k"),
        ({"inputs": "a", "parameters": None}, "parameters"),
        ({"inputs": MANY}, f"expected at most {Limits.reviews} reviews"),
        ({"inputs": LONG}, f"at most {Limits.characters} characters"),
    ],
    "/explain": [
        ({"inputs": "a", "method": "atention"}, "did you mean 'attention'"),
        ({"inputs": "a", "method": "\ud800"}, "method"),
        ({"inputs": "a", "methd": "erasure"}, "body.methd: unknown key; did you mean 'method'?"),
        ({"inputs": " "}, "blank"),
        ({"inputs": "가", "method": "rollout"}, "unknown method 'rollout'"),
        ({"inputs": "가", "heads": True}, "expected the heads of an encoder that is a transformer, found an"),
    ],
    "/restore": [
        ({"inputs": ["a", None]}, f"body.inputs.1: {STRING}"),
        ({"input": "a"}, "body.inputs: Field required"),
        ({"inputs": "a", "beam": 4}, "body.beam: unknown key; known: inputs, weights"),
        ({"inputs": MANY}, f"at most {Limits.reviews} texts, found {Limits.reviews + 1}; send them in several"),
        ({"inputs": "a", "weights": 1}, "body.weights: Input should be a valid boolean"),
        ({"inputs": ["a", "b"], "weights": True}, "inputs: expected one text for weights, found 2; send one a request"),
        ({"inputs": [], "weights": True}, "inputs: expected one text for weights, found 0"),
        ({"inputs": "a" * 141, "weights": True}, f"at most {MOST_ALIGNED} characters for weights, found 141"),
        ({"inputs": ["a" * 9000] * 3}, f"at most {MOST_CHARACTERS} characters in all, found 27000; send them in"),
        ({"inputs": LONG}, f"of at most {Limits.characters} characters, found one of 10001"),
    ],
    "/fill": [
        (
            {"inputs": "정말 재미있다"},
            "fill: expected 1 to 5 [MASK] in the text, found 0; write one in place of a word",
        ),
        (
            {"inputs": "[MASK]" + " 가" * 300 + "[MASK]"},
            "fill: expected all [MASK] within 256 tokens, found them within 302",
        ),
        ({"inputs": "[MASK]" * 50}, "fill: expected 1 to 5 [MASK] in the text, found 50"),
        ({"inputs": LONG}, f"of at most {Limits.characters} characters, found one of 10001"),
        ({"inputs": "[MASK]", "top": 0}, "body.top: Input should be greater than or equal to 1"),
        ({"inputs": "[MASK]", "top": 51}, "body.top: Input should be less than or equal to 50"),
        ({"inputs": "[MASK]", "top": 2.5}, "body.top: Input should be a valid integer"),
        ({"inputs": ["[MASK]"]}, f"body.inputs: {STRING}"),
        ({"inputs": "[MASK]", "heads": 1}, "body.heads: Input should be a valid boolean"),
        ({"inputs": "[MASK]", "topk": 5}, "body.topk: unknown key; did you mean 'top'?"),
        ({"inputs": "가 " * 4000 + "[MASK]", "heads": True}, "heads: expected at most 128 tokens for 2 layers"),
    ],
}
# What is no JSON, or JSON of no endpoint: (body, statuses)
NO_QUESTION = [
    *((body, (400,)) for body in (b"{", b"", b"\xff", b'{"inputs": "\xff"}', b"\xff\xfe")),
    *((body, (400, 422)) for body in (b"\x1f\x8b\xff\xff", b"[" * 100_000, b'{"inputs":' + b'{"a":' * 100_000)),
    *((body, (422,)) for body in (b"[1, 2]", b"null", b'{"\\ud800": 1}', b'{"inputs": 3}', b'{"inputs": {"a": [1]}}')),
    *((b'{"inputs": %s}' % number, (400, 422)) for number in (b"NaN", b"1e999", b"9" * 100_000)),
    (b'{"inputs": "' + b"a" * 3_000_000 + b'"}', (413,)),
]


def check_line(line):
    """Return a message, which is one line and names nothing of this machine."""
    assert line.isprintable() and not re.search(r"Traceback|/tmp|/dev|\.py\b|site-packages|line \d+, in", line), line
    return line


def check_error(response, statuses):
    assert response.status_code in statuses and set(response.json()) == {"error"}, response.text
    return check_line(response.json()["error"])


@pytest.mark.parametrize("path", WRONG)
def test_what_is_no_question_is_one_line(client, ask, path):
    for body, statuses in NO_QUESTION:
        check_error(ask(client, path, body), statuses)
    assert check_error(ask(client, path, b"{"), (400,)).startswith("body: expected JSON, found something else")
    for kind, shown in (("text/plain", "'text/plain'"), (None, "none")):
        line = check_error(ask(client, path, b'{"inputs": "a"}', kind), (422,))
        assert "Content-Type: expected application/json" in line
        assert f"found {shown}; with curl: -H 'Content-Type: application/json'" in line


@pytest.mark.parametrize("path, body, message", [(path, *case) for path, cases in WRONG.items() for case in cases])
def test_a_wrong_question_is_one_line_that_says_so(client, ask, path, body, message):
    assert message in check_error(ask(client, path, body), (422,))


@pytest.mark.parametrize(
    "path, kind", [*((path, "application/json") for path in WRONG), ("/predict/batch", "text/csv")]
)
def test_a_body_of_unknown_length_is_cut_off_at_the_limit(client, path, kind):
    done = client.post(path, content=(b"a" * 1_000_000 for _ in range(5)), headers={"Content-Type": kind})
    assert "expected at most" in check_error(done, (413,)) and done.headers["x-content-type-options"] == "nosniff"


def test_an_unknown_path_or_method_is_one_line(client):
    for done, status in ((client.get("/nowhere"), 404), (client.get("/predict"), 405), (client.put("/"), 405)):
        check_error(done, (status,))


HEAD = b"POST /predict HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Type: application/json\r\n"
BATCH = HEAD.replace(b"predict", b"predict/batch")
GOOD = b'{"inputs": "a"}'


def with_body(body, *headers, head=HEAD):
    return head + b"".join(header + b"\r\n" for header in headers) + b"Content-Length: %d\r\n\r\n" % len(body) + body


def chunked(*chunks):
    return HEAD + b"Transfer-Encoding: chunked\r\n\r\n" + b"".join(chunks)


def of_type(kind, body=GOOD, head=HEAD):
    return with_body(body, head=head.replace(b"application/json", kind))


def bare(line, *headers):
    return b"\r\n".join([line + b" HTTP/1.1", *headers, b"Connection: close", b"", b""])


GARBAGE = {
    "UTF-16": ((200, 400, 422), with_body(GOOD.decode().encode("utf-16"))),
    "lone surrogate": (200, with_body(b'{"inputs": "\\ud800 \\udc00"}')),
    "NUL": (200, with_body(b'{"inputs": "a\\u0000b"}')),
    "other type": (422, of_type(b"image/png")),
    "broken type": (422, of_type(b"\xff/;;==\xfe")),
    "form": (422, of_type(b"application/x-www-form-urlencoded", b"inputs=a")),
    "multipart": (422, of_type(b"multipart/form-data; boundary=x", b"--x\r\n")),
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
    "HTTP/1.0": (200, with_body(GOOD, head=HEAD.replace(b"HTTP/1.1", b"HTTP/1.0"))),
    "HTTP/3.7": (400, b"GET / HTTP/3.7\r\n\r\n"),
    "HTTP/2": (400, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
    "TLS": (400, b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"),
    "unknown method": (400, b"BREW / HTTP/1.1\r\n\r\n"),
    "CONNECT": ((400, 404, 405), bare(b"CONNECT a:1")),
    "OPTIONS *": ((400, 404, 405), bare(b"OPTIONS *")),
    "TRACE": ((400, 405), bare(b"TRACE /")),
    "other host's address": ((200, 404), bare(b"GET http://b/")),
    "raw path": ((400, 404), bare(b"GET /\xff")),
    "escaped raw path": (404, bare(b"GET /%ff%00%ed%a0%80")),
    "out of the folder": (404, bare(b"GET /../../etc/passwd")),
    "websocket": (
        (400, 404, 405),
        b"GET /predict HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
        b"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n\r\n",
    ),
    "h2c": (405, b"GET /predict HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n"),
    "raw column": (422, of_type(b"text/csv", b"a\n1\n", BATCH.replace(b"/batch", b"/batch?text_column=%ff%00"))),
    "surrogate in a table": (
        200,
        of_type(b"application/jsonl", b'{"document": "\\ud800"}\n{"document": "a", "\\ud800": 1}\n', BATCH),
    ),
    "nested table": (422, of_type(b"application/jsonl", b'{"document": ' + b"[" * 100_000, BATCH)),
}


def check(answer):
    """Check a raw response and return its status."""
    head, _, body = answer.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").lower().split("\r\n")
    headers, status = dict(line.split(": ", 1) for line in lines), int(first.split()[1])
    assert status != 500 and headers["x-content-type-options"] == "nosniff" and "content-security-policy" in headers
    if status >= 400:
        error = json.loads(re.sub(rb"^[0-9a-f]+\r\n|\r\n0\r\n\r\n$", b"", body))
        assert set(error) <= {"error", "columns"}
        check_line(error["error"])
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


def test_a_page_of_another_site_cannot_post(server):
    """A form needs no leave of this server, as scripts do; programs send no such header."""
    for site, expected in ((b"cross-site", 403), (b"same-origin", 200), (b"same-site", 200), (b"none", 200)):
        answer = server.send(with_body(GOOD, b"Sec-Fetch-Site: " + site))
        assert check(answer) == expected
    assert b"200 OK" in server.send(bare(b"GET /").replace(b"\r\n\r\n", b"\r\nSec-Fetch-Site: cross-site\r\n\r\n"))


UPGRADE = b"Connection: Upgrade, HTTP2-Settings, close\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQ\r\n"


@pytest.mark.parametrize("kind", ["length", "chunks"])
@pytest.mark.parametrize("cut", [0, 1, 40, 10_000])
def test_a_request_that_offers_another_protocol_keeps_its_body(server, kind, cut):
    """As Java's HttpClient and `curl --http2` send it; the body is not taken for a request (a smuggled one)."""
    body = b'{"inputs": "GET /healthz HTTP/1.1\\r\\n\\r\\n"}'
    framed = b"Content-Length: %d\r\n\r\n%b" % (len(body), body)
    if kind == "chunks":
        framed = b"Transfer-Encoding: chunked\r\n\r\n%x\r\n%b\r\n0\r\n\r\n" % (len(body), body)
    upgrade = UPGRADE.replace(b", close", b"")
    first = b"POST /predict HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n" + upgrade + framed
    whole = first + b"GET /healthz HTTP/1.1\r\nHost: a\r\n" + UPGRADE + b"\r\n"
    with server.connect() as client:
        for part in (whole[: len(first) - cut], whole[len(first) - cut :]) if cut < len(first) else (whole,):
            client.sendall(part)
            time.sleep(0.05)
        answer = b""
        while answer.count(b"HTTP/1.1 ") < 2 and (piece := client.recv(65536)):
            answer += piece
    assert re.findall(rb"HTTP/1.1 (\d+)", answer) == [b"200", b"200"]
    assert b'"label"' in answer and answer.count(b"content-length") + answer.count(b"chunked") == 2


@pytest.mark.parametrize("behind", [b"\r\n", b"GET /healthz HTTP/1.1\r\n\r\n"])
def test_what_follows_the_last_request_is_not_answered(server, behind):
    upgrade = UPGRADE.rstrip(b"\r\n").split(b"\r\n")
    for headers in ([], upgrade):
        answer = server.send(with_body(GOOD, *headers) + behind)
        assert check(answer) == 200 and answer.count(b"HTTP/1.1 ") == 1


@pytest.mark.parametrize("path", ["/", "/docs", "/docs/", "/predict/", "/openapi.json", "/metrics"])
def test_no_answer_leads_to_the_host_that_a_request_names(server, path):
    """A page may name 127.0.0.1 by a host of its own: there is nothing to steal, and no way back to it."""
    answers = [
        server.send(f"GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode())
        for host in ("evil.example", "evil.example:8000", "127.0.0.1@evil.example")
    ]
    assert {check(answer) for answer in answers} == {404 if path.strip("/") and path[-1] == "/" else 200}
    assert b"evil" not in b"".join(answers) and b"access-control" not in b"".join(answers).lower()


@pytest.mark.parametrize("address", ["/?text=정말", "/?text=정말 좋다", "/?text=a b"])
def test_an_address_with_letters_to_escape_is_answered_with_how_to(server, address):
    answer = server.send(f"GET {address} HTTP/1.1\r\nHost: a\r\n\r\n".encode())
    assert check(answer) == 400 and b"--data-urlencode" in answer


REQUESTS = [sent for _, sent in GARBAGE.values() if len(sent) < 1000] + [with_body(GOOD)]
CHANGES = st.lists(st.tuples(st.integers(0, 999), st.binary(min_size=0, max_size=4)), min_size=1, max_size=6)


@given(st.sampled_from(REQUESTS), CHANGES)
def test_mutated_requests_get_an_answer_or_an_end(server, request_, changes):
    for place, content in changes:
        place %= len(request_)
        request_ = request_[:place] + content + request_[place + 1 :]
    answer = b""
    with server.connect() as client, suppress(ConnectionError):
        client.sendall(request_)
        # an incomplete one, or one that keeps the connection, ends with its client
        select.select([client], [], [], 0.1)
        client.shutdown(socket.SHUT_WR)
        while piece := client.recv(65536):
            answer += piece
    assert not answer or check(answer)
    assert server.process.poll() is None


@pytest.mark.parametrize(
    "options", [["4", "--generation-deterministic"], pytest.param(["300"], marks=pytest.mark.slow)]
)
def test_the_api_is_what_its_description_says(server, tmp_path, options):
    address = f"http://127.0.0.1:{server.port}/openapi.json"
    # the first gradients import MXNet, which takes long where other tests run beside it
    question = json.dumps({"inputs": "최고", "method": "gradient"})
    assert server.ask("POST", "/explain", question)[0] == 200
    # a blank review, or text that is no table, is refused, which a schema cannot express
    excluded = ["--checks", "all", "--exclude-checks", "positive_data_acceptance"]
    # instead of 10 s, in which a busy machine may not respond
    excluded += ["--request-timeout", "600"]
    if sys.version_info < (3, 10):
        # the newest schemathesis for it cannot make a csv
        excluded += ["--exclude-path", "/predict/batch", "--exclude-path", "/film"]
    command = [sys.executable, "-m", "schemathesis.cli", "run", address, *excluded, "--no-color", "--max-examples"]
    done = subprocess.run([*command, *options], cwd=tmp_path, capture_output=True, text=True, encoding="utf-8")
    assert done.returncode == 0, done.stdout[-20_000:] + done.stderr[-2000:]
