"""A table of reviews -> a row for each of its films: csv, tsv, jsonl, parquet, xlsx or lines of text."""

from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Optional, Union

from ..._runtime.progress import progress_bar
from ...errors import DataError
from ...inference.scoring import MARK, ROWS_WRITTEN, marks, open_output, refuse_loss, style_of
from ...tables.data import File, open_file
from ...tables.parts import cut
from ...tables.writers import WRITERS, ScoredRows
from .rater import SHOWN, FilmRater
from .rating import Rating

if TYPE_CHECKING:
    from ...tables.parts import TablePart
    from ...tables.table import Table

# The columns of a film after its name, and their types
TYPES = {"reviews": "int64", "stars": "double", "stars_low": "double", "stars_high": "double"}
# Reviews of a film on its page, and films that a page has room for
ON_PAGE, FILMS = 30, 100


@dataclass
class Rated:
    """Numbers of films, rows that name no film, and reviews without a word; `drawn` are the films for a page."""

    films: int = 0
    nameless: int = 0
    blank: int = 0
    drawn: dict[str, Rating] = field(default_factory=dict)

    def __str__(self) -> str:
        nameless = "row names no film and is left out", "rows name no film and are left out"
        blank = "blank review is left out", "blank reviews are left out"
        counts = [(self.films, ("film", "films")), (self.nameless, nameless), (self.blank, blank)]
        return "; ".join(f"{count:,} {forms[count != 1]}" for count, forms in counts if count or forms[0] == "film")

    def keep(self, ratings: Iterable[tuple[Hashable, Rating]], films: int) -> Iterator[tuple[Hashable, Rating]]:
        """Yield the ratings, of which the first ones are `drawn`."""
        for film, rating in ratings:
            if len(self.drawn) < films:
                self.drawn[str(film)] = rating
            yield film, rating


def rate_table(
    rater: FilmRater,
    source: File,
    group_by: str,
    output: Union[str, Path] = "-",
    style: Optional[str] = None,
    draw: bool = False,
) -> Rated:
    """Write a row for each film of a table, in the order in which they first come.

    Parameters
    ----------
    group_by : str
        The column that names the film of a review; rows where it is empty are left out and counted.
    style : text, csv, tsv, jsonl, parquet, xlsx or None
        By default that of the output's suffix, else text. jsonl has the reviews with the largest weights.
    draw : bool
        Whether the result has the Ratings of the first FILMS films, for a page, with up to ON_PAGE reviews of each.

    Raises
    ------
    DataError
        As `tables.table.open_table`; there is no such column, or no row that names a film.
    ConfigError
        The style is of another kind.
    """
    rated = Rated()
    style = style_of(output, style)
    with open_output(output, style) as file:
        table = open_file(source)
        refuse_loss(table.source, output)
        if marks(style, table.source, output):
            file.write(MARK)
        shown = ON_PAGE if draw else shown_in(style)
        bar = progress_bar(named(table, group_by, rated), unit=" reviews", delay=2)
        pools = rater.pool(bar, shown)
        rated.films, rated.blank = len(pools), sum(pool.blank for pool in pools.values())
        ratings = zip(pools, rater.ratings(pools.values()))
        write_ratings(file, style, group_by, rated.keep(ratings, FILMS if draw else 0))
    return rated


def named(table: "Table", group_by: str, rated: Rated) -> Iterator[tuple[str, str]]:
    """Yield (film, text) of the rows that name a film, and count the others; DataError where none does."""
    from ...tables.parts import as_text

    path, empty = table.source.path, True
    for part in table.parts:
        for name, text in zip(names_of(part, group_by, path), part[table.text_column]):
            rated.nameless += name is None
            if name is not None:
                empty = False
                yield name, as_text(text)
    if empty:
        raise DataError(f"{path}: expected rows that name a film in column {group_by!r}, found none")


def names_of(part: "TablePart", group_by: str, where: Path) -> list[Optional[str]]:
    """Return the film of each row, None where it names none; DataError if there is no such column."""
    from ...tables.columns import require_column
    from ...tables.parts import as_text

    require_column(part, group_by, where, "; name the one of the films by group_by (--group-by)")
    return [as_text(value).strip() or None for value in part[group_by]]


def shown_in(style: str) -> int:
    """Return how many reviews of a film a table of this style has."""
    return SHOWN if style == "jsonl" else 0


def write_ratings(
    file: IO[Any], style: str, group_by: str, ratings: Iterable[tuple[Hashable, Rating]], verbatim: bool = False
) -> None:
    """Write a row for each film: the group column and TYPES, stars to two digits, in parquet to all.

    A film without stars has none. jsonl has the `representative` reviews too; text has stars, interval, reviews, name.
    """
    if style == "text":
        for film, rating in ratings:
            reviews, stars, low, high = (cell or "-" for cell in cells_of(rating))
            print(f"{stars}\t{low}-{high}\t{reviews}\t{film}", file=file)
        return
    rows: dict[str, Callable[[Rating], Any]] = {"jsonl": lambda rating: rating.to_dict(SHOWN), "xlsx": numbers_of}
    rows["parquet"] = lambda rating: [getattr(rating, name) for name in TYPES]
    row_of: Callable[[Rating], Any] = rows.get(style, cells_of)
    types = {**TYPES, "representative": "", "error": ""} if style == "jsonl" else TYPES
    pieces = cut(ratings, ROWS_WRITTEN, lambda pair: 1)
    with WRITERS[style](file, [group_by], types, verbatim) as write:
        # a table of no film still has its columns
        for piece in chain([next(pieces, [])], pieces):
            films = [str(film) for film, _ in piece]
            write(ScoredRows({group_by: films}, films, [row_of(rating) for _, rating in piece], {group_by: "string"}))


def numbers_of(rating: Rating) -> list[Any]:
    """Return the values of TYPES, stars to two digits."""
    stars = (rating.stars, rating.stars_low, rating.stars_high)
    return [rating.reviews, *(None if value is None else round(value, 2) for value in stars)]


def cells_of(rating: Rating) -> list[Any]:
    """Return `numbers_of` with stars as text."""
    reviews, *stars = numbers_of(rating)
    return [reviews, *("" if value is None else f"{value:.2f}" for value in stars)]
