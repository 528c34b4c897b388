"""The page and the HTTP API over one classifier and, where there are any, one restorer and one language model.

    GET  /                the page
    POST /predict         predictions as of Hugging Face's text-classification pipelines
    POST /explain         a review's words with one value each
    POST /predict/batch   a table in; streamed out with its columns and the predictions
    POST /restore         texts with their spaces and spelling corrected
    POST /fill            the likeliest words at the [MASK] of a text
    POST /film            a table in; a line of JSON for each of its films
    GET  /healthz, /readyz, /metrics, /docs

An error is one line without a path of this machine; bad input gets status 413 or 422, /restore, /fill or /film
without a model for it 404.
"""

import asyncio
import gc
import logging
import multiprocessing
import os
import signal
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any, AsyncIterator, Awaitable, Callable, Coroutine, Optional, Union

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response, StreamingResponse
from fastapi_offline import FastAPIOffline
from prometheus_client import CONTENT_TYPE_LATEST
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from .._runtime.processes import exit_with_parent
from ..classification.explain import Explainer
from ..classification.predictor import Classifier, load_classifier
from ..errors import ColumnError, NsmcError, did_you_mean
from ..visualization.page import file, filled, font_of, with_words
from .batching import Batcher, SerialExecutor
from .counters import Counters
from .explaining import Question, explanation
from .filling import Blank, Fillings
from .films import Films
from .forms import FORM, FormFile
from .guard import Guard
from .limits import Limits
from .predicting import Parameters, Reviews, ShortWay, labels, with_details
from .restoring import Restorations, Texts
from .tables import KINDS, StorageQuota, Table, TableResponse, upload_kind

Bundle = Optional[Union[str, Path]]
SCRIPTS = ("texts.js", "heads.js", "fill.js", "films.js", "page.js")
# What /predict/batch is for, and what to do without it
TABLES, FEWER = "send tables to /predict/batch", "send them in several requests"
# Exit code of a process whose bundle cannot be loaded
BAD_BUNDLE = 2
LOG = logging.getLogger("uvicorn.error")


class Problem(BaseModel):
    error: str
    columns: Optional[list[str]] = Field(default=None, description="of a table without the column of texts")


REASONS = {400: "no JSON", 413: "body too large", 422: "bad input", 503: "not loaded yet, or too busy"}
ERRORS: dict[Any, Any] = {status: {"model": Problem, "description": text} for status, text in REASONS.items()}
RESTORE_ERRORS = {**ERRORS, 404: {"model": Problem, "description": "the server has no restorer"}}
FILM_ERRORS = {**ERRORS, 404: {"model": Problem, "description": "the server has no film network"}}
FILL_ERRORS = {**ERRORS, 404: {"model": Problem, "description": "the server has no language model"}}


