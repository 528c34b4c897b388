"""The route `POST /fill`: candidates for the [MASK] of a text."""

from collections.abc import Sequence
from typing import Any

from pydantic import Field, StrictBool, StrictInt

from ...machine.batching import Batcher, one_by_one
from ...systems.language.model import MOST_MASKS, LanguageModel
from ...systems.language.settings import LAYOUT
from .plug import TEXTS_TAG, Body, LoadedModel, Route, SystemService, encode, head_values, present

# Most texts that may wait
BLANKS = 512


class Blank(Body, json_schema_extra={"examples": [{"inputs": "주인공의 [MASK]에 소름이 돋았다", "top": 3}]}):
    """A text with [MASK]."""

    inputs: str = Field(..., description=f"a text with 1 to {MOST_MASKS} [MASK], each in place of a word")
    top: StrictInt = Field(default=5, ge=1, le=50, description="return so many candidates")
    heads: StrictBool = Field(default=False, description="add the weights of its heads (layers x heads x T x T)")


class Service(SystemService):
    """Candidates for hidden words, by a language model."""

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
        """Return the likeliest words for the [MASK] of a text; several are filled together, the most certain first.

        `candidates` are in descending order of `probability`, each with `token` (for several [MASK] their tokens,
        separated by spaces) and the completed `text`. `tokens` are the tokens that the network read (in a long text,
        those around the [MASK]), and `places` are the indices of [MASK] among them. `attended` is the attention of
        [MASK] to each token in the last layer, averaged over heads and all [MASK]; it sums to 1. `heads`, on request,
        are the weights of all heads: layers x heads x T x T. Both are absent if the encoder has no self-attention.
        """
        self.server.require()
        self.main.require()
        self.server.check_texts([question.inputs], 1)
        (filling,) = await self.fillings([question])
        self.counter.inc()
        return filling

    def filling(self, blank: Blank) -> str:
        """Return the candidates for a text, with heads on request; DataError for a wrong number of [MASK]."""
        filling = self.main.require()(blank.inputs, blank.top)
        heads = {"heads": head_values(filling.heads)} if blank.heads else {}
        return encode({**filling.to_dict(), **heads})
