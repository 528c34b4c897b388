"""The files of an editor's or a writer's bundle. The codec is imported when a bundle is read: `--help` needs no numpy."""

from pathlib import Path
from typing import TYPE_CHECKING

from ..bundle.format import Bundle, Layout, Manifest, packaged
from .settings import RestoreConfig

if TYPE_CHECKING:
    from .characters import Characters

GRAPHS = ("model.onnx", "source.onnx", "step.onnx")


def read_codec(content: bytes, path: Path, manifest: Manifest, config: RestoreConfig) -> "Characters":
    from ..bundle.vocabulary import check_count
    from .characters import Characters

    characters = Characters.from_json(content, path)
    check_count(characters, path, manifest)
    return characters


LAYOUT = Layout(RestoreConfig, "vocab.json", read_codec, GRAPHS, packaged("pretrained_editor", "pretrained_writer"))
EDITOR, WRITER = LAYOUT.packaged
RestorerBundle = Bundle[RestoreConfig, "Characters"]
