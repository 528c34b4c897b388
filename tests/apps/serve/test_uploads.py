"""POST /predict/batch and /film: tables of every kind, scored, and films as `film` rates them."""

import io
import json
import re

import pandas
import pytest

from nsmc_attention.apps.serve.guard import Limits
from nsmc_attention.apps.serve.uploads import LETTERS, MEDIA_TYPES, upload_kind
from nsmc_attention.errors import DataError
from nsmc_attention.systems.film.rater import load_film

EXCEL = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
REVIEWS = [("가", "정말 재미있다"), ("나", "지루하다"), ("가", " "), (None, "좋다"), ("<b>다</b>", "최고의 영화")]
REVIEWS += [("라", "\u3164"), *(("가", f"리뷰 {number} 배우들 연기가 좋다") for number in range(30))]
FRAME = pandas.DataFrame(REVIEWS, columns=["film", "review"])
FILMS = FRAME.to_csv(index=False)
ENGLISH = 20 * ["I think the battery was not worth the money."]


@pytest.fixture
def batch(client, ask):
    """A function that sends a table to /predict/batch."""
    return lambda body, kind="text/csv", **query: ask(client, "/predict/batch", body, kind, **query)


@pytest.fixture
def film(client, ask):
    """A function that sends a table to /film."""
    given = {"group_by": "film"}
    return lambda body=FILMS, **query: ask(client, "/film", body.encode(), "text/csv", **{**given, **query})


def as_file(frame, kind):
    """Return a frame as the body of a request of a media type."""
    if kind == EXCEL:
        frame.to_excel(file := io.BytesIO(), index=False)
        return file.getvalue()
    if kind == "application/vnd.apache.parquet":
        return frame.to_parquet()
    if kind == "application/x-ndjson":
        return frame.to_json(orient="records", lines=True, force_ascii=False).encode()
    text = frame.to_csv(index=False, sep="\t" if "tab" in kind else ",")
    return text.encode("cp949" if kind.endswith("cp949") else "utf-8")


@pytest.mark.parametrize("kind", ["text/csv", "text/csv; charset=cp949", *MEDIA_TYPES])
def test_a_table_comes_back_with_its_columns_and_a_binary_one_as_csv(batch, kind):
    frame = pandas.DataFrame({"id": ["1", "2", "3"], "document": ["최고", "", "별로"]})
    done = batch(as_file(frame, kind.replace("/jsonl", "/x-ndjson")), kind)
    expected = kind.partition(";")[0] if kind.startswith("text") or "json" in kind else "text/csv"
    assert done.status_code == 200 and done.headers["content-type"].startswith(expected.replace("/jsonl", "/x-ndjson"))
    rows = done.text.splitlines()[0 if "json" in kind else 1 :]
    assert len(rows) == 3 and "blank" in rows[1] and "최고" in rows[0]


def test_the_answer_says_where_texts_are_unlike_film_reviews(batch):
    other, films = ("document\n" + "\n".join(texts) + "\n" for texts in (ENGLISH, 20 * ["정말 재미있는 영화"]))
    found = json.loads(batch(other.encode()).headers["X-Unlike"])
    assert found["texts"] == len(ENGLISH) and found["rank"] > found["usual_rank"]
    assert found["certainty"] < found["usual_certainty"]
    assert "X-Unlike" not in batch(films.encode()).headers


@pytest.mark.parametrize("kind", ["text/csv", "text/tab-separated-values", EXCEL])
def test_columns_of_the_sentiment_and_the_stars_come_only_when_asked_for(batch, kind):
    texts = ["최고의 영화", "정말 별로", "그냥 그렇다", "어제 개봉했다", " "]
    body = as_file(pandas.DataFrame({"document": texts}), kind)
    plain, asked, refused = (batch(body, kind, sentiment=value).text.lstrip("\ufeff") for value in (None, True, False))
    separator = "\t" if "tab" in kind else ","
    frame = pandas.read_csv(io.StringIO(asked), sep=separator, keep_default_na=False)
    assert list(frame) == "document label score sentiment stars probability error".split()
    assert list(frame["sentiment"]) == ["positive", "negative", "neutral", "", ""]
    assert [bool(label) for label in frame["label"]] == 4 * [True] + [False]
    for sentiment, stars in zip(frame["sentiment"], frame["stars"]):
        assert 1 <= float(stars) <= 10 if sentiment else stars == ""
    without = pandas.read_csv(io.StringIO(plain), sep=separator, keep_default_na=False)
    assert list(without) == "document label score probability error".split() and plain == refused
    assert without.equals(frame.drop(columns=["sentiment", "stars"]))
    assert "sentiment" in batch(body, kind, sentiment="perhaps").json()["error"]