class Service:
    """The models behind the application, loaded in the background after the start, and the application's routes."""

    classifier: Classifier
    explanations: SerialExecutor
    table_threads: ThreadPoolExecutor

    def __init__(
        self, limits: Limits, restore_bundle: Bundle = None, language_bundle: Bundle = None, film_bundle: Bundle = None
    ) -> None:
        self.limits, self.counters, self.quota = limits, Counters(), StorageQuota(limits)
        self.films = Films(film_bundle, limits)
        self.restorations, self.fillings = Restorations(restore_bundle, limits), Fillings(language_bundle)
        self.explainer: Optional[Explainer] = None
        self.batcher = Batcher(lambda texts: self.classifier.rows(texts))
        self.weighted = Batcher(lambda texts: self.classifier.predict_many(texts), thread=self.batcher.thread)
        self.woff, self.font_lock = b"", threading.Lock()
        self.html = self.make_page()

    def make_page(self) -> str:
        """Return the HTML page; what the server has no model for is hidden."""
        page, css, *scripts = (file(name, __package__) for name in ("page.html", "page.css", *SCRIPTS))
        no_restorer, no_language = ("" if each.bundle else "hidden" for each in (self.restorations, self.fillings))
        return with_words(
            filled(page, css=css, no_restorer=no_restorer, no_language=no_language, scripts="\n".join(scripts))
        )

    async def load(self, bundle: Bundle, engine: str) -> None:
        self.classifier = await self.batcher.run_alone(load_classifier, bundle, engine)
        # the first review builds the tokenizer
        await self.batcher.run_alone(self.classifier.predict, "영화")
        # MXNet must be called from one thread; beside ONNX Runtime only explanations call it, in one thread of theirs
        only = self.batcher.thread if self.classifier.engine.name == "gluon" else None
        mxnet = only or ThreadPoolExecutor(1)
        self.table_threads = only or ThreadPoolExecutor(self.limits.tables)
        self.explanations = SerialExecutor(mxnet, self.limits.explanations)
        await self.restorations.load(engine, mxnet)
        await self.fillings.load(engine, mxnet)
        await self.batcher.run_alone(self.films.load, self.classifier)
        self.explainer = Explainer(self.classifier)
        # spares each garbage collection 60 ms over what stays forever
        gc.collect()
        gc.freeze()
        LOG.info("ready: bundle %s, engine %s", self.classifier.bundle.name, self.classifier.engine.name)

    def require(self) -> Explainer:
        if self.explainer is None:
            raise HTTPException(503, "the model is still being loaded; try again in a second")
        return self.explainer

    def check_texts(self, texts: list[str], most: int, kind: str, advice: str = TABLES) -> None:
        longest, characters = max(map(len, texts), default=0), self.limits.characters
        if len(texts) > most:
            line = f"inputs: expected at most {most} {kind}, found {len(texts)}; {advice}"
        elif longest > characters:
            line = f"inputs: expected reviews of at most {characters} characters, found one of {longest}"
        else:
            return
        raise HTTPException(422, line)

    async def page(self) -> str:
        return self.html

    def font(self) -> Response:
        # for browsers without Hangul, made for the first of them; several at once would use 20 MB each
        with self.font_lock:
            self.woff = self.woff or font_of(map(chr, [*range(0x3131, 0x318F), *range(0xAC00, 0xD7A4)]))
        return Response(self.woff, media_type="font/woff", headers={"Cache-Control": "public, max-age=604800"})

    async def healthz(self) -> dict[str, str]:
        """Whether the process responds."""
        return {"status": "alive"}

    async def readyz(self) -> dict[str, Any]:
        """Whether the models are loaded; `methods` are those of /explain that fit the classifier.

        `restore_bundle`, `language_bundle` and `film_bundle`, with the ends of its scale of `stars`, are named where there
        are any.
        """
        explainer = self.require()
        classifier = explainer.classifier
        found = {"status": "ready", "bundle": classifier.bundle.name, "engine": classifier.engine.name}
        others: dict[str, Any] = {"restore_bundle": self.restorations.restorer, "language_bundle": self.fillings.model}
        others["film_bundle"] = rater = self.films.rater
        named = {name: model.bundle.name for name, model in others.items() if model}
        named.update({"stars": [rater.scale.lowest, rater.scale.highest]} if rater else {})
        return {**found, **named, "methods": explainer.methods}

    def metrics(self) -> Response:
        """The counters, for Prometheus."""
        return Response(self.counters.text(), media_type=CONTENT_TYPE_LATEST)

    async def predict(self, question: Reviews) -> Any:
        """Return a label and its score for each review.

        One review: `[{"label", "score"}]`; a list: one such object each. With top_k, a list of labels for each.
        A review without words has label and score null, and the reason in `error`.
        """
        return await self.predictions(question.inputs, question.parameters.top_k, question.parameters.weights)

    async def predictions(self, inputs: Union[str, list[str]], top_k: Optional[int], weights: bool) -> Any:
        """Return what `predict` returns, by the values of a question."""
        self.require()
        single, limits = isinstance(inputs, str), self.limits
        texts: Any = [inputs] if single else inputs
        if weights:
            self.check_texts(texts, limits.weighted, "reviews with weights")
            results = [with_details(each, top_k) for each in await self.weighted(texts)]
        else:
            self.check_texts(texts, limits.reviews, "reviews")
            results = [labels(probability, error, top_k) for _, _, probability, error in await self.batcher(texts)]
        self.counters.reviews.inc(len(texts))
        if top_k:
            return results[0] if single else results
        return [each[0] for each in results]

    async def restore(self, question: Texts, request: Request) -> Any:
        """Return texts with their spaces and spelling corrected, in a list also for a single one.

        `source` is the text as it was read, `text` what it was meant to be, `score` the log-probability of that.
        `alignment` is for each character of the text the place of that in the source which it was made of; `segments`
        are pairs of source and text side by side, which differ where something was `changed`. `error` is why a source
        was returned as it is, if not because it was right. With weights, of one text at a time: what a writer, an
        encoder-decoder, makes of it, and its attention as `weights`, a row for each character of the text and a column
        for each of the source.
        """
        self.require()
        texts = [question.inputs] if isinstance(question.inputs, str) else question.inputs
        if question.weights:
            found = await unless_gone(request, self.restorations.align(texts))
        else:
            self.check_texts(texts, self.limits.reviews, "texts", FEWER)
            found = await self.restorations(texts)
        self.counters.restored.inc(len(texts))
        return found

    async def fill(self, question: Blank, request: Request) -> Any:
        """Return the likeliest words at the [MASK] of a text, of which it has one.

        `candidates` are the likeliest first, each with `token`, the `text` with it and its `probability`; `tokens` is
        what the network read, of a long text the part around the [MASK], which is at `place`; `attended` is for each
        token the attention that [MASK] pays to it in the last layer, the mean of its heads, and sums to 1. `heads` are,
        if asked for, the weights of every head: a list for each layer, in it one for each head, a row for each token.
        A language model whose encoder has no self-attention has neither.
        """
        self.require()
        self.check_texts([question.inputs], 1, "texts")
        found = await unless_gone(request, self.fillings(question))
        self.counters.filled.inc()
        return found

    async def explain(self, question: Question, request: Request) -> Any:
        """Return a review's words with one value each, and for attention the whole matrix.

        `heads` are, if asked for, the weights of a Transformer's heads: a list for each layer, in it one for each head,
        a row for each token. An encoder without heads, or more weights than the page draws, get status 422.
        """
        explainer = self.require()
        self.check_texts([question.inputs], 1, "reviews")
        return await unless_gone(request, self.explanations(explanation, explainer, question))

    async def batch(self, request: Request, text_column: Optional[str] = None, verbatim: bool = False) -> Response:
        """Score a table, the body itself or a form's file; keep every column, add label, score, probability and error.

        The encoding (UTF-8, CP949, UTF-16), the delimiter of a csv and, unless it is named, the column of the texts are
        found. The response to xlsx is csv. In csv and tsv a text that a spreadsheet would compute gets an apostrophe,
        unless verbatim.
        """
        self.require()

        async def scored(table: Table) -> TableResponse:
            self.counters.reviews.inc(await unless_gone(request, table.call(table.count)))
            return TableResponse(table, table.score(self.classifier), table.output)

        return await self.with_table(request, text_column, verbatim, scored)

    async def film(self, request: Request, group_by: str, text_column: Optional[str] = None) -> Response:
        """Return a line of JSON for each film of a table, which is named by the column `group_by`, in their first order.

        `stars` are the mean stars that other reviews of the film are expected to give, from `stars_low` to `stars_high`
        for nine of ten films; `reviews` were read, `blank` ones were not. `representative` are the reviews with the
        largest weights, each with its share of the film's. Where no review has a word, stars are null. A table is sent
        as to /predict/batch.
        """
        self.require()
        self.films.require()

        async def rated(table: Table) -> TableResponse:
            pools = await unless_gone(request, table.call(self.films.pool, table, group_by))
            self.counters.reviews.inc(sum(pool.count + pool.blank for pool in pools.values()))
            return TableResponse(table, table.stream(self.films.pieces(pools)), "jsonl")

        return await self.with_table(request, text_column, False, rated)

    async def with_table(
        self,
        request: Request,
        text_column: Optional[str],
        verbatim: bool,
        respond: Callable[[Table], Awaitable[TableResponse]],
    ) -> TableResponse:
        """Receive the table of a request and return the response to it, which closes the table."""
        content_type = request.headers.get("content-type", "")
        form = FormFile(content_type, request.stream()) if content_type.lower().startswith(FORM) else None
        table = None
        try:
            table = Table(
                "" if form else upload_kind(content_type), text_column or None, verbatim, self.table_threads, self.quota
            )
            await table.store(form or request.stream())
            table.kind = form.kind if form else table.kind
            if not table.enter():
                raise HTTPException(503, "too many tables are being scored; try again in a second")
            return await respond(table)
        except BaseException as problem:
            if table:
                table.close()
            if isinstance(problem, OSError):
                # no space, too many open files; the log names the file
                LOG.warning("table: %s", problem)
                raise HTTPException(503, "no space for a table; try again later") from problem
            if isinstance(problem, NsmcError) and table:
                problem.args = (str(problem).replace(table.path, "table"),)
            raise


