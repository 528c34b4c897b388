"""The files of a language model's bundle. The codec is imported when a bundle is read: `--help` needs no numpy."""

from typing import TYPE_CHECKING

from .._runtime.later import later
from ..bundle.format import Bundle, Layout, Manifest, packaged
from .settings import LanguageConfig

if TYPE_CHECKING:
    from ..text.encoding import ReviewEncoder


def migrated(manifest: Manifest) -> Manifest:
    """Return a manifest that names the kind `replaced`, of which there is no training any more, as the one it contains."""
    config = manifest["config"]
    if config["model"]["kind"] != "replaced":
        return manifest
    model = {name: value for name, value in config["model"].items() if name != "detection"}
    return {**manifest, "config": {**config, "model": {**model, "kind": "masked"}}}


LAYOUT: "Layout[LanguageConfig, ReviewEncoder]" = Layout(
    LanguageConfig,
    "vocab.json",
    later("bundle.vocabulary", "read_encoder"),
    ("model.onnx",),
    packaged("pretrained_language"),
    migrated=migrated,
)
LanguageBundle = Bundle[LanguageConfig, "ReviewEncoder"]
