"""A table of reviews -> a row for each of its films: csv, tsv, jsonl or lines of text."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Optional, Union

from .._io.spreadsheets import as_cell, table_writer
from .._runtime.progress import progress_bar
from ..errors import ConfigError, DataError
from ..inference.columns import output_prefix
from ..inference.scoring import opened
from .rater import SHOWN, FilmRater, Rating

if TYPE_CHECKING:
    import pandas

    from ..reviews.tables import Table

# The columns of a film after its name
COLUMNS = ("reviews", "stars", "stars_low", "stars_high")
# Reviews of a film on its page, and films that a page has room for
ON_PAGE, FILMS = 30, 100
Write = Callable[[str, Rating], None]


@dataclass
class Rated:
    """What was read: films, rows that name no film, and reviews without a word; `drawn` are the films for a page."""

    films: int = 0
    nameless: int = 0
    blank: int = 0
    drawn: dict[str, Rating] = field(default_factory=dict)

    def __str__(self) -> str:
        more = {"rows name no film and are left out": self.nameless, "blank reviews are left out": self.blank}
        films = f"{self.films:,} film{'s' * (self.films != 1)}"
        return "; ".join([films, *(f"{count:,} {what}" for what, count in more.items() if count)])


def rate_table(
    rater: FilmRater,
    source: Union[str, Path],
    group_by: str,
    output: Union[str, Path] = "-",
    style: Optional[str] = None,
    text_column: Optional[str] = None,
    kind: Optional[str] = None,
    encoding: Optional[str] = None,
    draw: bool = False,
    sheet: Optional[str] = None,
) -> Rated:
    """Write a row for each film of a table, in the order in which they first come.

    Parameters
    ----------
    group_by : str
        The column that names the film of a review; rows where it is empty are left out and counted.
    style : text, csv, tsv, jsonl or None
        By default that of the output's suffix, else text. jsonl has the reviews with the largest weights.
    draw : bool
        Whether the result has the Ratings of the first FILMS films, for a page, with up to ON_PAGE reviews of each.

    Raises
    ------
    DataError
        As `reviews.tables.open_table`; there is no such column, or no row that names a film.
    ConfigError
        The style is of another kind.
    """
    from ..reviews import tables

    rated = Rated()
    with opened(output, style, False) as (file, style):
        if style not in WRITERS:
            raise ConfigError(f"film --format {style}: expected one of {', '.join(WRITERS)}")
        table = tables.open_table(source, text_column, kind=kind, encoding=encoding, sheet=sheet)
        shown = ON_PAGE if draw else SHOWN if style == "jsonl" else 0
        bar = progress_bar(named(table, group_by, rated), unit=" reviews", delay=2)
        pools = rater.pool(bar, shown)
        if not pools:
            raise DataError(f"{source}: expected rows that name a film in column {group_by!r}, found none")
        write = WRITERS[style](file, group_by)
        for film, rating in zip(pools, rater.ratings(pools.values())):
            write(str(film), rating)
            rated.films, rated.blank = rated.films + 1, rated.blank + rating.blank
            if draw and len(rated.drawn) < FILMS:
                rated.drawn[str(film)] = rating
    return rated


def named(table: "Table", group_by: str, rated: Rated) -> Iterator[tuple[str, str]]:
    """Yield (film, text) of the rows that name a film, and count the others."""
    from ..reviews import tables

    for frame in table.frames:
        for name, text in zip(names_of(frame, group_by, table.source.path), frame[table.text_column]):
            rated.nameless += name is None
            if name is not None:
                yield name, tables.as_text(text)


def names_of(frame: "pandas.DataFrame", group_by: str, where: Path) -> list[Optional[str]]:
    """Return the film of each row, None where it names none; DataError if there is no such column."""
    from ..reviews import tables

    tables.require_column(frame, group_by, where, "; name the one of the films by group_by (--group-by)")
    return [tables.as_text(value).strip() or None for value in frame[group_by]]


def values_of(rating: Rating) -> list[Any]:
    """Return the values of COLUMNS, stars to two digits; a film without stars has none."""
    stars = (rating.stars, rating.stars_low, rating.stars_high)
    return [rating.reviews, *("" if each is None else f"{each:.2f}" for each in stars)]


def text_writer(file: IO[str], group_by: str, verbatim: bool = False) -> Write:
    """One line a film: stars, the interval, reviews, name."""

    def write(film: str, rating: Rating) -> None:
        reviews, stars, low, high = (each or "-" for each in values_of(rating))
        print(f"{stars}\t{low}-{high}\t{reviews}\t{film}", file=file)

    return write


def table_of(delimiter: str) -> Callable[..., Write]:
    """Return a writer of the group column and COLUMNS."""

    def begin(file: IO[str], group_by: str, verbatim: bool = False) -> Write:
        rows, shown = table_writer(file, delimiter), str if verbatim else as_cell
        prefix = output_prefix([group_by], COLUMNS)
        rows.writerow([shown(group_by), *(prefix + name for name in COLUMNS)])
        return lambda film, rating: rows.writerow([shown(film), *values_of(rating)])

    return begin


def jsonl_writer(file: IO[str], group_by: str, verbatim: bool = False) -> Write:
    """One object a film: the group column, COLUMNS, and the `representative` reviews."""
    prefix = output_prefix([group_by], (*COLUMNS, "representative"))

    def write(film: str, rating: Rating) -> None:
        values = rating.to_dict()
        values["representative"] = values["representative"][:SHOWN]
        line = {group_by: film, **{prefix + name: value for name, value in values.items()}}
        print(json.dumps(line, ensure_ascii=False), file=file)

    return write


# (file, group column, verbatim) -> write(film, Rating)
WRITERS: dict[str, Callable[..., Write]] = {
    "text": text_writer,
    "csv": table_of(","),
    "tsv": table_of("\t"),
    "jsonl": jsonl_writer,
}
