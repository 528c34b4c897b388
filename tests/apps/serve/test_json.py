"""Requests for JSON get what the server's models make of their texts; what it says of these, loaded or not."""

import json
import re
from dataclasses import replace

import numpy
import pytest
from starlette.testclient import TestClient

from nsmc_attention.apps.serve.app import create_app
from nsmc_attention.apps.serve.guard import Limits
from nsmc_attention.apps.serve.plug import LARGEST_MATRIX
from nsmc_attention.apps.serve.restore import MOST_ALIGNED
from nsmc_attention.apps.serve.service import Bundles
from nsmc_attention.classifier.explain import explain
from nsmc_attention.classifier.prediction import METHODS
from nsmc_attention.classifier.predictor import load_classifier
from nsmc_attention.systems.language.model import load_language_model
from nsmc_attention.systems.language.settings import LAYOUT as LANGUAGE_MODEL
from nsmc_attention.systems.restore.restorer import load_restorer
from nsmc_attention.systems.restore.settings import WRITER
from nsmc_attention.version import __version__

# A side, neither of them, and no opinion
SAID = {"최고의 영화": "positive", "정말 별로": "negative", "그냥 그렇다": "neutral", "어제 개봉했다": None}
TEXT, BLANK, SENTENCE = "배우는 좋은데 영화는 별로", "주인공의 [MASK]에 소름이 돋았다", "이영화 정말조타 가나"


@pytest.fixture(scope="module")
def transformer(ready, tiny_transformer):
    """A client of a classifier whose encoder has heads."""
    with ready(create_app(Bundles(tiny_transformer))) as client:
        yield client


def test_one_review_and_many_get_the_predictions_of_the_pipeline(client, ask, packaged):
    expected = packaged([TEXT, "최고"])
    for inputs, predictions in ((TEXT, expected[:1]), ([TEXT, "최고"], expected)):
        answers = ask(client, "/predict", {"inputs": inputs}).json()
        assert [answer["label"] for answer in answers] == [prediction["label"] for prediction in predictions]
        scores = [prediction["score"] for prediction in predictions]
        assert [answer["score"] for answer in answers] == pytest.approx(scores, abs=1e-5)


@pytest.mark.parametrize("parameters", [{}, {"weights": True}])
def test_a_label_and_its_explanation_have_sentiment_and_stars_if_any(client, ask, packaged, parameters):
    answers = ask(client, "/predict", {"inputs": [*SAID], "parameters": parameters}).json()
    assert [answer["sentiment"] for answer in answers] == [*SAID.values()]
    for first, prediction in zip(answers, packaged.predict_many([*SAID])):
        assert first["label"] == prediction.label and (first["stars"] is None) == (first["sentiment"] is None)
        explained = ask(client, "/explain", {"inputs": prediction.text}).json()
        assert (explained["sentiment"], explained["opinion"]) == (first["sentiment"], prediction.opinion)
        for answer in (first, explained):
            assert answer["stars"] == (prediction.stars and pytest.approx(prediction.stars, abs=1e-4))


def test_without_heads_for_it_the_sentiment_is_the_label_and_there_are_no_stars(transformer, ask):
    (answer,) = ask(transformer, "/predict", {"inputs": TEXT}).json()
    assert answer["sentiment"] == answer["label"] and answer["stars"] is None
    assert ask(transformer, "/explain", {"inputs": TEXT}).json()["opinion"] == ""
    body = f"document\n{TEXT}\n".encode()
    table = ask(transformer, "/predict/batch", body, "text/csv", sentiment=True).text.splitlines()
    head, row = (line.split(",") for line in table)
    found = dict(zip(head, row))
    assert found["sentiment"] == found["label"] == answer["label"] and found["stars"] == ""


def test_weights_come_on_demand(client, ask, packaged):
    (answer,) = ask(client, "/predict", {"inputs": TEXT, "parameters": {"weights": True}}).json()
    expected = packaged.predict(TEXT).to_dict(weights=True)
    assert answer["tokens"] == expected["tokens"] and answer["offsets"] == expected["offsets"]
    assert answer["token_weights"] == pytest.approx(expected["token_weights"], abs=1e-5)
    assert "weights" not in ask(client, "/predict", {"inputs": TEXT}).json()[0]


