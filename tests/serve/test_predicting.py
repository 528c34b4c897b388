import asyncio
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("fastapi")

from pydantic import ValidationError
from starlette.exceptions import HTTPException

from nsmc_attention.classification.prediction import output_row
from nsmc_attention.errors import DataError
from nsmc_attention.serve.app import respond_error
from nsmc_attention.serve.predicting import Reviews, ShortWay, labels, plain_question

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-1, 4) | st.floats() | st.text(st.characters(), max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner, max_size=2),
    max_leaves=4,
)
TEXTS = st.text(max_size=5) | st.sampled_from(["\ud800", "\0"])
OPTIONS = st.fixed_dictionaries(
    {}, optional={"top_k": st.sampled_from([1, 2, None]) | VALUES, "weights": st.booleans() | VALUES, "topk": VALUES}
)
QUESTIONS = st.fixed_dictionaries(
    {}, optional={"inputs": TEXTS | st.lists(TEXTS) | VALUES, "parameters": OPTIONS | VALUES, "top_k": VALUES}
)


@settings(max_examples=60)
@given(QUESTIONS | VALUES)
def test_a_body_is_plain_if_and_only_if_the_model_accepts_it(value):
    found = plain_question(json.dumps(value).encode())
    try:
        question = Reviews.model_validate(value)
    except ValidationError:
        assert found is None
    else:
        assert found == (question.inputs, question.parameters.top_k, question.parameters.weights)


@pytest.mark.parametrize("body", [b"", b"{", b"\xff", b"[" * 100_000, b'{"inputs": ' + b"9" * 100_000 + b"}"])
def test_what_is_no_json_is_not_plain(body):
    assert plain_question(body) is None


@given(st.floats(0, 1), st.sampled_from([None, 1, 2]))
def test_the_label_of_a_prediction_comes_first(probability, top_k):
    found = labels(probability, None, top_k)
    assert (found[0]["label"], found[0]["score"]) == output_row(probability)[:2]
    assert len(found) == (top_k or 1) and sum(each["score"] for each in found) <= 1


def exchange(respond, messages, headers=((b"content-type", b"application/json"),), path="/predict"):
    """Return (what the application behind it received, what was sent) for a request in these messages."""
    received, sent, rest = [], [], iter(messages)

    async def application(scope, receive, send):
        received.extend([await receive() for _ in messages])

    async def receive():
        return next(rest)

    async def send(message):
        sent.append(message)

    scope = {"type": "http", "method": "POST", "path": path, "query_string": b"", "headers": [*headers]}
    asyncio.run(ShortWay(application, "/predict", respond, respond_error)(scope, receive, send))
    return received, sent


async def echo(*question):
    return question


def parts(*bodies):
    return [
        {"type": "http.request", "body": body, "more_body": place < len(bodies)}
        for place, body in enumerate(bodies, start=1)
    ]


def test_a_plain_body_in_parts_is_answered_and_the_application_sees_nothing_of_it():
    received, (start, body) = exchange(echo, parts(b'{"inputs": ["a', b'"], "parameters"', b': {"top_k": 2}}'))
    assert not received and start["status"] == 200 and json.loads(body["body"]) == [["a"], 2, False]
    assert dict(start["headers"])[b"content-length"] == b"%d" % len(body["body"])


@pytest.mark.parametrize(
    "messages, change",
    [
        (parts(b'{"inputs"', b": 3}"), {}),
        ([*parts(b"{", b"")[:1], {"type": "http.disconnect"}], {}),
        # whole JSON by chance
        ([*parts(b'{"inputs": "a"}', b"")[:1], {"type": "http.disconnect"}], {}),
        (parts(b'{"inputs": "a"}'), {"path": "/explain"}),
        (parts(b'{"inputs": "a"}'), {"headers": [(b"content-type", b"application/json; charset=utf-8")]}),
        (parts(b'{"inputs": "a"}'), {"headers": []}),
    ],
)
def test_of_every_other_request_the_application_receives_all(messages, change):
    assert exchange(echo, messages, **change) == (messages, [])


@pytest.mark.parametrize("problem, status", [(HTTPException(503, "busy"), 503), (DataError("bad"), 422)])
def test_an_expected_error_is_answered_as_the_application_does(problem, status):
    async def fail(*question):
        raise problem

    _, (start, body) = exchange(fail, parts(b'{"inputs": "a"}'))
    assert start["status"] == status and json.loads(body["body"]) == {"error": str(getattr(problem, "detail", problem))}


def test_a_bug_is_answered_and_reaches_the_log_of_the_server():
    sent = []

    async def fail(*question):
        raise ZeroDivisionError("secret")

    async def receive():
        return parts(b'{"inputs": "a"}')[0]

    async def send(message):
        sent.append(message)

    scope = {"type": "http", "method": "POST", "path": "/predict", "headers": [(b"content-type", b"application/json")]}
    with pytest.raises(ZeroDivisionError):
        asyncio.run(ShortWay(send, "/predict", fail, respond_error)(scope, receive, send))
    assert sent[0]["status"] == 500 and b"secret" not in sent[1]["body"]
