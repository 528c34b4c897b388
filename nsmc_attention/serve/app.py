"""The page and the HTTP API over one classifier.

    GET  /                the page
    POST /predict         {"inputs": "..."} or a list: predictions as of Hugging Face's text-classification pipelines
    POST /explain         a review's words with one value each, by attention or another attribution method
    POST /predict/batch   csv, tsv or jsonl in; streamed out with its columns and the predictions
    GET  /healthz, /readyz, /metrics, /docs

A response names no path of this machine and holds no traceback. Bad input gets status 413 or 422 and one line that
says what was expected.
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
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any, AsyncIterator, Coroutine, Optional, Union

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response, StreamingResponse
from prometheus_client import CONTENT_TYPE_LATEST
from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictInt
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from ..errors import NsmcError, did_you_mean
from ..inference.attribution import METHODS
from ..inference.explain import Explainer
from ..inference.prediction import Prediction
from ..inference.predictor import Classifier, load_classifier
from ..visualization.page import font_of, panel, with_words
from .batching import Batcher, SerialExecutor
from .counters import Counters
from .guard import Guard
from .limits import Limits
from .tables import KINDS, StorageQuota, Table, TableResponse

# Rows and columns of the largest matrix that the page draws
LARGEST_MATRIX = 128
# Exit code of a process whose bundle cannot be loaded
BAD_BUNDLE = 2
FONT = threading.Lock()
LOG = logging.getLogger("uvicorn.error")


class Body(BaseModel):
    """A JSON object without unknown keys."""

    model_config = ConfigDict(extra="forbid")


class Parameters(Body):
    """Options of a prediction."""

    top_k: Optional[StrictInt] = Field(default=None, ge=1, le=2, description="return so many labels of each review")
    weights: StrictBool = Field(False, description="with tokens, offsets, weights (T x T) and token_weights (T)")


class Reviews(Body):
    """One review, or a list of them."""

    inputs: Union[str, list[str]] = Field(..., description="a review, or a list of them")
    parameters: Parameters = Parameters()


class Question(Body):
    """A review and the attribution method."""

    inputs: str
    method: str = Field("attention", json_schema_extra={"enum": list(METHODS)})
    by_word: StrictBool = Field(False, description="words between white space (eojeol), not morphemes")


class Problem(BaseModel):
    """What was expected and what was found, in one line."""

    error: str


ERRORS: dict[Union[int, str], dict[str, Any]] = {
    400: {"model": Problem, "description": "no JSON"},
    413: {"model": Problem, "description": "body too large"},
    422: {"model": Problem, "description": "bad input; one line says what"},
    503: {"model": Problem, "description": "not loaded yet, or too busy"},
}


class Service:
    """The classifier behind the application, loaded in the background after the start."""

    classifier: Classifier
    explanations: SerialExecutor
    table_threads: ThreadPoolExecutor

    def __init__(self, limits: Limits, counters: Counters) -> None:
        self.limits, self.counters, self.quota = limits, counters, StorageQuota(limits)
        self.explainer: Optional[Explainer] = None
        self.batcher = Batcher(lambda texts: self.classifier.predict_many(texts))

    async def load(self, bundle: Optional[Union[str, Path]], engine: str) -> None:
        self.classifier = await self.batcher.run_alone(load_classifier, bundle, engine)
        # the first review builds the tokenizer
        await self.batcher.run_alone(self.classifier.predict, "영화")
        # MXNet must be called from one thread; beside ONNX Runtime only explanations call it, in one thread of theirs
        only = self.batcher.thread if self.classifier.engine.name == "gluon" else None
        self.table_threads = only or ThreadPoolExecutor(self.limits.tables)
        self.explanations = SerialExecutor(only or ThreadPoolExecutor(1), self.limits.explanations)
        self.explainer = Explainer(self.classifier)
        # spares each garbage collection 60 ms over what stays forever
        gc.collect()
        gc.freeze()
        LOG.info("ready: bundle %s, engine %s", self.classifier.bundle.name, self.classifier.engine.name)

    def require(self) -> Explainer:
        if self.explainer is None:
            raise HTTPException(503, "the model is still being loaded; try again in a second")
        return self.explainer

    def check_texts(self, texts: list[str], weights: bool = False) -> None:
        most, largest = self.limits.weighted if weights else self.limits.reviews, self.limits.characters
        if len(texts) > most:
            kind = "reviews with weights" if weights else "reviews"
            hint = "send tables to /predict/batch"
            raise HTTPException(422, f"inputs: expected at most {most} {kind}, found {len(texts)}; {hint}")
        longest = max(map(len, texts), default=0)
        if longest > largest:
            raise HTTPException(
                422, f"inputs: expected reviews of at most {largest} characters, found one of {longest}"
            )


def create_app(
    bundle: Optional[Union[str, Path]] = None,
    engine: str = "auto",
    limits: Limits = Limits(),
    folder: Optional[str] = None,
) -> Guard:
    """Return the ASGI application.

    Parameters
    ----------
    bundle, engine
        As in `inference.predictor.load_classifier`.
    limits : Limits
    folder : path or None
        Shared by the workers of one server; None if this process is the only one.
    """
    counters = Counters(folder)
    service = Service(limits, counters)

    @asynccontextmanager
    async def lifespan(application: FastAPI) -> AsyncIterator[None]:
        task = asyncio.create_task(service.load(bundle, engine))
        task.add_done_callback(stop_on_failure)
        if folder:
            end_with_parent()
            # another worker responds meanwhile
            await asyncio.wait([task])
        yield
        task.cancel()

    application = FastAPI(
        title="nsmc_attention",
        description="Korean film-review sentiment with its attention",
        lifespan=lifespan,
        redoc_url=None,
        swagger_ui_oauth2_redirect_url=None,
    )
    add_errors(application)
    add_page(application)
    add_state(application, service)
    add_predictions(application, service)
    add_tables(application, service)
    # outermost, so that its response to a bug has the security headers too
    return Guard(application, limits, counters.observe)


def stop_on_failure(task: "asyncio.Task[None]") -> None:
    """Stop the server, with one line, if the bundle cannot be loaded."""
    if not task.cancelled() and task.exception():
        LOG.error("error: %s", task.exception())
        if multiprocessing.parent_process():
            os.kill(os.getppid(), signal.SIGTERM)
        os._exit(BAD_BUNDLE)


def end_with_parent() -> None:
    """End this worker when its supervisor is dead or its terminal is closed; otherwise it would wait forever."""
    parent = multiprocessing.parent_process()
    if parent is None:
        return

    def wait() -> None:
        parent.join()
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=wait, daemon=True).start()
    end_on_hangup()


def end_on_hangup() -> None:
    """Treat SIGHUP, from a closed terminal, as SIGTERM, unless it is ignored (nohup)."""
    if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        signal.signal(signal.SIGHUP, lambda *_: signal.raise_signal(signal.SIGTERM))


def add_errors(application: FastAPI) -> None:
    """Give all errors the form {"error": line}; of the request it repeats at most the name of a key."""

    def respond(status: int, line: object, headers: Optional[dict[str, str]] = None) -> JSONResponse:
        retry = {"Retry-After": "1"} if status == 503 else {}
        return JSONResponse({"error": printable(str(line))}, status, {**(headers or {}), **retry})

    @application.exception_handler(HTTPException)
    async def refused(request: Request, problem: HTTPException) -> JSONResponse:
        return respond(problem.status_code, problem.detail, problem.headers)  # type: ignore[arg-type]

    @application.exception_handler(RequestValidationError)
    async def invalid(request: Request, problem: RequestValidationError) -> JSONResponse:
        # of a list, what is wrong in it and not that it is no text
        first = max(problem.errors(), key=lambda each: len(each["loc"]))
        reason = unknown_key(request, first["loc"]) if first["type"] == "extra_forbidden" else first["msg"]
        return respond(422, f"{'.'.join(map(str, location(first['loc'])))}: {reason}")

    @application.exception_handler(ClientDisconnect)
    async def disconnected(request: Request, problem: ClientDisconnect) -> JSONResponse:
        # nobody reads it, and it is not the server's error
        return respond(400, "body: cut off")

    @application.exception_handler(NsmcError)
    async def bad_input(request: Request, problem: NsmcError) -> JSONResponse:
        return respond(422, problem)

    @application.exception_handler(Exception)
    async def bug(request: Request, problem: Exception) -> JSONResponse:
        return respond(500, "internal error; the server's log says more")


def location(loc: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the error's location in the body, without pydantic's union branch."""
    return loc[:2] + loc[3:4] if loc[:2] == ("body", "inputs") else loc[:4]


