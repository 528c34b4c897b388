"""Load on a real server, good and bad requests mixed, with one of two workers killed in the middle; ten minutes and more:

    python -m pytest -m slow -s tests/apps/serve/test_load.py

Prints one JSON object: answers by status, cut connections, and each worker's memory in MB when warm and at the end.
"""

import http.client
import json
import random
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import psutil
import pytest

from nsmc_attention.classifier.prediction import METHODS
from nsmc_attention.classifier.predictor import load_classifier

CLIENTS = 32
TEXTS = ["최고의 영화", "정말 별로다", "재미있지 않다", "배우는 좋은데 영화는 별로", "감동 " * 40, "ㅋㅋㅋㅋ"]


def question(inputs, **parameters):
    return "/predict", json.dumps({"inputs": inputs, "parameters": parameters})


EXPLAINED = sorted(METHODS.keys() - {"contribution"})
# (what is sent with POST, or a path alone with GET; the statuses that it may get)
OTHERS = [
    (question(TEXTS[0], weights=True), {200}),
    *((("/explain", json.dumps({"inputs": TEXTS[3], "method": each})), {200, 503}) for each in EXPLAINED),
    *((("/predict/batch", table), {200, 503}) for table in ("document\n" + "최고\n" * 50, "id,document\n1,별로\n")),
    (("/metrics",), {200}),
    (("/",), {200}),
    (("/predict", "[" * 50_000), {400, 422}),
    (question([1, None]), {422}),
    (question(["a"] * 1000), {422}),
    (question("a" * 20_000), {422}),
    (question("감동 " * 3000, weights=True), {200}),
    (("/predict", "a" * 1_500_000), {413}),
    (("/predict/batch", "document,b\n1\n"), {422, 503}),
    (("/nowhere",), {404}),
]


class Load:
    """Clients that ask until the end, and what they saw."""

    def __init__(self, port):
        found = load_classifier().predict_many(TEXTS)
        self.port, self.scores = port, {text: each.probability for text, each in zip(TEXTS, found)}
        self.statuses, self.wrong, self.cut = Counter(), [], 0

    def run(self, seconds):
        until = time.monotonic() + seconds
        with ThreadPoolExecutor(CLIENTS) as pool:
            list(pool.map(self.client, [until] * CLIENTS))

    def client(self, until):
        while time.monotonic() < until:
            with closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)) as client:
                try:
                    while time.monotonic() < until:
                        self.ask(client)
                except (ConnectionError, http.client.HTTPException):
                    self.cut += 1

    def ask(self, client):
        texts = random.choices(TEXTS, k=random.choice([1, 1, 1, 2, 8, 40]))
        asked = (question(texts), {200}) if random.random() < 0.6 else random.choice(OTHERS)
        (path, *body), statuses = asked
        kind = {"Content-Type": "text/csv" if path.endswith("batch") else "application/json"}
        client.request("POST" if body else "GET", path, *(each.encode() for each in body), headers=kind)
        answer = client.getresponse()
        content = answer.read()
        self.statuses[answer.status] += 1
        right = answer.status in statuses and (answer.status != 503 or answer.getheader("retry-after") == "1")
        if asked[0] == question(texts):
            pairs = [(each["score"], each["label"] == "positive") for each in json.loads(content)]
            found = [score if positive else 1 - score for score, positive in pairs]
            right = right and found == pytest.approx([self.scores[text] for text in texts], abs=1e-4)
        elif answer.status >= 400:
            right = right and list(json.loads(content)) == ["error"]
        self.wrong += [] if right else [(asked, answer.status, content[:300])]


def megabytes(server):
    return {worker.pid: round(worker.memory_info().rss / 1e6, 1) for worker in server.workers()}


@pytest.mark.slow
@pytest.mark.parametrize("seconds", [4, 600])
def test_mixed_load_with_a_killed_worker_gets_right_answers_and_leaves_memory_as_it_was(start, seconds):
    """Load for a tenth, kill a worker, warm its successor up for four tenths, load for the rest."""
    server = start(workers=2)
    load, begun = Load(server.port), server.count("startup complete")
    load.run(seconds / 10)
    cut_before, killed = load.cut, server.workers()[0]
    threading.Timer(0.5, killed.kill).start()
    load.run(seconds * 4 / 10)
    server.wait_for("startup complete", begun + 1)
    cut_by_kill, warm = load.cut - cut_before, megabytes(server)
    load.run(seconds / 2)
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