def test_a_review_without_a_word_keeps_its_place(client, ask):
    first, *others = ask(client, "/predict", {"inputs": ["good", " ", "\ud800"]}).json()
    assert first["label"] and others == [{"label": None, "score": None, "error": "blank: no word to score"}] * 2
    assert ask(client, "/predict", {"inputs": []}).json() == []


@pytest.mark.parametrize("method", ["attention", "erasure", "gradient"])
def test_a_review_is_explained(client, ask, method):
    answer = ask(client, "/explain", {"inputs": TEXT, "method": method}).json()
    assert len(answer["values"]) == len(answer["tokens"]) and (answer["matrix"] is not None) == (method == "attention")
    words = ask(client, "/explain", {"inputs": TEXT, "method": method, "by_word": True}).json()
    assert words["tokens"] == TEXT.split()
    assert [(name, TEXT[start:end]) for start, end, name, _ in answer["aspects"]] == [("연기", "배우는 좋은데")]


def test_too_many_explanations_are_refused(ready, ask):
    with ready(create_app(limits=Limits(explanations=0))) as client:
        done = ask(client, "/explain", {"inputs": TEXT})
        assert done.status_code == 503 and done.headers["retry-after"] == "1" and "try again" in done.json()["error"]
        assert ask(client, "/predict", {"inputs": TEXT}).status_code == 200


def test_an_explanation_ends_when_its_client_disconnects(client):
    scope = {"type": "http", "method": "POST", "path": "/explain", "query_string": b""}
    body = json.dumps({"inputs": f"{TEXT} " * 200, "method": "erasure"}).encode()
    messages, sent = iter([{"type": "http.request", "body": body}]), []

    async def receive():
        return next(messages, {"type": "http.disconnect"})

    async def send(message):
        sent.append(message)

    client.portal.call(client.app, {**scope, "headers": [(b"content-type", b"application/json")]}, receive, send)
    assert sent[0]["status"] == 400


def test_a_server_tells_its_methods_of_which_the_first_is_taken(ready, transformer, client, ask, tiny_convolution):
    with ready(create_app(Bundles(tiny_convolution, "onnx"))) as server:
        assert server.get("/readyz").json()["methods"][:2] == ["contribution", "attention"]
        answers = [ask(server, "/explain", {"inputs": TEXT, **more}).json() for more in ({}, {"method": "auto"})]
    expected = explain(TEXT, load_classifier(tiny_convolution, engine="onnx"), "contribution")
    for answer in answers:
        assert answer["values"] == pytest.approx(expected.values, abs=1e-4)
        assert answer["method"] == "contribution" and answer["signed"] and answer["matrix"]
    state, other = (server.get("/readyz").json() for server in (transformer, client))
    assert {*METHODS} - {*state["methods"]} == {"contribution"} and {*other["methods"]} == {*METHODS}
    assert state["methods"][0] == "attention" == ask(transformer, "/explain", {"inputs": TEXT}).json()["method"]
    assert state["heads"] and not other["heads"]


@pytest.mark.parametrize("by_word", [False, True])
@pytest.mark.parametrize("method", ["attention", "erasure"])
def test_heads_come_on_demand_whatever_the_method(transformer, ask, tiny_transformer, method, by_word):
    question = {"inputs": TEXT, "method": method, "by_word": by_word}
    usual, answer = (ask(transformer, "/explain", {**question, "heads": heads}).json() for heads in (False, True))
    expected = explain(TEXT, load_classifier(tiny_transformer), method)
    expected = expected.by_word() if by_word else expected
    assert numpy.array(answer.pop("heads")) == pytest.approx(expected.heads, abs=1e-4)
    assert answer == usual


