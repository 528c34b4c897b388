"""The route `POST /film`: ratings of the films in a table."""

import asyncio
import json
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from fastapi import Query, Request
from fastapi.responses import Response

from ...errors import DataError
from ...machine.aliases import Record
from ...systems.film.rater import FilmCounts, FilmRater, film_texts, rater_of
from ...systems.film.rating import Rating
from .plug import LoadedModel, Route, SystemService, TableQuery
from .uploads import Upload, load_scorer

GroupBy = Annotated[str, Query(description="the column that names each review's film", examples=["film"])]
# Most films of a table: memory holds some reviews of each
MOST_FILMS = 10_000


class Service(SystemService):
    """Film ratings, predicted from vectors of the server's classifier."""

    def __init__(self, *values: Any) -> None:
        super().__init__(*values)
        self.main: LoadedModel[FilmRater] = LoadedModel("film", "film", "film network for its classifier")

    @property
    def routes(self) -> Sequence[Route]:
        title = "Predict the stars of a table's films"
        return [self.server.table_route("/film", title, self.film, ["application/x-ndjson"])]

    async def load(self) -> None:
        # after the classifier, whose vectors the film network reads
        server = self.server
        run = asyncio.get_running_loop().run_in_executor
        self.main.model = await run(server.thread, rater_of, server.classifier.bundle, self.bundle)

    def state(self) -> dict[str, Any]:
        model = self.main.model
        return {**super().state(), "stars": [model.scale.lowest, model.scale.highest]} if model else {}

    async def film(self, request: Request, group_by: GroupBy, read_as: TableQuery) -> Response:
        """Return a line of JSON for each film of a table; the column `group_by` has the names of films.

        `stars` is the expected mean of other reviews of the film; it is between `stars_low` and `stars_high` for nine
        of ten films. `reviews` counts the reviews that were read, `blank` those without a word. `representative` has
        the reviews with the largest weights, each with its share of the film's attention. If no review has a word, the
        stars are null and `error` has the reason. Send the table as to /predict/batch.
        """
        self.server.require()
        rater = self.main.require()
        load = partial(load_scorer, rater.reference)
        # the page requests the words of all representative reviews at once
        options = group_by, self.limits.weighted
        response: Response = await self.server.with_table(request, read_as, load, rate, *options)
        return response


def rate(rater: Any, table: Upload, output: Path, group_by: str, shown: int) -> Record:
    """Write a line of JSON for each film of a table, with the `shown` reviews of the largest weights.

    DataError if no row names a film, or if there are more than MOST_FILMS films.
    """
    opened, films = table.open(), set[str]()

    def pairs() -> Iterator[tuple[str, str]]:
        for film, text in film_texts(opened, group_by, FilmCounts()):
            films.add(film)
            if len(films) > MOST_FILMS:
                expected = f"expected at most {MOST_FILMS} films in column {group_by!r}, found more"
                raise DataError(f"table: {expected}; choose another column")
            yield film, text

    pools = rater.pool(pairs(), shown)
    with open(output, "w", encoding="utf-8", errors="replace") as file:
        for film, (pool, (low, stars, high)) in zip(pools, rater.bounds(pools.values())):
            values = Rating(pool.count, pool.blank, stars, low, high).to_dict()
            representative = [{"text": text, "weight": weight} for text, weight in pool.weights]
            values = {"film": film, "blank": pool.blank, **values, "representative": representative}
            print(json.dumps(values, ensure_ascii=False), file=file)
    rows = sum(pool.count + pool.blank for pool in pools.values())
    return {"rows": rows, "kind": "jsonl"}
