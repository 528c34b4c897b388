"""The task `film`."""

from .._runtime.later import later
from ..task import Task
from .layout import LAYOUT
from .settings import FILM_PRESETS

FILM = Task(
    LAYOUT,
    FILM_PRESETS,
    "film",
    load=later("films.rater", "FilmRater.from_bundle"),
    train=later("films.train", "train_films"),
)