def unknown_key(request: Request, loc: tuple[Any, ...]) -> str:
    model = Question if request.url.path == "/explain" else Parameters if len(loc) > 2 else Reviews
    return f"unknown key{did_you_mean(loc[-1][:100], model.model_fields)}"


def printable(text: str) -> str:
    return "".join(character if character.isprintable() else "?" for character in text)[:500]


def add_page(application: FastAPI) -> None:
    page = with_words((Path(__file__).parent / "page.html").read_text(encoding="utf-8"))

    @application.get("/", response_class=HTMLResponse, include_in_schema=False)
    async def index() -> str:
        return page

    @application.get("/font.woff", include_in_schema=False)
    def font() -> Response:
        # one at a time: lru_cache alone lets all that come before the first result make one, 20 MB each
        with FONT:
            content = hangul_font()
        return Response(content, media_type="font/woff", headers={"Cache-Control": "public, max-age=604800"})


@lru_cache(maxsize=1)
def hangul_font() -> bytes:
    """Return the font for browsers without Hangul, made for the first of them."""
    return font_of(map(chr, [*range(0x3131, 0x318F), *range(0xAC00, 0xD7A4)]))  # type: ignore[no-any-return]


def add_state(application: FastAPI, service: Service) -> None:
    @application.get("/healthz")
    async def alive() -> dict[str, str]:
        """Whether the process responds."""
        return {"status": "alive"}

    @application.get("/readyz", responses={503: {"description": "not yet"}})
    async def ready() -> dict[str, str]:
        """Whether the model is loaded."""
        classifier = service.require().classifier
        return {"status": "ready", "bundle": classifier.bundle.name, "engine": classifier.engine.name}

    @application.get("/metrics", response_class=PlainTextResponse)
    def metrics() -> Response:
        """The counters, for Prometheus."""
        return Response(service.counters.text(), media_type=CONTENT_TYPE_LATEST)


