"""The application's routes over its models."""

import asyncio
import io
import json
import logging
import threading
from collections.abc import Iterator, Sequence
from typing import Annotated, Any, Awaitable, Callable, Optional, Union

from fastapi import Query, Request
from fastapi.responses import Response
from prometheus_client import CONTENT_TYPE_LATEST
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException

from ...classification.share import LabelsByShare, require_share, share_given
from ...errors import NsmcError
from ...inference.engines import companion_engine
from ...systems.films.rater import FilmRater, Pools
from ...systems.films.rating import Rating
from ...systems.reading.service import check_type, reading_json
from ...visualization.page import file, filled, font_of, with_words
from .direct import unless_gone
from .guard import Counters, Limits
from .models import Bundles, Models
from .questions import Blank, Question, Reviews, Texts, labels_json
from .uploads import FORM, FormFile, StorageQuota, Table, TableResponse, in_pieces, upload_kind

SCRIPTS = ("texts.js", "heads.js", "fill.js", "films.js", "pictures.js", "page.js")
TextColumn = Annotated[Optional[str], Query(description="the column of the reviews, or its number; else found")]
HeaderRow = Annotated[Optional[str], Query(alias="header", description="the row of the names of columns, or none")]
Sheet = Annotated[Optional[str], Query(description="of xlsx; without it, the first visible one")]
GroupBy = Annotated[str, Query(description="the column that names each review's film", examples=["film"])]
Labelled = Annotated[bool, Query(description="classify each line")]
LineWeights = Annotated[bool, Query(description="add to each line weights (letters x strips) and edges of the strips")]
ShareOf = Annotated[
    Optional[str], Query(alias="share", description="add labels by the share of positive reviews: table, or 0 to 1")
]
Verbatim = Annotated[bool, Query(description="leave texts that a spreadsheet would compute as they are")]
LOG = logging.getLogger("uvicorn.error")


class Problem(BaseModel):
    error: str
    columns: Optional[list[str]] = Field(default=None, description="of a table without the column of texts")
    sheets: Optional[list[str]] = Field(default=None, description="of a workbook with several, the one read first")


def problems(reasons: dict[int, str]) -> dict[Union[int, str], dict[str, Any]]:
    return {status: {"model": Problem, "description": reason} for status, reason in reasons.items()}


ERRORS = problems({400: "no JSON", 413: "body too large", 422: "bad input", 503: "not loaded yet, or too busy"})
MISSING = {
    "/restore": problems({404: "the server has no restorer"}),
    "/fill": problems({404: "the server has no language model"}),
    "/film": problems({404: "the server has no film network"}),
    "/read": problems({404: "the server has no reader of pictures"}),
}


