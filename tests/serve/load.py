"""Load on a real server, good and bad requests mixed, with one worker killed in the middle.

    python tests/serve/load.py --seconds 600

Prints one JSON object: answers by status, wrong answers, cut connections, and each worker's memory in MB when warm
and at the end. Ends with 1 where a promise is broken.
"""

import argparse
import asyncio
import json
import random
import re
import subprocess
import sys
import threading
import time
from collections import Counter

import psutil

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
    "음악이 좋다",
    "돈이 아깝다",
    "ㅋㅋㅋㅋ",
    "나무랄 데 없는 연출",
    "결말이 아쉽다",
    "a" * 100,
]


def request(body, path="/predict", kind="application/json", method="POST", more=""):
    head = f"{method} {path} HTTP/1.1\r\nHost: a\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n{more}\r\n"
    return head.encode() + body


def question(inputs, **parameters):
    return request(json.dumps({"inputs": inputs, "parameters": parameters}).encode())


def explanation(text, method):
    return request(json.dumps({"inputs": text, "method": method}).encode(), "/explain")


def draw(scores):
    """Answer (request, expected statuses, expected scores or None), drawn at random."""
    kind = random.random()
    if kind < 0.6:
        texts = random.choices(list(scores), k=random.choice([1, 1, 1, 2, 8, 40]))
        return question(texts), {200}, [scores[text] for text in texts]
    if kind < 0.7:
        rows = "".join(f"{number},{text}\n" for number, text in enumerate(random.choices(list(scores), k=50)))
        return request(f"id,document\n{rows}".encode(), "/predict/batch", "text/csv"), {200, 503}, None
    return random.choice(
        [
            (question(random.choice(TEXTS), weights=True), {200}, None),
            (explanation(random.choice(TEXTS), random.choice(sorted(METHODS.keys() - {"rollout"}))), {200, 503}, None),
            (request(b"", "/metrics", method="GET"), {200}, None),
            (request(b"", "/", method="GET"), {200}, None),
            (request(b"\xff" * 100), {400, 422}, None),
            (request(b"[" * 50_000), {400, 422}, None),
            (question([1, None]), {422}, None),
            (question(["a"] * 1000), {422}, None),
            (question("a" * 20_000), {422}, None),
            (question("감동 " * 3000, weights=True), {200}, None),
            (request(b"a" * 2_500_000), {413}, None),
            (request(b"document\n\xff\n", "/predict/batch", "text/csv"), {422, 503}, None),
            (request(b"", "/nowhere", method="GET"), {404}, None),
            (request(b"{", more="Transfer-Encoding: chunked\r\n"), {400}, None),
            (b"\x16\x03\x01GARBAGE\r\n\r\n", {400}, None),
            (request(b'{"inputs": "cut off"}')[:-4], None, None),
        ]
    )


async def read_answer(reader):
    """Answer (status, body, whether the server ends the connection)."""
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
        self.statuses, self.wrong, self.cut = Counter(), [], []

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
                self.cut.append(time.monotonic())
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
            found = json.loads(body)
            right = len(found) == len(scores) and all(
                abs((each["score"] if each["label"] == "positive" else 1 - each["score"]) - score) < 1e-4
                for each, score in zip(found, scores)
            )
        elif status >= 400:
            right = right and list(json.loads(body)) == ["error"]
        if not right:
            self.wrong.append([sent[:200].decode("latin-1"), status, body[:300].decode("latin-1")])
        return ends


class Server:
    """The command `serve` with two workers, until the end of the `with` block."""

    def __enter__(self):
        command = [sys.executable, "-m", "nsmc_attention", "serve", "--port", "0", "--workers", "2"]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, encoding="utf-8")
        self.lines = []
        threading.Thread(target=lambda: self.lines.extend(iter(self.process.stderr.readline, "")), daemon=True).start()
        self.wait_for_started(2)
        self.port = int(re.search(r"http://[\d.]+:(\d+)", self.lines[0]).group(1))
        return self

    def __exit__(self, *problem):
        self.process.terminate()
        self.process.wait(60)

    def wait_for_started(self, workers):
        while sum("startup complete" in line for line in self.lines) < workers:
            assert self.process.poll() is None, self.lines
            time.sleep(0.05)

    def workers(self):
        # beside them runs multiprocessing's resource tracker
        children = psutil.Process(self.process.pid).children()
        return [each for each in children if "spawn_main" in " ".join(each.cmdline())]

    def megabytes(self):
        return {each.pid: round(each.memory_info().rss / 1e6, 1) for each in self.workers()}


def measure(seconds):
    """Load for a tenth, kill a worker, warm its successor up for four tenths, load for the rest."""
    scores = {text: each.probability for text, each in zip(TEXTS, load_classifier().predict_many(TEXTS))}
    with Server() as server:
        load = Load(server.port, scores)
        asyncio.run(load.run(seconds / 10))
        cut_before = len(load.cut)
        killed = server.workers()[0]
        threading.Timer(0.5, killed.kill).start()
        asyncio.run(load.run(seconds * 4 / 10))
        server.wait_for_started(3)
        cut_by_kill, warm = len(load.cut) - cut_before, server.megabytes()
        asyncio.run(load.run(seconds / 2))
        end = server.megabytes()
    growth = [round(end.get(pid, 0) / size - 1, 4) for pid, size in warm.items()]
    found = {
        "seconds": seconds,
        "answers": sum(load.statuses.values()),
        "statuses": dict(sorted(load.statuses.items())),
        "wrong": len(load.wrong),
        "examples": load.wrong[:3],
        "cut_by_kill": cut_by_kill,
        "cut_otherwise": len(load.cut) - cut_by_kill,
        "warm_mb": warm,
        "end_mb": end,
        "growth": growth,
        "restarted": killed.pid not in warm and len(warm) == 2,
        "exit_code": server.process.returncode,
        "tracebacks": sum("Traceback" in line for line in server.lines),
    }
    kept = (
        not (
            found["statuses"].get(500)
            or load.wrong
            or found["cut_otherwise"]
            or found["exit_code"]
            or found["tracebacks"]
        )
        and found["restarted"]
    )
    # a few seconds do not warm a worker up
    return {**found, "kept": kept and (seconds < 300 or max(growth) < 0.05)}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=600)
    found = measure(parser.parse_args().seconds)
    print(json.dumps(found))
    sys.exit(not found["kept"])
