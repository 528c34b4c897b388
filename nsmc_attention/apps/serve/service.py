"""Handlers of the application's routes, with its classifier and the services of systems."""

import asyncio
import logging
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, replace
from functools import lru_cache, partial
from importlib import import_module, resources
from typing import Annotated, Any, NamedTuple, Optional

from fastapi import Query, Request
from fastapi.responses import Response, StreamingResponse
from prometheus_client import CONTENT_TYPE_LATEST
from pydantic import Field, StrictBool
from starlette.exceptions import HTTPException

from ...classifier.explain import Explainer
from ...classifier.positive_share import parsed_share
from ...classifier.prediction import AUTO, METHODS, WITH_SENTIMENT
from ...classifier.predictor import Classifier
from ...machine.batching import Batcher, cost_of, one_by_one
from ...views.page import file, filled, font_of, panel, with_words
from ..aspects.aspects import aspects as aspects_of
from . import plug
from .fence import Fence
from .guard import Counters, Limits
from .plug import Body, BundlePath, OneOrMore, ReadAs, Route, TableQuery, unless_gone
from .uploads import FORM, MEDIA_TYPES, Upload, load_scorer, read_table, score, stored, table_response, upload_kind

# {system: module of its service}; its parts of the page are in pages/
SERVICES = {"restore": "restore", "language": "fill", "film": "film", "read": "read"}
# Scripts of the page; scripts of systems come before the last one
SCRIPTS = ("texts.js", "heads.js", "page.js", "start.js")
# Slots of page.html for systems
SLOTS = ("review", "answer", "table", "sections")
Share = Annotated[Optional[str], Query(description="add labels by the share of positive reviews: table, or 0 to 1")]
Said = Annotated[bool, Query(description="add the sentiment, null without an opinion, and the expected stars")]
Raw = Annotated[bool, Query(description="leave texts that a spreadsheet would compute as they are")]
EXAMPLE = "film,document\n괴물,정말 재미있는 영화였어요\n괴물,배우는 좋은데 영화는 별로\n"
DETAILS = ("text", "tokens", "offsets", "weights", "token_weights")
LOG = logging.getLogger("uvicorn.error")


class Parameters(Body):
    weights: StrictBool = Field(default=False, description="add tokens, offsets, weights (T x T), token_weights")


class Reviews(
    Body,
    json_schema_extra={"examples": [{"inputs": ["정말 재미있는 영화였어요", "별로"], "parameters": {"weights": True}}]},
):
    """One review, or a list of them."""

    inputs: OneOrMore = Field(..., description="a review, or a list of them")
    parameters: Parameters = Parameters()


class Question(Body, json_schema_extra={"examples": [{"inputs": "배우는 좋은데 영화는 별로", "method": "erasure"}]}):
    """A review and an attribution method."""

    inputs: str
    method: str = Field(
        default=AUTO,
        description="/readyz lists those that the server's classifier has; auto is the first of them",
        json_schema_extra={"enum": [AUTO, *METHODS]},
    )
    by_word: StrictBool = Field(default=False, description="words between white space (eojeol), not morphemes")
    heads: StrictBool = Field(
        default=False, description="add the weights of a Transformer's heads (layers x heads x T x T)"
    )


@lru_cache(maxsize=1)
def hangul() -> bytes:
    """Return a font for browsers without Hangul, created on first use."""
    return font_of(map(chr, [*range(0x3131, 0x318F), *range(0xAC00, 0xD7A4)]))


class Bundles(NamedTuple):
    """Bundles and engine of a server; None is the packaged bundle, if there is one."""

    bundle: BundlePath = None
    engine: str = "auto"
    restore_bundle: BundlePath = None
    language_bundle: BundlePath = None
    film_bundle: BundlePath = None
    read_bundle: BundlePath = None

    @property
    def others(self) -> dict[str, BundlePath]:
        """Bundles of the systems, {system: bundle}."""
        return {name: getattr(self, f"{name}_bundle") for name in SERVICES}