def test_of_a_long_review_there_are_heads_of_words_where_those_of_tokens_are_too_many(transformer, ask):
    words = LARGEST_MATRIX // 2 + 1
    question = {"inputs": "영화가 " * words, "heads": True}
    line = "heads: expected at most 128 tokens for 3 layers of 2 heads, found 130; send a part of the text"
    assert ask(transformer, "/explain", question).json() == {"error": line}
    answer = ask(transformer, "/explain", {**question, "by_word": True}).json()
    assert numpy.shape(answer["heads"]) == (3, 2, words, words)
    for inputs, shape in (("영화가 " * LARGEST_MATRIX, (LARGEST_MATRIX,) * 2), ("최고 " * (LARGEST_MATRIX + 1), ())):
        answer = ask(transformer, "/explain", {"inputs": inputs, "by_word": True}).json()
        assert numpy.shape(answer["matrix"]) == shape and len(answer["values"]) == len(inputs.split())


@pytest.mark.parametrize(
    "inputs",
    ["정말 좋다", [], ["배우들 연기가  정말조앗는데", "최고의 영화", " \u3164", "<b>ㅋㅋㅋ</b> \ud800영화\x00"]],
)
def test_one_text_and_many_get_what_the_restorer_makes_of_them(client, ask, tiny_editor, inputs):
    done = ask(client, "/restore", {"inputs": inputs})
    expected = load_restorer(tiny_editor).restore_many([inputs] if isinstance(inputs, str) else inputs)
    assert done.status_code == 200 and len(done.json()) == len(expected)
    for answer, restoration in zip(done.json(), expected):
        for name in ("source", "text", "changed", "alignment"):
            assert answer[name] == getattr(restoration, name)
        assert [*map(tuple, answer["segments"])] == restoration.segments and answer.get("error") == restoration.error
        assert answer["score"] == pytest.approx(restoration.score, abs=1e-4)
        probabilities = [change.pop("probability") for change in answer["changes"]]
        assert [tuple(change.values()) for change in answer["changes"]] == [each[:3] for each in restoration.changes]
        assert probabilities == pytest.approx([each.probability for each in restoration.changes], abs=1e-4)


def check_weights(done, writer):
    expected = load_restorer(writer)(SENTENCE)
    assert done.status_code == 200
    (answer,) = done.json()
    assert answer["text"] == expected.text != expected.source == answer["source"] and "error" not in answer
    weights = numpy.array(answer["weights"])
    assert weights.shape == (len(expected.text), len(SENTENCE)) and (weights.round(4) == weights).all()
    assert weights == pytest.approx(expected.weights, abs=1e-4) and weights.sum(axis=1) == pytest.approx(1, abs=1e-2)


def test_weights_are_those_of_the_writer_or_beside_an_editor_of_the_packaged_one(client, ready, ask, tiny_writer):
    with ready(create_app(Bundles(restore_bundle=tiny_writer))) as writer:
        check_weights(ask(writer, "/restore", {"inputs": [SENTENCE], "weights": True}), tiny_writer)
        assert "weights" not in ask(writer, "/restore", {"inputs": SENTENCE, "weights": False}).json()[0]
        assert ask(writer, "/restore", {"inputs": " ", "weights": True}).json()[0]["weights"] == []
        assert ask(writer, "/restore", {"inputs": "가" * MOST_ALIGNED, "weights": True}).status_code == 200
    check_weights(ask(client, "/restore", {"inputs": SENTENCE, "weights": True}), WRITER)


@pytest.mark.parametrize(
    "text, options", [(BLANK, {}), ("[MASK]", {"top": 1}), (" <b>[MASK]</b> \ud800영화\x00\n😀[MASK]", {"top": 50})]
)
def test_a_blank_gets_what_the_language_model_says_of_it(client, ask, tiny_language, text, options):
    done = ask(client, "/fill", {"inputs": text, **options})
    filling = load_language_model(tiny_language)(text, **options)
    assert done.status_code == 200 and done.json() == filling.to_dict()
    assert len(done.json()["candidates"]) == options.get("top", 5)
    heads = ask(client, "/fill", {"inputs": text, **options, "heads": True}).json().pop("heads")
    assert numpy.array(heads) == pytest.approx(filling.heads, abs=1e-4)


REQUESTS = {
    "restore": ("/restore", {"inputs": "영화"}),
    "language": ("/fill", {"inputs": "영화 [MASK]"}),
    "film": ("/film?group_by=a", {}),
    "read": ("/read", {}),
}


