"""The files of a film network's bundle. The codec is imported when a bundle is read: `--help` needs no numpy."""

from typing import TYPE_CHECKING

from .._runtime.later import later
from ..bundle.format import Bundle, Layout, Manifest, packaged
from .interface import FILM
from .settings import FilmConfig

if TYPE_CHECKING:
    from .scale import Scale


def migrated(manifest: Manifest) -> Manifest:
    """Return a manifest without the settings of a stage that there is no more."""
    config = manifest["config"]
    training = {name: value for name, value in config["training"].items() if name != "fine_tuning"}
    return {**manifest, "config": {**config, "training": training}}


LAYOUT: "Layout[FilmConfig, Scale]" = Layout(
    FilmConfig,
    "scale.json",
    later("films.scale", "Scale.from_json"),
    tuple(FILM),
    packaged("pretrained_film"),
    migrated=migrated,
)
FilmBundle = Bundle[FilmConfig, "Scale"]