class Server:
    """The handlers of the application's routes, the classifier and `services`, {system: its service}.

    Functions of the classifier run in one thread; each call takes all requests that arrived since the last call.
    """

    explainer: Optional[Explainer] = None

    def __init__(self, bundles: Bundles, limits: Limits) -> None:
        self.bundles, self.limits, self.counters, self.thread = bundles, limits, Counters(), ThreadPoolExecutor(1)
        self.services: dict[str, Any] = {
            name: import_module(f".{module}", __package__).Service(self, bundles.others[name])
            for name, module in SERVICES.items()
        }
        self.html = with_words(filled(file("page.html", __package__), **self.fillings()))

    async def load(self) -> None:
        """Load all models; until then, requests that need them are refused."""
        modules = [__name__, *(type(service).__module__ for service in self.services.values())]
        self.fence = Fence(self.limits.read, self.limits.files, modules)
        run = partial(asyncio.get_running_loop().run_in_executor, self.thread)
        self.classifier = classifier = await run(partial(Classifier.load, *self.bundles[:2], sentiment="columns"))
        # the first review builds the tokenizer
        await run(classifier.predict, "영화")
        # MXNet must be called from one thread; with another engine, only explanations call it, in a separate thread
        self.mxnet = self.thread if classifier.engine.name == "gluon" else ThreadPoolExecutor(1)
        explainer = Explainer(classifier)
        self.labels = Batcher(classifier.rows, self.thread, cost_of)
        self.weighted = Batcher(self.with_weights, self.thread, cost_of)
        self.explanations = one_by_one(partial(explanation_json, explainer), self.mxnet, self.limits.explanations)
        for service in self.services.values():
            await service.load()
        self.explainer = explainer
        LOG.info("ready: bundle %s, engine %s", classifier.bundle.name, classifier.engine.name)

    def with_weights(self, texts: list[str]) -> list[str]:
        """Return the labels of texts with their tokens and weights as JSON."""
        objects = []
        for prediction in self.classifier.predict_many(texts):
            values = {} if prediction.error else prediction.to_dict(weights=True)
            row = [getattr(prediction, name) for name in WITH_SENTIMENT]
            objects.append(label_json(row, **{name: values[name] for name in DETAILS if values}))
        return objects

    def thread_of(self, model: Any) -> ThreadPoolExecutor:
        return self.mxnet if model.engine.name == "gluon" else ThreadPoolExecutor(1)

    def require(self) -> Explainer:
        """Return the explainer, which has the classifier; HTTPException 503 until all models are loaded."""
        if self.explainer is None:
            raise HTTPException(503, "the model is still being loaded; try again in a second")
        return self.explainer

    @property
    def routes(self) -> list[Route]:
        classifier_routes = [
            Route("/predict", plug.TEXTS_TAG, "Classify reviews", self.predict),
            Route("/explain", plug.TEXTS_TAG, "Explain a prediction by the words of its review", self.explain),
            self.table_route("/predict/batch", "Classify the reviews of a table", self.batch, MEDIA_TYPES),
        ]
        return classifier_routes + [route for service in self.services.values() for route in service.routes]

    def table_route(self, path: str, title: str, respond: Callable[..., Any], types: Iterable[str]) -> Route:
        """Return a route with a table as its body and a response of the given media types."""
        text: Any = {"schema": {"type": "string"}}
        form = {"type": "object", "properties": {"file": {"type": "string", "format": "binary"}}, "required": ["file"]}
        bodies = {**dict.fromkeys(MEDIA_TYPES, text), "text/csv": {**text, "example": EXAMPLE}, FORM: {"schema": form}}
        options: Any = {"openapi_extra": {"requestBody": {"required": True, "content": bodies}}}
        options["responses"] = {**plug.ERRORS, 200: {"content": dict.fromkeys(types, text)}}
        options["response_class"] = StreamingResponse
        return Route(path, "Tables", title, respond, self.limits.table, options)

    def fillings(self) -> dict[str, str]:
        """Return the texts of page.html's placeholders, in their order, with the parts of systems."""
        css, *scripts = (file(name, __package__) for name in ("page.css", *SCRIPTS))
        slots = dict.fromkeys(SLOTS, "")
        # the last system's section is the first on the page
        for name, service in reversed(self.services.items()):
            files = resources.files(__package__).joinpath("pages", name).iterdir()
            parts = {path.name: path.read_text("utf-8") for path in files}
            css += parts.get("page.css", "")
            scripts.insert(-1, parts.get("page.js", ""))
            for slot in SLOTS:
                # hide parts without a model
                hidden = "" if service.main.bundle else "hidden"
                slots[slot] += parts.get(f"{slot}.html", "").replace("@@hidden@@", hidden)
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
        return Response(hangul(), media_type="font/woff", headers={"Cache-Control": "public, max-age=604800"})

    async def healthz(self) -> dict[str, str]:
        """Return {"status": "alive"} while the process responds."""
        return {"status": "alive"}

    async def readyz(self) -> dict[str, Any]:
        """Return the names of the loaded models.

        `methods` are the methods of /explain that the classifier supports; `auto` is the first. `heads` is true if its
        encoder has attention heads. `restore_bundle`, `language_bundle`, `read_bundle` and `film_bundle` are present if
        loaded, the last with the lowest and highest `stars`.
        """
        explainer = self.require()
        classifier = explainer.classifier
        state = {"status": "ready", "bundle": classifier.bundle.name, "engine": classifier.engine.name}
        for service in self.services.values():
            state.update(service.state())
        return {**state, "methods": explainer.methods, "heads": explainer.has_heads}

    def metrics(self) -> Response:
        """Return the counters in Prometheus' text format."""
        return Response(self.counters.text(), media_type=CONTENT_TYPE_LATEST)

    async def predict(self, question: Reviews) -> str:
        """Return label, score, sentiment and stars (1 to 10) of each review; the last two are null without an opinion.

        The response is a list of objects `{"label", "score", "sentiment", "stars"}`, also for a single review. For a
        review without words, label and score are null, and `error` has the reason.
        """
        self.require()
        texts = [question.inputs] if isinstance(question.inputs, str) else question.inputs
        if question.parameters.weights:
            self.check_texts(texts, self.limits.weighted, "reviews with weights")
            results = await self.weighted(texts)
        else:
            self.check_texts(texts, self.limits.reviews, "reviews")
            results = [*map(label_json, await self.labels(texts))]
        self.counters.reviews.inc(len(texts))
        return f"[{','.join(results)}]"

    async def explain(self, question: Question) -> str:
        """Return a value for each word of a review and, for contributions and attention, the matrix.

        `heads`, on request, are the weights of a Transformer's heads: layers x heads x T x T. The status is 422 for an
        encoder without heads, and for more weights than the page draws.
        """
        self.require()
        self.check_texts([question.inputs], 1, "reviews")
        (explanation,) = await self.explanations([question])
        return explanation

    async def batch(
        self, request: Request, read_as: TableQuery, verbatim: Raw = False, share: Share = None, sentiment: Said = False
    ) -> Response:
        """Score a table, the body or a form's file; keep its columns and add label, score, probability and error.

        The encoding (UTF-8, CP949, UTF-16), the delimiter of csv and, unless given, the column of texts are detected.
        The response to xlsx is csv. In csv and tsv, a text that a spreadsheet would compute gets an apostrophe, except
        with `verbatim`. If the texts do not look like film reviews, the header X-Unlike has the geometric mean of their
        words' ranks, `rank`, the certainty of the classifier in percent, `certainty`, and both for film reviews,
        `usual_rank` and `usual_certainty`. X-Share is the estimated share of positive reviews: `share` (null if
        unknown), the 95 % interval from `low` to `high`, and `n`, the number of reviews. `share` adds a label by the
        share to each review, and `sentiment` adds the sentiment and the stars.
        """
        options = (("sentiment", "columns" * sentiment),)
        load = partial(load_scorer, replace(self.require().classifier.reference, options=options))
        target = (parsed_share(share) or share) if share else None
        return await self.with_table(request, read_as, load, score, verbatim, target)

    async def with_table(
        self, request: Request, read_as: ReadAs, load: Callable[[], Any], function: Callable[..., Any], *arguments: Any
    ) -> Response:
        """Return a response with the table that `function` writes behind the fence from a request's table."""
        try:
            async with stored(request) as (path, media_type, name):
                table = Upload(path, kind=upload_kind(media_type, name), **asdict(read_as))
                output = path.with_name("scored")
                work = self.fence(path, load, read_table, function, table, output, *arguments)
                remarks = await unless_gone(request, work)
                response = table_response(output, remarks.get("kind", table.output), remarks)
        except OSError as problem:
            # no disk space, or too many open files
            LOG.warning("table: %s", problem)
            raise HTTPException(503, "no space for a table; try again later") from problem
        self.counters.reviews.inc(remarks["rows"])
        return response


def label_json(row: Sequence[Any], **details: Any) -> str:
    return plug.encode({**plug.label_of(row), **details})


def explanation_json(explainer: Explainer, question: Question) -> str:
    """Return the panel of a review as JSON, without matrices that are too large for the page, with heads on request."""
    attribution = explainer(question.inputs, question.method)
    attribution = attribution.by_word() if question.by_word else attribution
    heads = {"heads": plug.head_values(attribution.heads)} if question.heads else {}
    content = panel(attribution if len(attribution.tokens) <= plug.LARGEST_MATRIX else attribution.without_matrix())
    aspects = aspects_of(attribution.text, classifier=explainer.classifier) if explainer.has_contributions else []
    spans = [[aspect.start, aspect.end, aspect.name, aspect.label] for aspect in aspects]
    return plug.encode({**content, **heads, "aspects": spans})
