"""The restorer behind /restore: texts in, the same with spaces and spelling corrected out as plain values for JSON."""

import asyncio
import logging
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, Optional, Union

from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException

from ..bundle.format import PACKAGED
from ..inference.restorer import Restoration, Restorer, load_restorer
from .batching import Batcher

ANSWERED = ("source", "text", "score", "changed", "alignment", "segments")
MISSING = "restore: this server has no bundle for it; start it as `nsmc-attention serve --restore-bundle DIR`"
LOG = logging.getLogger("uvicorn.error")


class Texts(BaseModel, extra="forbid"):
    """One text to restore, or a list of them."""

    inputs: Union[str, list[str]] = Field(..., description="a text, or a list of them")


class Restorations:
    """Restores texts by a bundle, None for the packaged editor; without either `bundle` is None and calls get a 404."""

    batcher: Batcher

    def __init__(self, bundle: Optional[Union[str, Path]] = None) -> None:
        packaged = PACKAGED["_editor"]
        self.bundle = bundle or (packaged if packaged.is_dir() else None)
        self.restorer: Optional[Restorer] = None

    async def load(self, engine: str, mxnet: ThreadPoolExecutor) -> None:
        """Load the bundle, if there is one; `mxnet` is the only thread that may call MXNet."""
        if not self.bundle:
            return
        load = partial(load_restorer, self.bundle, engine=engine)
        self.restorer = restorer = await asyncio.get_running_loop().run_in_executor(mxnet, load)
        thread = mxnet if restorer.engine.name == "gluon" else None
        self.batcher = Batcher(lambda texts: [*map(as_values, restorer.restore_many(texts))], thread=thread)
        LOG.info("restores with bundle %s, engine %s", restorer.bundle.name, restorer.engine.name)

    async def __call__(self, texts: list[str]) -> list[dict[str, Any]]:
        """Return `as_values` of each text's Restoration, once it is loaded."""
        if not self.restorer:
            raise HTTPException(404, MISSING)
        return await self.batcher(texts)


def as_values(restoration: Restoration) -> dict[str, Any]:
    """Return what /restore says of a text."""
    found = {name: getattr(restoration, name) for name in ANSWERED}
    return {**found, "error": restoration.error} if restoration.error else found
