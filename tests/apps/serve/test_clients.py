"""Clients on real sockets: slow ones, ones that do not read, too many, and a thousand at once."""

import asyncio
import json
import re
import select
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest

pytest.importorskip("fastapi")

from nsmc_attention.classification.predictor import load_classifier

# Of 20 MB, so that neither side's buffers hold the answer; a client that reads slowly has a small one
TABLE, SMALL = ("document,other\n" + f"최고,{'a' * 5000}\n" * 4000).encode(), 4096
QUESTION = {"inputs": "최고의 영화"}
# Takes longer than a slow client may
EXPLANATION = {"inputs": "배우는 좋은데 영화는 별로 " * 200, "method": "erasure"}, "/explain"


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


def is_connected(server, ports):
    return any(each.raddr and each.raddr.port in ports for each in server.sockets())


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
        ({}, b"[" * 1000, 408),
        ({"kind": "text/plain"}, b"[" * 1000, (408, 422)),
        ({"path": "/predict/batch", "kind": "text/csv"}, b"a" * 1000, 408),
        ({"path": "/nowhere"}, b"a" * 1000, (404, 408)),
        ({"more": "Expect: 100-continue\r\n"}, b"a" * 1000, (100, 408)),
    ],
    ids=["line", "headers", "body", "unread body", "table", "nowhere", "expecting"],
)
def test_a_client_that_sends_single_bytes_is_refused_and_blocks_nobody(hasty, whole, dripped, expected):
    with hasty.connect() as client:
        client.sendall(whole if isinstance(whole, bytes) else hasty.head(1000, **whole))
        with ThreadPoolExecutor(1) as pool:
            slow = pool.submit(drip, client, dripped)
            while not slow.done():
                assert hasty.predict("최고")[0]["label"] == "positive"
            assert hasty.status(slow.result()) in (expected if isinstance(expected, tuple) else (expected,))


def test_a_client_that_sends_nothing_or_stops_is_disconnected(hasty):
    clients = [hasty.connect() for _ in range(20)]
    for number, client in enumerate(clients):
        client.sendall([b"", hasty.request(QUESTION)[:-1], b"POST"][number % 3])
    for number, client in enumerate(clients):
        assert hasty.status(client.recv(65536)) == (None if number % 3 == 0 else 408)
        client.close()


def test_a_slow_but_steady_client_gets_its_response(hasty):
    with hasty.connect() as client:
        body = b'{"inputs": "' + b"a" * 1000 + b'"}'
        client.sendall(hasty.head(len(body)))
        for place in range(0, len(body), 50):
            client.sendall(body[place : place + 50])
            time.sleep(0.06)
        assert hasty.status(client.recv(65536)) == 200


@pytest.mark.parametrize("cut", [lambda sent: 0, lambda sent: 10, lambda sent: sent.index(b"{"), lambda sent: -5])
def test_a_request_in_two_parts_gets_its_response_and_the_first_alone_is_late(hasty, cut):
    sent = hasty.request(QUESTION)
    cut = cut(sent)
    with hasty.connect() as client, hasty.connect() as late:
        client.sendall(sent[:cut])
        late.sendall(sent[:cut])
        time.sleep(0.1)
        client.sendall(sent[cut:])
        assert hasty.status(client.recv(65536)) == 200
        assert hasty.status(late.recv(65536)) in ((408,) if cut else (None,))


def test_a_client_that_does_not_read_is_disconnected_and_its_table_removed(hasty):
    clients = []
    while len(clients) < 3:
        client = hasty.connect(SMALL)
        # on a busy machine this client may itself be too slow
        with suppress(ConnectionError):
            client.sendall(hasty.batch(TABLE))
            client.recv(10)
            clients.append(client)
    ports = {client.getsockname()[1] for client in clients}
    while is_connected(hasty, ports):
        assert hasty.predict("최고")[0]["label"] == "positive"
    for client in clients:
        client.close()
    hasty.eventually(lambda: not hasty.tables_of(hasty.process))


