"""The route `POST /read`: the text of a picture, which is read behind the fence."""

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
# Most bytes of a picture; most weights of all lines in a response (3 MB of JSON)
MOST_BYTES, MOST_WEIGHTS = 20_000_000, 2**19


def load_models(reader: Reference, classifier: Optional[Reference]) -> tuple[Any, Any]:
    """Load a reader and, if given, a classifier, on one thread."""
    return reader.load("cpu", 1), load_scorer(classifier) if classifier else None


def read_picture(models: tuple[Any, Any], picture: Path, weights: bool) -> tuple[str, int]:
    """Return the response of /read for a picture, and the number of classified lines; DataError if not a picture."""
    reader, classifier = models
    reading = reader(picture.read_bytes())
    if weights and sum(line.weights.size for line in reading.lines) > MOST_WEIGHTS:
        advice = "send a part of the picture, or leave weights out"
        raise DataError(f"weights: expected at most {MOST_WEIGHTS} of all lines, found more; {advice}")
    rows = classifier.rows([line.text for line in reading.lines]) if classifier else None
    labels = repeat({}) if rows is None else map(label_of, rows)
    lines = [line.to_dict(weights) for line in reading.lines]
    for line, label in zip(lines, labels):
        # `score` is the label's, as for a review
        line["letter_probability"] = line.pop("score")
        line.update(label)
    return encode({**reading.to_dict(), "lines": lines}), len(rows or ())


class Service(SystemService):
    """Lines of text in pictures, with their labels."""

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
        """Return the lines of text in a picture, which is the body, in reading order.

        The content, not the media type, decides the format. `width` and `height` are in pixels, after rotation by the
        EXIF data. Each of `lines` has its `text`, `box` (left, top, right, bottom), `letter_probability` (the geometric
        mean over its letters), `places` (the position of each letter in pixels from the left) and, with `predict`, the
        result of /predict. On request, `weights` are the attention weights of each letter over strips, to four digits,
        and `edges` the edges of these strips in pixels. `left_out` has the boxes of icons and illegible text.
        """
        classifier = self.server.require().classifier.reference
        reader = self.main.require().reference
        async with stored(request) as (path, _, _):
            load = partial(load_models, reader, classifier if predict else None)
            work = self.server.fence(path, load, read_picture, path, weights)
            content, rows = await unless_gone(request, work)
        self.counter.inc()
        self.server.counters.reviews.inc(rows)
        return Response(content, media_type="application/json")
