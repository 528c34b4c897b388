"""Models that a server may have beside its classifier: before they are loaded, where there are none, and wrong ones."""

import re
from dataclasses import replace

import pytest

pytest.importorskip("fastapi")

from starlette.testclient import TestClient

from nsmc_attention.classification.layout import LAYOUT
from nsmc_attention.language.layout import LAYOUT as LANGUAGE_MODEL
from nsmc_attention.serve.app import create_app
from nsmc_attention.serve.models import Bundles

REQUESTS = {"restore": ("/restore", "영화"), "language": ("/fill", "영화 [MASK]"), "film": ("/film?group_by=a", "a")}


@pytest.mark.parametrize("name", REQUESTS)
def test_before_the_models_are_loaded_the_client_is_told_to_try_again(name):
    path, text = REQUESTS[name]
    done = TestClient(create_app()).post(path, json={"inputs": text})
    assert done.status_code == 503 and done.headers["retry-after"] == "1"


def test_where_there_are_none_all_else_is_served_and_the_page_hides_them(ready, monkeypatch, tmp_path, bundle_folder):
    nowhere = tmp_path / "nowhere"
    monkeypatch.setattr("nsmc_attention.serve.models.EDITOR", nowhere)
    monkeypatch.setattr("nsmc_attention.serve.models.LANGUAGE_MODEL", replace(LANGUAGE_MODEL, packaged=(nowhere,)))
    with ready(create_app(Bundles(bundle_folder))) as client:
        for name, (path, text) in REQUESTS.items():
            done = client.post(path, json={"inputs": text})
            assert done.status_code == 404 and f"nsmc-attention serve --{name}-bundle DIR" in done.json()["error"]
            assert f"{name}_bundle" not in client.get("/readyz").json()
        assert client.post("/predict", json={"inputs": "최고"}).status_code == 200
        page = client.get("/").text
        assert re.search(r'<section [^>]*aria-labelledby="blanks" hidden>', page)


def test_the_packaged_ones_are_the_default(ready):
    with ready(create_app()) as client:
        assert {f"{name}_bundle" for name in REQUESTS} <= client.get("/readyz").json().keys()


@pytest.mark.parametrize("name", REQUESTS)
@pytest.mark.parametrize("folder, message", [("nowhere", "no such bundle folder"), ("classifier", "names no task")])
def test_a_bundle_of_another_task_ends_the_command_with_one_line(command, tmp_path, name, folder, message):
    bundle = LAYOUT.packaged[0] if folder == "classifier" else tmp_path / folder
    done = command("serve", "--port", "0", f"--{name}-bundle", bundle)
    assert done.returncode == 2 and message in done.stderr and done.stderr.count("\n") == 1