@pytest.mark.parametrize("name, text", [("a.csv", "document,b\n최고,1\n"), ("b/리뷰.TSV", "document\tb\n최고\t1\n")])
def test_a_table_can_be_the_file_of_a_form(client, batch, name, text):
    done = client.post("/predict/batch", files={"file": (name, text.encode(), "application/octet-stream")})
    direct = batch(text.encode(), "text/csv" if name.endswith("csv") else "text/tab-separated-values")
    assert done.status_code == 200 and done.content == direct.content
    assert done.headers["content-type"] == direct.headers["content-type"]


def form(*parts):
    return ("".join(f"--x\r\n{head}\r\n\r\n{body}\r\n" for head, body in parts) + "--x--\r\n").encode()


NAMED = 'Content-Disposition: form-data; name="file"; filename="{}"'
FILE, FIELD = (NAMED.format("a.csv"), "document"), ('Content-Disposition: form-data; name="text_column"', "b")


@pytest.mark.parametrize(
    "body, statuses, message",
    [
        (form((NAMED.format("a.png"), "a")), (422,), "found 'a.png'"),
        (form(FILE, FIELD), (422,), "found 'file', 'text_column'; options belong in the address"),
        (form(FIELD), (422,), "found 'text_column'; options belong in the address"),
        (form(FILE, FILE), (400,), "Too many files"),
        (form(), (400, 422), ""),
        (b"document\n", (400,), ""),
        (b"", (422,), "found none"),
        (form((NAMED.format("a.csv"), "a,b\n1,2")), (422,), "table: expected one column called document"),
    ],
)
def test_a_form_that_is_no_file_is_refused_with_a_line(batch, body, statuses, message):
    done = batch(body, "multipart/form-data; boundary=x")
    assert done.status_code in statuses and message in done.json()["error"]


@pytest.mark.parametrize(
    "body, kind, message",
    [
        (b"document\n", "image/png", "Content-Type: expected multipart/form-data, text/csv"),
        (b"document\n", None, "found none; with curl: -F file=@reviews.csv"),
        (b"", "text/csv", "the file is empty"),
        (b"a,b\n1,2\n", "text/csv", "name the one of the texts by text_column"),
        ("리뷰\n좋다".encode("utf-16-le") + b"\xff", "text/csv", "table"),
        (b'{"\\ud800": 1}\n', "application/jsonl", "expected one column called document"),
        (b"document,b\n1\n", "text/csv", "table row 2: expected 2 cells"),
        (b"document\n\xff\n", "text/csv", "table"),
        (b'{"document": 1}\n[]\n', "application/jsonl", "table row 2: expected a JSON object"),
    ],
)
def test_a_bad_table_is_refused_before_any_answer(batch, body, kind, message):
    done = batch(body, kind)
    assert done.status_code == 422 and message in done.json()["error"]
    # neither a path nor an option of the command line
    assert not re.search("/tmp|--|nsmc-attention", done.json()["error"])
    assert done.json().get("columns", ["a", "b"]) == (["?"] if b"ud800" in body else ["a", "b"])


def test_the_sheet_of_a_workbook_can_be_chosen(batch):
    workbook = io.BytesIO()
    with pandas.ExcelWriter(workbook) as writer:
        pandas.DataFrame({"값": [1]}).to_excel(writer, sheet_name="3월", index=False)
        pandas.DataFrame({"리뷰": ["별로"]}).to_excel(writer, sheet_name="4월", index=False)
    found, first, second, none = (batch(workbook.getvalue(), EXCEL, sheet=name) for name in (None, "3월", "4월", "5월"))
    assert first.json()["sheets"] == ["3월", "4월"] and first.json()["columns"] == ["값"]
    for chosen in (found, second):
        assert "별로,negative" in chosen.text and json.loads(chosen.headers["X-Sheets"]) == ["4월", "3월"]
    assert "table: expected a sheet '5월', found '3월', '4월'" in none.json()["error"]
    refused = batch(b"document\na\n", sheet="a").json()["error"]
    assert "sheet: expected an xlsx file, found csv" in refused


def test_an_upload_is_known_by_its_type_or_else_its_name_or_refused():
    assert upload_kind("text/csv; charset=cp949") == upload_kind("application/vnd.ms-excel", "a.csv") == "csv"
    assert upload_kind("application/octet-stream", "a.parquet") == "parquet"
    assert upload_kind("application/octet-stream", "리뷰.xlsx") == "xlsx"
    for media_type, name in (("image/png", "a.csv"), ("", "a.hwp"), ("", ""), ("application/json", "a.json")):
        with pytest.raises(DataError, match="expected multipart/form-data, text/csv, .*; with curl: -F file=@rev"):
            upload_kind(media_type, name)


