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


LAYOUT = Layout(LanguageConfig, "vocab.json", read_codec, ("model.onnx",), packaged("pretrained_language"))
LanguageBundle = Bundle[LanguageConfig, "ReviewEncoder"]