def add_predictions(application: FastAPI, service: Service) -> None:
    @application.post("/predict", responses=ERRORS)
    async def predict(question: Reviews):  # type: ignore[no-untyped-def]  # annotated, FastAPI would validate it
        """Return a label and its score for each review.

        One review: `[{"label", "score"}]`; a list: one such object each. With top_k, a list of labels for each.
        A review without words has label and score null, and the reason in `error`.
        """
        service.require()
        texts = [question.inputs] if isinstance(question.inputs, str) else question.inputs
        service.check_texts(texts, question.parameters.weights)
        predictions = await service.batcher(texts)
        service.counters.reviews.inc(len(texts))
        results = [labels(each, question.parameters) for each in predictions]
        if question.parameters.top_k:
            return results[0] if isinstance(question.inputs, str) else results
        return [each[0] for each in results]

    @application.post("/explain", responses=ERRORS)
    async def explain(question: Question, request: Request):  # type: ignore[no-untyped-def]
        """Return a review's words with one value each, and for attention the whole matrix."""
        explainer = service.require()
        service.check_texts([question.inputs])
        return await unless_gone(request, service.explanations(explanation, explainer, question))


def labels(prediction: Prediction, parameters: Parameters) -> list[dict[str, Any]]:
    """Return the labels of a prediction, most probable first."""
    if prediction.error:
        return [{"label": None, "score": None, "error": prediction.error}]
    both = [("positive", prediction.probability), ("negative", 1 - prediction.probability)]
    both.sort(key=lambda pair: -pair[1])
    found: list[dict[str, Any]] = [{"label": label, "score": score} for label, score in both[: parameters.top_k or 1]]
    if parameters.weights:
        details = prediction.to_dict(weights=True)
        found[0].update({name: details[name] for name in ("text", "tokens", "offsets", "weights", "token_weights")})
    return found


def explanation(explainer: Explainer, question: Question) -> dict[str, Any]:
    """Return the panel of a question, without a matrix that the page would not draw."""
    found = explainer(question.inputs, question.method)
    if len(found.text.split() if question.by_word else found.tokens) > LARGEST_MATRIX:
        found = replace(found, matrix=None)
    return panel(found.by_word() if question.by_word else found)  # type: ignore[no-any-return]


async def unless_gone(request: Request, work: Coroutine[Any, Any, Any]) -> Any:
    """Return a coroutine's result; if the client disconnects, cancel it and raise ClientDisconnect."""

    async def disconnect() -> None:
        while (await request.receive())["type"] != "http.disconnect":
            pass

    result, gone = asyncio.ensure_future(work), asyncio.ensure_future(disconnect())
    try:
        await asyncio.wait([result, gone], return_when=asyncio.FIRST_COMPLETED)
        if not result.done():
            raise ClientDisconnect
        return result.result()
    finally:
        result.cancel()
        gone.cancel()


def add_tables(application: FastAPI, service: Service) -> None:
    content = {kind: {"schema": {"type": "string"}} for kind in KINDS}

    @application.post(
        "/predict/batch",
        response_class=StreamingResponse,
        responses={200: {"content": content}, **ERRORS},
        openapi_extra={"requestBody": {"required": True, "content": content}},
    )
    async def batch(request: Request, text_column: str = "document", verbatim: bool = False) -> Response:
        """Score a table; keep every column, and add label, score, probability and error.

        In csv and tsv a text that a spreadsheet would compute gets an apostrophe, unless verbatim.
        """
        service.require()
        kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind not in KINDS:
            expected = ", ".join(KINDS)
            raise HTTPException(422, f"Content-Type: expected one of {expected}, found {printable(kind)[:60]!r}")
        table = None
        try:
            table = Table(KINDS[kind], text_column, verbatim, service.table_threads, service.quota)
            await table.store(request.stream())
            if not table.enter():
                raise HTTPException(503, "too many tables are being scored; try again in a second")
            service.counters.reviews.inc(await unless_gone(request, table.check()))
            return TableResponse(table, service.classifier, kind)
        except BaseException as problem:
            if table:
                table.close()
            if isinstance(problem, OSError):
                # no space, too many open files; the log names the file
                LOG.warning("table: %s", problem)
                raise HTTPException(503, "no space for a table; try again later") from problem
            if isinstance(problem, NsmcError) and table:
                raise HTTPException(422, str(problem).replace(table.path, "table")) from problem
            raise
