import json
import shutil

import onnx
import pytest
import yaml
from onnx.external_data_helper import set_external_data

from nsmc_attention import registry
from nsmc_attention.bundle import load_bundle, model_card, read_contents, write_bundle
from nsmc_attention.classifier.predictor import load_classifier
from nsmc_attention.classifier.settings import LAYOUT, PRESETS
from nsmc_attention.errors import BundleError

FILES = ["manifest.json", "vocab.json", "model.safetensors", "model.onnx", "README.md"]
PACKAGED = [(folder, one.layout) for one in registry.SYSTEMS.values() for folder in one.layout.packaged]


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
    with pytest.raises(BundleError, match=f"has no {name} .found .*; (was a copy interrupted|is it a run's folder)"):
        load_bundle(copy, LAYOUT)


@pytest.mark.parametrize("name", FILES[1:])
@pytest.mark.parametrize("damage", [lambda data: data[:-1], lambda data: data[:10] + b"?" + data[11:]])
def test_an_altered_file_is_refused(copy, name, damage):
    (copy / name).write_bytes(damage((copy / name).read_bytes()))
    short = "[0-9a-f]{12}…"
    with pytest.raises(BundleError, match=f"{name}: expected sha256 {short}, found {short}; the file is truncated"):
        read_contents(load_bundle(copy, LAYOUT))
    if name.startswith("model"):
        with pytest.raises(BundleError, match=f"{name}: expected sha256"):
            load_classifier(copy, "onnx")


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"null", b'{"schema": 5}', b"\xff\xfe"])
def test_a_manifest_that_is_none_is_refused(copy, content):
    (copy / "manifest.json").write_bytes(content)
    with pytest.raises(BundleError, match="expected a bundle's manifest"):
        load_bundle(copy, LAYOUT)


@pytest.mark.parametrize(
    "values, message",
    [
        ({"labels": ["positive", "negative"]}, "expected the labels"),
        ({"schema": 4}, "expected schema 5, found 4; convert a bundle of release 0.2 with `python -m recipes"),
        ({"schema": 6}, "expected schema 5, found 6; .* or install the release that wrote it"),
        ({"task": "film"}, "expected a bundle of the task classify, found 'film'"),
        ({"vocabulary": 3}, "expected a vocabulary of 3, found"),
        ({"tokenizer_version": "python-mecab-ko 9.9"}, "was made with python-mecab-ko 9.9, found python-mecab-ko"),
        ({"config": {"text": {}}}, "model: expected a value, found none"),
    ],
)
def test_a_manifest_that_does_not_fit_is_refused(copy, values, message):
    change(copy, **values)
    with pytest.raises(BundleError, match=message):
        load_bundle(copy, LAYOUT)


def test_parameters_of_another_shape_are_refused(copy):
    manifest = json.loads((copy / "manifest.json").read_text(encoding="utf-8"))
    manifest["config"]["model"]["encoder"]["hidden_size"] = 16
    change(copy, config=manifest["config"])
    with pytest.raises(BundleError, match="its model.safetensors does not fit the config of its manifest"):
        load_classifier(copy, engine="gluon")


def test_no_folder_and_an_empty_folder_are_refused(tmp_path):
    with pytest.raises(BundleError, match="no such bundle folder"):
        load_bundle(tmp_path / "none", LAYOUT)
    with pytest.raises(BundleError, match=r"has no manifest.json \(found nothing\)"):
        load_bundle(tmp_path, LAYOUT)


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


def test_contents_written_again_are_the_same_bundle_and_its_manifest_is_readable_korean(copy, tmp_path):
    bundle = load_bundle(copy, LAYOUT)
    assert sorted(FILES) == sorted(path.name for path in copy.iterdir())
    write_bundle(tmp_path / "again", bundle.manifest, read_contents(bundle))
    for name in FILES:
        assert (tmp_path / "again" / name).read_bytes() == (copy / name).read_bytes()
    write_bundle(copy, {**bundle.manifest, "command": "train 한글 \ud800"}, read_contents(bundle))
    assert "train 한글 ?" in (copy / "manifest.json").read_text(encoding="utf-8")
    assert load_bundle(copy, LAYOUT).manifest["files"] == bundle.manifest["files"]


