"""Processor time per request of `serve` with one worker on one core, with sockets and by part.

    NSMC_ATTENTION_DATA=... python -m benchmarks.serving [--core 1] [--clients 8] [--rounds 5] [--requests 8000] [--beside FOLDER ...]

The first measurements are of the parts in this process, without sockets; the additional time of a real server is uvicorn's and
the system's. The second ones are of a real server on this core: clients with open connections in a process of lower priority
send one review per request to POST /predict. On a shared core, rely on requests per second of the server's processor time.
"""

import argparse
import asyncio
import json
import os
import re
import selectors
import socket
import statistics
import subprocess
import sys
import threading
import time
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import uvloop

from nsmc_attention.apps.serve.app import create_app
from nsmc_attention.classifier.predictor import packaged
from nsmc_attention.corpora import nsmc
from nsmc_attention.text.encoding import clean

TICKS = os.sysconf("SC_CLK_TCK")


def http_request(body):
    return b"POST /predict HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%b" % (
        len(body),
        body,
    )


@contextmanager
def server(core, folder):
    """Yield (pid, port) of a server of the checkout in `folder` on this core, once its models are loaded."""
    command = ["taskset", "-c", str(core), sys.executable, "-m", "nsmc_attention", "serve", "--port", "0"]
    options: Any = {"stderr": subprocess.PIPE, "text": True, "encoding": "utf-8"}
    process: Any = subprocess.Popen(
        command, cwd=folder, env={**os.environ, "PYTHONPATH": os.path.abspath(folder)}, **options
    )
    try:
        lines = iter(process.stderr.readline, "")
        address: Any = None
        for line in lines:
            address = address or re.search(r"http://127\.0\.0\.1:(\d+)", line)
            if "ready: " in line:
                break
        threading.Thread(target=list, args=(lines,), daemon=True).start()
        yield process.pid, int(address.group(1))
    finally:
        process.terminate()
        process.wait(30)


def cpu_seconds(pid):
    """Return the processor time of a process, of its threads to the nanosecond, and of it that of the system, in ticks."""
    nanoseconds = (int(file.read_text().split()[0]) for file in Path(f"/proc/{pid}/task").glob("*/schedstat"))
    system = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[12]) / TICKS
    return sum(nanoseconds) / 1e9, system


def is_whole(response):
    head, end, body = response.partition(b"\r\n\r\n")
    return bool(end) and len(body) == int(head.partition(b"content-length: ")[2].split()[0])


def ask(port, requests, clients):
    """Send the requests by so many connections, each its next one after the response to the last; return seconds each took."""
    selector, seconds, waiting = selectors.DefaultSelector(), [], iter(requests)
    open_ones = 0
    client: Any
    for request in [next(waiting) for _ in range(clients)]:
        client = socket.create_connection(("127.0.0.1", port))
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        client.sendall(request)
        selector.register(client, selectors.EVENT_READ, [time.perf_counter(), b""])
        open_ones += 1
    while open_ones:
        for key, _ in selector.select():
            client, state = key.fileobj, key.data
            state[1] += client.recv(65536)
            if not is_whole(state[1]):
                continue
            assert state[1].startswith(b"HTTP/1.1 200"), state[1]
            now = time.perf_counter()
            seconds.append(now - state[0])
            request = next(waiting, None)
            if request:
                state[:] = [now, b""]
                client.sendall(request)
            else:
                selector.unregister(client)
                client.close()
                open_ones -= 1
    return seconds


