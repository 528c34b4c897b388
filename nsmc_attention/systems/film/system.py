"""The system `film`: its bundles, their model card, and the system as a `System`. Read without numpy."""

from typing import TYPE_CHECKING

from ...bundle import Bundle, Layout, Manifest, packaged
from ...registry import System, later
from .settings import FILM_PRESETS, FilmConfig

if TYPE_CHECKING:
    from .pooling import Scale


def card_values(config: FilmConfig, manifest: Manifest) -> dict[str, object]:
    rows = [
        f"| {count} | {figures['absolute_error']:.3f} | {100 * figures['inside']:.1f} % | {figures['width']:.2f} |"
        for count, figures in manifest["metrics"]["test"].items()
    ]
    return {"rows": "\n".join(rows)}


LAYOUT: "Layout[FilmConfig, Scale]" = Layout(
    FilmConfig, "scale.json", later("systems.film.pooling", "Scale.from_json"), packaged("pretrained_film"), card_values
)
FilmBundle = Bundle[FilmConfig, "Scale"]
SYSTEM = System(
    LAYOUT,
    FILM_PRESETS,
    "film",
    load=later("systems.film.rater", "FilmRater.from_bundle"),
    train=later("systems.film.train", "train_films"),
    options=("group_by", "classifier", "stars_column"),
)
