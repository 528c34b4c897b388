"""What /predict is asked and returns, and its short way around FastAPI.

    body -> `plain_question` -> Batcher -> `labels` -> JSON

FastAPI takes as long for a request as the network does for a review. A body that needs no correction is read here; every other
one goes on to FastAPI, whose models and messages are the only ones.
"""

import json
from typing import Any, Awaitable, Callable, Optional, Union

from fastapi import Request
from pydantic import BaseModel, Field, StrictBool, StrictInt
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ..classification.prediction import Prediction
from ..errors import NsmcError

DETAILS = ("text", "tokens", "offsets", "weights", "token_weights")
# As Starlette's JSONResponse, made once
ENCODE = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode
# inputs, top_k and weights
Plain = tuple[Union[str, list[str]], Optional[int], bool]


class Parameters(BaseModel, extra="forbid"):
    """Options of a prediction."""

    top_k: Optional[StrictInt] = Field(default=None, ge=1, le=2, description="return so many labels of each review")
    weights: StrictBool = Field(
        default=False, description="add tokens, offsets, weights (T x T, of hops R x T), token_weights (T)"
    )


class Reviews(BaseModel, extra="forbid"):
    """One review, or a list of them."""

    inputs: Union[str, list[str]] = Field(..., description="a review, or a list of them")
    parameters: Parameters = Field(default_factory=Parameters)


KEYS, OPTIONS = Reviews.model_fields.keys(), Parameters.model_fields.keys()


def plain_question(body: bytes) -> Optional[Plain]:
    """Return (inputs, top_k, weights) of a body that `Reviews` accepts, None of every other one."""
    try:
        given = json.loads(body)
    except (ValueError, RecursionError):
        return None
    if type(given) is not dict or not given.keys() <= KEYS:
        return None
    inputs, parameters = given.get("inputs"), given.get("parameters", {})
    if type(parameters) is not dict or not parameters.keys() <= OPTIONS:
        return None
    if type(inputs) is not str and (type(inputs) is not list or any(type(each) is not str for each in inputs)):
        return None
    top_k, weights = parameters.get("top_k"), parameters.get("weights", False)
    # type(), because True is an int
    fits = (top_k is None or (type(top_k) is int and 1 <= top_k <= 2)) and type(weights) is bool
    return (inputs, top_k, weights) if fits else None


def labels(probability: Optional[float], error: Optional[str], top_k: Optional[int]) -> list[dict[str, Any]]:
    """Return the labels for a probability of positive, most probable first; for None the reason in `error`."""
    if probability is None:
        return [{"label": None, "score": None, "error": error}]
    both = [{"label": "positive", "score": probability}, {"label": "negative", "score": 1 - probability}]
    return (both if probability >= 0.5 else both[::-1])[: top_k or 1]


def with_details(prediction: Prediction, top_k: Optional[int]) -> list[dict[str, Any]]:
    """Return the `labels` of a prediction, the first with its tokens and weights."""
    found = labels(prediction.probability, prediction.error, top_k)
    if prediction.probability is not None:
        values = prediction.to_dict(weights=True)
        found[0].update({name: values[name] for name in DETAILS})
    return found


class ShortWay:
    """ASGI middleware around FastAPI: plain requests for a path get what `respond` returns for a `Plain`, as JSON.

    Its exceptions are answered by `respond_error`; every other request is the application's.
    """

    def __init__(
        self,
        app: ASGIApp,
        path: str,
        respond: Callable[..., Awaitable[Any]],
        respond_error: Callable[[Request, Exception], Awaitable[Response]],
    ) -> None:
        self.app, self.path, self.respond, self.respond_error = app, path, respond, respond_error

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope.get("path") != self.path or scope["method"] != "POST" or not has_json(scope):
            await self.app(scope, receive, send)
            return
        messages = [await receive()]
        while messages[-1].get("more_body"):
            messages.append(await receive())
        # a body that was cut off or refused may be whole JSON by chance
        whole = messages[-1]["type"] == "http.request"
        question = plain_question(b"".join([each.get("body", b"") for each in messages])) if whole else None
        if question is None:
            await self.app(scope, received_again(messages, receive), send)
            return
        try:
            body = ENCODE(await self.respond(*question)).encode()
        except Exception as problem:
            await (await self.respond_error(Request(scope), problem))(scope, receive, send)
            if isinstance(problem, (HTTPException, NsmcError)):
                return
            # a bug: logged by the server, as Starlette's ServerErrorMiddleware leaves it
            raise
        headers = [(b"content-length", b"%d" % len(body)), (b"content-type", b"application/json")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": body})


def has_json(scope: Scope) -> bool:
    """Return whether a body is declared as JSON, and simply so."""
    return [value for name, value in scope["headers"] if name == b"content-type"] == [b"application/json"]


def received_again(messages: list[Message], receive: Receive) -> Receive:
    """Return a `receive` that begins with messages that were received before."""
    again = iter(messages)

    async def received() -> Message:
        return next(again, None) or await receive()

    return received
