"""A table of reviews -> a row for each of its films: csv, tsv, jsonl, parquet, xlsx or lines of text."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Optional, Union

from ...corpora.data import File, open_file
from ...errors import DataError
from ...machine.progress import progress_bar
from ...scoring.files import MARK, ROWS_WRITTEN, marks, open_output, refuse_loss, style_of
from ...tables.parts import cut
from ...tables.writers import WRITERS, ScoredRows
from .rater import SHOWN, FilmRater
from .rating import Rating

if TYPE_CHECKING:
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

    def keep(self, ratings: Iterable[tuple[str, Rating]]) -> Iterator[tuple[str, Rating]]:
        """Yield the ratings, of which the first FILMS are `drawn`."""
        for film, rating in ratings:
            if len(self.drawn) < FILMS:
                self.drawn[film] = rating
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
    rated, style = Rated(), style_of(output, style)
    with open_output(output, style) as file:
        table = open_file(source)
        refuse_loss(table.source, output)
        if marks(style, table.source, output):
            file.write(MARK)
        bar = progress_bar(named(table, group_by, rated), unit=" reviews", delay=2)
        pools = rater.pool(bar, ON_PAGE if draw else SHOWN if style == "jsonl" else 0)
        rated.films, rated.blank = len(pools), sum(pool.blank for pool in pools.values())
        ratings = zip(map(str, pools), rater.ratings(pools.values()))
        write_ratings(file, style, group_by, rated.keep(ratings) if draw else ratings)
    return rated


def named(table: "Table", group_by: str, rated: Rated) -> Iterator[tuple[str, str]]:
    """Yield (film, text) of the rows that name a film, and count the others; DataError where none does."""
    from ...tables.columns import require_column
    from ...tables.parts import as_text

    path, empty = table.source.path, True
    for part in table.parts:
        require_column(part, group_by, path, "; name the one of the films by group_by (--group-by)")
        for cell, text in zip(part[group_by], part[table.text_column]):
            if name := as_text(cell).strip():
                empty = False
                yield name, as_text(text)
            else:
                rated.nameless += 1
    if empty:
        raise DataError(f"{path}: expected rows that name a film in column {group_by!r}, found none")


def write_ratings(file: IO[Any], style: str, group_by: str, ratings: Iterable[tuple[str, Rating]]) -> None:
    """Write a row for each film: the group column and TYPES, stars to two digits, in parquet to all.

    A film without stars has none. jsonl has the `representative` reviews too; text has stars, interval, reviews, name.
    """
    if style == "text":
        for film, rating in ratings:
            reviews, stars, low, high = (cell or "-" for cell in cells_of(rating, style))
            print(f"{stars}\t{low}-{high}\t{reviews}\t{film}", file=file)
        return
    types = {**TYPES, "representative": "", "error": ""} if style == "jsonl" else TYPES
    with WRITERS[style](file, [group_by], types, False) as write:
        for piece in cut(ratings, ROWS_WRITTEN, lambda pair: 1):
            films = [film for film, _ in piece]
            rows = [rating.to_dict(SHOWN) if style == "jsonl" else cells_of(rating, style) for _, rating in piece]
            write(ScoredRows({group_by: films}, films, rows, {group_by: "string"}))


def cells_of(rating: Rating, style: str) -> list[object]:
    """The values of TYPES: in parquet with all digits, in workbooks with two, else as text with two."""
    cells: list[object] = [rating.reviews]
    for stars in (rating.stars, rating.stars_low, rating.stars_high):
        if stars is None or style == "parquet":
            cells.append(stars)
        else:
            cells.append(round(stars, 2) if style == "xlsx" else f"{stars:.2f}")
    return cells
