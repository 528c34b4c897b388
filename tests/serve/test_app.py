import io
import json
import re

import pandas
import pytest

pytest.importorskip("fastapi")

from starlette.testclient import TestClient

from nsmc_attention.classification.predictor import load_classifier
from nsmc_attention.errors import DataError
from nsmc_attention.serve.app import create_app
from nsmc_attention.serve.guard import Limits
from nsmc_attention.serve.tables import upload_kind

TEXT = "배우는 좋은데 영화는 별로"


@pytest.fixture(scope="module")
def client(ready):
    with ready(create_app(limits=Limits(table=3_000_000))) as client:
        yield client


@pytest.fixture(scope="module")
def classifier():
    return load_classifier()


def predict(client, inputs, **parameters):
    return client.post("/predict", json={"inputs": inputs, "parameters": parameters})


def test_one_review_and_many_get_the_predictions_of_the_pipeline(client, classifier):
    expected = classifier([TEXT, "최고"])
    for inputs, answers in ((TEXT, expected[:1]), ([TEXT, "최고"], expected)):
        found = predict(client, inputs).json()
        assert [each["label"] for each in found] == [each["label"] for each in answers]
        assert [each["score"] for each in found] == pytest.approx([each["score"] for each in answers], abs=1e-5)


def test_top_k_returns_both_labels_the_more_probable_first(client):
    one, many = predict(client, TEXT, top_k=2).json(), predict(client, [TEXT], top_k=2).json()
    assert many == [one] and {each["label"] for each in one} == {"positive", "negative"}
    assert one[0]["score"] >= one[1]["score"] and one[0]["score"] + one[1]["score"] == pytest.approx(1)


def test_weights_come_on_demand(client, classifier):
    found = predict(client, TEXT, weights=True).json()[0]
    expected = classifier.predict(TEXT).to_dict(weights=True)
    assert found["tokens"] == expected["tokens"] and found["offsets"] == expected["offsets"]
    assert found["token_weights"] == pytest.approx(expected["token_weights"], abs=1e-5)
    assert "weights" not in predict(client, TEXT).json()[0]


@pytest.mark.parametrize(
    "path, kind, line",
    [
        (
            "/predict",
            {"Content-Type": "text/plain"},
            "found 'text/plain'; with curl: -H 'Content-Type: application/json'",
        ),
        ("/explain", {}, "found none; with curl: -H 'Content-Type: application/json'"),
        ("/film?group_by=film", {}, "found none; with curl: -F file=@reviews.csv"),
    ],
)
def test_a_body_of_another_type_or_none_is_refused_with_what_to_send(client, path, kind, line):
    done = client.post(path, content=b'{"inputs": "a"}', headers=kind)
    assert done.status_code == 422 and line in done.json()["error"]


def test_a_review_without_a_word_keeps_its_place(client):
    found = client.post(
        "/predict", content=b'{"inputs": ["good", " ", "\\ud800"]}', headers={"Content-Type": "application/json"}
    ).json()
    assert found[0]["label"] and found[1] == found[2]
    assert found[1] == {"label": None, "score": None, "error": "blank: no word to score"}
    assert predict(client, []).json() == []


@pytest.mark.parametrize("method", ["attention", "erasure", "gradient", "random"])
def test_a_review_is_explained(client, method):
    found = client.post("/explain", json={"inputs": TEXT, "method": method}).json()
    assert len(found["values"]) == len(found["tokens"]) and (found["matrix"] is not None) == (method == "attention")
    words = client.post("/explain", json={"inputs": TEXT, "method": method, "by_word": True}).json()
    assert words["tokens"] == TEXT.split()


@pytest.mark.parametrize(
    "kind, body",
    [
        ("text/csv", "id,document\n1,최고\n2,\n3,별로\n"),
        ("text/tab-separated-values", "id\tdocument\n1\t최고\n2\t\n3\t별로\n"),
        (
            "application/x-ndjson",
            '{"id": 1, "document": "최고"}\n{"id": 2, "document": ""}\n{"id": 3, "document": "별로"}\n',
        ),
    ],
)
def test_a_table_comes_back_with_its_columns(client, kind, body):
    done = client.post("/predict/batch", content=body.encode(), headers={"Content-Type": kind})
    assert done.status_code == 200 and done.headers["content-type"].startswith(kind)
    lines = done.text.splitlines()
    rows = lines if kind.endswith("ndjson") else lines[1:]
    assert len(rows) == 3 and "blank" in rows[1] and "최고" in rows[0]


