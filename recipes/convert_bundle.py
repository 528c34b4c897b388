"""Conversion of a bundle of release 0.2 (weights.params) to the current format (model.safetensors), with equal parameters.

    python -m recipes.convert_bundle OLD NEW [CLASSIFIER]

OLD is a bundle's folder, and NEW the folder to write. CLASSIFIER is the converted classifier with which a film network was
trained, by default the packaged one. `nsmc-attention export --bundle OLD` of release 0.2 converts a bundle of release 0.1.
"""

import json
import sys
from pathlib import Path
from typing import Any

from nsmc_attention import registry
from nsmc_attention.bundle import CARD, MANIFEST, Manifest, load_bundle, model_card, sha256, write_bundle
from nsmc_attention.machine.mxnet_shim import import_mxnet
from nsmc_attention.network.parameters import Arrays, all_stored, initialize_from, loaded
from nsmc_attention.training.runs import network_files

SCHEMA, PARAMETERS = 4, "weights.params"
# Names of a gate's parameters before it was called one
RENAMED = {"sign.weight": "gate.weight", "sign.bias": "gate.bias"}


def fingerprint(manifest: Manifest) -> str:
    """Return the fingerprint that release 0.2 computed."""
    parts = [{**manifest["files"], **manifest.get("whole", {})}, manifest["config"]]
    return sha256(json.dumps(parts, sort_keys=True).encode())


def read_parameters(path: Path) -> Arrays:
    arrays = import_mxnet().nd.load(str(path))
    return {RENAMED.get(name, name): array.asnumpy() for name, array in arrays.items()}


def with_classifier(scale: bytes, folder: Path) -> bytes:
    """Return the scale of a film network with the fingerprint that its classifier has now."""
    values, classifier = json.loads(scale), load_bundle(folder, registry.SYSTEMS["classify"].layout)
    if classifier.manifest.get("converted_from") != values["classifier"]:
        sys.exit(f"{folder}: expected the classifier {values['name']}, with which the film network was trained")
    return (json.dumps({**values, "classifier": classifier.fingerprint}, ensure_ascii=False, indent=2) + "\n").encode()


def main(old: Path, new: Path, classifier: Path = registry.SYSTEMS["classify"].layout.packaged[0]) -> None:
    manifest = json.loads((old / MANIFEST).read_text(encoding="utf-8"))
    if manifest["schema"] != SCHEMA:
        sys.exit(f"{old}: expected schema {SCHEMA}, found {manifest['schema']}")
    if altered := [name for name, digest in manifest["files"].items() if sha256((old / name).read_bytes()) != digest]:
        sys.exit(f"{old}: {altered[0]} was altered; copy the bundle again")
    task = manifest.get("task", "classify")
    layout = registry.SYSTEMS[task].layout
    config: Any = layout.config.from_dict(manifest["config"])
    codec = (old / layout.codec).read_bytes()
    if task == "film":
        codec = with_classifier(codec, classifier)
    arrays = read_parameters(old / PARAMETERS)
    try:
        sizes = layout.read_codec(codec, old / layout.codec, manifest, config).sizes
    except KeyError as missing:
        sys.exit(f"{old / layout.codec}: expected {missing}, found none; train again, or see recipes/junctions.py")
    network = config.network(*sizes)
    initialize_from(network, loaded(arrays), import_mxnet().cpu())
    stored = all_stored(network)
    if {name: (array.dtype, array.tobytes()) for name, array in arrays.items()} != {
        name: (array.dtype, array.tobytes()) for name, array in stored.items()
    }:
        sys.exit(f"{old}: its parameters would be stored as other numbers; train again")
    rest = {name: value for name, value in manifest.items() if name not in ("schema", "task", "whole", "files")}
    converted = {"task": task, **rest, "config": config.to_dict(), "converted_from": fingerprint(manifest)}
    kept = {layout.codec, CARD, "model.safetensors", *manifest["files"]}
    contents = {layout.codec: codec, **network_files(network, config), CARD: model_card(layout, converted).encode()}
    write_bundle(new, converted, {name: content for name, content in contents.items() if name in kept})


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
