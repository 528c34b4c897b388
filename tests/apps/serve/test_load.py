"""Load on a real server, good and bad requests mixed, with one of two workers killed in the middle; ten minutes and more:

    python -m pytest -m slow -s tests/apps/serve/test_load.py

Prints one JSON object: answers by status, wrong answers, cut connections, and each worker's memory in MB when warm
and at the end.
"""

import asyncio
import http.client
import json
import random
import re
import threading
import time
from collections import Counter

import psutil
import pytest

pytest.importorskip("fastapi")

from nsmc_attention.classification.display import METHODS
from nsmc_attention.classification.predictor import load_classifier

CLIENTS = 32
TEXTS = [
    "최고의 영화",
    "정말 별로다",
    "재미있지 않다",
    "배우는 좋은데 영화는 별로",
    "감동 " * 40,
    "지루하고 수준떨어지는 연출",
]
TEXTS += ["음악이 좋다", "돈이 아깝다", "ㅋㅋㅋㅋ", "나무랄 데 없는 연출", "결말이 아쉽다"]


def request(body, path="/predict", kind="application/json", method="POST", more=""):
    head = f"{method} {path} HTTP/1.1\r\nHost: a\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n{more}\r\n"
    return head.encode() + body


def question(inputs, **parameters):
    return request(json.dumps({"inputs": inputs, "parameters": parameters}).encode())


def explanation(text, method):
    return request(json.dumps({"inputs": text, "method": method}).encode(), "/explain")


def draw(scores):
    """Return (request, expected statuses, expected scores or None), drawn at random."""
    kind = random.random()
    if kind < 0.6:
        texts = random.choices(list(scores), k=random.choice([1, 1, 1, 2, 8, 40]))
        return question(texts), {200}, [scores[text] for text in texts]
    if kind < 0.7:
        rows = "".join(f"{number},{text}\n" for number, text in enumerate(random.choices(list(scores), k=50)))
        return request(f"id,document\n{rows}".encode(), "/predict/batch", "text/csv"), {200, 503}, None
    others = [
        (question(random.choice(TEXTS), weights=True), {200}),
        (explanation(random.choice(TEXTS), random.choice(sorted(METHODS.keys() - {"contribution"}))), {200, 503}),
        (request(b"", "/metrics", method="GET"), {200}),
        (request(b"", "/", method="GET"), {200}),
        (request(b"\xff" * 100), {400, 422}),
        (request(b"[" * 50_000), {400, 422}),
        (question([1, None]), {422}),
        (question(["a"] * 1000), {422}),
        (question("a" * 20_000), {422}),
        (question("감동 " * 3000, weights=True), {200}),
        (request(b"a" * 1_500_000), {413}),
        (request(b"document\n\xff\n", "/predict/batch", "text/csv"), {422, 503}),
        (request(b"", "/nowhere", method="GET"), {404}),
        (request(b'{"inputs": "cut off"}')[:-4], None),
    ]
    return *random.choice(others), None


async def read_answer(reader):
    """Return (status, body, whether the server ends the connection)."""
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
    if "transfer-encoding: chunked" in head:
        body = b""
        while size := int(await reader.readuntil(b"\r\n"), 16):
            body += (await reader.readexactly(size + 2))[:-2]
        await reader.readexactly(2)
    else:
        body = await reader.readexactly(int(re.search(r"content-length: (\d+)", head).group(1)))
    status = int(head.split()[1])
    assert status != 503 or "retry-after: 1" in head
    return status, body, "connection: close" in head


class Load:
    """Clients that ask until the end, and what they saw."""

    def __init__(self, port, scores):
        self.port, self.scores, self.until = port, scores, None
        self.statuses, self.wrong, self.cut = Counter(), [], 0

    async def run(self, seconds):
        self.until = time.monotonic() + seconds
        await asyncio.gather(*(self.client() for _ in range(CLIENTS)))

    async def client(self):
        writer = None
        while time.monotonic() < self.until:
            try:
                if writer is None:
                    reader, writer = await asyncio.open_connection("127.0.0.1", self.port, limit=1 << 24)
                ends = await self.ask(reader, writer)
            except (ConnectionError, asyncio.IncompleteReadError):
                self.cut += 1
                ends = True
            if ends and writer:
                writer.close()
                writer = None

    async def ask(self, reader, writer):
        sent, statuses, scores = draw(self.scores)
        writer.write(sent)
        if statuses is None:
            return True
        status, body, ends = await read_answer(reader)
        self.statuses[status] += 1
        right = status in statuses
        if status == 200 and scores:
            answers = json.loads(body)
            positive = [each["score"] if each["label"] == "positive" else 1 - each["score"] for each in answers]
            right = positive == pytest.approx(scores, abs=1e-4)
        elif status >= 400:
            right = right and list(json.loads(body)) == ["error"]
        if not right:
            self.wrong.append([sent[:200].decode("latin-1"), status, body[:300].decode("latin-1")])
        return ends


def megabytes(server):
    return {worker.pid: round(worker.memory_info().rss / 1e6, 1) for worker in server.workers()}


@pytest.mark.slow
@pytest.mark.parametrize("seconds", [4, 600])
def test_mixed_load_with_a_killed_worker_gets_right_answers_and_leaves_memory_as_it_was(start, seconds):
    """Load for a tenth, kill a worker, warm its successor up for four tenths, load for the rest."""
    scores = {text: prediction.probability for text, prediction in zip(TEXTS, load_classifier().predict_many(TEXTS))}
    server = start(workers=2)
    load, begun = Load(server.port, scores), server.count("startup complete")
    asyncio.run(load.run(seconds / 10))
    cut_before, killed = load.cut, server.workers()[0]
    threading.Timer(0.5, killed.kill).start()
    asyncio.run(load.run(seconds * 4 / 10))
    server.wait_for("startup complete", begun + 1)
    cut_by_kill, warm = load.cut - cut_before, megabytes(server)
    asyncio.run(load.run(seconds / 2))
    end = megabytes(server)
    server.process.terminate()
    memory = {"warm_mb": warm, "end_mb": end}
    print(json.dumps({"seconds": seconds, "statuses": load.statuses, "cut_by_kill": cut_by_kill, **memory}))
    assert not load.wrong and load.statuses[200] > 100 and not load.statuses[500], load.wrong[:3]
    assert load.cut == cut_by_kill and killed.pid not in warm and len(warm) == 2
    # a few seconds do not warm a worker up
    assert warm.keys() == end.keys() and (seconds < 300 or all(end[pid] < 1.05 * size for pid, size in warm.items()))
    assert server.process.wait(60) == 0 and not server.count("Traceback")


@pytest.mark.parametrize("count", [1_000, pytest.param(100_000, marks=pytest.mark.slow)])
def test_many_requests_leave_memory_as_it_was(server, count):
    client = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    process = psutil.Process(server.process.pid)
    sizes = []
    for number in range(2 * count):
        if number in (count, 2 * count - 1):
            sizes.append(process.memory_info().rss)
        text = json.dumps({"inputs": f"영화 {number}" if number % 10 else [number]})
        client.request("POST", "/predict", text, {"Content-Type": "application/json"})
        answer = client.getresponse()
        assert answer.read() and answer.status == (200 if number % 10 else 422)
    client.close()
    assert sizes[1] < 1.05 * sizes[0], sizes
