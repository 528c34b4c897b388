"""Parts of the requests of all systems: JSON bodies and responses, and the base class of a system's `Service`.

A system's folder in pages/ may have page.css, page.js and, for slots of `page.html`, review.html, answer.html,
table.html or sections.html.
"""

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Generic, NamedTuple, Optional, TypeVar, Union, get_type_hints

from fastapi import Depends, Query, Request
from fastapi.responses import Response
from fastapi.routing import APIRoute
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.types import Receive, Scope, Send

from ...drawing.matrices import NO_HEADS, rounded
from ...engines.graphs import companion_engine
from ...errors import DataError, did_you_mean

BundlePath = Optional[Union[str, Path]]
ModelT = TypeVar("ModelT", bound=Any)
LOG = logging.getLogger("uvicorn.error")


@dataclass
class ReadAs:
    """Query parameters for reading a table; missing ones are detected."""

    text_column: Annotated[Optional[str], Query(description="the column of the reviews, or its number")] = None
    sheet: Annotated[Optional[str], Query(description="of xlsx; without it, the first visible one")] = None
    header: Annotated[Optional[str], Query(description="the row of the names of columns, or none")] = None


TableQuery = Annotated[ReadAs, Depends()]


class Problem(BaseModel):
    error: str
    columns: Optional[list[str]] = Field(default=None, description="of a table without the column of texts")
    sheets: Optional[list[str]] = Field(default=None, description="of a workbook with several, the one read first")


REASONS = {400: "no JSON", 404: "no model for it", 413: "too large", 422: "bad input", 503: "not ready, or too busy"}
ERRORS: Any = {status: {"model": Problem, "description": reason} for status, reason in REASONS.items()}


class Route(NamedTuple):
    """A POST route: its path, its tag and title on the page of the API, and its handler.

    `largest` is the maximum size of its body in bytes, None for JSON; `options` are further options of FastAPI's route.
    """

    path: str
    tag: str
    title: str
    respond: Callable[..., Any]
    largest: Optional[int] = None
    options: Mapping[str, Any] = {}


@dataclass
class LoadedModel(Generic[ModelT]):
    """A model besides the classifier; if it is absent, requests for it get a 404 that names its option.

    `loader` takes a bundle's folder and the name of an engine.
    """

    request: str
    system: str
    description: str
    bundle: BundlePath = None
    loader: Optional[Callable[[Any, str], ModelT]] = None
    model: Optional[ModelT] = None

    async def load(self, engine: str, thread: ThreadPoolExecutor) -> Optional[ModelT]:
        """Load the bundle in a thread, once."""
        if self.loader and self.bundle and not self.model:
            self.model = await asyncio.get_running_loop().run_in_executor(thread, self.loader, self.bundle, engine)
            LOG.info("%s: bundle %s, engine %s", self.description, self.model.bundle.name, self.model.engine.name)
        return self.model

    def require(self) -> ModelT:
        if not self.model:
            start = f"start it as `nsmc-attention serve --{self.system}-bundle DIR`"
            raise HTTPException(404, f"{self.request}: this server has no {self.description}; {start}")
        return self.model


class SystemService:
    """Base class of a system's service in a `service.Server`; subclasses have `routes` and `load`.

    `main` is its model, without which its part of the page is hidden; `companion` is the engine of models besides the
    classifier.
    """

    main: "LoadedModel[Any]"

    def __init__(self, server: Any, bundle: BundlePath = None) -> None:
        self.server, self.bundle, self.limits = server, bundle, server.limits
        self.companion = companion_engine(server.bundles.engine)

    def state(self) -> dict[str, Any]:
        """Return the system's values for /readyz."""
        model = self.main.model
        return {f"{self.main.system}_bundle": model.bundle.name} if model else {}


def present(folder: Path) -> Optional[Path]:
    return folder if folder.is_dir() else None


