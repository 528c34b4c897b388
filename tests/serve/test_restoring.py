"""POST /restore: the restorer of the package, batched, with the limits and errors of the other requests."""

import json
import re

import numpy
import pytest

pytest.importorskip("fastapi")


from nsmc_attention.restoration.restorer import load_restorer
from nsmc_attention.serve.app import create_app
from nsmc_attention.serve.guard import Limits
from nsmc_attention.serve.models import Bundles

SENTENCE = "이영화 정말조타 가나"
TEXTS = ["배우들 연기가  정말조앗는데", "최고의 영화", " \u3164", "<b>ㅋㅋㅋ</b> \ud800영화\x00"]


@pytest.fixture(scope="module")
def client(ready, tiny_editor):
    with ready(create_app(Bundles(restore_bundle=tiny_editor))) as client:
        yield client


def restore(client, inputs, **options):
    body = json.dumps({"inputs": inputs, **options}).encode()
    return client.post("/restore", content=body, headers={"Content-Type": "application/json"})


def test_one_text_and_many_get_what_the_restorer_makes_of_them(client, tiny_editor):
    restorer = load_restorer(tiny_editor)
    for inputs in ("정말 좋다", TEXTS, []):
        done = restore(client, inputs)
        expected = restorer.restore_many([inputs] if isinstance(inputs, str) else inputs)
        assert done.status_code == 200 and len(done.json()) == len(expected)
        for found, each in zip(done.json(), expected):
            assert (found["source"], found["text"], found["changed"]) == (each.source, each.text, each.changed)
            assert found["alignment"] == each.alignment and [*map(tuple, found["segments"])] == each.segments
            assert found["score"] == pytest.approx(each.score, abs=1e-4) and found.get("error") == each.error


@pytest.mark.parametrize(
    "body, message",
    [
        ({"inputs": 3}, "body.inputs: Input should be a valid"),
        ({"inputs": ["a", None]}, "body.inputs.1: Input should be a valid string"),
        ({"input": "a"}, "body.inputs: Field required"),
        ({"inputs": "a", "beam": 4}, "body.beam: unknown key; known: inputs, weights"),
        (
            {"inputs": ["a"] * (Limits.reviews + 1)},
            f"expected at most {Limits.reviews} texts, found {Limits.reviews + 1}; send them in several requests",
        ),
        ({"inputs": "a", "weights": 1}, "body.weights: Input should be a valid boolean"),
        ({"inputs": ["a", "b"], "weights": True}, "inputs: expected one text for weights, found 2; send one a request"),
        ({"inputs": [], "weights": True}, "inputs: expected one text for weights, found 0"),
        (
            {"inputs": "a" * (Limits.aligned + 1), "weights": True},
            f"inputs: expected a text of at most {Limits.aligned} characters for weights, found {Limits.aligned + 1}",
        ),
        (
            {"inputs": ["a" * 9000] * 3},
            f"at most {Limits.restored} characters in all, found 27000; send them in several",
        ),
        ({"inputs": "a" * (Limits.characters + 1)}, f"of at most {Limits.characters} characters, found one of 10001"),
    ],
)
def test_bad_input_is_one_line_that_says_so(client, body, message):
    done = client.post("/restore", json=body)
    assert done.status_code == 422 and message in done.json()["error"]


def test_the_state_and_the_counters_tell_of_it(client):
    assert client.get("/readyz").json()["restore_bundle"] == "tiny_editor/bundle"
    restored = re.compile(r"^nsmc_attention_restored_total (\S+)$", re.MULTILINE)
    (before,) = restored.findall(client.get("/metrics").text)
    restore(client, TEXTS)
    text = client.get("/metrics").text
    assert float(restored.findall(text)[0]) == float(before) + len(TEXTS)
    assert 'nsmc_attention_request_seconds_count{path="/restore",status="200"}' in text


def check_weights(done, writer):
    expected = load_restorer(writer)(SENTENCE)
    assert done.status_code == 200
    (found,) = done.json()
    assert found["text"] == expected.text != expected.source == found["source"] and "error" not in found
    weights = numpy.array(found["weights"])
    assert weights.shape == (len(expected.text), len(SENTENCE)) and (weights.round(4) == weights).all()
    assert weights == pytest.approx(expected.weights, abs=1e-4) and weights.sum(axis=1) == pytest.approx(1, abs=1e-2)


def test_weights_are_those_of_the_writer_that_the_server_restores_by(ready, tiny_writer):
    with ready(create_app(Bundles(restore_bundle=tiny_writer))) as client:
        check_weights(restore(client, [SENTENCE], weights=True), tiny_writer)
        assert "weights" not in restore(client, SENTENCE, weights=False).json()[0]
        assert restore(client, " ", weights=True).json()[0]["weights"] == []
        assert restore(client, "가" * Limits.aligned, weights=True).status_code == 200


def test_beside_an_editor_they_are_those_of_the_packaged_writer(ready, tiny_editor, tiny_writer, monkeypatch):
    for folder in ("nowhere", "bundle"):
        monkeypatch.setattr("nsmc_attention.serve.models.WRITER", tiny_writer.with_name(folder))
        with ready(create_app(Bundles(restore_bundle=tiny_editor))) as client:
            done = restore(client, SENTENCE, weights=True)
            if folder == "nowhere":
                assert done.status_code == 404 and "this server has no writer" in done.json()["error"]
            else:
                check_weights(done, tiny_writer)
