"""`POST /restore`, and the corrected text on the page."""

from collections.abc import Sequence
from typing import Any

from pydantic import Field, StrictBool
from starlette.exceptions import HTTPException

from ...drawing.matrices import rounded
from ...engines.graphs import companion_engine
from ...machine.batching import Batcher, cost_of, one_by_one
from ...systems.restore.restoration import Restoration
from ...systems.restore.restorer import Restorer
from ...systems.restore.settings import EDITOR, WRITER
from .plug import TEXTS_TAG, Body, LoadedModel, OneOrMore, Route, SystemService, encode, present

# What a batch of texts to restore costs, some tenths of a second
RESTORED = 4096
# Characters of the texts of a request together; of a text to restore with weights
MOST_CHARACTERS, MOST_ALIGNED = 20_000, 140


class Texts(Body, json_schema_extra={"examples": [{"inputs": ["배우들연기가 정말조앗는데"]}]}):
    """One text to restore, or a list of them."""

    inputs: OneOrMore = Field(..., description="a text, or a list of them")
    weights: StrictBool = Field(default=False, description="of one text: add a writer's attention weights")


class Service(SystemService):
    """An editor's corrections, and on demand a writer's, with its attention."""

    restorations: Batcher[str, str]
    alignments: Batcher[str, str]

    def __init__(self, *values: Any) -> None:
        super().__init__(*values)
        self.main = LoadedModel("restore", "restore", "restorer", self.bundle or present(EDITOR), Restorer.load)
        description = "writer, whose attention they would be"
        self.writer = LoadedModel("weights", "restore", description, present(WRITER), Restorer.load)
        self.counter = self.server.counters.counter("restored", "Texts restored")

    @property
    def routes(self) -> Sequence[Route]:
        return [Route("/restore", TEXTS_TAG, "Correct spacing and spelling", self.restore)]

    async def load(self) -> None:
        server = self.server
        restorer = await self.main.load(self.companion, server.mxnet)
        if not restorer:
            return
        thread = server.thread_of(restorer)
        self.restorations = Batcher(
            lambda texts: [*map(restoration_json, restorer.restore_many(texts))], thread, cost_of, RESTORED
        )
        self.alignments = one_by_one(self.align, thread, self.limits.explanations)
        if restorer.attends:
            self.writer.model = restorer

    def align(self, text: str) -> str:
        return restoration_json(self.writer.require()(text), weights=True)

    async def restore(self, question: Texts) -> str:
        """Return texts with their spaces and spelling corrected, in a list also for a single one.

        `source` is the text as it was read, `text` what it was meant to be, `score` the log-probability of that.
        `alignment` is for each character of the text the place of that in the source which it was made of; `segments`
        are pairs of source and text side by side, which differ where something was `changed`; `changes` has these with
        their places in the source, and an editor's probability of each. `error` is why a source was returned as it is,
        if not because it was right. With weights, of one text at a time: what a writer, an encoder-decoder, makes of it,
        and its attention as `weights`, a row for each character of the text and a column for each of the source.
        """
        self.server.require()
        restorer = self.main.require()
        texts = [question.inputs] if isinstance(question.inputs, str) else question.inputs
        characters, weights = sum(map(len, texts)), question.weights
        if weights and len(texts) != 1:
            raise HTTPException(422, f"inputs: expected one text for weights, found {len(texts)}; send one a request")
        self.server.check_texts(texts, self.limits.reviews, "texts", "send them in several requests")
        most, expected = (MOST_ALIGNED, "a text of {}") if weights else (MOST_CHARACTERS, "{}")
        if characters > most:
            expected = expected.format(f"at most {most} characters {'for weights' if weights else 'in all'}")
            advice = "a part of it" if weights else "them in several requests"
            raise HTTPException(422, f"inputs: expected {expected}, found {characters}; send {advice}")
        if weights:
            await self.writer.load(companion_engine(restorer.engine.name), self.alignments.thread)
            self.writer.require()
            results = await self.alignments(texts)
        else:
            results = await self.restorations(texts)
        self.counter.inc(len(texts))
        return f"[{','.join(results)}]"


def restoration_json(restoration: Restoration, weights: bool = False) -> str:
    """Return the response of /restore for a text; weights, of four digits, are (len(text) x len(source))."""
    values = {**restoration.to_dict(), "changed": restoration.changed, "segments": restoration.segments}
    return encode({**values, "weights": rounded(restoration.weights)} if weights else values)
