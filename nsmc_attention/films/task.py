"""The task `film`: its bundles, their model card, and the system as a `Task`. Read without numpy."""

from pathlib import Path
from typing import TYPE_CHECKING

from .._runtime.later import later
from ..bundle.card import fill_card
from ..bundle.format import Bundle, Layout, Manifest, packaged
from ..task import Task
from .interface import FILM_GRAPHS
from .settings import FILM_PRESETS, FilmConfig

if TYPE_CHECKING:
    from .scale import Scale


def film_card(manifest: Manifest) -> str:
    rows = [
        f"| {count} | {figures['absolute_error']:.3f} | {100 * figures['inside']:.1f} % | {figures['width']:.2f} |"
        for count, figures in manifest["metrics"]["test"].items()
    ]
    return fill_card(
        Path(__file__).with_name("card.md"), FilmConfig.from_dict(manifest["config"]), manifest, rows="\n".join(rows)
    )


LAYOUT: "Layout[FilmConfig, Scale]" = Layout(
    FilmConfig,
    "scale.json",
    later("films.scale", "Scale.from_json"),
    tuple(FILM_GRAPHS),
    packaged("pretrained_film"),
    film_card,
)
FilmBundle = Bundle[FilmConfig, "Scale"]
FILM = Task(
    LAYOUT,
    FILM_PRESETS,
    "film",
    load=later("films.rater", "FilmRater.from_bundle"),
    train=later("films.train", "train_films"),
)
