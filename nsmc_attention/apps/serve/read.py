"""`POST /read`: a picture as a request's body, read behind the fence; and the screenshots on the page."""

from collections.abc import Sequence
from functools import partial
from itertools import repeat
from pathlib import Path
from typing import Annotated, Any, Optional

from fastapi import Query, Request
from fastapi.responses import Response

from ...errors import DataError
from ...scoring.reference import Reference
from ...systems.read.opening import FORMATS
from ...systems.read.reader import PictureReader
from ...systems.read.settings import READER
from .plug import LoadedModel, Route, SystemService, encode, label_of, present, unless_gone
from .uploads import load_scorer, stored

Labelled = Annotated[bool, Query(description="classify each line")]
LineWeights = Annotated[bool, Query(description="add to each line weights (letters x strips) and edges of the strips")]
MEDIA_TYPES = tuple(f"image/{name.lower()}" for name in FORMATS)
# Bytes of a picture; weights of all lines in a response, 3 MB of JSON
MOST_BYTES, MOST_WEIGHTS = 20_000_000, 2**19


def load_models(reader: Reference, classifier: Optional[Reference]) -> tuple[Any, Any]:
    """Load a reader, and a classifier if there is one, on one thread."""
    return reader.load("cpu", 1), load_scorer(classifier) if classifier else None


def read_picture(models: tuple[Any, Any], picture: Path, weights: bool) -> tuple[str, int]:
    """Return the response of /read for a picture, and how many lines were classified; DataError if it is no picture."""
    reader, classifier = models
    reading = reader(picture.read_bytes())
    if weights and sum(line.weights.size for line in reading.lines) > MOST_WEIGHTS:
        advice = "send a part of the picture, or leave weights out"
        raise DataError(f"weights: expected at most {MOST_WEIGHTS} of all lines, found more; {advice}")
    rows = classifier.rows([line.text for line in reading.lines]) if classifier else None
    labels = repeat({}) if rows is None else map(label_of, rows)
    lines = [line.to_dict(weights) for line in reading.lines]
    for line, label in zip(lines, labels):
        # of a line, as of a review, `score` is its label's
        line["letter_probability"] = line.pop("score")
        line.update(label)
    return encode({**reading.to_dict(), "lines": lines}), len(rows or ())


class Service(SystemService):
    """The lines of text in a picture, with their labels."""

    def __init__(self, *values: Any) -> None:
        super().__init__(*values)
        bundle = self.bundle or present(READER)
        self.main = LoadedModel("read", "read", "reader of pictures", bundle, PictureReader.load)
        self.counter = self.server.counters.counter("read", "Pictures read")

    @property
    def routes(self) -> Sequence[Route]:
        content = dict.fromkeys(MEDIA_TYPES, {"schema": {"type": "string", "format": "binary"}})
        options = {"openapi_extra": {"requestBody": {"required": True, "content": content}}}
        return [Route("/read", "Pictures", "Read the text of a screenshot", self.read, MOST_BYTES, options)]

    async def load(self) -> None:
        await self.main.load(self.companion, self.server.mxnet)

    async def read(self, request: Request, predict: Labelled = True, weights: LineWeights = False) -> Response:
        """Return the lines of text in a picture, the body itself, in reading order.

        The file's content decides of which of the types it is, not its media type. `width` and `height` are those of the picture, turned as
        its EXIF says, in pixels. Each of `lines` has its `text`, `box` (left, top, right, bottom), `letter_probability`
        (the geometric mean over its letters), `places` (of each letter where it was read, pixels from the left), and, if
        it is classified, what /predict says of it. `weights` are the attention that each letter was
        written with, to four digits, and `edges` where the strips begin that it is over, and the last one ends. `left_out`
        are the boxes of icons and of illegible text.
        """
        classifier = self.server.require().classifier.reference
        reader = self.main.require().reference
        async with stored(request) as (path, _, _):
            load = partial(load_models, reader, classifier if predict else None)
            work = self.server.fence(path, load, read_picture, path, weights)
            answer, rows = await unless_gone(request, work)
        self.counter.inc()
        self.server.counters.reviews.inc(rows)
        return Response(answer, media_type="application/json")