def test_a_client_that_does_not_read_a_small_response_is_disconnected_too(hasty):
    question = {"inputs": ["배우는 좋은데 영화는 별로 " * 200] * 2, "parameters": {"weights": True}}
    with hasty.connect(SMALL) as client:
        client.sendall(hasty.request(question, more="Connection: close\r\n"))
        client.recv(1)
        hasty.eventually(lambda: not is_connected(hasty, [client.getsockname()[1]]))


def test_the_time_of_a_pipelined_body_begins_after_the_requests_before_it(hasty):
    answers = hasty.send(hasty.request(QUESTION) + hasty.request(*EXPLANATION) + hasty.head(100) + b"{")
    assert [int(each) for each in re.findall(rb"HTTP/1.1 (\d+)", answers)] == [200, 200, 408]


def test_the_headers_behind_a_request_in_progress_are_limited(server):
    """Without a limit on them a client could fill the memory while its first request is processed."""
    with server.connect() as client:
        client.sendall(server.request(*EXPLANATION) + b"GET / HTTP/1.1\r\nA: ")
        client.settimeout(0.2)
        sent, ended = 0, time.monotonic() + 2
        while time.monotonic() < ended and sent < 50_000_000:
            try:
                sent += client.send(b"a" * 65536)
            except OSError:
                break
    # the response may be lost with the connection, which is closed while the client is sending
    assert sent < 50_000_000 and server.predict("최고")


def test_too_many_connections_are_refused(small):
    held = [small.connect() for _ in range(8)]
    time.sleep(0.2)
    answer = small.send()
    assert small.status(answer) == 503 and b"retry-after: 1" in answer and b'"error"' in answer
    for client in held:
        client.close()
    time.sleep(0.2)
    assert small.predict("최고")


def test_of_tables_that_arrive_at_once_one_is_scored_and_the_others_refused(small):
    clients = [small.connect(SMALL) for _ in range(6)]
    for client in clients:
        client.sendall(small.batch(TABLE)[:-1])
    for client in clients:
        client.sendall(TABLE[-1:])
    # the first keeps its slot, as nobody reads its response
    assert sorted(small.status(client.recv(100)) for client in clients) == [200] + 5 * [503]
    code, headers, text = small.ask("POST", "/predict/batch", b"document\na\n", "text/csv")
    assert code == 503 and headers["Retry-After"] == "1" and b"too many tables" in text
    for client in clients:
        client.close()
    small.eventually(small.takes_tables)


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


@pytest.fixture(scope="module")
def expected():
    classifier = load_classifier()
    return lambda texts: pytest.approx(signed(classifier(texts)), abs=2e-4)


@pytest.mark.parametrize("workers", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_a_thousand_clients_at_once_get_each_their_own_predictions(start, expected, workers):
    words = ["최고", "별로", "재미", "지루", "감동", "연출", "배우", "음악", "결말", "돈"]
    texts = [" ".join(words[int(digit)] for digit in f"{number:03}") + " 영화" * (number % 9) for number in range(1000)]
    assert len(set(expected(texts).expected)) > 500, "distinguishable predictions"
    groups = [texts[number : number + 1 + number % 3] for number in range(1000)]
    answers = asyncio.run(ask_all(start(workers=workers), [{"inputs": group} for group in groups]))
    assert {code for code, _ in answers} == {200}
    scores = [score for _, predictions in answers for score in signed(predictions)]
    assert scores == expected([text for group in groups for text in group])


def test_pipelined_requests_get_their_responses_in_order(server, expected):
    texts = ["최고", "별로", "재미있지 않다"] * 5
    first, last = (b"".join(server.request({"inputs": text}) for text in texts[:-1]), {"inputs": texts[-1]})
    answers = server.send(first, server.request(last, more="Connection: close\r\n"))
    assert signed(json.loads(answer)[0] for answer in re.findall(rb"\[\{.*?\}\]", answers)) == expected(texts)


def test_a_prediction_does_not_wait_for_explanations(server):
    clients = [server.connect() for _ in range(3)]
    for client in clients:
        client.sendall(server.request(*EXPLANATION))
    assert server.predict("최고")
    assert not select.select(clients[-1:], [], [], 0)[0], "the last explanation is still under way"
    for client in clients:
        client.close()
