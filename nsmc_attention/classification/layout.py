"""The files of a classifier's bundle. The codec is imported when a bundle is read: `--help` needs no numpy."""

from pathlib import Path
from typing import TYPE_CHECKING

from ..bundle.format import Bundle, Layout, Manifest, packaged
from ..errors import BundleError
from .migration import migrated
from .settings import LABELS, Config

if TYPE_CHECKING:
    from ..text.encoding import ReviewEncoder


def read_codec(content: bytes, path: Path, manifest: Manifest, config: Config) -> "ReviewEncoder":
    """Return the encoder; BundleError where the labels are others, or the vocabulary does not fit."""
    from ..bundle.vocabulary import read_encoder

    if manifest.get("labels") != list(LABELS):
        labels = str(manifest.get("labels"))[:60]
        raise BundleError(f"{path.with_name('manifest.json')}: expected the labels {list(LABELS)}, found {labels}")
    return read_encoder(content, path, manifest, config)


LAYOUT = Layout(
    Config, "vocab.json", read_codec, ("model.onnx",), packaged("pretrained"), named=False, migrated=migrated
)
ClassifierBundle = Bundle[Config, "ReviewEncoder"]
