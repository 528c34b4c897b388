"""/explain of a classifier whose encoder is a Transformer, beside one whose encoder has no heads."""

import numpy
import pytest

pytest.importorskip("fastapi")


from nsmc_attention.classification.display import METHODS
from nsmc_attention.classification.explain import explain
from nsmc_attention.classification.predictor import load_classifier
from nsmc_attention.serve.app import create_app
from nsmc_attention.serve.models import Bundles
from nsmc_attention.serve.questions import LARGEST_MATRIX

TEXT = "배우는 좋은데 영화는 별로"


@pytest.fixture(scope="module")
def client(ready, tiny_transformer):
    with ready(create_app(Bundles(tiny_transformer))) as client:
        yield client


@pytest.fixture(scope="module")
def recurrent(ready, bundle_folder):
    with ready(create_app(Bundles(bundle_folder))) as client:
        yield client


@pytest.fixture(scope="module")
def classifier(tiny_transformer):
    return load_classifier(tiny_transformer)


def ask(client, inputs=TEXT, **options):
    return client.post("/explain", json={"inputs": inputs, **options})


def test_rollout_is_a_method_where_the_encoder_has_heads(client, classifier):
    assert client.get("/readyz").json()["methods"] == [*METHODS]
    found = ask(client, method="rollout").json()
    assert found["values"] == pytest.approx(explain(classifier, TEXT, "rollout").values, abs=1e-4)
    assert sum(found["values"]) == pytest.approx(1, abs=1e-3) and not found["signed"] and found["matrix"] is None


def test_an_encoder_without_heads_has_no_rollout_and_says_so_in_one_line(recurrent):
    assert set(METHODS) - {*recurrent.get("/readyz").json()["methods"]} == {"rollout"}
    for options, line in (
        ({"method": "rollout"}, "method rollout: expected a classifier whose encoder is a transformer, found gru; use"),
        ({"heads": True}, "heads: expected the heads of an encoder that is a transformer, found another encoder; take"),
    ):
        done = ask(recurrent, **options)
        assert done.status_code == 422 and line in done.json()["error"] and "\n" not in done.json()["error"]


@pytest.mark.parametrize("by_word", [False, True])
@pytest.mark.parametrize("method", ["attention", "rollout", "random"])
def test_heads_come_on_demand_whatever_the_method(client, classifier, method, by_word):
    usual, found = (ask(client, method=method, by_word=by_word, heads=heads).json() for heads in (False, True))
    expected = explain(classifier, TEXT, method)
    expected = expected.by_word() if by_word else expected
    assert numpy.array(found.pop("heads")) == pytest.approx(expected.heads, abs=1e-4)
    assert found == usual


def test_of_a_long_review_there_are_heads_of_words_where_those_of_tokens_are_too_many(client):
    text = "영화가 " * (LARGEST_MATRIX // 2 + 1)
    done = ask(client, text, heads=True)
    assert done.status_code == 422
    assert (
        done.json()["error"]
        == "heads: expected at most 128 tokens for 3 layers of 2 heads, found 130; send a part of the text"
    )
    heads = ask(client, text, heads=True, by_word=True).json()["heads"]
    assert numpy.shape(heads) == (3, 2, LARGEST_MATRIX // 2 + 1, LARGEST_MATRIX // 2 + 1)
    assert len(ask(client, text, method="rollout").json()["values"]) == 130


def test_of_a_very_long_review_there_is_no_matrix(client):
    for by_word in (False, True):
        found = ask(client, "최고 " * (LARGEST_MATRIX + 1), by_word=by_word).json()
        assert found["matrix"] is None and len(found["values"]) == len(found["tokens"]) > LARGEST_MATRIX
    words = ask(client, "영화가 " * LARGEST_MATRIX, by_word=True).json()
    assert numpy.shape(words["matrix"]) == (LARGEST_MATRIX, LARGEST_MATRIX)
