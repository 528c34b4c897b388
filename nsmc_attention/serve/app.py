"""The page and the HTTP API over one classifier.

    GET  /                the page
    POST /predict         {"inputs": "..."} or a list: the answers of Hugging Face's text-classification pipelines
    POST /explain         a review's words with their weights, by attention or one of its rivals
    POST /predict/batch   csv, tsv or jsonl in, streamed out with its other columns
    GET  /healthz, /readyz, /metrics, /docs

An answer names no path of this machine and holds no traceback; bad input is 413 or 422 with one line that says
what was expected.
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
from functools import lru_cache
from pathlib import Path
from typing import List, Optional, Union

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
from ..inference.predictor import Classifier, load_classifier
from ..visualization.page import font_of, panel, with_words
from .batching import Batcher, Busy, Turns
from .counters import Counters
from .guard import Guard
from .limits import Limits
from .tables import KINDS, Room, Table, TableAnswer

# Of one attribution's matrix the page draws so many words
LONGEST_MATRIX = 128
# Exit code of a process whose bundle cannot be loaded
NO_BUNDLE = 2
NO_ROOM_HERE = "no room for a table; try again later"
FONT = threading.Lock()
LOG = logging.getLogger("uvicorn.error")


class Body(BaseModel):
    """What has no other keys than its own."""

    model_config = ConfigDict(extra="forbid")


class Parameters(Body):
    """How to answer."""

    top_k: Optional[StrictInt] = Field(
        default=None, ge=1, le=2, description="answer a list of so many labels for each review"
    )
    weights: StrictBool = Field(
        default=False, description="with tokens, offsets, weights (T x T) and token_weights (T)"
    )


class Reviews(Body):
    """One review, or a list of them."""

    inputs: Union[str, List[str]] = Field(..., description="a review, or a list of them")
    parameters: Parameters = Parameters()


class Question(Body):
    """A review and the method that explains it."""

    inputs: str
    method: str = Field("attention", json_schema_extra={"enum": list(METHODS)})
    by_word: StrictBool = Field(False, description="words between white space (eojeol), not morphemes")


class Refused(Exception):
    """Ends a request with a status and one line."""

    def __init__(self, status, message):
        super().__init__(message)
        self.status = status


class Service:
    """The classifier behind the application, loaded in the background after the start."""

    def __init__(self, bundle, engine, limits, counters, folder):
        self.bundle, self.engine, self.limits, self.counters, self.folder = bundle, engine, limits, counters, folder
        self.classifier: Classifier
        self.explainer: Optional[Explainer] = None
        self.explanations: Turns
        self.table_threads: ThreadPoolExecutor
        self.room = Room(limits)
        self.batcher = Batcher(lambda texts: self.classifier.predict_many(texts))

    async def load(self):
        self.classifier = await self.batcher.alone(load_classifier, self.bundle, self.engine)
        # the first review builds the tokenizer
        await self.batcher.alone(self.classifier.predict, "영화")
        # MXNet wants to be called from one thread; beside ONNX Runtime explanations alone call it, in one of theirs
        only = self.batcher.thread if self.classifier.engine.name == "gluon" else None
        self.table_threads = only or ThreadPoolExecutor(self.limits.tables)
        self.explanations = Turns(only or ThreadPoolExecutor(1), self.limits.explanations)
        self.explainer = Explainer(self.classifier)
        # what stays for good is not searched for garbage again and again, 60 ms each time
        gc.collect()
        gc.freeze()
        LOG.info("ready: bundle %s, engine %s", self.classifier.bundle.name, self.classifier.engine.name)

    def require(self):
        if self.explainer is None:
            raise Refused(503, "the model is still being loaded; try again in a second")

    def check_texts(self, texts, weights=False):
        most = self.limits.weighted if weights else self.limits.reviews
        if len(texts) > most:
            raise Refused(
                422,
                f"inputs: expected at most {most} reviews{' with weights' if weights else ''}, "
                f"found {len(texts)}; send tables to /predict/batch",
            )
        longest, characters = max(map(len, texts), default=0), self.limits.characters
        if longest > characters:
            raise Refused(422, f"inputs: expected reviews of at most {characters} characters, found one of {longest}")


def create_app(bundle=None, engine="auto", limits=Limits(), folder=None):
    """Answer the ASGI application.

    Parameters
    ----------
    bundle, engine
        As of `inference.predictor.load_classifier`.
    limits : serve.limits.Limits
    folder : path or None
        What the workers of one server share; None where this process is the only one.
    """
    counters = Counters(folder)
    service = Service(bundle, engine, limits, counters, folder)

    @asynccontextmanager
    async def lifespan(application):
        task = asyncio.create_task(service.load())
        task.add_done_callback(stop_on_failure)
        if folder:
            end_with_parent()
            # another worker answers meanwhile
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
    # around all of FastAPI, so that its answer to a bug of ours is guarded too
    return Guard(application, limits.body_of, counters.observe)


def stop_on_failure(task):
    """A bundle that cannot be loaded ends the server with its one line."""
    if not task.cancelled() and task.exception():
        LOG.error("error: %s", task.exception())
        if multiprocessing.parent_process():
            os.kill(os.getppid(), signal.SIGTERM)
        os._exit(NO_BUNDLE)


def end_with_parent():
    """End this worker when the process that supervises it is gone, killed perhaps, or its terminal is closed."""
    parent = multiprocessing.parent_process()
    if parent is None:
        return

    def wait():
        parent.join()
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=wait, daemon=True).start()
    end_on_hangup()


def end_on_hangup():
    """Let a terminal that is closed end this process as SIGTERM does, unless it was started to ignore that (nohup)."""
    if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        signal.signal(signal.SIGHUP, lambda *_: signal.raise_signal(signal.SIGTERM))


def add_errors(application):
    """One shape for all errors, {"error": line}; of what was sent none repeats more than the name of a key."""

    @application.exception_handler(Refused)
    async def refused(request, problem):
        headers = {"Retry-After": "1"} if problem.status == 503 else None
        return JSONResponse({"error": str(problem)}, problem.status, headers)

    @application.exception_handler(RequestValidationError)
    async def invalid(request, problem):
        # of a list what is wrong within it, not that it is no text
        first = max(problem.errors(), key=lambda each: len(each["loc"]))
        where = ".".join(map(str, place(first["loc"])))
        reason = unknown_key(request, first["loc"]) if first["type"] == "extra_forbidden" else first["msg"]
        return JSONResponse({"error": f"{printable(where)}: {reason}"}, 422)

    @application.exception_handler(HTTPException)
    async def other(request, problem):
        return JSONResponse({"error": printable(str(problem.detail))}, problem.status_code, problem.headers)

    @application.exception_handler(Busy)
    async def busy(request, problem):
        return JSONResponse({"error": "too many reviews wait; try again in a second"}, 503, {"Retry-After": "1"})

    @application.exception_handler(ClientDisconnect)
    async def gone(request, problem):
        # nobody reads it, and it is no error of the server's
        return JSONResponse({"error": "body: cut off"}, 400)

    @application.exception_handler(NsmcError)
    async def bad_input(request, problem):
        return JSONResponse({"error": printable(str(problem))}, 422)

    @application.exception_handler(Exception)
    async def bug(request, problem):
        return JSONResponse({"error": "an error of the server's own; its log has more"}, 500)


def place(loc):
    """Answer where in the body an error is, without the type of `inputs` that it is an error of."""
    return loc[:2] + loc[3:4] if loc[:2] == ("body", "inputs") else loc[:4]


def unknown_key(request, loc):
    model = Question if request.url.path == "/explain" else Parameters if len(loc) > 2 else Reviews
    return f"unknown key{did_you_mean(loc[-1][:100], model.model_fields)}"


def printable(text):
    return "".join(character if character.isprintable() else "?" for character in text)[:500]


def add_page(application):
    page = with_words((Path(__file__).parent / "page.html").read_text(encoding="utf-8"))

    @application.get("/", response_class=HTMLResponse, include_in_schema=False)
    async def index():
        return page

    @application.get("/font.woff", include_in_schema=False)
    def font():
        return Response(hangul_font(), media_type="font/woff", headers={"Cache-Control": "public, max-age=604800"})


def hangul_font():
    """The font for browsers without Hangul, made when the first of them asks."""
    # lru_cache lets all who come before the first is answered make one, 20 MB each
    with FONT:
        return made_font()


@lru_cache(maxsize=1)
def made_font():
    return font_of(map(chr, [*range(0x3131, 0x318F), *range(0xAC00, 0xD7A4)]))


def add_state(application, service):
    @application.get("/healthz")
    async def alive():
        """Whether the process answers."""
        return {"status": "alive"}

    @application.get("/readyz", responses={503: {"description": "not yet"}})
    async def ready():
        """Whether the model is loaded."""
        service.require()
        return {"status": "ready", "bundle": service.classifier.bundle.name, "engine": service.classifier.engine.name}

    @application.get("/metrics", response_class=PlainTextResponse)
    def metrics():
        """The counters, for Prometheus."""
        return Response(service.counters.text(), media_type=CONTENT_TYPE_LATEST)


ERRORS = {
    status: {
        "description": text,
        "content": {
            "application/json": {
                "schema": {"type": "object", "required": ["error"], "properties": {"error": {"type": "string"}}}
            }
        },
    }
    for status, text in (
        (413, "body too large"),
        (422, "bad input, one line says what"),
        (400, "no JSON"),
        (503, "not loaded yet, or too busy"),
    )
}


def add_predictions(application, service):
    @application.post("/predict", responses=ERRORS)
    async def predict(question: Reviews):
        """Answer a label and its score for each review.

        One review: `[{"label", "score"}]`; a list: one such object each. With top_k, a list of labels for each.
        A review without a word has label and score null and says so in `error`.
        """
        service.require()
        texts = [question.inputs] if isinstance(question.inputs, str) else question.inputs
        service.check_texts(texts, question.parameters.weights)
        predictions = await service.batcher(texts)
        service.counters.reviews.inc(len(texts))
        answers = [answer(each, question.parameters) for each in predictions]
        top_k = question.parameters.top_k
        if top_k:
            return answers[0] if isinstance(question.inputs, str) else answers
        return [each[0] for each in answers]

    @application.post("/explain", responses=ERRORS)
    async def explain(question: Question, request: Request):
        """Answer a review's words with one value each, and for attention the whole matrix."""
        service.require()
        service.check_texts([question.inputs])
        return await unless_gone(request, service.explanations(explanation, service.explainer, question))


