"""The route `POST /restore`: texts with corrected spacing and spelling."""

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

# Cost of a batch of texts: some tenths of a second
BATCH_COST = 4096
# Most characters of a request, and of a text with weights
MOST_CHARACTERS, MOST_ALIGNED = 20_000, 140


class Texts(Body, json_schema_extra={"examples": [{"inputs": ["배우들연기가 정말조앗는데"]}]}):
    """One text to restore, or a list of them."""

    inputs: OneOrMore = Field(..., description="a text, or a list of them")
    weights: StrictBool = Field(default=False, description="of one text: add a writer's attention weights")


class Service(SystemService):
    """Corrections of an editor, and on request those of a writer with its attention."""

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
            lambda texts: [*map(restoration_json, restorer.restore_many(texts))], thread, cost_of, BATCH_COST
        )
        self.alignments = one_by_one(self.align, thread, self.limits.explanations)
        if restorer.attends:
            self.writer.model = restorer

    def align(self, text: str) -> str:
        return restoration_json(self.writer.require()(text), weights=True)

    async def restore(self, question: Texts) -> str:
        """Return a list of texts with corrected spacing and spelling, also for a single text.

        `source` is the input as it was read, `text` the corrected text, and `score` its log-probability. `alignment`
        has for each character of the text the index of its source character. `segments` are pairs of source and text,
        which differ if something was `changed`; `changes` lists these with their positions in the source and, from an
        editor, their probability. `error` is the reason if a source could not be corrected. With `weights`, only one
        text is allowed: a writer, which is an encoder-decoder, corrects it, and `weights` are its attention weights,
        with a row for each character of the text and a column for each character of the source.
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
