"""`POST /fill`, and the blanks on the page."""

from collections.abc import Sequence
from typing import Any

from pydantic import Field, StrictBool, StrictInt

from ...machine.batching import Batcher, one_by_one
from ...systems.language.model import MOST_MASKS, LanguageModel
from ...systems.language.settings import LAYOUT
from .plug import TEXTS_TAG, Body, LoadedModel, Route, SystemService, encode, head_values, present

# Blanks that may wait
BLANKS = 512


class Blank(Body, json_schema_extra={"examples": [{"inputs": "주인공의 [MASK]에 소름이 돋았다", "top": 3}]}):
    """A text with [MASK] in it."""

    inputs: str = Field(..., description=f"a text with 1 to {MOST_MASKS} [MASK], each in place of a word")
    top: StrictInt = Field(default=5, ge=1, le=50, description="return so many candidates")
    heads: StrictBool = Field(default=False, description="add the weights of its heads (layers x heads x T x T)")


class Service(SystemService):
    """The likeliest words at a blank."""

    fillings: Batcher[Blank, str]

    def __init__(self, *values: Any) -> None:
        super().__init__(*values)
        bundle = self.bundle or present(LAYOUT.packaged[0])
        self.main = LoadedModel("fill", "language", "language model", bundle, LanguageModel.load)
        self.counter = self.server.counters.counter("filled", "Texts whose [MASK] was filled")

    @property
    def routes(self) -> Sequence[Route]:
        return [Route("/fill", TEXTS_TAG, "Fill a blank", self.fill)]

    async def load(self) -> None:
        server = self.server
        if model := await self.main.load(self.companion, server.mxnet):
            self.fillings = one_by_one(self.filling, server.thread_of(model), BLANKS)

    async def fill(self, question: Blank) -> str:
        """Return the likeliest words at the [MASK] of a text; several are filled together, the most certain first.

        `candidates` are the likeliest first, each with `token` (of several [MASK] theirs, a space between), the `text`
        with it and its `probability`; `tokens` is what the network read, of a long text the part around the [MASK], which
        are at `places`; `attended` is for each token the attention that [MASK] pays to it in the last layer, the mean of
        its heads (and of all [MASK]), and sums to 1. `heads` are, if asked for, the weights of every head: a list for
        each layer, in it one for each head, a row for each token. Without self-attention in the encoder there is neither.
        """
        self.server.require()
        self.main.require()
        self.server.check_texts([question.inputs], 1)
        (answer,) = await self.fillings([question])
        self.counter.inc()
        return answer

    def filling(self, blank: Blank) -> str:
        """Return the candidates for a blank, with the heads if asked for; DataError at a wrong number of [MASK]."""
        filling = self.main.require()(blank.inputs, blank.top)
        heads = {"heads": head_values(filling.heads)} if blank.heads else {}
        return encode({**filling.to_dict(), **heads})
