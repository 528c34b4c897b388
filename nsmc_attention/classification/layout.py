"""The files of a classifier's bundle. The codec is imported when a bundle is read: `--help` needs no numpy."""

from pathlib import Path
from typing import TYPE_CHECKING

from ..bundle.format import Bundle, Layout, Manifest, packaged
from ..config import SHORT_NAMES
from ..errors import BundleError
from ..settings import KIND, paths
from .settings import LABELS, PRESETS, Config

if TYPE_CHECKING:
    from ..text.encoding import ReviewEncoder


def read_codec(content: bytes, path: Path, manifest: Manifest, config: Config) -> "ReviewEncoder":
    """Return the encoder; BundleError where the labels are others, or the vocabulary does not fit."""
    from ..bundle.vocabulary import read_encoder

    if manifest.get("labels") != list(LABELS):
        labels = str(manifest.get("labels"))[:60]
        raise BundleError(f"{path.with_name('manifest.json')}: expected the labels {list(LABELS)}, found {labels}")
    return read_encoder(content, path, manifest, config)


def migrated(manifest: Manifest) -> Manifest:
    """Return a manifest in today's schema; that of schema 3 (release 0.1) has settings by today's short names.

    KeyError, TypeError, AttributeError or ConfigError where it lacks a setting that it was trained with, or has
    something else in its place.
    """
    if manifest["schema"] != 3:
        return manifest
    config = manifest["config"]
    flat = {**config["text"], **config["model"], **config["training"]}
    if flat["architecture"] == "post":
        kinds = PRESETS["post"]
    else:
        kinds = Config().with_fields(encoder=flat["encoder"], attention=flat["attention"])
    short = {path: name for name, candidates in SHORT_NAMES.items() for path in candidates}
    values = {path: flat[short[path]] for path, _ in paths(kinds) if not path.endswith(KIND)}
    return {**manifest, "schema": 4, "config": kinds.with_settings(values).to_dict()}


LAYOUT = Layout(
    Config, "vocab.json", read_codec, ("model.onnx",), packaged("pretrained"), named=False, migrated=migrated
)
ClassifierBundle = Bundle[Config, "ReviewEncoder"]
