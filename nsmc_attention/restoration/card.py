"""The model card that a restorer's bundle carries, written from its manifest alone."""

from pathlib import Path

from ..bundle.card import fill_card
from ..bundle.format import Manifest
from .settings import RestoreConfig

TEMPLATE = Path(__file__).with_name("card.md")


def restorer_card(manifest: Manifest) -> str:
    config, metrics = RestoreConfig.from_dict(manifest["config"]), manifest["metrics"]["dev"]
    return fill_card(
        TEMPLATE,
        config,
        manifest,
        exact=100 * metrics["exact"],
        error=metrics["character_error"],
        editor=config.model.kind == "editor",
        writer=config.model.kind == "writer",
    )
