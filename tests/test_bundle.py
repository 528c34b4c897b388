import json
import shutil

import pytest

from nsmc_attention.bundle import load_bundle
from nsmc_attention.errors import BundleError
from nsmc_attention.inference.predictor import load_classifier

FILES = ["manifest.json", "vocab.json", "weights.params", "model.onnx", "README.md"]


@pytest.fixture
def copy(bundle_folder, tmp_path):
    return shutil.copytree(bundle_folder, tmp_path / "bundle")


def change(folder, **values):
    path = folder / "manifest.json"
    manifest = json.loads(path.read_text(encoding="utf-8"))
    manifest.update(values)
    path.write_text(json.dumps(manifest), encoding="utf-8")


def test_a_bundle_has_the_documented_files_and_no_others(bundle_folder):
    assert sorted(path.name for path in bundle_folder.iterdir()) == sorted(FILES)


def test_no_path_of_the_machine_is_in_a_bundle(bundle_folder):
    for name in FILES:
        content = (bundle_folder / name).read_bytes()
        assert b"/tmp" not in content and b"/home" not in content and b"/root" not in content, name


@pytest.mark.parametrize("name", FILES)
def test_a_missing_file_is_named(copy, name):
    (copy / name).unlink()
    with pytest.raises(BundleError, match=f"has no {name}"):
        load_bundle(copy)


@pytest.mark.parametrize("name", FILES[1:])
@pytest.mark.parametrize("damage", [lambda data: data[:-1], lambda data: data[:10] + b"?" + data[11:],
                                    lambda data: b"", lambda data: data + b"\0"])
def test_an_altered_file_is_refused(copy, name, damage):
    (copy / name).write_bytes(damage((copy / name).read_bytes()))
    with pytest.raises(BundleError, match=f"{name}: expected sha256 .*truncated or altered"):
        load_bundle(copy)


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"null", b'{"schema": 2}', b"\xff\xfe", b"[" * 100000])
def test_a_manifest_that_is_none_is_refused(copy, content):
    (copy / "manifest.json").write_bytes(content)
    with pytest.raises(BundleError, match="expected a bundle's manifest"):
        load_bundle(copy)


@pytest.mark.parametrize("values, message", [
    ({"labels": ["positive", "negative"]}, "expected the labels"),
    ({"schema": 1}, "expected schema 3, found 1"),
    ({"vocabulary": 3}, "expected a vocabulary of 3, found"),
    ({"tokenizer_version": "python-mecab-ko 1.0"}, "was made with python-mecab-ko 1.0, found python-mecab-ko 1.3.7"),
    ({"config": {"model": {"hiden_size": 2}}}, "unknown key 'hiden_size' in model"),
    ({"files": {"../../etc/passwd": "0"}}, "lists a foreign file"),
    ({"files": {"vocab.json": "0"}}, "does not list weights.params"),
])
def test_a_manifest_that_does_not_fit_is_refused(copy, values, message):
    change(copy, **values)
    with pytest.raises(BundleError, match=message):
        load_bundle(copy)


def test_a_foreign_file_in_the_folder_is_refused(copy):
    (copy / "evil.py").write_text("", encoding="utf-8")
    with pytest.raises(BundleError, match="holds a foreign file 'evil.py'"):
        load_bundle(copy)


def test_parameters_of_another_shape_are_refused(copy):
    manifest = json.loads((copy / "manifest.json").read_text(encoding="utf-8"))
    manifest["config"]["model"]["hidden_size"] = 16
    change(copy, config=manifest["config"])
    with pytest.raises(BundleError, match="weights.params: does not fit the bundle's config"):
        load_classifier(copy, engine="gluon")


def test_no_folder_and_an_empty_folder_are_refused(tmp_path):
    with pytest.raises(BundleError, match="no such bundle folder"):
        load_bundle(tmp_path / "none")
    with pytest.raises(BundleError, match=r"has no manifest.json \(found nothing\)"):
        load_bundle(tmp_path)
