import json
import os
import shutil
from pathlib import Path

import pytest

from nsmc_attention.bundle.format import load_bundle, read_contents, write_bundle, write_contents
from nsmc_attention.classification.predictor import load_classifier
from nsmc_attention.classification.system import LAYOUT
from nsmc_attention.errors import BundleError

FILES = ["manifest.json", "vocab.json", "weights.params", "model.onnx", "README.md"]


@pytest.fixture
def copy(bundle_folder, tmp_path):
    return shutil.copytree(bundle_folder, tmp_path / "bundle")


def change(folder, **values):
    path = folder / "manifest.json"
    manifest = json.loads(path.read_text(encoding="utf-8"))
    manifest.update(values)
    path.write_text(json.dumps(manifest), encoding="utf-8")


def test_no_path_of_the_machine_is_in_a_bundle(bundle_folder):
    for name in FILES:
        content = (bundle_folder / name).read_bytes()
        assert b"/tmp" not in content and b"/home" not in content and b"/root" not in content, name


@pytest.mark.parametrize("name", FILES)
def test_a_missing_file_is_named(copy, name):
    (copy / name).unlink()
    with pytest.raises(BundleError, match=f"has no {name}"):
        load_bundle(copy, LAYOUT)


@pytest.mark.parametrize("name", FILES[1:])
@pytest.mark.parametrize(
    "damage",
    [lambda data: data[:-1], lambda data: data[:10] + b"?" + data[11:], lambda data: b"", lambda data: data + b"\0"],
)
def test_an_altered_file_is_refused(copy, name, damage):
    (copy / name).write_bytes(damage((copy / name).read_bytes()))
    short = "[0-9a-f]{12}…"
    with pytest.raises(BundleError, match=f"{name}: expected sha256 {short}, found {short}; the file is truncated"):
        read_contents(load_bundle(copy, LAYOUT))


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"null", b'{"schema": 2}', b"\xff\xfe", b"[" * 100000])
def test_a_manifest_that_is_none_is_refused(copy, content):
    (copy / "manifest.json").write_bytes(content)
    with pytest.raises(BundleError, match="expected a bundle's manifest"):
        load_bundle(copy, LAYOUT)


@pytest.mark.parametrize(
    "values, message",
    [
        ({"labels": ["positive", "negative"]}, "expected the labels"),
        ({"labels": None}, "expected the labels .*, found None"),
        ({"schema": 1}, "expected schema 4, found 1"),
        ({"schema": 5}, "expected schema 4, found 5"),
        ({"schema": 3}, "expected a bundle's manifest"),
        ({"schema": "s" * 100}, f"found {'s' * 20};"),
        ({"labels": "l" * 100}, f"found {'l' * 60}$"),
        ({"metrics": {"dev": 1}}, "expected a bundle's manifest"),
        ({"vocabulary": 3}, "expected a vocabulary of 3, found"),
        ({"tokenizer_version": "python-mecab-ko 9.9"}, "was made with python-mecab-ko 9.9, found python-mecab-ko"),
        ({"config": {"text": {}}}, "model: expected a value, found none"),
        ({"files": {"../../etc/passwd": "0"}}, "lists a foreign file"),
        ({"files": {"vocab.json": "0"}}, "does not list weights.params"),
    ],
)
def test_a_manifest_that_does_not_fit_is_refused(copy, values, message):
    change(copy, **values)
    with pytest.raises(BundleError, match=message):
        load_bundle(copy, LAYOUT)


def test_a_foreign_file_in_the_folder_is_refused(copy):
    (copy / "evil.py").write_text("", encoding="utf-8")
    with pytest.raises(BundleError, match="holds a foreign file 'evil.py'"):
        load_bundle(copy, LAYOUT)


def test_parameters_of_another_shape_are_refused(copy):
    manifest = json.loads((copy / "manifest.json").read_text(encoding="utf-8"))
    manifest["config"]["model"]["encoder"]["hidden_size"] = 16
    change(copy, config=manifest["config"])
    with pytest.raises(BundleError, match="weights.params: does not fit the bundle's config"):
        load_classifier(copy, engine="gluon")


def test_no_folder_and_an_empty_folder_are_refused(tmp_path):
    with pytest.raises(BundleError, match="no such bundle folder"):
        load_bundle(tmp_path / "none", LAYOUT)
    with pytest.raises(BundleError, match=r"has no manifest.json \(found nothing\)"):
        load_bundle(tmp_path, LAYOUT)