def test_a_long_name_of_a_column_is_shortened_in_the_headers(batch):
    name = "리뷰" + "가" * 300_000
    done = batch(f"{name},b\n최고,1\n".encode(), text_column="1")
    assert done.status_code == 200 and json.loads(done.headers["X-Text-Column"]) == name[:LETTERS]
    assert done.text.startswith(f"{name},b,label") and sum(map(len, done.headers.values())) < 10_000


def test_each_film_is_as_film_rates_it(client, ask, film, tiny_film):
    expected = dict(load_film(tiny_film).rate(((name, text) for name, text in REVIEWS if name), shown=16))
    done = film()
    lines = [json.loads(line) for line in done.text.splitlines()]
    assert done.status_code == 200 and json.loads(done.headers["X-Text-Column"]) == "review"
    assert [line["film"] for line in lines] == list(expected) == ["가", "나", "<b>다</b>", "라"]
    for line, rating in zip(lines, expected.values()):
        assert (line["reviews"], line["blank"]) == (rating.reviews, rating.blank)
        for name in ("stars", "stars_low", "stars_high"):
            wanted = getattr(rating, name)
            assert line[name] == (wanted and pytest.approx(wanted, abs=1e-4))
        shown = [(each.prediction.text, pytest.approx(each.weight, abs=1e-5)) for each in rating.representative]
        assert [(each["text"], each["weight"]) for each in line["representative"]] == shown
    assert 'nsmc_attention_request_seconds_count{path="/film",status="200"}' in client.get("/metrics").text
    # the words of all that are shown of a film come in one request
    inputs = [review["text"] for review in lines[0]["representative"]]
    answers = ask(client, "/predict", {"inputs": inputs, "parameters": {"weights": True}}).json()
    assert len(inputs) == Limits.weighted and [answer["text"] for answer in answers] == inputs


@pytest.mark.parametrize(
    "body, query, message",
    [
        (FILMS, {"group_by": "movie"}, "table: expected a column 'movie', found film, review; name the one of the"),
        (FILMS, {"group_by": None}, "query.group_by: Field required"),
        (FILMS, {"text_column": "text"}, "table: expected a column 'text', found film, review"),
        ("film,review\n,좋다\n", {}, "table: expected rows that name a film in column 'film', found none"),
        ("film,review\n" + "".join(f"{n},좋다\n" for n in range(10_001)), {}, "at most 10000 films in column 'film'"),
        ("film,review\n1\n", {}, "table row 2: expected 2 cells as in the header, found 1"),
    ],
)
def test_a_table_of_no_films_is_one_line_and_its_file_is_closed(film, body, query, message):
    done = film(body, **query)
    assert done.status_code == 422 and message in done.json()["error"]
    assert not re.search("/dev|--|nsmc-attention", done.json()["error"])
    assert film().status_code == 200


def test_the_share_of_positive_reviews_is_estimated_and_labels_lean_to_it(batch):
    done = batch(FILMS.encode())
    found = json.loads(done.headers["X-Share"])
    assert set(found) == {"share", "low", "high", "n"} and 0 <= found["low"] <= found["high"] <= 1
    assert done.text.splitlines()[0] == "film,review,label,score,probability,error"
    for share, expected in (("0.8", 0.8), ("table", found["share"])):
        answer = batch(FILMS.encode(), share=share).text
        assert answer.splitlines()[0].endswith("probability,label_by_share,probability_by_share,share,error")
        shares = pandas.read_csv(io.StringIO(answer))["share"].dropna().unique()
        assert shares == pytest.approx(expected, abs=1e-6)
    head = batch(FILMS.encode(), share="0.8", sentiment=True).text.splitlines()[0]
    columns = "label,score,sentiment,stars,probability,label_by_share,probability_by_share,share,error"
    assert head == f"film,review,{columns}"


def test_what_has_no_share_says_so(batch):
    few = b"document\n" + "최고\n별로\n".encode()
    assert json.loads(batch(few).headers["X-Share"])["share"] is None
    for share, message in (("table", "expected a share that can be estimated"), ("2", "expected table, or a number")):
        done = batch(few, share=share)
        assert done.status_code == 422 and message in done.json()["error"] and "--" not in done.json()["error"]


def test_a_table_without_a_header_is_read_whole(batch):
    rows = "5,배송이 빠르고 정말 좋아요\n2,택배가 엉망이네요\n4,다시 사고 싶어요\n"
    for query in ({}, {"header": "none", "text_column": "2"}):
        done = batch(rows.encode(), **query)
        assert done.status_code == 200 and len(done.text.splitlines()) == 4 and "column 2" in done.text