# Size of the largest matrix that the page draws; most weights of heads in a response (0.9 MB of JSON)
LARGEST_MATRIX, MOST_WEIGHTS = 128, 2**17
# Tag of these routes on the page of the API
TEXTS_TAG = "Reviews and texts"
# Largest body, in bytes, whose response is too fast for checking whether the client has disconnected
SHORT_BODY = 1000
# The encoder of Starlette's JSONResponse, which creates one for each response
encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode


# fail_fast: report only the first of many invalid items
OneOrMore = Union[str, Annotated[list[str], Field(fail_fast=True)]]


class Body(BaseModel):
    """A JSON body without unknown keys; frozen, so that pydantic does not copy default values."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    @model_validator(mode="before")
    @classmethod
    def known_keys(cls, value: object) -> object:
        if isinstance(value, dict) and not value.keys() <= cls.model_fields.keys():
            key = next(key for key in value if key not in cls.model_fields)[:100]
            raise ValueError(f"unknown key {key!r}{did_you_mean(key, cls.model_fields)}")
        return value


def label_of(row: Sequence[Any]) -> dict[str, Any]:
    """Return label, score, sentiment and stars of a row WITH_SENTIMENT, or the `error` of a row without a label."""
    label, score, sentiment, stars, _, error = row
    if label is None:
        return {"label": None, "score": None, "error": error}
    return {"label": label, "score": score, "sentiment": sentiment, "stars": stars}


def head_values(heads: Any) -> Any:
    """Return the weights (L, K, T, T) as lists, to four digits; DataError if there are none or too many."""
    if heads is None:
        raise DataError(f"heads: {NO_HEADS}")
    layers, count, tokens = heads.shape[:3]
    most = min(LARGEST_MATRIX, int((MOST_WEIGHTS / (layers * count)) ** 0.5))
    if tokens > most:
        expected = f"expected at most {most} tokens for {layers} layers of {count} heads"
        raise DataError(f"heads: {expected}, found {tokens}; send a part of the text")
    return rounded(heads)


class JsonRoute(APIRoute):
    """A route with a JSON body and response that bypasses FastAPI's handling, which takes as long as a review."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.app, self.model = self.respond, get_type_hints(self.endpoint)["question"]

    async def respond(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        body = await request.body()
        work = self.endpoint(question_of(request.headers.get("content-type", ""), body, self.model))
        content = await (work if len(body) < SHORT_BODY else unless_gone(request, work))
        await Response(content, media_type="application/json")(scope, receive, send)


def question_of(kind: str, body: bytes, model: type[BaseModel]) -> BaseModel:
    """Parse a JSON body into a model; `kind` is its media type. HTTPException 400 or DataError if it is invalid."""
    if kind.partition(";")[0].strip().lower() != "application/json":
        hint = "with curl: -H 'Content-Type: application/json'"
        raise DataError(f"Content-Type: expected application/json, found {repr(kind[:60]) if kind else 'none'}; {hint}")
    try:
        return model.model_validate(json.loads(body))
    except ValidationError as problem:
        # the deepest error: for a list, its invalid item rather than that it is not a string
        errors = problem.errors(include_url=False, include_input=False, include_context=False)
        first = max(errors, key=lambda error: len(error["loc"]))
        # without pydantic's names for the types of `inputs`
        path = ".".join(str(key) for key in ("body", *first["loc"]) if key not in ("str", "list[str]"))
        raise DataError(f"{path}: {first['msg'].removeprefix('Value error, ')}") from problem
    except (ValueError, RecursionError) as problem:
        raise HTTPException(400, f"body: expected JSON, found something else ({str(problem)[:100]})") from problem


async def unless_gone(request: Request, work: Awaitable[Any]) -> Any:
    """Return the result of `work`; if the client disconnects, cancel it and raise ClientDisconnect."""
    task = asyncio.ensure_future(work)
    try:
        while not (await asyncio.wait([task], timeout=0.1))[0]:
            if await request.is_disconnected():
                raise ClientDisconnect
        return task.result()
    finally:
        task.cancel()