async def unless_gone(request, answering):
    """Answer what a coroutine answers; when the client goes away it is cancelled, and ClientDisconnect raised."""
    answering, leaving = asyncio.ensure_future(answering), asyncio.ensure_future(left(request))
    try:
        await asyncio.wait([answering, leaving], return_when=asyncio.FIRST_COMPLETED)
        if not answering.done():
            raise ClientDisconnect
        return answering.result()
    finally:
        answering.cancel()
        leaving.cancel()


async def left(request):
    """Wait until the client of a request that is read has gone."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


def explanation(explainer, question):
    """Answer the panel of a Question, without a matrix that the page would not draw."""
    found = explainer(question.inputs, question.method)
    tokens = range(len(found.tokens))
    if len(set(map(found.word_number, tokens)) if question.by_word else tokens) > LONGEST_MATRIX:
        found = found.without_matrix()
    return panel(found.by_word() if question.by_word else found)


def add_tables(application, service):
    content = {kind: {"schema": {"type": "string"}} for kind in KINDS}

    @application.post(
        "/predict/batch",
        response_class=StreamingResponse,
        responses={200: {"content": content}, **ERRORS},
        openapi_extra={"requestBody": {"required": True, "content": content}},
    )
    async def batch(request: Request, text_column: str = "document", verbatim: bool = False):
        """Score a table; every column is kept, and label, score, probability and error are added.

        In csv and tsv a text that a spreadsheet would compute has an apostrophe before it, unless verbatim.
        """
        service.require()
        kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind not in KINDS:
            raise Refused(422, f"Content-Type: expected one of {', '.join(KINDS)}, found {printable(kind)[:60]!r}")
        try:
            table = Table(kind, text_column, verbatim, service.folder, service.table_threads, service.room)
        except (NsmcError, OSError) as problem:
            raise no_room(problem) from problem
        try:
            await table.store(request.stream())
            if not table.enter():
                raise Refused(503, "too many tables are being scored; try again in a second")
            service.counters.reviews.inc(await unless_gone(request, table.check()))
            return TableAnswer(table, service.classifier)
        except BaseException as problem:
            table.close()
            if isinstance(problem, OSError):
                raise no_room(problem) from problem
            if not isinstance(problem, NsmcError):
                raise
            # the line names a file of ours
            raise Refused(422, printable(str(problem).replace(str(table.path), "table"))) from problem


def no_room(problem):
    """Answer what a client is told whose table cannot be stored: no room, too many open files, no such folder."""
    # names a file of ours, which is for the log alone
    LOG.warning("table: %s", problem)
    return Refused(503, NO_ROOM_HERE)


def answer(prediction, parameters):
    """Answer the labels of a Prediction as a list of dicts, likeliest first."""
    if prediction.error:
        return [{"label": None, "score": None, "error": prediction.error}]
    both = [("positive", prediction.probability), ("negative", 1 - prediction.probability)]
    both.sort(key=lambda pair: -pair[1])
    found = [{"label": label, "score": score} for label, score in both[: parameters.top_k or 1]]
    if parameters.weights:
        details = prediction.to_dict(weights=True)
        found[0].update({name: details[name] for name in ("text", "tokens", "offsets", "weights", "token_weights")})
    return found
