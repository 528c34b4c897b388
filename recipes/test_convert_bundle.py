"""Converted bundles of release 0.2 have the same parameters, graphs and predictions."""

import hashlib
import json
import shutil

import pytest

from nsmc_attention import registry
from nsmc_attention.bundle import load_any, read_contents
from nsmc_attention.errors import BundleError
from nsmc_attention.machine.mxnet_shim import import_mxnet
from nsmc_attention.sentiment.heads import FILE
from recipes.convert_bundle import main

LAYOUTS = [one.layout for one in registry.SYSTEMS.values()]


def of_release_2(folder, copy):
    """Write a bundle as release 0.2 did, but for the graphs' own form, which nobody reads."""
    nd, bundle = import_mxnet().nd, load_any(folder, LAYOUTS)
    shutil.copytree(bundle.folder, copy, ignore=shutil.ignore_patterns("*.safetensors", "__pycache__"))
    arrays = {name: nd.array(array, dtype=array.dtype) for name, array in bundle.parameters().items()}
    nd.save(str(copy / "weights.params"), arrays)
    manifest = {name: value for name, value in bundle.manifest.items() if name not in ("files", "converted_from")}
    manifest["schema"] = 4
    if manifest["task"] == "classify":
        del manifest["task"]
    files = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in copy.iterdir()}
    manifest["files"] = {name: digest for name, digest in files.items() if name != "manifest.json"}
    (copy / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    return bundle


PACKAGED = [folder for one in LAYOUTS if one.task != "film" for folder in one.packaged]


@pytest.mark.parametrize("folder", PACKAGED, ids=[folder.name for folder in PACKAGED])
def test_a_converted_bundle_has_the_same_files(tmp_path, folder):
    bundle = of_release_2(folder, tmp_path / "old")
    with pytest.raises(BundleError, match="expected schema 5, found 4; convert a bundle of release 0.2 with"):
        load_any(tmp_path / "old", LAYOUTS)
    main(tmp_path / "old", tmp_path / "new")
    converted = load_any(tmp_path / "new", LAYOUTS)
    # release 0.2 had no sentiment
    expected = {name: content for name, content in read_contents(bundle).items() if name != FILE}
    assert read_contents(converted) == expected
    kept = {name: value for name, value in bundle.manifest.items() if name not in ("converted_from", "files")}
    # without the settings that are retired
    expected = {**kept, "config": bundle.config.to_dict()}
    assert {name: converted.manifest[name] for name in expected} == expected


def test_an_altered_bundle_and_one_of_another_schema_are_refused(tmp_path):
    of_release_2(PACKAGED[0], tmp_path / "old")
    with open(tmp_path / "old/weights.params", "ab") as file:
        file.write(b"0")
    with pytest.raises(SystemExit, match="weights.params was altered; copy the bundle again"):
        main(tmp_path / "old", tmp_path / "new")
    with pytest.raises(SystemExit, match="expected schema 4, found 5"):
        main(PACKAGED[0], tmp_path / "new")