def create_app(
    bundle: Bundle = None,
    engine: str = "auto",
    limits: Limits = Limits(),
    restore_bundle: Bundle = None,
    language_bundle: Bundle = None,
    film_bundle: Bundle = None,
) -> Guard:
    """Return the ASGI application; bundle and engine as in `classification.predictor.load_classifier`.

    Restores by restore_bundle, None for the packaged editor; without either `POST /restore` gets status 404. Fills
    blanks by language_bundle, None for the packaged language model; without either `POST /fill` gets status 404. Rates
    films by film_bundle, None for the packaged one; where that reads another classifier `POST /film` gets status 404.
    """
    service = Service(limits, restore_bundle, language_bundle, film_bundle)

    @asynccontextmanager
    async def lifespan(application: FastAPI) -> AsyncIterator[None]:
        task = asyncio.create_task(service.load(bundle, engine))
        task.add_done_callback(stop_on_failure)
        parent = multiprocessing.parent_process()
        if parent:
            # SIGTERM, because requests in progress finish first
            exit_with_parent(parent.pid or 0, partial(os.kill, os.getpid(), signal.SIGTERM))
            end_on_hangup()
            # another worker responds meanwhile
            await asyncio.wait([task])
        yield
        task.cancel()

    about: Any = {"title": "nsmc_attention", "description": "Korean film-review sentiment with its attention"}
    # /docs from files of this package, not from a CDN
    application = FastAPIOffline(**about, lifespan=lifespan, redoc_url=None)
    for kind in (HTTPException, RequestValidationError, ClientDisconnect, NsmcError, Exception):
        application.add_exception_handler(kind, respond_error)
    page = application.api_route("/", methods=["GET", "HEAD"], response_class=HTMLResponse, include_in_schema=False)
    page(service.page)
    application.get("/font.woff", include_in_schema=False)(service.font)
    application.get("/healthz")(service.healthz)
    application.get("/readyz", responses={503: ERRORS[503]})(service.readyz)
    application.get("/metrics", response_class=PlainTextResponse)(service.metrics)
    application.post("/predict", responses=ERRORS)(service.predict)
    application.post("/explain", responses=ERRORS)(service.explain)
    application.post("/restore", responses=RESTORE_ERRORS)(service.restore)
    application.post("/fill", responses=FILL_ERRORS)(service.fill)
    content: Any = {"content": {kind: {"schema": {"type": "string"}} for kind in KINDS}}
    form = {"type": "object", "properties": {"file": {"type": "string", "format": "binary"}}, "required": ["file"]}
    body = {"requestBody": {"required": True, "content": {**content["content"], FORM: {"schema": form}}}}
    table = application.post(
        "/predict/batch", response_class=StreamingResponse, responses={200: content, **ERRORS}, openapi_extra=body
    )
    table(service.batch)
    lines: Any = {"content": {"application/x-ndjson": {"schema": {"type": "string"}}}}
    rated = application.post(
        "/film", response_class=StreamingResponse, responses={200: lines, **FILM_ERRORS}, openapi_extra=body
    )
    rated(service.film)
    short_way = ShortWay(application, "/predict", service.predictions, respond_error)
    # outermost, so that its response to a bug has the security headers too
    return Guard(short_way, limits, service.counters.observe)


