"""What the requests of all systems are made of: bodies and answers in JSON, and the base of a system's `service.py`.

A system's `Service` is a SystemService. Its folder may have page.css, page.js and, for the slots of `page.html` that it
fills, review.html, answer.html, table.html or sections.html.
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
    """How a table is read, in the address of a request; what is not given is found."""

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
    """A POST request: its path, its group and title on the page of the API, and its handler.

    `largest` are the bytes that its body may have, None where it is JSON; `options` are what else FastAPI is told.
    """

    path: str
    tag: str
    title: str
    respond: Callable[..., Any]
    largest: Optional[int] = None
    options: Mapping[str, Any] = {}


@dataclass
class LoadedModel(Generic[ModelT]):
    """A model beside the classifier; requests for it get a 404 that names its flag where there is none.

    `loader` makes it of a bundle's folder and the name of an engine.
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
    """A system's part of a server, a `service.Server`; it has `routes`, and `load`, which is called after the classifier's.

    `main` is its model, without which its part of the page is hidden; `companion` is the engine of a model beside the
    classifier.
    """

    main: "LoadedModel[Any]"

    def __init__(self, server: Any, bundle: BundlePath = None) -> None:
        self.server, self.bundle, self.limits = server, bundle, server.limits
        self.companion = companion_engine(server.bundles.engine)

    def state(self) -> dict[str, Any]:
        """Return its values for /readyz."""
        model = self.main.model
        return {f"{self.main.system}_bundle": model.bundle.name} if model else {}


def present(folder: Path) -> Optional[Path]:
    return folder if folder.is_dir() else None


# Rows and columns of the largest matrix that the page draws; weights of heads in one response, 0.9 MB of JSON
LARGEST_MATRIX, MOST_WEIGHTS = 128, 2**17
# The group of these requests on the page of the API
TEXTS_TAG = "Reviews and texts"
# Bytes of a body whose answer takes less time than it is worth to look whether the client is still there
SHORT_BODY = 1000
# As Starlette's JSONResponse, made once
encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode


# of a million wrong items, the first is enough
OneOrMore = Union[str, Annotated[list[str], Field(fail_fast=True)]]


class Body(BaseModel):
    """A body without unknown keys; frozen, so that pydantic copies none that is a default."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    @model_validator(mode="before")
    @classmethod
    def known_keys(cls, value: object) -> object:
        if isinstance(value, dict) and not value.keys() <= cls.model_fields.keys():
            key = next(key for key in value if key not in cls.model_fields)[:100]
            raise ValueError(f"unknown key {key!r}{did_you_mean(key, cls.model_fields)}")
        return value


def label_of(row: Sequence[Any]) -> dict[str, Any]:
    """Return the label of a row WITH_SENTIMENT, its score, sentiment and stars; without one the `error`."""
    label, score, sentiment, stars, _, error = row
    if label is None:
        return {"label": None, "score": None, "error": error}
    return {"label": label, "score": score, "sentiment": sentiment, "stars": stars}


def head_values(heads: Any) -> Any:
    """Return the weights (L, K, T, T) as lists, to four digits; DataError where there are none or too many."""
    if heads is None:
        raise DataError(f"heads: {NO_HEADS}")
    layers, count, tokens = heads.shape[:3]
    most = min(LARGEST_MATRIX, int((MOST_WEIGHTS / (layers * count)) ** 0.5))
    if tokens > most:
        expected = f"expected at most {most} tokens for {layers} layers of {count} heads"
        raise DataError(f"heads: {expected}, found {tokens}; send a part of the text")
    return rounded(heads)


class JsonRoute(APIRoute):
    """A route whose handler makes JSON of the model of a JSON body; FastAPI's own way takes as long as the review."""

    def __init__(self, *given: Any, **options: Any) -> None:
        super().__init__(*given, **options)
        self.app, self.model = self.respond, get_type_hints(self.endpoint)["question"]

    async def respond(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        body = await request.body()
        work = self.endpoint(question_of(request.headers.get("content-type", ""), body, self.model))
        answer = await (work if len(body) < SHORT_BODY else unless_gone(request, work))
        await Response(answer, media_type="application/json")(scope, receive, send)


def question_of(kind: str, body: bytes, model: type[BaseModel]) -> BaseModel:
    """Return the model of a JSON body of a media type; HTTPException 400 or DataError if it is none."""
    if kind.partition(";")[0].strip().lower() != "application/json":
        hint = "with curl: -H 'Content-Type: application/json'"
        raise DataError(f"Content-Type: expected application/json, found {repr(kind[:60]) if kind else 'none'}; {hint}")
    try:
        return model.model_validate(json.loads(body))
    except ValidationError as problem:
        # of a list, what is wrong in it and not that it is no text
        errors = problem.errors(include_url=False, include_input=False, include_context=False)
        first = max(errors, key=lambda error: len(error["loc"]))
        # without the names of pydantic for what `inputs` may be
        place = ".".join(str(part) for part in ("body", *first["loc"]) if part not in ("str", "list[str]"))
        raise DataError(f"{place}: {first['msg'].removeprefix('Value error, ')}") from problem
    except (ValueError, RecursionError) as problem:
        raise HTTPException(400, f"body: expected JSON, found something else ({str(problem)[:100]})") from problem


async def unless_gone(request: Request, work: Awaitable[Any]) -> Any:
    """Return the result of work; if the client disconnects, cancel it and raise ClientDisconnect."""
    task = asyncio.ensure_future(work)
    try:
        while not (await asyncio.wait([task], timeout=0.1))[0]:
            if await request.is_disconnected():
                raise ClientDisconnect
        return task.result()
    finally:
        task.cancel()
