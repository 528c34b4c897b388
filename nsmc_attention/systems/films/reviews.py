"""Reviews with stars by film: the raw star reviews, or a person's own table with a column of films and one of stars."""

from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, Optional

import numpy
import pandas
from numpy.typing import NDArray

from ...errors import ConfigError
from ...tables import nsmc, raw
from ...tables.columns import STAR_COLUMNS, find_column
from ...tables.data import Labelled
from ...tables.labelled import WholeTable
from ...tables.stars import star_columns, stars_of
from ...text.encoding import clean

# Names by which a column is found, in lower case
FILM_COLUMNS = ("film", "movie", "movie_id", "title", "group", "영화", "영화제목", "제목", "작품")
FILM_HINT = "; name the one of the films by --group-by"
STAR_HINT = "; name the one of the stars by --stars-column"


@dataclass(frozen=True)
class FilmReviews:
    """M reviews with stars, of N films.

    Attributes
    ----------
    documents : list of str
        The clean texts, none blank.
    stars : (M,) float32
    films : list of str
        The names of the films.
    members : list of (n,) int64
        For each film the places of its reviews.
    """

    name: str
    documents: list[str]
    stars: NDArray[numpy.float32]
    films: list[str]
    members: list[NDArray[numpy.int64]]

    @property
    def sha256(self) -> str:
        """SHA-256 over films, stars and texts."""
        films = numpy.zeros(len(self.documents), dtype="int64")
        for number, places in enumerate(self.members):
            films[places] = number
        content = sha256(films.tobytes() + self.stars.tobytes())
        content.update("\n".join(self.documents).encode())
        return content.hexdigest()


def load(source: Labelled, group_by: Optional[str] = None) -> FilmReviews:
    """Read "nsmc", the raw star reviews without those of the official test file, or a table, whose rows without a film
    or without stars are left out.

    ConfigError for other columns of "nsmc" and for "sample", which knows no films; DataError as `tables.open_table`, and
    for cells that are no stars, with their row.
    """
    data = source.data
    if data == "sample":
        raise ConfigError("train --task film: expected nsmc or a table with columns of films and stars, found sample")
    if data == "nsmc":
        if group_by is not None:
            raise ConfigError(f"nsmc: has films of its own; leave --group-by out, found {group_by!r}")
        nsmc.refuse_options(source)
        frame = raw.load(raw.find(source.data_dir), [nsmc.load("nsmc", "test", source.data_dir).frame]).frame
        return of_films(str(data), frame["document"].tolist(), frame["stars"].tolist(), frame["film"].tolist())
    table, path = WholeTable(source.open()), Path(data)
    group_by = find_column(table.names, group_by, path, FILM_COLUMNS, FILM_HINT)
    starred, _ = star_columns(table, [group_by])
    named = source.stars_column or (starred[0] if len(starred) == 1 else None)
    stars_column = find_column(table.names, named, path, STAR_COLUMNS, STAR_HINT)
    stars = stars_of(table[stars_column], stars_column, table.where(stars_column), open_scale=True).numbers
    return of_films(path.name, table.texts, stars, list(map(str.strip, table[group_by])))


def of_films(name: str, documents: list[str], stars: list[Any], films: list[str]) -> FilmReviews:
    """Return reviews by film, in the films' first order, without those that are blank or of no film or stars."""
    texts = list(map(clean, documents))
    kept = [row for row, text in enumerate(texts) if text and films[row] and stars[row] is not None]
    codes, names = pandas.factorize(pandas.Series([films[row] for row in kept], dtype=object))
    ends = numpy.cumsum(numpy.bincount(codes, minlength=len(names)))
    members = numpy.split(numpy.argsort(codes, kind="stable"), ends[:-1]) if kept else []
    rated = numpy.array([stars[row] for row in kept], dtype="float32")
    return FilmReviews(name, [texts[row] for row in kept], rated, names.tolist(), members)
