"""Graph files without numbers, and whole again."""

import re

import pytest

from nsmc_attention import registry
from nsmc_attention.bundle.format import load_bundle, read_contents, write_bundle
from nsmc_attention.errors import BundleError
from nsmc_attention.model.graph_files import CONSTANT, GRAPH, fields, message, with_numbers, without_numbers
from nsmc_attention.model.parameters import parsed

PACKAGED = [(folder, one.layout) for one in registry.systems() for folder in one.layout.packaged]


@pytest.mark.parametrize("folder, layout", PACKAGED, ids=[folder.name for folder, _ in PACKAGED])
def test_a_packaged_bundle_has_its_numbers_once(folder, layout):
    bundle = load_bundle(folder, layout)
    arrays = parsed(bundle.read("weights.params"))
    for name in bundle.graphs:
        whole, stored = bundle.read(name), bundle.stored(name)
        assert len(stored) < 20_000 and len(whole) > 30_000
        assert without_numbers(whole, arrays) == stored and with_numbers(stored, arrays) == whole


def test_a_bundle_is_the_same_whether_its_graphs_are_whole_or_not(tmp_path, bundle_folder):
    layout = registry.system("classify").layout
    bundle = load_bundle(bundle_folder, layout)
    whole = {name: bundle.read(name) for name in bundle.manifest["files"]}
    write_bundle(tmp_path / "again", {**bundle.manifest, "whole": {}}, whole)
    write_bundle(tmp_path / "stored", bundle.manifest, read_contents(bundle))
    for folder in ("again", "stored"):
        other = load_bundle(tmp_path / folder, layout)
        assert other.manifest == bundle.manifest and other.fingerprint == bundle.fingerprint
        assert other.read("model.onnx") == whole["model.onnx"]


def test_a_bundle_of_whole_graphs_loads_as_before(tmp_path, bundle_folder):
    layout = registry.system("classify").layout
    bundle = load_bundle(bundle_folder, layout)
    contents = read_contents(bundle)
    for name, content in contents.items():
        (tmp_path / name).write_bytes(content)
    (tmp_path / "model.onnx").write_bytes(bundle.read("model.onnx"))
    text = contents["manifest.json"].decode()
    digest = bundle.manifest["whole"]["model.onnx"]
    text = text.replace(bundle.manifest["files"]["model.onnx"], digest)
    text = re.sub(r',\s*"whole": \{[^}]*\}', "", text)
    (tmp_path / "manifest.json").write_text(text, encoding="utf-8")
    other = load_bundle(tmp_path, layout)
    assert other.stored("model.onnx") == other.read("model.onnx") == bundle.read("model.onnx")
    assert other.fingerprint == bundle.fingerprint


def changed(content, change):
    """Return an ONNX file with the list of its constants changed by a function."""
    (graph,) = [field.content for field in fields(content) if field.number == GRAPH]
    constants = [field.whole for field in fields(graph) if field.number == CONSTANT]
    others = b"".join(field.whole for field in fields(graph) if field.number != CONSTANT)
    rest = b"".join(field.whole for field in fields(content) if field.number != GRAPH)
    return rest + message(GRAPH, others + b"".join(change(constants)))


@pytest.mark.parametrize(
    "change, problem",
    [
        (lambda constants: constants * 2, "a constant .* without numbers"),
        (lambda constants: [each.replace(b"weight", b"height") for each in constants], "a constant .* without numbers"),
        (lambda constants: constants[1:], "expected sha256"),
    ],
)
def test_a_foreign_graph_gets_no_numbers_that_are_not_its_own(tmp_path, bundle_folder, change, problem):
    layout = registry.system("classify").layout
    bundle = load_bundle(bundle_folder, layout)
    contents = {**read_contents(bundle), "model.onnx": changed(bundle.stored("model.onnx"), change)}
    write_bundle(tmp_path / "b", {**bundle.manifest, "whole": {}}, contents)
    manifest = load_bundle(tmp_path / "b", layout).manifest
    text = (tmp_path / "b/manifest.json").read_text(encoding="utf-8")
    text = text.replace('"files"', '"whole": {"model.onnx": "' + "0" * 64 + '"}, "files"')
    (tmp_path / "b/manifest.json").write_text(text, encoding="utf-8")
    assert "whole" not in manifest
    with pytest.raises(BundleError, match=problem):
        load_bundle(tmp_path / "b", layout).read("model.onnx")


@pytest.mark.parametrize("content", [b"no graph", b"\x3a\xff\xff\xff\xff\x0f", b"\x0d1234"])
def test_what_is_no_onnx_file_is_refused(content):
    with pytest.raises(ValueError, match="no ONNX|kind that no"):
        with_numbers(content, {})
