"""Requests for JSON and their responses: models of the bodies, and plain values of results.

These functions run in a model's thread: making JSON of a large matrix takes as long as many predictions.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, Coroutine
from typing import Annotated, Any, Optional, Union, get_type_hints

from fastapi import Request
from fastapi.responses import Response
from fastapi.routing import APIRoute
from pydantic import BaseModel, BeforeValidator, Field, StrictBool, StrictInt, ValidationError, model_validator
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from ...classification.display import AUTO, METHODS
from ...classification.explain import Explainer
from ...classification.prediction import Prediction
from ...errors import DataError, did_you_mean
from ...inference.matrices import NO_HEADS, rounded
from ...registry import ability
from ...visualization.page import panel

DETAILS = ("text", "tokens", "offsets", "weights", "token_weights")
# Rows and columns of the largest matrix that the page draws
LARGEST_MATRIX = 128
# Weights of heads in one response: 0.9 MB of JSON, in whose making of 0.1 s nobody else gets an answer
MOST_WEIGHTS = 2**17
# The group of these requests on the page of the API
TEXTS = "Reviews and texts"
# Bytes of a body whose answer takes less time than it is worth to look whether the client is still there
SHORT = 1000
# As Starlette's JSONResponse, made once
encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode


def until_wrong(inputs: object) -> Any:
    """Return a list as far as the first item that is no text: of a million wrong ones that is enough."""
    if type(inputs) is not list:
        return inputs
    return inputs[: next((index for index, item in enumerate(inputs) if not isinstance(item, str)), len(inputs)) + 1]


OneOrMore = Annotated[Union[str, list[str]], BeforeValidator(until_wrong)]


# Shown on the page of the API
REVIEWS: Any = {"inputs": ["정말 재미있는 영화였어요", "별로"], "parameters": {"top_k": 2}}
QUESTION: Any = {"inputs": "배우는 좋은데 영화는 별로", "method": "erasure"}


class Body(BaseModel, extra="forbid"):
    """A body without unknown keys."""

    @model_validator(mode="before")
    @classmethod
    def known_keys(cls, value: object) -> object:
        if isinstance(value, dict) and not value.keys() <= cls.model_fields.keys():
            key = next(key for key in value if key not in cls.model_fields)[:100]
            raise ValueError(f"unknown key {key!r}{did_you_mean(key, cls.model_fields)}")
        return value


class Parameters(Body):
    """Options of a prediction."""

    top_k: Optional[StrictInt] = Field(
        default=None, ge=1, le=2, description="return so many labels of each review; null for all of them"
    )
    weights: StrictBool = Field(
        default=False, description="add tokens, offsets, weights (T x T, of hops R x T), token_weights (T)"
    )

    @property
    def labels(self) -> Optional[int]:
        """The labels of each review, all where top_k is null; None where it is not given, for the best without a list."""
        return self.top_k or (2 if "top_k" in self.model_fields_set else None)


class Reviews(Body, json_schema_extra={"examples": [REVIEWS]}):
    """One review, or a list of them."""

    inputs: OneOrMore = Field(..., description="a review, or a list of them")
    parameters: Parameters = Field(default_factory=Parameters)


class Question(Body, json_schema_extra={"examples": [QUESTION]}):
    """A review and the attribution method."""

    inputs: str
    method: str = Field(
        default=AUTO,
        description="/readyz lists those that the server's classifier has; auto is the first of them",
        json_schema_extra={"enum": [AUTO, *METHODS]},
    )
    by_word: StrictBool = Field(default=False, description="words between white space (eojeol), not morphemes")
    heads: StrictBool = Field(
        default=False, description="of a Transformer: add the weights of its heads (layers x heads x T x T)"
    )


def labels_of(probability: Optional[float], error: Optional[str]) -> list[dict[str, Any]]:
    """Return the labels for a probability of positive, most probable first; without a label the reason in `error`."""
    if error or probability is None:
        return [{"label": None, "score": None, "error": error}]
    both = [{"label": "positive", "score": probability}, {"label": "negative", "score": 1 - probability}]
    return both if probability >= 0.5 else both[::-1]


def labels_json(probability: Optional[float], error: Optional[str], top_k: Optional[int], **details: Any) -> str:
    """Return `labels_of` as JSON, the first with the details; a list only where top_k is given."""
    values = labels_of(probability, error)[: top_k or 1]
    values[0].update(details)
    return encode(values if top_k else values[0])


def weights_json(prediction: Prediction, top_k: Optional[int]) -> str:
    """Return the labels of a prediction, the first with its tokens and weights."""
    values = prediction.to_dict(weights=True) if not prediction.error else {}
    details = {name: values[name] for name in DETAILS if values}
    return labels_json(prediction.probability, prediction.error, top_k, **details)


def explanation_json(explainer: Explainer, question: Question) -> str:
    """Return the panel of a review, without a matrix that the page would not draw, and the heads if asked for."""
    attribution = explainer(question.inputs, question.method)
    attribution = attribution.by_word() if question.by_word else attribution
    heads = {"heads": head_values(attribution.heads)} if question.heads else {}
    drawn = attribution if len(attribution.tokens) <= LARGEST_MATRIX else attribution.without_matrix()
    beside = ability("aspects") if explainer.has_contributions else None
    found = beside.aspects(attribution.text, classifier=explainer.classifier) if beside else []
    aspects = [[each.start, each.end, each.name, each.label] for each in found]
    return encode({**panel(drawn), **heads, "aspects": aspects})


def head_values(heads: Any) -> Any:
    """Return the weights (L, K, T, T) as lists, to four digits; DataError where there are none or too many."""
    if heads is None:
        raise DataError(f"heads: {NO_HEADS}")
    layers, count, tokens = heads.shape[:3]
    most = min(LARGEST_MATRIX, int((MOST_WEIGHTS / (layers * count)) ** 0.5))
    if tokens > most:
        raise DataError(
            f"heads: expected at most {most} tokens for {layers} layers of {count} heads, found {tokens}; "
            "send a part of the text"
        )
    return rounded(heads)


def json_list(answers: list[str]) -> str:
    """Return a JSON list of answers that are JSON already."""
    return f"[{','.join(answers)}]"


class JsonRoute(APIRoute):
    """A route whose handler makes JSON of the model of a JSON body; FastAPI's own way takes as long as the review."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        model = get_type_hints(self.endpoint)["question"]

        async def respond(request: Request) -> Response:
            body = await request.body()
            work = self.endpoint(question_of(request.headers.get("content-type", ""), body, model))
            answer = await (work if len(body) < SHORT else unless_gone(request, work))
            return Response(answer, media_type="application/json")

        return respond


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