@pytest.mark.parametrize("name, text", [("a.csv", "document,b\n최고,1\n"), ("b/리뷰.TSV", "document\tb\n최고\t1\n")])
def test_a_table_can_be_the_file_of_a_form(client, name, text):
    done = client.post("/predict/batch", files={"file": (name, text.encode(), "application/octet-stream")})
    kind = "text/csv" if name.endswith("csv") else "text/tab-separated-values"
    direct = client.post("/predict/batch", content=text.encode(), headers={"Content-Type": kind})
    assert done.status_code == 200 and done.content == direct.content
    assert done.headers["content-type"] == direct.headers["content-type"]


def form(*parts, end="--x--\r\n"):
    return ("".join(f"--x\r\n{head}\r\n\r\n{body}\r\n" for head, body in parts) + end).encode()


NAMED = 'Content-Disposition: form-data; name="file"; filename="{}"'
FIELD = ('Content-Disposition: form-data; name="text_column"', "b")


@pytest.mark.parametrize(
    "body, message",
    [
        (form((NAMED.format("a.png"), "a")), "a.png: unknown kind of file"),
        (form((NAMED.format("a.csv"), "document"), FIELD), "found 'text_column' too; options belong in the address"),
        (form(FIELD, (NAMED.format("a.csv"), "document")), "found 'text_column' too; options belong in the address"),
        (form((NAMED.format("a.csv"), "document"), (NAMED.format("a.csv"), "")), "expected one file alone"),
        (form((NAMED.format("a.csv"), "document"), end=""), "expected one file to its end"),
        (form((NAMED.format("a.csv") + "\r\nA: " + "a" * 99_999, "document")), "form: expected"),
        (form(), "form: expected"),
        (b"document\n", "form: expected multipart/form-data, found something else"),
        (b"", "form: expected one file to its end"),
        (form((NAMED.format("a.csv"), "a,b\n1,2")), "table: expected one column called document"),
    ],
)
def test_a_form_that_is_no_file_is_refused_with_a_line(client, body, message):
    done = client.post("/predict/batch", content=body, headers={"Content-Type": "multipart/form-data; boundary=x"})
    assert done.status_code == 422 and message in done.json()["error"]


def test_a_table_without_the_column_is_answered_with_its_columns(client):
    done = client.post("/predict/batch", content="a,문장\n1,최고\n".encode(), headers={"Content-Type": "text/csv"})
    assert done.status_code == 422 and done.json()["columns"] == ["a", "문장"]
    done = client.post("/predict/batch", content=b'{"\\ud800": 1}\n', headers={"Content-Type": "application/jsonl"})
    assert done.status_code == 422 and done.json()["columns"] == ["?"]


def test_files_of_korean_offices_are_read(client):
    frame = pandas.DataFrame({"번호": [1, 2], "리뷰": ["최고", "별로"]})
    workbook = io.BytesIO()
    frame.to_excel(workbook, index=False)
    text, excel = frame.to_csv(index=False), "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
    bodies = {text.encode("cp949"): "text/csv", text.encode("utf-16"): "text/csv", workbook.getvalue(): excel}
    answers = [
        client.post("/predict/batch", content=body, headers={"Content-Type": kind}) for body, kind in bodies.items()
    ]
    usual = client.post("/predict/batch", content=text.encode(), headers={"Content-Type": "text/csv"})
    for done in answers:
        assert done.status_code == 200 and done.headers["content-type"].startswith("text/csv")
        assert done.content == b"\xef\xbb\xbf" + usual.content


