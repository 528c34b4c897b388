"""The application's requests, over its classifier and the services of systems."""

import asyncio
import logging
import threading
from collections.abc import Awaitable, Callable, Iterable, Sequence
from importlib import resources
from typing import Annotated, Any, Optional

from fastapi import Query, Request
from fastapi.responses import Response, StreamingResponse
from prometheus_client import CONTENT_TYPE_LATEST
from starlette.exceptions import HTTPException

from ... import registry
from ...classification.share import LabelsByShare, require_share, share_given
from ...errors import NsmcError
from ...visualization.page import file, filled, font_of, with_words
from .direct import unless_gone
from .guard import Counters, Limits
from .models import Bundles, Models
from .plug import HeaderRow, Route, Sheet, SystemService, TextColumn, problems
from .questions import TEXTS, Question, Reviews, json_list, labels_json
from .uploads import FORM, MEDIA_TYPES, FormFile, StorageQuota, Table, TableResponse, upload_kind

# Those of systems come before the last one
SCRIPTS = ("texts.js", "heads.js", "page.js", "start.js")
# Where systems add to the page
SLOTS = ("review", "answer", "table", "sections")
ShareOf = Annotated[
    Optional[str], Query(alias="share", description="add labels by the share of positive reviews: table, or 0 to 1")
]
Verbatim = Annotated[bool, Query(description="leave texts that a spreadsheet would compute as they are")]
EXAMPLE = "film,document\n괴물,정말 재미있는 영화였어요\n괴물,배우는 좋은데 영화는 별로\n"
LOG = logging.getLogger("uvicorn.error")


ERRORS = problems({400: "no JSON", 413: "body too large", 422: "bad input", 503: "not loaded yet, or too busy"})


class Server:
    """Handlers of the application's routes; those for JSON return it as text. `services` are those of systems."""

    def __init__(self, bundles: Bundles, limits: Limits) -> None:
        self.limits, self.counters, self.quota = limits, Counters(), StorageQuota(limits)
        self.models = Models(bundles, limits)
        self.services: dict[str, SystemService] = {
            name: found.Service(self, bundles.others.get(name)) for name, found in registry.modules("service")
        }
        self.woff, self.font_lock = b"", threading.Lock()
        self.html = with_words(filled(file("page.html", __package__), **self.fillings()))

    async def load(self) -> None:
        """Load all models; requests that need them are refused until the end."""
        explainer = await self.models.load()
        for service in self.services.values():
            await service.load()
        self.models.explainer = explainer
        classifier = explainer.classifier
        LOG.info("ready: bundle %s, engine %s", classifier.bundle.name, classifier.engine.name)

    @property
    def routes(self) -> "list[Route]":
        """All requests with POST: those for JSON first."""
        own = [
            Route("/predict", TEXTS, "Classify reviews", self.predict, Reviews),
            Route("/explain", TEXTS, "Explain a prediction by the words of its review", self.explain, Question),
            self.table_route("/predict/batch", "Classify the reviews of a table", self.batch, MEDIA_TYPES),
        ]
        added = [route for service in self.services.values() for route in service.routes]
        return sorted(own + added, key=lambda route: route.body is None)

    def table_route(
        self, path: str, title: str, respond: Callable[..., Any], types: Iterable[str], missing: str = ""
    ) -> Route:
        """Return a request whose body is a table, answered with text of these media types."""
        text: Any = {"schema": {"type": "string"}}
        form = {"type": "object", "properties": {"file": {"type": "string", "format": "binary"}}, "required": ["file"]}
        bodies = {**dict.fromkeys(MEDIA_TYPES, text), "text/csv": {**text, "example": EXAMPLE}, FORM: {"schema": form}}
        options = {
            "response_class": StreamingResponse,
            "responses": {200: {"content": dict.fromkeys(types, text)}},
            "openapi_extra": {"requestBody": {"required": True, "content": bodies}},
        }
        return Route(path, "Tables", title, respond, None, missing, self.limits.table, options)

    def fillings(self) -> dict[str, str]:
        """Return {placeholder of page.html: its text}, in their order, with what the systems add."""
        css, *scripts = (file(name, __package__) for name in ("page.css", *SCRIPTS))
        slots = dict.fromkeys(SLOTS, "")
        # the last one's section is the first on the page
        for service in reversed(self.services.values()):
            files = {path.name: path for path in resources.files(type(service).__module__.rpartition(".")[0]).iterdir()}
            added = {name: files[name].read_text("utf-8") for name in files if name.endswith((".html", ".css", ".js"))}
            css += added.get("page.css", "")
            scripts.insert(-1, added.get("page.js", ""))
            for slot in SLOTS:
                # what the server has no model for is hidden
                hidden = "" if service.main.bundle else "hidden"
                slots[slot] += added.get(f"{slot}.html", "").replace("@@hidden@@", hidden)
        return {"css": css, **slots, "scripts": "\n".join(scripts)}

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

        `heads` is true if its encoder has attention heads.
        `restore_bundle`, `language_bundle`, `read_bundle` and `film_bundle`, with the ends of its scale of `stars`, are
        named where there are any.
        """
        explainer = self.models.require()
        classifier = explainer.classifier
        state = {"status": "ready", "bundle": classifier.bundle.name, "engine": classifier.engine.name}
        for service in self.services.values():
            state.update(service.state())
        return {**state, "methods": explainer.methods, "heads": explainer.has_heads}

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
