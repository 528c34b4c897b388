"""The files of an editor's or a writer's bundle. The codec is imported when a bundle is read: `--help` needs no numpy."""

from typing import TYPE_CHECKING

from .._runtime.later import later
from ..bundle.format import Bundle, Layout, packaged
from .settings import RestoreConfig

if TYPE_CHECKING:
    from .characters import Characters

GRAPHS = ("model.onnx", "source.onnx", "step.onnx")


LAYOUT: "Layout[RestoreConfig, Characters]" = Layout(
    RestoreConfig,
    "vocab.json",
    later("restoration.characters", "Characters.read"),
    GRAPHS,
    packaged("pretrained_editor", "pretrained_writer"),
)
EDITOR, WRITER = LAYOUT.packaged
RestorerBundle = Bundle[RestoreConfig, "Characters"]
