"""Clients on real sockets: ones that stop, too many, and a thousand at once. Slow ones are nginx's: test_nginx.py."""

import asyncio
import json
import select
import time

import pytest

from nsmc_attention.classification.predictor import load_classifier

# Of 20 MB, so that neither side's buffers hold the response
TABLE = ("document,other\n" + f"최고,{'a' * 5000}\n" * 4000).encode()
QUESTION = {"inputs": "최고의 영화"}
# Takes about a second
EXPLANATION = {"inputs": "배우는 좋은데 영화는 별로 " * 200, "method": "erasure"}, "/explain"


def test_clients_that_stop_in_the_middle_block_nobody(server):
    """nginx ends them in time: test_nginx.py."""
    clients = [server.connect() for _ in range(50)]
    for number, client in enumerate(clients):
        client.sendall([b"", b"GET / HTTP", server.request(QUESTION)[:-1], server.batch(TABLE)[:-1]][number % 4])
    assert server.predict("최고")[0]["label"] == "positive"
    for client in clients:
        client.close()
    server.eventually(lambda: not server.tables())


def test_too_many_connections_are_refused(start):
    small = start(connections=8)
    held = [small.connect() for _ in range(8)]
    time.sleep(0.2)
    with small.connect() as client:
        client.sendall(small.request(QUESTION))
        assert small.status(client.recv(65536)) == 503
    for client in held:
        client.close()
    time.sleep(0.2)
    assert small.predict("최고")


def test_of_tables_that_arrive_at_once_those_that_may_not_wait_are_refused(start):
    small = start(read=1, files=2)
    clients = [small.connect() for _ in range(6)]
    for client in clients:
        client.sendall(small.batch(TABLE)[:-1])
    for client in clients:
        client.sendall(TABLE[-1:])
    answers = [client.recv(65536) for client in clients]
    assert sorted(map(small.status, answers)) == 2 * [200] + 4 * [503]
    assert all(b"retry-after: 1" in answer for answer in answers if small.status(answer) == 503)
    for client in clients:
        client.close()
    assert small.takes_tables()
    small.eventually(lambda: not small.tables())


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


@pytest.mark.parametrize("workers", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_a_thousand_clients_at_once_get_each_their_own_predictions(start, workers):
    words = ["최고", "별로", "재미", "지루", "감동", "연출", "배우", "음악", "결말", "돈"]
    texts = [" ".join(words[int(digit)] for digit in f"{number:03}") + " 영화" * (number % 9) for number in range(1000)]
    expected = {text: signed([one])[0] for text, one in zip(texts, load_classifier()(texts))}
    assert len(set(expected.values())) > 500, "distinguishable predictions"
    groups = [texts[number : number + 1 + number % 3] for number in range(1000)]
    answers = asyncio.run(ask_all(start(workers=workers), [{"inputs": group} for group in groups]))
    assert {code for code, _ in answers} == {200}
    scores = [score for _, predictions in answers for score in signed(predictions)]
    assert scores == pytest.approx([expected[text] for group in groups for text in group], abs=2e-4)


def test_a_prediction_does_not_wait_for_explanations(server):
    clients = [server.connect() for _ in range(3)]
    for client in clients:
        client.sendall(server.request(*EXPLANATION))
    assert server.predict("최고")
    assert not select.select(clients[-1:], [], [], 0)[0], "the last explanation is still under way"
    for client in clients:
        client.close()