class Service:
    """Handlers of the application's routes; those for JSON return it as text."""

    def __init__(self, bundles: Bundles, limits: Limits) -> None:
        self.limits, self.counters, self.quota = limits, Counters(), StorageQuota(limits)
        self.models = Models(bundles, limits)
        self.woff, self.font_lock = b"", threading.Lock()
        page, css, *scripts = (file(name, __package__) for name in ("page.html", "page.css", *SCRIPTS))
        # what the server has no model for is hidden
        hidden = {
            f"no_{name}": "" if model.bundle else "hidden"
            for name, model in (
                ("restorer", self.models.restorer),
                ("reader", self.models.reader),
                ("language", self.models.language),
            )
        }
        self.html = with_words(filled(page, css=css, **hidden, scripts="\n".join(scripts)))

    def check_texts(
        self, texts: Sequence[str], most: int, kind: str = "texts", advice: str = "send tables to /predict/batch"
    ) -> None:
        longest, limit = max(map(len, texts), default=0), self.limits.characters
        if len(texts) > most:
            raise HTTPException(422, f"inputs: expected at most {most} {kind}, found {len(texts)}; {advice}")
        if longest > limit:
            raise HTTPException(422, f"inputs: expected reviews of at most {limit} characters, found one of {longest}")

    async def page(self) -> str:
        return self.html

    def font(self) -> Response:
        # for browsers without Hangul, made for the first of them; several at once would use 20 MB each
        with self.font_lock:
            self.woff = self.woff or font_of(map(chr, [*range(0x3131, 0x318F), *range(0xAC00, 0xD7A4)]))
        return Response(self.woff, media_type="font/woff", headers={"Cache-Control": "public, max-age=604800"})

    async def healthz(self) -> dict[str, str]:
        """Respond as long as the process does."""
        return {"status": "alive"}

    async def readyz(self) -> dict[str, Any]:
        """Return the names of the loaded models; `methods` are those of /explain that fit the classifier, auto's first.

        `restore_bundle`, `language_bundle`, `read_bundle` and `film_bundle`, with the ends of its scale of `stars`, are
        named where there are any.
        """
        explainer, models = self.models.require(), self.models
        classifier, rater = explainer.classifier, models.rater.model
        state = {"status": "ready", "bundle": classifier.bundle.name, "engine": classifier.engine.name}
        services: Any = (models.restorer, models.language, models.reader, models.rater)
        named = {f"{service.name}_bundle": service.model.bundle.name for service in services if service.model}
        stars = {"stars": [rater.scale.lowest, rater.scale.highest]} if rater else {}
        return {**state, **named, **stars, "methods": explainer.methods}

    def metrics(self) -> Response:
        """The counters, for Prometheus."""
        return Response(self.counters.text(), media_type=CONTENT_TYPE_LATEST)

    async def predict(self, question: Reviews) -> str:
        """Return a label and its score for each review.

        One review: `[{"label", "score"}]`; a list: one such object each. With top_k, a list of labels for each, all for null.
        A review without words has label and score null, and the reason in `error`.
        """
        self.models.require()
        inputs, top_k = question.inputs, question.parameters.labels
        texts = [inputs] if isinstance(inputs, str) else inputs
        if question.parameters.weights:
            self.check_texts(texts, self.limits.weighted, "reviews with weights")
            results = await self.models.weighted([(text, top_k) for text in texts])
        else:
            self.check_texts(texts, self.limits.reviews, "reviews")
            rows = await self.models.labels(texts)
            results = [labels_json(probability, error, top_k) for _, _, probability, error in rows]
        self.counters.reviews.inc(len(texts))
        return results[0] if top_k and texts is not inputs else json_list(results)

    async def explain(self, question: Question) -> str:
        """Return a review's words with one value each, and for contributions and attention the whole matrix.

        `heads` are, if asked for, the weights of a Transformer's heads: a list for each layer, in it one for each head,
        a row for each token. An encoder without heads, or more weights than the page draws, get status 422.
        """
        self.models.require()
        self.check_texts([question.inputs], 1, "reviews")
        (answer,) = await self.models.explanations([question])
        return answer

    async def restore(self, question: Texts) -> str:
        """Return texts with their spaces and spelling corrected, in a list also for a single one.

        `source` is the text as it was read, `text` what it was meant to be, `score` the log-probability of that.
        `alignment` is for each character of the text the place of that in the source which it was made of; `segments`
        are pairs of source and text side by side, which differ where something was `changed`; `changes` has these with
        their places in the source, and an editor's probability of each. `error` is why a source was returned as it is,
        if not because it was right. With weights, of one text at a time: what a writer, an
        encoder-decoder, makes of it, and its attention as `weights`, a row for each character of the text and a column
        for each of the source.
        """
        self.models.require()
        restorer = self.models.restorer.require()
        texts = [question.inputs] if isinstance(question.inputs, str) else question.inputs
        characters, weights = sum(map(len, texts)), question.weights
        if weights and len(texts) != 1:
            raise HTTPException(422, f"inputs: expected one text for weights, found {len(texts)}; send one a request")
        self.check_texts(texts, self.limits.reviews, "texts", "send them in several requests")
        if characters > (most := self.limits.aligned if weights else self.limits.restored):
            expected = (
                f"a text of at most {most} characters for weights" if weights else f"at most {most} characters in all"
            )
            advice = "a part of it" if weights else "them in several requests"
            raise HTTPException(422, f"inputs: expected {expected}, found {characters}; send {advice}")
        if weights:
            await self.models.writer.load(companion_engine(restorer.engine.name), self.models.alignments.thread)
            self.models.writer.require()
            results = await self.models.alignments(texts)
        else:
            results = await self.models.restorations(texts)
        self.counters.restored.inc(len(texts))
        return json_list(results)

    async def fill(self, question: Blank) -> str:
        """Return the likeliest words at the [MASK] of a text; several are filled together, the most certain first.

        `candidates` are the likeliest first, each with `token` (of several [MASK] theirs, a space between), the `text`
        with it and its `probability`; `tokens` is what the network read, of a long text the part around the [MASK], which
        are at `places`; `attended` is for each token the attention that [MASK] pays to it in the last layer, the mean of
        its heads (and of all [MASK]), and sums to 1. `heads` are,
        if asked for, the weights of every head: a list for each layer, in it one for each head, a row for each token.
        A language model whose encoder has no self-attention has neither.
        """
        self.models.require()
        self.models.language.require()
        self.check_texts([question.inputs], 1)
        (answer,) = await self.models.fillings([question])
        self.counters.filled.inc()
        return answer

    async def batch(
        self,
        request: Request,
        text_column: TextColumn = None,
        verbatim: Verbatim = False,
        sheet: Sheet = None,
        share: ShareOf = None,
        header: HeaderRow = None,
    ) -> Response:
        """Score a table, the body itself or a form's file; keep every column, add label, score, probability and error.

        The encoding (UTF-8, CP949, UTF-16), the delimiter of a csv and, unless it is named, the column of the texts are
        found. The response to xlsx is csv. In csv and tsv a text that a spreadsheet would compute gets an apostrophe,
        unless verbatim. Where the texts are unlike the film reviews of the packaged classifier, X-Unlike says
        how: the geometric mean of the ranks of their words, `rank`, how sure the classifier is, `certainty` in percent, and
        both of film reviews, `usual_rank` and `usual_certainty`. X-Share is the estimated share of positive reviews: `share`
        (null where it is unknown), `low` and `high`, the 95 % interval, and `n`, the reviews of a random sample of at most
        2,000 that it is made from. With `share` a label by the share stands beside each review's own.
        """
        classifier = self.models.require().classifier
        given = share_given(share) if share else None

        async def scored(table: Table) -> TableResponse:
            self.counters.reviews.inc(await unless_gone(request, table.call(table.count, classifier)))
            scorer = LabelsByShare(classifier, given or require_share(table.share, "table")) if share else classifier
            return TableResponse(table, table.score(scorer), table.output)

        return await self.with_table(request, scored, text_column, verbatim, sheet, header)

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
        self.models.require()
        rater = self.models.rater.require()

        async def rated(table: Table) -> TableResponse:
            pools = await unless_gone(request, table.call(table.pool, rater, group_by, self.limits))
            self.counters.reviews.inc(sum(pool.count + pool.blank for pool in pools.values()))
            written = io.StringIO()
            lines = (print(line, file=written) for line in film_lines(rater, pools))
            return TableResponse(table, table.stream(in_pieces(written, lines)), "jsonl")

        return await self.with_table(request, rated, text_column, sheet=sheet, header=header)

    async def read(self, request: Request, predict: Labelled = True, weights: LineWeights = False) -> Response:
        """Return the lines of text in a picture, the body itself, in reading order.

        The file's content decides of which of the types it is. `width` and `height` are those of the picture, turned as
        its EXIF says, in pixels. Each of `lines` has its `text`, `box` (left, top, right, bottom), `letter_probability`
        (the geometric mean over its letters), `places` (of each letter where it was read, pixels from the left), and, if
        it is classified, `label`, `score` and `error` as in /predict. `weights` are the attention that each letter was
        written with, to four digits, and `edges` where the strips begin that it is over, and the last one ends.
        """
        self.models.require()
        self.models.reader.require()
        check_type(request.headers.get("content-type", ""))
        async with self.models.pictures.received(request.stream()) as content:
            answer = await unless_gone(request, self.reading(content, predict, weights))
        self.counters.read.inc()
        return Response(answer, media_type="application/json")

    async def reading(self, content: bytes, predict: bool, weights: bool) -> str:
        picture, lines = await self.models.pictures(content, weights)
        rows = await self.models.labels([line["text"] for line in lines]) if predict else None
        self.counters.reviews.inc(len(rows or ()))
        return await self.models.pictures.call(reading_json, picture, lines, rows)

    async def with_table(
        self,
        request: Request,
        respond: Callable[[Table], Awaitable[TableResponse]],
        text_column: Optional[str] = None,
        verbatim: bool = False,
        sheet: Optional[str] = None,
        header: Optional[str] = None,
    ) -> TableResponse:
        """Receive the table of a request and return the response to it, which closes the table."""
        content_type, threads = request.headers.get("content-type", ""), self.models.table_threads
        form = FormFile(content_type, request.stream()) if content_type.lower().startswith(FORM) else None
        table = None
        try:
            kind = "" if form else upload_kind(content_type)
            table = Table(kind, text_column or None, verbatim, threads, self.quota, sheet or None, header or None)
            await table.store(form or request.stream())
            table.kind = form.kind if form else table.kind
            if not table.enter():
                raise HTTPException(503, "too many tables are being scored; try again in a second")
            return await respond(table)
        except BaseException as problem:
            removed = table.close() if table else None
            if isinstance(problem, OSError):
                # who is told to try again later finds the space of this table free
                if removed:
                    await asyncio.wrap_future(removed)
                # no space, too many open files; the log names the file
                LOG.warning("table: %s", problem)
                raise HTTPException(503, "no space for a table; try again later") from problem
            if isinstance(problem, NsmcError) and table:
                problem.args = (str(problem).replace(table.path, "table"),)
                vars(problem)["sheets"] = table.sheets
            raise


def film_lines(rater: FilmRater, pools: Pools) -> Iterator[str]:
    for film, (pool, (low, stars, high)) in zip(pools, rater.bounds(pools.values())):
        values = Rating(pool.count, pool.blank, stars, low, high).to_dict()
        shown = [{"text": text, "weight": weight} for text, weight in pool.weights]
        yield json.dumps({"film": film, "blank": pool.blank, **values, "representative": shown}, ensure_ascii=False)


def json_list(answers: list[str]) -> str:
    """Return a JSON list of answers that are JSON already."""
    return f"[{','.join(answers)}]"
