"""`POST /film`, and the films of a table on the page."""

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
from ...scoring.reference import Reference
from ...systems.film.rater import FilmRater, Rated, named, rater_of
from ...systems.film.rating import Rating
from .plug import LoadedModel, Route, SystemService, TableQuery
from .uploads import Upload

GroupBy = Annotated[str, Query(description="the column that names each review's film", examples=["film"])]
# Films of a table, of each of which some reviews are kept
MOST_FILMS = 10_000


class Service(SystemService):
    """The stars of films by the server's classifier."""

    def __init__(self, *values: Any) -> None:
        super().__init__(*values)
        self.main: LoadedModel[FilmRater] = LoadedModel("film", "film", "film network for its classifier")

    @property
    def routes(self) -> Sequence[Route]:
        title = "Predict the stars of a table's films"
        return [self.server.table_route("/film", title, self.film, ["application/x-ndjson"])]

    async def load(self) -> None:
        # it reads the classifier's vectors
        server = self.server
        run = asyncio.get_running_loop().run_in_executor
        self.main.model = await run(server.thread, rater_of, server.classifier.bundle, self.bundle)

    def state(self) -> dict[str, Any]:
        model = self.main.model
        return {**super().state(), "stars": [model.scale.lowest, model.scale.highest]} if model else {}

    async def film(self, request: Request, group_by: GroupBy, read_as: TableQuery) -> Response:
        """Return a line of JSON for each film of a table, which is named by the column `group_by`, in their first order.

        `stars` are the mean stars that other reviews of the film are expected to give, from `stars_low` to `stars_high`
        for nine of ten films; `reviews` were read, `blank` ones were not. `representative` are the reviews with the
        largest weights, each with its share of the film's. Where no review has a word, stars are null and `error`
        says why. A table is sent as to /predict/batch.
        """
        self.server.require()
        rater = self.main.require()
        load = partial(load_rater, rater.reference)
        # as many reviews as the page asks the words of in one request
        given = group_by, self.limits.weighted
        response: Response = await self.server.with_table(request, read_as, load, rate, *given)
        return response


def load_rater(reference: Reference) -> Any:
    """Load a film network on one thread, with the tokenizer, which the first review builds."""
    rater = reference.load("cpu", 1)
    rater(["영화"])
    return rater


def rate(rater: Any, table: Upload, output: Path, group_by: str, shown: int) -> Record:
    """Write a line of JSON for each film of a table, with the `shown` most telling of its reviews.

    DataError if no row names a film, or there are too many.
    """
    opened, films = table.open(), set[str]()

    def pairs() -> Iterator[tuple[str, str]]:
        for film, text in named(opened, group_by, Rated()):
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