def stop_on_failure(task: "asyncio.Task[None]") -> None:
    """Stop the server, with one line, if the bundle cannot be loaded."""
    if not task.cancelled() and task.exception():
        LOG.error("error: %s", task.exception())
        if multiprocessing.parent_process():
            os.kill(os.getppid(), signal.SIGTERM)
        os._exit(BAD_BUNDLE)


def end_on_hangup() -> None:
    """Treat SIGHUP, from a closed terminal, as SIGTERM, unless it is ignored (nohup)."""
    if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        signal.signal(signal.SIGHUP, lambda *_: signal.raise_signal(signal.SIGTERM))


async def respond_error(request: Request, problem: Exception) -> JSONResponse:
    """Give all errors the form {"error": line}; of the request it repeats at most the name of a key."""
    status, line, headers = 500, "internal error; the server's log says more", {}
    if isinstance(problem, HTTPException):
        status, line, headers = problem.status_code, problem.detail, dict(problem.headers or {})
        headers.update({"Retry-After": "1"} if status == 503 else {})
    elif isinstance(problem, RequestValidationError):
        # of a list, what is wrong in it and not that it is no text
        first = max(problem.errors(), key=lambda each: len(each["loc"]))
        status, line, loc = 422, first["msg"], first["loc"]
        if first["type"] == "extra_forbidden":
            models: dict[str, Any] = {"/explain": Question, "/restore": Texts, "/fill": Blank}
            model = models.get(request.url.path, Parameters if len(loc) > 2 else Reviews)
            line = f"unknown key{did_you_mean(loc[-1][:100], model.model_fields)}"
        # without pydantic's union branch
        loc = loc[:2] + loc[3:4] if loc[:2] == ("body", "inputs") else loc[:4]
        line = f"{'.'.join(map(str, loc))}: {line}"
    elif isinstance(problem, ClientDisconnect):
        # nobody reads it, and it is not the server's error
        status, line = 400, "body: cut off"
    elif isinstance(problem, NsmcError):
        status, line = 422, str(problem)
    line = "".join(character if character.isprintable() else "?" for character in line)[:500]
    content: dict[str, Any] = {"error": line}
    if isinstance(problem, ColumnError):
        # JSON may have lone surrogates, UTF-8 may not
        content["columns"] = [name.encode("utf-8", "replace").decode() for name in problem.columns]
    return JSONResponse(content, status, headers)


async def unless_gone(request: Request, work: Coroutine[Any, Any, Any]) -> Any:
    """Return a coroutine's result; if the client disconnects, cancel it and raise ClientDisconnect."""
    task = asyncio.ensure_future(work)
    while not (await asyncio.wait([task], timeout=0.1))[0]:
        if await request.is_disconnected():
            task.cancel()
            raise ClientDisconnect
    return task.result()