def test_before_the_models_are_loaded_it_is_alive_and_not_ready():
    client = TestClient(create_app())  # without its lifespan, nothing is loaded
    assert client.get("/healthz").json() == {"status": "alive"} and client.get("/").status_code == 200
    requests = [client.get("/readyz"), client.post("/predict", json={"inputs": "최고"})]
    for done in requests + [client.post(path, json=body) for path, body in REQUESTS.values()]:
        assert done.status_code == 503 and done.headers["retry-after"] == "1"


def test_where_there_are_none_all_else_is_served_and_the_page_hides_them(ready, monkeypatch, tmp_path, bundle_folder):
    nowhere = tmp_path / "nowhere"
    monkeypatch.setattr("nsmc_attention.apps.serve.restore.EDITOR", nowhere)
    monkeypatch.setattr("nsmc_attention.apps.serve.read.READER", nowhere)
    monkeypatch.setattr("nsmc_attention.apps.serve.fill.LAYOUT", replace(LANGUAGE_MODEL, packaged=(nowhere,)))
    with ready(create_app(Bundles(bundle_folder))) as client:
        state = client.get("/readyz").json()
        for name, (path, body) in REQUESTS.items():
            done = client.post(path, json=body)
            assert done.status_code == 404 and f"nsmc-attention serve --{name}-bundle DIR" in done.json()["error"]
            assert not {f"{name}_bundle", "stars"} & state.keys()
        assert client.post("/predict", json={"inputs": "최고"}).status_code == 200
        page = client.get("/").text
        for section in ("shots", "blanks"):
            assert re.search(rf'<section [^>]*aria-labelledby="{section}" hidden>', page)
        assert re.search(r'<div class="row" hidden>\s*<label><input type="checkbox" id="restore"', page)


def test_the_state_and_the_reference_tell_of_its_models(client):
    state, described = client.get("/readyz").json(), client.get("/openapi.json").json()
    paths = described["paths"]
    assert described["info"]["version"] == __version__
    assert state["status"] == "ready" and state["stars"] == [1, 10]
    for name, bundle, path in (("restore", "editor", "restore"), ("language",) * 2 + ("fill",), ("film",) * 3):
        assert state[f"{name}_bundle"] == f"tiny_{bundle}/bundle"
        assert f"/{path}" in paths


@pytest.mark.parametrize(
    "path, body, counter, more",
    [
        ("/predict", {"inputs": ["최고", "별로"]}, "reviews", 2),
        ("/restore", {"inputs": ["최고의 영화", " ", "정말조앗는데"]}, "restored", 3),
        ("/fill", {"inputs": "[MASK]"}, "filled", 1),
        ("/fill", {"inputs": "좋다"}, "filled", 0),
    ],
)
def test_the_counters_tell_of_it(client, path, body, counter, more):
    def count():
        return float(re.search(rf"^nsmc_attention_{counter}_total (\S+)$", client.get("/metrics").text, re.M)[1])

    before, status = count(), client.post(path, json=body).status_code
    assert count() == before + more and status == (200 if more else 422)
    seconds = 'nsmc_attention_request_seconds_count{path="%s",status="%d"}' % (path, status)
    assert seconds in client.get("/metrics").text
    assert client.get("/nowhere").status_code == 404 and 'path="/nowhere"' not in client.get("/metrics").text


def test_the_page_of_the_api_loads_nothing_from_outside(client):
    assert not client.head("/").content and "WORDS_JS" not in client.get("/").text
    page = client.get("/docs")
    assert page.status_code == 200 and "https://" not in page.text
    assert "https:" not in page.headers["content-security-policy"]
    requests = [each for methods in client.get("/openapi.json").json()["paths"].values() for each in methods.values()]
    assert len(requests) == 10 and all(each["tags"] != ["default"] and " " in each["summary"] for each in requests)
    files = re.findall(r'(?:src|href)="(/[^"]+)"', page.text)
    assert len(files) == 3 and all(client.get(path).status_code == 200 for path in files)
