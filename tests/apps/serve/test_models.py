"""What a server says of itself, and the models that it may have beside its classifier, loaded or not."""

import re
from dataclasses import replace

import pytest
from starlette.testclient import TestClient

from nsmc_attention.apps.serve.app import create_app
from nsmc_attention.apps.serve.service import Bundles
from nsmc_attention.systems.language.system import LAYOUT as LANGUAGE_MODEL

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
    monkeypatch.setattr("nsmc_attention.systems.restoration.service.EDITOR", nowhere)
    monkeypatch.setattr("nsmc_attention.systems.reading.service.READER", nowhere)
    monkeypatch.setattr("nsmc_attention.systems.language.service.LAYOUT", replace(LANGUAGE_MODEL, packaged=(nowhere,)))
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


def test_the_packaged_ones_are_the_default(ready):
    with ready(create_app()) as client:
        assert {f"{name}_bundle" for name in REQUESTS} <= client.get("/readyz").json().keys()


def test_the_state_and_the_reference_tell_of_its_models(client):
    state, paths = client.get("/readyz").json(), client.get("/openapi.json").json()["paths"]
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
