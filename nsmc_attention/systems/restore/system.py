"""The system `restore`: an editor's or a writer's bundles, their model card, and the system as a `System`. Read without numpy."""

from typing import TYPE_CHECKING

from ...bundle import Bundle, Layout, Manifest, packaged
from ...registry import System, later
from .settings import RESTORE_PRESETS, RestoreConfig

if TYPE_CHECKING:
    from .junctions import RestorerCharacters


def card_values(config: RestoreConfig, manifest: Manifest) -> dict[str, object]:
    metrics = manifest["metrics"]["dev"]
    return {"exact": 100 * metrics["exact"], "error": metrics["character_error"], config.model.kind: True}


LAYOUT: "Layout[RestoreConfig, RestorerCharacters]" = Layout(
    RestoreConfig,
    "vocab.json",
    later("systems.restore.junctions", "RestorerCharacters.read"),
    packaged("pretrained_editor", "pretrained_writer"),
    card_values,
)
EDITOR, WRITER = LAYOUT.packaged
RestorerBundle = Bundle[RestoreConfig, "RestorerCharacters"]
SYSTEM = System(
    LAYOUT,
    RESTORE_PRESETS,
    "restore",
    load=later("systems.restore.restorer", "Restorer.from_bundle"),
    train=later("systems.restore.train", "train_restorer"),
)