def test_the_sheet_of_a_workbook_can_be_chosen(client):
    workbook, excel = io.BytesIO(), "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
    with pandas.ExcelWriter(workbook) as writer:
        pandas.DataFrame({"값": ["최고"]}).to_excel(writer, sheet_name="3월", index=False)
        pandas.DataFrame({"리뷰": ["별로"]}).to_excel(writer, sheet_name="4월", index=False)

    def ask(query, body=workbook.getvalue(), kind=excel):
        return client.post(f"/predict/batch{query}", content=body, headers={"Content-Type": kind})

    assert ask("").json()["sheets"] == ["3월", "4월"] and ask("").json()["columns"] == ["값"]
    done = ask("?sheet=4월")
    assert "별로,negative" in done.text and json.loads(done.headers["X-Sheets"]) == ["4월", "3월"]
    assert "table: expected a sheet '5월', found 3월, 4월" in ask("?sheet=5월").json()["error"]
    assert (
        "sheet (--sheet): expected an xlsx file, found csv"
        in ask("?sheet=a", b"document\na\n", "text/csv").json()["error"]
    )


def test_an_upload_is_known_by_its_type_or_else_its_name():
    assert upload_kind("text/csv; charset=cp949") == upload_kind("application/vnd.ms-excel", "a.csv") == "csv"
    assert upload_kind("application/octet-stream", "리뷰.xlsx") == "xlsx"
    for wrong in (("image/png", "a.csv"), ("", "a.parquet"), ("", "a.hwp"), ("", "")):
        with pytest.raises(DataError, match="expected (multipart|one of)"):
            upload_kind(*wrong)


@pytest.mark.parametrize(
    "body, status, message",
    [
        (b"{", 400, "body: expected JSON, found something else"),
        (b"\xff\xfe", (400, 422), ""),
        (b"[1, 2]", 422, "body"),
        (b'{"inputs": 3}', 422, "inputs"),
        (b'{"inputs": [1]}', 422, "inputs"),
        (b'{"inputs": ["a", 5]}', 422, "body.inputs.1: Input should be a valid string"),
        (
            json.dumps({"inputs": "a", **{f"k{number}": 1 for number in range(100_000)}}).encode(),
            422,
            "body.k0: unknown key",
        ),
        (b'{"inputs": "a", "top_k": 2}', 422, "body.top_k: unknown key; known: inputs, parameters"),
        (
            b'{"inputs": "a", "parameters": {"topk": 2, "weigths": true}}',
            422,
            "body.parameters.topk: unknown key; did you mean 'top_k'?",
        ),
        (b'{"inputs": {"a": 1}}', 422, "inputs"),
        (b'{"inputs": "a", "parameters": {"top_k": 3}}', 422, "top_k"),
        (b'{"inputs": [' + b"1," * 900_000 + b"1]}", 422, "body.inputs.0: Input should be a valid string"),
        (b'{"inputs": "a", "parameters": null}', 422, "parameters"),
        (b'{"inputs": "a", "parameters": {"top_k": NaN}}', 422, "top_k"),
        (b"[" * 100000, (400, 422), ""),
        (
            json.dumps({"inputs": ["a"] * (Limits.reviews + 1)}).encode(),
            422,
            f"expected at most {Limits.reviews} reviews",
        ),
        (
            json.dumps({"inputs": "a" * (Limits.characters + 1)}).encode(),
            422,
            f"at most {Limits.characters} characters",
        ),
        (json.dumps({"inputs": "a" * 3_000_000}).encode(), 413, "expected at most 2000000 bytes"),
    ],
)
def test_bad_input_is_one_line_that_says_so(client, body, status, message):
    done = client.post("/predict", content=body, headers={"Content-Type": "application/json"})
    assert done.status_code in (status if isinstance(status, tuple) else (status,))
    text = done.json()["error"]
    assert message in text and "Traceback" not in text and "/tmp" not in text and "\n" not in text


@pytest.mark.parametrize(
    "path, kind", [("/predict", "application/json"), ("/explain", "application/json"), ("/predict/batch", "text/csv")]
)
def test_a_body_of_unknown_length_is_cut_off_at_the_limit(client, path, kind):
    def pieces():
        for _ in range(5):
            yield b"a" * 1_000_000

    done = client.post(path, content=pieces(), headers={"Content-Type": kind})
    assert done.status_code == 413 and "expected at most" in done.json()["error"]
    assert done.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize(
    "content, headers, message",
    [
        (b"document\n", {"Content-Type": "image/png"}, "Content-Type: expected multipart/form-data, text/csv"),
        (b"", {"Content-Type": "text/csv"}, "the file is empty"),
        (b"a,b\n1,2\n", {"Content-Type": "text/csv"}, "expected one column called document"),
        (b"document,b\n1\n", {"Content-Type": "text/csv"}, "table line 2: expected 2 fields"),
        (b"document\n\xff\n", {"Content-Type": "text/csv"}, "table"),
        (b'{"document": 1}\n[]\n', {"Content-Type": "application/jsonl"}, "table line 2: expected a JSON object"),
    ],
)
def test_a_bad_table_is_refused_before_any_answer(client, content, headers, message):
    done = client.post("/predict/batch", content=content, headers=headers)
    assert done.status_code == 422 and message in done.json()["error"] and "/tmp" not in done.json()["error"]


