"""The files of a language model's bundle. The codec is imported when a bundle is read: `--help` needs no numpy."""

from pathlib import Path
from typing import TYPE_CHECKING

from ..bundle.format import Bundle, Layout, Manifest, packaged
from .settings import LanguageConfig

if TYPE_CHECKING:
    from ..text.encoding import ReviewEncoder


def read_codec(content: bytes, path: Path, manifest: Manifest, config: LanguageConfig) -> "ReviewEncoder":
    from ..bundle.vocabulary import read_encoder

    return read_encoder(content, path, manifest, config)


def migrated(manifest: Manifest) -> Manifest:
    """Return a manifest that names the kind `replaced`, of which there is no training any more, as the one it contains."""
    config = manifest["config"]
    if config["model"]["kind"] != "replaced":
        return manifest
    model = {name: value for name, value in config["model"].items() if name != "detection"}
    return {**manifest, "config": {**config, "model": {**model, "kind": "masked"}}}


LAYOUT = Layout(
    LanguageConfig, "vocab.json", read_codec, ("model.onnx",), packaged("pretrained_language"), migrated=migrated
)
LanguageBundle = Bundle[LanguageConfig, "ReviewEncoder"]
