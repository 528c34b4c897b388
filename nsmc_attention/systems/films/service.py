"""`POST /film`, and the films of a table on the page."""

import asyncio
import io
import json
from collections.abc import Iterator, Sequence
from typing import Annotated, Any

from fastapi import Query, Request
from fastapi.responses import Response

from ...apps.serve.direct import unless_gone
from ...apps.serve.plug import HeaderRow, LoadedModel, Route, Sheet, SystemService, TextColumn
from ...apps.serve.uploads import Table, TableResponse, in_pieces
from ...errors import DataError
from .rater import FilmRater, Pools, rater_of
from .rating import Rating
from .rows import Rated, named

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
        title, missing = "Predict the stars of a table's films", "the server has no film network"
        return [self.server.table_route("/film", title, self.film, ["application/x-ndjson"], missing)]

    async def load(self) -> None:
        # it reads the classifier's vectors
        models = self.server.models
        run = asyncio.get_running_loop().run_in_executor
        self.main.model = await run(models.thread, rater_of, models.classifier.bundle, self.bundle)

    def state(self) -> dict[str, Any]:
        model = self.main.model
        return {**super().state(), "stars": [model.scale.lowest, model.scale.highest]} if model else {}

    async def film(
        self,
        request: Request,
        group_by: GroupBy,
        text_column: TextColumn = None,
        sheet: Sheet = None,
        header: HeaderRow = None,
    ) -> Response:
        """Return a line of JSON for each film of a table, which is named by the column `group_by`, in their first order.

        `stars` are the mean stars that other reviews of the film are expected to give, from `stars_low` to `stars_high`
        for nine of ten films; `reviews` were read, `blank` ones were not. `representative` are the reviews with the
        largest weights, each with its share of the film's. Where no review has a word, stars are null and `error`
        says why. A table is sent as to /predict/batch.
        """
        self.server.models.require()
        rater = self.main.require()

        async def rated(table: Table) -> TableResponse:
            # as many reviews as the page asks the words of in one request
            pools = await unless_gone(request, table.call(pool, table, rater, group_by, self.limits.weighted))
            self.server.counters.reviews.inc(sum(pool.count + pool.blank for pool in pools.values()))
            written = io.StringIO()
            lines = (print(line, file=written) for line in film_lines(rater, pools))
            return TableResponse(table, table.stream(in_pieces(written, lines)), "jsonl")

        return await self.server.with_table(request, rated, text_column, sheet=sheet, header=header)


def pool(table: Table, rater: FilmRater, group_by: str, shown: int) -> Pools:
    """Return the Pool of each film, with its `shown` most telling reviews, having read all rows; DataError if no row names one, or there are too many."""
    opened, films = table.read(), set[str]()
    table.text_column = opened.text_column
    table.reading.append(opened.parts)

    def pairs() -> Iterator[tuple[str, str]]:
        for film, text in named(opened, group_by, Rated()):
            if table.closed.is_set():
                return
            films.add(film)
            if len(films) > MOST_FILMS:
                expected = f"expected at most {MOST_FILMS} films in column {group_by!r}, found more"
                raise DataError(f"{table.path}: {expected}; choose another column, or use `nsmc-attention film`")
            yield film, text

    return rater.pool(pairs(), shown)


def film_lines(rater: FilmRater, pools: Pools) -> Iterator[str]:
    for film, (pool, (low, stars, high)) in zip(pools, rater.bounds(pools.values())):
        values = Rating(pool.count, pool.blank, stars, low, high).to_dict()
        shown = [{"text": text, "weight": weight} for text, weight in pool.weights]
        yield json.dumps({"film": film, "blank": pool.blank, **values, "representative": shown}, ensure_ascii=False)
