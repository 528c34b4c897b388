"""POST /fill: the language model of the server, one text at a time, with the limits and errors of the other requests."""

import json
import re

import numpy
import pytest

pytest.importorskip("fastapi")


from nsmc_attention.language.model import load_language_model
from nsmc_attention.serve.app import create_app
from nsmc_attention.serve.guard import Limits
from nsmc_attention.serve.models import Bundles

TEXT = "주인공의 [MASK]에 소름이 돋았다"


@pytest.fixture(scope="module")
def client(ready, tiny_language):
    with ready(create_app(Bundles(language_bundle=tiny_language))) as client:
        yield client


def fill(client, inputs, **options):
    body = json.dumps({"inputs": inputs, **options}).encode()
    return client.post("/fill", content=body, headers={"Content-Type": "application/json"})


def test_a_text_gets_what_the_language_model_says_of_it(client, tiny_language):
    model = load_language_model(tiny_language)
    for text, options in ((TEXT, {}), ("[MASK]", {"top": 1}), (" <b>[MASK]</b> \ud800영화\x00\n😀", {"top": 50})):
        done, expected = fill(client, text, **options), model(text, **options).to_dict()
        assert done.status_code == 200 and done.json() == expected
        assert len(expected["candidates"]) == options.get("top", 5)


def test_heads_come_on_demand(client, tiny_language):
    found = fill(client, TEXT, heads=True).json()
    assert numpy.array(found.pop("heads")) == pytest.approx(load_language_model(tiny_language)(TEXT).heads, abs=1e-4)
    assert found == fill(client, TEXT).json()
    done = fill(client, "가 " * 4000 + "[MASK]", heads=True)
    assert done.status_code == 422 and "heads: expected at most 128 tokens for 2 layers" in done.json()["error"]


def test_of_a_long_text_what_is_around_the_mask_is_read(client):
    found = fill(client, "가 " * 4000 + "[MASK]").json()
    assert found["tokens"][found["place"]] == "[MASK]" and sum(found["attended"]) == pytest.approx(1, abs=1e-4)
    assert len(found["tokens"]) == len(found["attended"]) < 4000


@pytest.mark.parametrize(
    "body, message",
    [
        ({"inputs": "정말 재미있다"}, "fill: expected one [MASK] in the text, found 0; write it in place of the word"),
        ({"inputs": ""}, "fill: expected one [MASK] in the text, found 0"),
        ({"inputs": "[MASK]" * 50}, "fill: expected one [MASK] in the text, found 50"),
        ({"inputs": "a" * (Limits.characters + 1)}, f"of at most {Limits.characters} characters, found one of 10001"),
        ({"inputs": TEXT, "top": 0}, "body.top: Input should be greater than or equal to 1"),
        ({"inputs": TEXT, "top": 51}, "body.top: Input should be less than or equal to 50"),
        ({"inputs": TEXT, "top": 2.5}, "body.top: Input should be a valid integer"),
        ({"inputs": [TEXT]}, "body.inputs: Input should be a valid string"),
        ({"text": TEXT}, "body.inputs: Field required"),
        ({"inputs": TEXT, "heads": 1}, "body.heads: Input should be a valid boolean"),
        ({"inputs": TEXT, "topk": 5}, "body.topk: unknown key; did you mean 'top'?"),
    ],
)
def test_bad_input_is_one_line_that_says_so(client, body, message):
    done = client.post("/fill", json=body)
    assert done.status_code == 422 and message in done.json()["error"] and "\n" not in done.json()["error"]


def test_the_state_the_counters_and_the_reference_tell_of_it(client):
    assert client.get("/readyz").json()["language_bundle"] == "tiny_language/bundle"
    filled = re.compile(r"^nsmc_attention_filled_total (\S+)$", re.MULTILINE)
    (before,) = filled.findall(client.get("/metrics").text)
    assert [fill(client, text).status_code for text in (TEXT, "좋다")] == [200, 422]
    text = client.get("/metrics").text
    assert float(filled.findall(text)[0]) == float(before) + 1
    assert 'nsmc_attention_request_seconds_count{path="/fill",status="200"}' in text
    assert client.get("/openapi.json").json()["paths"]["/fill"]["post"]["summary"] == "Fill"
