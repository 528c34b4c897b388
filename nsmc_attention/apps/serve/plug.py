"""The base of a system's `service.py`: its model, its routes, and its part of the page.

A system's `Service` is a SystemService. Its folder may have page.css, page.js and, for the slots of `page.html` that it
fills, review.html, answer.html, table.html or sections.html.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Generic, NamedTuple, Optional, TypeVar, Union

from fastapi import Query
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException

from ...inference.engines import companion_engine

BundlePath = Optional[Union[str, Path]]
ModelT = TypeVar("ModelT", bound=Any)
TextColumn = Annotated[Optional[str], Query(description="the column of the reviews, or its number; else found")]
HeaderRow = Annotated[Optional[str], Query(alias="header", description="the row of the names of columns, or none")]
Sheet = Annotated[Optional[str], Query(description="of xlsx; without it, the first visible one")]
LOG = logging.getLogger("uvicorn.error")


class Problem(BaseModel):
    error: str
    columns: Optional[list[str]] = Field(default=None, description="of a table without the column of texts")
    sheets: Optional[list[str]] = Field(default=None, description="of a workbook with several, the one read first")


REASONS = {400: "no JSON", 404: "no model for it", 413: "too large", 422: "bad input", 503: "not ready, or too busy"}
ERRORS: dict[Union[int, str], Any] = {
    status: {"model": Problem, "description": reason} for status, reason in REASONS.items()
}


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
    """A system's part of a server. `main` is its model, without which its part of the page is hidden."""

    main: "LoadedModel[Any]"

    def __init__(self, server: Any, bundle: BundlePath = None) -> None:
        """`server` is the `service.Server` that it is a part of."""
        self.server, self.bundle, self.limits = server, bundle, server.limits

    @property
    def routes(self) -> Sequence[Route]:
        raise NotImplementedError

    async def load(self) -> None:
        """Load its models; by then the classifier is loaded."""
        raise NotImplementedError

    def state(self) -> dict[str, Any]:
        """Return what /readyz says of it."""
        model = self.main.model
        return {f"{self.main.system}_bundle": model.bundle.name} if model else {}

    @property
    def companion(self) -> str:
        """The engine of a model beside the classifier."""
        return companion_engine(self.server.bundles.engine)


def present(folder: Path) -> Optional[Path]:
    return folder if folder.is_dir() else None
