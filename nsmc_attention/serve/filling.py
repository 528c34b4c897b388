"""The language model behind /fill: a text with [MASK] in, the candidates for it out as plain values for JSON."""

import asyncio
import logging
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, Optional, Union

from pydantic import BaseModel, Field, StrictBool, StrictInt
from starlette.exceptions import HTTPException

from ..inference.engines import companion_engine
from ..language.layout import LAYOUT
from ..language.model import LanguageModel, load_language_model
from .batching import Batcher
from .heads import head_values

MISSING = "fill: this server has no language model; start it as `nsmc-attention serve --language-bundle DIR`"
LOG = logging.getLogger("uvicorn.error")


class Blank(BaseModel, extra="forbid"):
    """A text with one [MASK]."""

    inputs: str = Field(..., description="a text with one [MASK], in place of a word")
    top: StrictInt = Field(default=5, ge=1, le=50, description="return so many candidates")
    heads: StrictBool = Field(default=False, description="add the weights of its heads (layers x heads x T x T)")


class Fillings:
    """Fills blanks by a bundle, None for the packaged language model; without either `bundle` is None and calls get a 404."""

    batcher: Batcher

    def __init__(self, bundle: Optional[Union[str, Path]]) -> None:
        self.bundle = bundle or (LAYOUT.packaged[0] if LAYOUT.packaged[0].is_dir() else None)
        self.model: Optional[LanguageModel] = None

    async def load(self, engine: str, mxnet: ThreadPoolExecutor) -> None:
        """Load the bundle, if there is one; `mxnet` is the only thread that may call MXNet."""
        if not self.bundle:
            return
        load = partial(load_language_model, self.bundle, engine=companion_engine(engine))
        self.model = model = await asyncio.get_running_loop().run_in_executor(mxnet, load)
        thread = mxnet if model.engine.name == "gluon" else None
        # one text at a time: an error of one is not the others'
        self.batcher = Batcher(lambda blanks: [filled(model, each) for each in blanks], largest=1, thread=thread)
        LOG.info("fills blanks with bundle %s, engine %s", model.bundle.name, model.engine.name)

    async def __call__(self, blank: Blank) -> Any:
        """Return `filled` of a text, once the model is loaded; DataError unless it has one [MASK]."""
        if not self.model:
            raise HTTPException(404, MISSING)
        return (await self.batcher([blank]))[0]


def filled(model: LanguageModel, blank: Blank) -> dict[str, Any]:
    """Return `Filling.to_dict()` of a text, with the heads if asked for."""
    found = model(blank.inputs, blank.top)
    return {**found.to_dict(), **({"heads": head_values(found.heads)} if blank.heads else {})}