@pytest.mark.parametrize("folder, layout", PACKAGED, ids=[folder.name for folder, _ in PACKAGED])
def test_a_packaged_bundle_has_its_numbers_once(folder, layout):
    bundle = load_bundle(folder, layout)
    stored = set(bundle.parameters())
    for name in bundle.config.graphs:
        assert len(bundle.read(name)) < 20_000
        constants = onnx.load_from_string(bundle.read(name)).graph.initializer
        assert {item.name for item in constants if item.data_location == item.EXTERNAL} <= stored
        assert len(onnx.load(bundle.file(name)).SerializeToString()) > 30_000


@pytest.mark.parametrize("place", ["{outside}", "../outside"])
def test_a_graph_that_names_a_file_outside_its_folder_is_refused(copy, place, monkeypatch):
    monkeypatch.chdir(copy)
    outside = copy.with_name("outside")
    outside.write_bytes((copy / "model.safetensors").read_bytes())
    model = onnx.load_from_string((copy / "model.onnx").read_bytes())
    constant = next(item for item in model.graph.initializer if item.data_location == item.EXTERNAL)
    known = {each.key: each.value for each in constant.external_data}
    constant.raw_data = b"0"
    set_external_data(constant, place.format(outside=outside), int(known["offset"]), int(known["length"]))
    constant.ClearField("raw_data")
    for node in model.graph.node:
        node.input[:] = ["another" if each == constant.name else each for each in node.input]
    constant.name = "another"
    bundle = load_bundle(copy, LAYOUT)
    write_bundle(copy, bundle.manifest, {**read_contents(bundle), "model.onnx": model.SerializeToString()})
    with pytest.raises(BundleError, match="model.onnx: names another file than model.safetensors"):
        load_classifier(copy, "onnx")


@pytest.mark.parametrize("system", registry.SYSTEMS)
def test_the_packaged_cards_are_what_their_manifests_give(system):
    layout = registry.SYSTEMS[system].layout
    for bundle in (load_bundle(folder, layout) for folder in layout.packaged):
        assert bundle.read("README.md").decode() == model_card(layout, bundle.manifest)


def card_of(**changes):
    return model_card(LAYOUT, {**load_bundle(None, LAYOUT).manifest, **changes})


NAMES = ["nsmc", "reviews-2.csv", "[영화] 리뷰.csv", "a #1.csv", "리뷰: 2024.csv", "1.csv", "-.csv"]
NAMES += ['"a", b.csv', "{a}.csv", "a\\b.csv"]


@pytest.mark.parametrize("name", NAMES)
def test_the_front_matter_names_the_data_whatever_their_name(name):
    data = load_bundle(None, LAYOUT).manifest["data"]
    _, front, _ = card_of(data={**data, "train": {**data["train"], "name": name}}).split("---\n", 2)
    assert yaml.safe_load(front)["datasets"] == [name]


@pytest.mark.parametrize("name", PRESETS)
def test_the_card_tells_what_the_network_is_and_reads(name):
    config = PRESETS[name]
    card, kind = card_of(config=config.to_dict()), config.model.attention.kind
    assert ("bidirectional GRU" in card) == (name != "average")
    assert ("self-attenti" in card) == (f"{kind} score" in card) == (kind != "uniform")
    assert ("ngram_ids" in card) == bool(config.text.ngram_buckets)
    assert ("pieces" in card) == (config.text.rare_words == "pieces")
    assert ("padded to exactly 30" in card) == (name == "post")
    assert ("`contributions` (N, T) float32" in card) == ("contributions" in config.model.outputs)
    assert "<!--" not in card
    # a tokenizer without a version is named
    config = config.with_fields(tokenizer="characters").to_dict()
    assert "over tokens of characters." in card_of(config=config, tokenizer_version="")


def test_the_card_says_what_the_rows_of_the_weights_are():
    card = card_of(config=PRESETS["default"].with_fields(attention="structured", attention_hops=3).to_dict())
    assert "(structured, 3 hops)" in card
    assert "`weights` (N, 3, T) float32: row i has the attention weights of hop i." in card
