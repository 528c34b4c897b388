"""Options for film ratings: of `train`, `serve`, `report` and `bulk`."""

from pathlib import Path
from typing import NamedTuple, Optional

from ...cli.declare import option

CLASSIFIER = option("for film: bundle whose encoder reads the reviews  [default: the packaged one]")


class TrainOptions(NamedTuple):
    """The column of the films, and the classifier that reads the reviews."""

    group_by: Optional[str] = option("for film: column of the films  [default: the one called film, movie, 영화, ...]")
    classifier: Optional[Path] = CLASSIFIER


class GroupOptions(NamedTuple):
    """The bundle that rates the groups of `--group-by`."""

    film_bundle: Optional[Path] = option(
        "film network for the groups' stars, trained with the same classifier  [default: the packaged one]"
    )


class ServeOptions(NamedTuple):
    """The bundle of `serve`."""

    film_bundle: Optional[Path] = option(
        "bundle that rates films, trained with the same classifier  [default: the packaged one]"
    )
