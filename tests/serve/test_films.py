"""POST /film: a table's films as `film` rates them, with the limits and errors of other tables."""

import json

import pandas
import pytest

pytest.importorskip("fastapi")


from nsmc_attention.classification.layout import LAYOUT
from nsmc_attention.films.rater import load_film
from nsmc_attention.serve.app import create_app
from nsmc_attention.serve.guard import Limits
from nsmc_attention.serve.models import Bundles

ROWS = [
    ("가", "정말 재미있다"),
    ("나", "지루하다"),
    ("가", " "),
    (None, "좋다"),
    ("<b>다</b>", "최고의 영화"),
    ("라", "\u3164"),
]
ROWS += [("가", f"리뷰 {number} 배우들 연기가 좋다") for number in range(30)]
TABLE = pandas.DataFrame(ROWS, columns=["film", "review"]).to_csv(index=False)


@pytest.fixture(scope="module")
def client(ready, tiny_film):
    with ready(create_app(Bundles(film_bundle=tiny_film), Limits(films=20))) as client:
        yield client


def ask(client, body=TABLE, kind="text/csv", **query):
    return client.post(
        "/film", content=body.encode(), headers={"Content-Type": kind}, params={"group_by": "film", **query}
    )


def test_each_film_is_as_film_rates_it(client, tiny_film):
    expected = dict(load_film(tiny_film).rate(((film, text) for film, text in ROWS if film), shown=16))
    done = ask(client)
    found = [json.loads(line) for line in done.text.splitlines()]
    assert done.status_code == 200 and json.loads(done.headers["X-Text-Column"]) == "review"
    assert [line["film"] for line in found] == list(expected) == ["가", "나", "<b>다</b>", "라"]
    for line, rating in zip(found, expected.values()):
        assert (line["reviews"], line["blank"]) == (rating.reviews, rating.blank)
        for name in ("stars", "stars_low", "stars_high"):
            wanted = getattr(rating, name)
            assert line[name] == (wanted and pytest.approx(wanted, abs=1e-4))
        shown = [(each.prediction.text, pytest.approx(each.weight, abs=1e-5)) for each in rating.representative]
        assert [(each["text"], each["weight"]) for each in line["representative"]] == shown


def test_the_words_of_the_reviews_of_a_film_come_in_one_request(client):
    first = json.loads(ask(client).text.splitlines()[0])
    inputs = [each["text"] for each in first["representative"]]
    done = client.post("/predict", json={"inputs": inputs, "parameters": {"weights": True}})
    assert len(inputs) == Limits.weighted and [each["text"] for each in done.json()] == inputs


def test_a_form_and_other_kinds_are_read(client):
    whole = ask(client).text
    done = client.post("/film", files={"file": ("a.csv", TABLE.encode())}, params={"group_by": "film"})
    assert done.text == whole
    lines = pandas.DataFrame(ROWS, columns=["film", "review"]).to_json(orient="records", lines=True, force_ascii=False)
    assert ask(client, lines, "application/x-ndjson", text_column="review").text == whole


@pytest.mark.parametrize(
    "body, query, message",
    [
        (
            TABLE,
            {"group_by": "movie"},
            "table: expected a column 'movie', found film, review; name the one of the films",
        ),
        (TABLE, {"text_column": "text"}, "table: expected a column 'text', found film, review"),
        ("film,review\n,좋다\n", {}, "table: expected rows that name a film in column 'film', found none"),
        (
            "film,review\n" + "".join(f"{n},좋다\n" for n in range(21)),
            {},
            "at most 20 films in column 'film', found more",
        ),
        ("film,review\n1\n", {}, "table line 2: expected 2 fields as in the header, found 1"),
    ],
)
def test_bad_input_is_one_line_that_says_so(client, body, query, message):
    done = ask(client, body, **query)
    assert done.status_code == 422 and message in done.json()["error"] and "/dev" not in done.json()["error"]
    # its file is closed
    assert ask(client).status_code == 200


def test_a_film_column_has_to_be_named(client):
    done = client.post("/film", content=TABLE.encode(), headers={"Content-Type": "text/csv"})
    assert done.status_code == 422 and done.json()["error"] == "query.group_by: Field required"


def test_the_state_and_the_counters_tell_of_it(client):
    state = client.get("/readyz").json()
    assert state["film_bundle"] == "tiny_film/bundle" and state["stars"] == [1, 10]
    ask(client)
    assert 'nsmc_attention_request_seconds_count{path="/film",status="200"}' in client.get("/metrics").text


def test_of_another_classifier_there_are_no_films_and_all_else_is_served(ready, bundle_folder):
    with ready(create_app(Bundles(bundle_folder))) as client:
        done = ask(client)
        assert done.status_code == 404 and "nsmc-attention serve --film-bundle DIR" in done.json()["error"]
        assert not {"film_bundle", "stars"} & set(client.get("/readyz").json())
        assert client.post("/predict", json={"inputs": "최고"}).status_code == 200


@pytest.mark.parametrize("name, message", [("nowhere", "no such bundle folder"), ("classifier", "names no task")])
def test_a_bundle_that_cannot_rate_ends_the_command_with_one_line(command, tmp_path, name, message):
    folder = LAYOUT.packaged[0] if name == "classifier" else tmp_path / name
    done = command("serve", "--port", "0", "--film-bundle", folder)
    assert done.returncode == 2 and message in done.stderr and done.stderr.count("\n") == 1
