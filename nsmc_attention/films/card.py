"""The model card that a bundle of `film` carries, written from its manifest alone."""

from pathlib import Path

from ..bundle.card import fill_card
from ..bundle.format import Manifest
from .settings import FilmConfig

TEMPLATE = Path(__file__).with_name("card.md")


def film_card(manifest: Manifest) -> str:
    rows = [
        f"| {count} | {figures['absolute_error']:.3f} | {100 * figures['inside']:.1f} % | {figures['width']:.2f} |"
        for count, figures in manifest["metrics"]["test"].items()
    ]
    return fill_card(TEMPLATE, FilmConfig.from_dict(manifest["config"]), manifest, rows="\n".join(rows))
