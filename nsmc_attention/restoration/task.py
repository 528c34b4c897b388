"""The task `restore`: an editor's or a writer's bundles, their model card, and the system as a `Task`. Read without numpy."""

from pathlib import Path
from typing import TYPE_CHECKING

from .._runtime.later import later
from ..bundle.card import fill_card
from ..bundle.format import Bundle, Layout, Manifest, packaged
from ..task import Task
from .settings import RESTORE_PRESETS, RestoreConfig

if TYPE_CHECKING:
    from .characters import Characters


def restorer_card(manifest: Manifest) -> str:
    config, metrics = RestoreConfig.from_dict(manifest["config"]), manifest["metrics"]["dev"]
    return fill_card(
        Path(__file__).with_name("card.md"),
        config,
        manifest,
        exact=100 * metrics["exact"],
        error=metrics["character_error"],
        editor=config.model.kind == "editor",
        writer=config.model.kind == "writer",
    )


LAYOUT: "Layout[RestoreConfig, Characters]" = Layout(
    RestoreConfig,
    "vocab.json",
    later("restoration.characters", "Characters.read"),
    ("model.onnx", "source.onnx", "step.onnx"),
    packaged("pretrained_editor", "pretrained_writer"),
    restorer_card,
)
EDITOR, WRITER = LAYOUT.packaged
RestorerBundle = Bundle[RestoreConfig, "Characters"]
RESTORE = Task(
    LAYOUT,
    RESTORE_PRESETS,
    "restore",
    load=later("restoration.restorer", "Restorer.from_bundle"),
    train=later("restoration.train", "train_restorer"),
)