def test_all_errors_have_one_shape(client):
    for done, status in ((client.get("/nowhere"), 404), (client.get("/predict"), 405), (client.put("/"), 405)):
        assert done.status_code == status and set(done.json()) == {"error"}


def test_an_unknown_method_names_the_nearest(client):
    done = client.post("/explain", json={"inputs": "a", "method": "atention"})
    assert done.status_code == 422 and "did you mean 'attention'" in done.json()["error"]
    assert client.post("/explain", json={"inputs": " "}).status_code == 422
    done = client.post("/explain", json={"inputs": "a", "methd": "erasure"})
    assert done.status_code == 422 and done.json()["error"] == "body.methd: unknown key; did you mean 'method'?"


def test_too_many_explanations_are_refused(ready):
    with ready(create_app(limits=Limits(explanations=0))) as client:
        done = client.post("/explain", json={"inputs": TEXT})
        assert done.status_code == 503 and done.headers["retry-after"] == "1" and "try again" in done.json()["error"]
        assert predict(client, TEXT).status_code == 200


def test_an_explanation_ends_when_its_client_disconnects(client):
    scope = {
        "type": "http",
        "method": "POST",
        "path": "/explain",
        "query_string": b"",
        "headers": [(b"content-type", b"application/json")],
    }
    body = json.dumps({"inputs": f"{TEXT} " * 200, "method": "erasure"}).encode()
    messages = iter([{"type": "http.request", "body": body}])
    sent = []

    async def receive():
        return next(messages, {"type": "http.disconnect"})

    async def send(message):
        sent.append(message)

    client.portal.call(client.app, scope, receive, send)
    assert sent[0]["status"] == 400


def test_state_and_metrics(client):
    assert client.get("/healthz").json() == {"status": "alive"}
    assert client.get("/readyz").json()["status"] == "ready"
    predict(client, ["최고", "별로"])
    text = client.get("/metrics").text
    assert 'nsmc_attention_request_seconds_count{path="/predict",status="200"}' in text
    assert "nsmc_attention_reviews_total" in text
    assert client.get("/nowhere").status_code == 404 and 'path="/nowhere"' not in client.get("/metrics").text


def test_every_response_has_the_security_headers(client):
    for path in ("/", "/healthz", "/nowhere"):
        headers = client.get(path).headers
        assert "default-src 'none'" in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff" and headers["x-frame-options"] == "DENY"
    assert "fetch(" in client.get("/").text and "WORDS_JS" not in client.get("/").text


def test_the_page_can_be_asked_for_without_its_body(client):
    done = client.head("/")
    assert done.status_code == 200 and not done.content


def test_the_page_of_the_api_loads_nothing_from_outside(client):
    page = client.get("/docs")
    assert page.status_code == 200 and "https://" not in page.text
    assert "https:" not in page.headers["content-security-policy"]
    requests = [each for methods in client.get("/openapi.json").json()["paths"].values() for each in methods.values()]
    assert len(requests) == 9 and all(each["tags"] != ["default"] and " " in each["summary"] for each in requests)
    files = re.findall(r'(?:src|href)="(/[^"]+)"', page.text)
    assert len(files) == 3 and all(client.get(path).status_code == 200 for path in files)


def test_before_the_model_is_loaded_it_is_alive_and_not_ready():
    client = TestClient(create_app())  # without its lifespan, nothing is loaded
    assert client.get("/healthz").status_code == 200 and client.get("/").status_code == 200
    done = predict(client, "최고")
    assert client.get("/readyz").status_code == done.status_code == 503 and done.headers["retry-after"] == "1"