def by_sockets(arguments, requests):
    """Print a row for each server, after rounds in turn."""
    found: dict[str, Any] = {folder: [] for folder in (".", *arguments.beside)}
    with ExitStack() as stack:
        servers = {folder: stack.enter_context(server(arguments.core, folder)) for folder in found}
        for number in range(arguments.rounds + 1):
            # in another order each round, which others on the core may favour
            turn = number % len(servers)
            for folder, (pid, port) in [*servers.items()][turn:] + [*servers.items()][:turn]:
                before, started = cpu_seconds(pid), time.perf_counter()
                seconds = sorted(ask(port, requests, arguments.clients))
                wall = time.perf_counter() - started
                spent, system = (after - first for after, first in zip(cpu_seconds(pid), before))
                delays = [1e3 * seconds[int(part * len(seconds))] for part in (0.5, 0.99)]
                # the first round warms up
                found[folder].extend([(spent, system, wall, *delays)] if number else [])
    each = 1e6 / len(requests)
    print(
        "\n| server | requests/s of processor time: median (most) | µs a request: median (least) | of it the system ",
        end="",
    )
    print("| times the first, median of the rounds ", end="")
    print("| requests/s by the clock: median (most) | p50, p99 ms |\n|---|---|---|---|---|---|---|")
    for folder, rows in found.items():
        columns: list[list[float]] = [[*column] for column in zip(*rows)]
        spent, system, wall, p50, p99 = map(statistics.median, columns)
        rates = [
            f"{len(requests) / median:,.0f} ({len(requests) / min(of):,.0f})"
            for median, of in ((spent, columns[0]), (wall, columns[2]))
        ]
        ratio = statistics.median(row[0] / first[0] for row, first in zip(rows, found["."]))
        cost = f"{spent * each:.0f} ({min(columns[0]) * each:.0f}) | {system * each:.0f} | {ratio:.2f}"
        print(f"| {folder} | {rates[0]} | {cost} | {rates[1]} | {p50:.1f}, {p99:.1f} |")


async def call(application, body):
    """Send a body to POST /predict of an ASGI application; return the status."""
    messages, sent = [{"type": "http.request", "body": body, "more_body": False}], []
    headers = [(b"host", b"a"), (b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]
    scope = {"type": "http", "method": "POST", "path": "/predict", "query_string": b"", "headers": headers, "state": {}}

    async def receive():
        return messages.pop()

    async def send(message):
        sent.append(message)

    await application({**scope, "http_version": "1.1", "scheme": "http", "root_path": ""}, receive, send)
    return sent[0]["status"]


async def spent_on(work, items):
    """Return µs of this process's time for each item, `work` being a coroutine function of one."""
    started = time.process_time()
    for item in items:
        await work(item)
    return (time.process_time() - started) / len(items) * 1e6


async def by_parts(arguments, texts, bodies):
    """Print µs a request of the application without a server, and of the classifier alone."""
    guard = create_app()
    inner: Any = guard.application
    async with inner.router.lifespan_context(inner):
        while await call(guard, bodies[0]) != 200:
            await asyncio.sleep(0.1)
        classifier, clients = packaged(), arguments.clients

        async def application(some):
            statuses = await asyncio.gather(*(call(guard, body) for body in some))
            assert set(statuses) == {200}

        async def predictions(some):
            classifier.predict_many(some)

        async def probabilities(some):
            classifier.rows(some)

        def groups(items, size):
            return [items[start : start + size] for start in range(0, len(items), size)]

        parts = {
            "application": (application, bodies),
            "`predict_many`": (predictions, texts),
            "`rows`": (probabilities, texts),
        }
        print(f"| µs a request: median (least) | one at a time | {clients} at a time |\n|---|---|---|")
        found: dict[str, Any] = {name: ([], []) for name in parts}
        for _ in range(arguments.rounds + 1):
            for name, (work, items) in parts.items():
                for place, size in enumerate((1, clients)):
                    spent = await spent_on(work, groups(items[:2000], size))
                    found[name][place].append(spent / size)
        for name, both in found.items():
            shown = " | ".join(f"{statistics.median(each[1:]):.0f} ({min(each[1:]):.0f})" for each in both)
            print(f"| {name} | {shown} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, value in (("core", 1), ("clients", 8), ("rounds", 5), ("requests", 8000)):
        parser.add_argument(f"--{name}", type=int, default=value)
    parser.add_argument("--beside", nargs="*", default=[], help="other checkouts, whose servers are measured in turn")
    arguments = parser.parse_args()
    texts = [each for each in nsmc.load("nsmc", "test").documents if clean(each)][: arguments.requests]
    bodies = [json.dumps({"inputs": text}).encode() for text in texts]
    everywhere = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {arguments.core})
    uvloop.run(by_parts(arguments, texts, bodies))
    # the clients
    os.sched_setaffinity(0, everywhere)
    os.nice(10)
    by_sockets(arguments, [http_request(body) for body in bodies])


if __name__ == "__main__":
    main()
