"""The task `film`."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from ..task import Task
from .layout import LAYOUT
from .settings import FILM_PRESETS

if TYPE_CHECKING:
    from ..bundle.format import AnyBundle
    from .rater import FilmRater


def predictor() -> "type[FilmRater]":
    from .rater import FilmRater

    return FilmRater


def training() -> "Callable[..., AnyBundle]":
    from .train import train_films

    return train_films


FILM = Task(LAYOUT, FILM_PRESETS, "film", predictor, training)
