"""What /film returns: a table of reviews in, a line of JSON for each film out, with the reviews that carry the most weight."""

import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..errors import DataError
from ..films.rater import FilmRater, Pools
from ..films.tables import names_of
from ..reviews import tables
from .limits import Limits
from .tables import Table, in_pieces


class FilmService:
    """Rates the films of a table by a rater; for the table's thread."""

    def __init__(self, rater: FilmRater, limits: Limits) -> None:
        self.rater, self.limits = rater, limits

    def pool(self, table: Table, group_by: str) -> Pools:
        """Return the Pool of each film of a table, having read all its rows; DataError if it has none or too many."""
        reading = table.read()
        table.text_column = reading.text_column
        table.reading.append(reading.frames)
        # as many as the page asks the words of in one request
        pools = self.rater.pool(self.pairs(table, reading, group_by), self.limits.weighted)
        if not pools and not table.closed.is_set():
            raise DataError(f"{table.path}: expected rows that name a film in column {group_by!r}, found none")
        return pools

    def pairs(self, table: Table, reading: tables.Table, group_by: str) -> Iterator[tuple[str, str]]:
        """Yield (film, text) of the rows that name a film, until the client has gone."""
        films: set[str] = set()
        for frame in reading.frames:
            if table.closed.is_set():
                return
            for film, text in zip(names_of(frame, group_by, Path(table.path)), frame[reading.text_column]):
                if film is not None:
                    films.add(film)
                    yield film, tables.as_text(text)
            if len(films) > self.limits.films:
                expected = f"expected at most {self.limits.films} films in column {group_by!r}, found more"
                raise DataError(f"{table.path}: {expected}; choose another column, or use `nsmc-attention film`")

    def pieces(self, pools: Pools) -> Iterator[str]:
        """Yield the lines of all films, some at a time."""
        written = io.StringIO()
        return in_pieces(written, (print(line, file=written) for line in self.lines(pools)))

    def lines(self, pools: Pools) -> Iterator[str]:
        for film, (pool, (low, stars, high)) in zip(pools, self.rater.bounds(pools.values())):
            line: dict[str, Any] = {"film": film, "reviews": pool.count, "blank": pool.blank}
            line.update(stars=stars, stars_low=low, stars_high=high)
            line["representative"] = [{"text": text, "weight": weight} for text, weight in pool.weights]
            yield json.dumps(line, ensure_ascii=False)
