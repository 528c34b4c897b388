"""The restorers behind /restore: texts in, the same with spaces and spelling corrected out as plain values for JSON.

Attention weights are those of a writer. Where the server's restorer is an editor, the packaged writer is loaded at the
first request for them.
"""

import asyncio
import logging
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, Optional, Union

from pydantic import BaseModel, Field, StrictBool
from starlette.exceptions import HTTPException

from ..errors import NsmcError
from ..inference.engines import companion_engine
from ..restoration.layout import EDITOR, WRITER
from ..restoration.restoration import Restoration
from ..restoration.restorer import Restorer, load_restorer
from ..visualization.page import rounded
from .batching import Batcher, SerialExecutor
from .limits import Limits

ANSWERED = ("source", "text", "score", "changed", "alignment", "segments")
MISSING = "restore: this server has no bundle for it; start it as `nsmc-attention serve --restore-bundle DIR`"
NO_WRITER = (
    "weights: this server has no writer, whose attention they would be; start it as `nsmc-attention serve "
    "--restore-bundle DIR` with the bundle of a writer"
)
LOG = logging.getLogger("uvicorn.error")


class Texts(BaseModel, extra="forbid"):
    """One text to restore, or a list of them."""

    inputs: Union[str, list[str]] = Field(..., description="a text, or a list of them")
    weights: StrictBool = Field(default=False, description="of one text: add a writer's attention weights")


class Restorations:
    """Restores texts by a bundle, None for the packaged editor; without either `bundle` is None and calls get a 404."""

    batcher: Batcher
    alignments: SerialExecutor

    def __init__(self, bundle: Optional[Union[str, Path]], limits: Limits) -> None:
        self.bundle, self.limits = bundle or (EDITOR if EDITOR.is_dir() else None), limits
        self.restorer: Optional[Restorer] = None
        self.writer: Optional[Restorer] = None

    async def load(self, engine: str, mxnet: ThreadPoolExecutor) -> None:
        """Load the bundle, if there is one; `mxnet` is the only thread that may call MXNet."""
        if not self.bundle:
            return
        load = partial(load_restorer, self.bundle, engine=companion_engine(engine))
        self.restorer = restorer = await asyncio.get_running_loop().run_in_executor(mxnet, load)
        thread = mxnet if restorer.engine.name == "gluon" else None
        self.batcher = Batcher(lambda texts: [*map(as_values, restorer.restore_many(texts))], thread=thread)
        self.alignments = SerialExecutor(thread or ThreadPoolExecutor(1), self.limits.explanations)
        LOG.info("restores with bundle %s, engine %s", restorer.bundle.name, restorer.engine.name)

    def require(self) -> Restorer:
        if not self.restorer:
            raise HTTPException(404, MISSING)
        return self.restorer

    async def __call__(self, texts: list[str]) -> list[dict[str, Any]]:
        """Return `as_values` of each text's Restoration, once it is loaded."""
        self.require()
        return await self.batcher(texts)

    async def align(self, texts: list[str]) -> list[dict[str, Any]]:
        """Return `as_values` of the Restoration of a single text by a writer, with its weights."""
        restorer, longest = self.require(), self.limits.aligned
        if len(texts) != 1:
            raise HTTPException(422, f"inputs: expected one text for weights, found {len(texts)}; send one a request")
        if len(texts[0]) > longest:
            found = f"found {len(texts[0])}; send a part of it"
            raise HTTPException(422, f"inputs: expected a text of at most {longest} characters for weights, {found}")
        if restorer.attends:
            self.writer = restorer
        elif not WRITER.is_dir():
            raise HTTPException(404, NO_WRITER)
        return [await self.alignments(self.aligned, texts[0], restorer.engine.name)]

    def aligned(self, text: str, engine: str) -> dict[str, Any]:
        """Restore one text with weights, by the packaged writer if no other is there; for one thread."""
        try:
            self.writer = self.writer or load_restorer(WRITER, engine=engine)
        except NsmcError as problem:
            # no fault of the request, and its message names a folder of this machine
            raise RuntimeError("the packaged writer cannot be loaded") from problem
        return as_values(self.writer(text), weights=True)


def as_values(restoration: Restoration, weights: bool = False) -> dict[str, Any]:
    """Return what /restore says of a text; weights, of four digits, are (len(text) x len(source))."""
    found = {name: getattr(restoration, name) for name in ANSWERED}
    found.update({"weights": rounded(restoration.weights)} if weights else {})
    return {**found, "error": restoration.error} if restoration.error else found