def test_what_a_message_quotes_is_bounded(copy):
    for letter in "xyz":
        (copy / (letter * 100)).touch()
    with pytest.raises(BundleError, match=f"a foreign file '{'x' * 60}',"):
        load_bundle(copy, LAYOUT)
    (copy / "README.md").unlink()
    with pytest.raises(BundleError, match=f"has no README.md .found manifest.json, .*{'y' * 34}…\\); was a copy"):
        load_bundle(copy, LAYOUT)
    change(copy, files={"g" * 100: "0", "f" * 100: "0", "h": "0"})
    with pytest.raises(BundleError, match=f"lists a foreign file '{'f' * 60}'$"):
        load_bundle(copy, LAYOUT)


def test_a_bundle_is_called_by_its_last_two_names(copy):
    assert load_bundle(copy, LAYOUT).name == f"{copy.parent.name}/bundle"
    assert load_bundle(None, LAYOUT).name == "pretrained" and load_bundle(None, LAYOUT).packaged
    assert not load_bundle(copy, LAYOUT).packaged
    assert load_bundle(str(LAYOUT.packaged[0]), LAYOUT).packaged


def test_a_fingerprint_tells_bundles_apart_by_what_answers(copy, tmp_path):
    before = load_bundle(copy, LAYOUT).fingerprint
    assert load_bundle(shutil.copytree(copy, tmp_path / "elsewhere"), LAYOUT).fingerprint == before
    manifest = json.loads((copy / "manifest.json").read_text(encoding="utf-8"))
    change(copy, created="another day", files=dict(reversed(manifest["files"].items())))
    assert load_bundle(copy, LAYOUT).fingerprint == before
    manifest["config"]["text"]["max_length"] = 7
    change(copy, config=manifest["config"])
    cut = load_bundle(copy, LAYOUT).fingerprint
    write_bundle(copy, manifest, {**read_contents(load_bundle(copy, LAYOUT)), "README.md": b"another"})
    assert len({before, cut, load_bundle(copy, LAYOUT).fingerprint}) == 3


def test_contents_written_again_are_the_same_bundle(copy, tmp_path):
    contents = read_contents(load_bundle(copy, LAYOUT))
    assert sorted(contents) == sorted(FILES) == sorted(path.name for path in copy.iterdir())
    write_contents(tmp_path / "again", contents)
    for name in FILES:
        assert (tmp_path / "again" / name).read_bytes() == (copy / name).read_bytes()


def test_a_manifest_is_readable_korean_and_replaces_the_old_one(copy):
    before = load_bundle(copy, LAYOUT)
    write_bundle(copy, {**before.manifest, "command": "train 한글 \ud800"}, read_contents(before))
    assert "train 한글 ?" in (copy / "manifest.json").read_text(encoding="utf-8")
    assert load_bundle(copy, LAYOUT).manifest["files"] == before.manifest["files"]


RELEASE_1 = Path(__file__).parent / "release_1"


@pytest.mark.parametrize("name, kind", [("classifier", "classifier"), ("article", "article")])
def test_bundles_of_release_1_load_and_predict_the_same(name, kind):
    expected = json.loads((RELEASE_1 / "predictions.json").read_text(encoding="utf-8"))[name]
    classifier = load_classifier(RELEASE_1 / name, "onnx")
    assert classifier.bundle.config.model.kind == kind
    for prediction in expected:
        found = classifier.predict(prediction["text"])
        assert found.probability == pytest.approx(prediction["probability"], abs=1e-5)
        assert found.token_weights == pytest.approx(prediction["token_weights"], abs=1e-5)


def test_a_manifest_of_release_1_that_lacks_a_setting_is_refused(tmp_path):
    copy = tmp_path / "copy"
    shutil.copytree(RELEASE_1 / "classifier", copy)
    manifest = json.loads((copy / "manifest.json").read_text(encoding="utf-8"))
    del manifest["config"]["model"]["attention_units"]
    (copy / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    with pytest.raises(BundleError, match="expected a bundle's manifest, found something else; was it altered"):
        load_bundle(copy, LAYOUT)


def test_a_manifest_of_impossible_size_is_refused_unread(copy):
    manifest = copy / "manifest.json"
    manifest.write_bytes(manifest.read_bytes().ljust(2**20))
    load_bundle(copy, LAYOUT)
    manifest.write_bytes(manifest.read_bytes() + b" ")
    with pytest.raises(BundleError, match="manifest.json: expected at most 1,048,576 bytes"):
        load_bundle(copy, LAYOUT)


@pytest.mark.parametrize(
    "name, largest", [("README.md", 2**20), ("vocab.json", 2**25), ("weights.params", 2**30), ("model.onnx", 2**30)]
)
def test_a_file_of_impossible_size_is_refused_by_its_size(copy, name, largest):
    for size in (largest, largest + 1) if largest < 2**30 else (largest + 1,):
        os.truncate(copy / name, size)  # a hole: takes no room on the disk
        message = f"{name}: expected sha256" if size == largest else f"{name}: expected at most {largest:,} bytes"
        with pytest.raises(BundleError, match=message):
            read_contents(load_bundle(copy, LAYOUT))
