"""`POST /read`: a picture as a request's body, its lines read a part at a time; and the screenshots on the page."""

import asyncio
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass
from itertools import groupby, repeat
from typing import Annotated, Any, AsyncIterator, Callable, Optional

import numpy
from fastapi import Query, Request
from fastapi.responses import Response
from numpy.typing import NDArray
from starlette.exceptions import HTTPException

from ..._runtime.aliases import Record
from ...apps.serve.batching import Batcher, one_by_one
from ...apps.serve.direct import unless_gone
from ...apps.serve.plug import LoadedModel, Route, SystemService, present
from ...apps.serve.questions import encode, labels_of
from ...apps.serve.uploads import Quota
from ...classification.prediction import Row
from ...errors import DataError
from .boxes import Box
from .graphs import HEIGHT, STRIP
from .opening import FORMATS, open_gray
from .reader import PictureReader, boxes_of
from .reading import Line
from .system import READER

Labelled = Annotated[bool, Query(description="classify each line")]
LineWeights = Annotated[bool, Query(description="add to each line weights (letters x strips) and edges of the strips")]
MEDIA_TYPES = tuple(f"image/{name.lower()}" for name in FORMATS)
# Strips of the lines that are read at a time, some tenths of a second; weights of all lines in a response, 3 MB of JSON
PART, MOST_WEIGHTS = 2048, 2**19
# Bytes of a picture; pictures that a worker has at once
MOST_BYTES, AT_ONCE = 20_000_000, 8


def check_type(content_type: str) -> None:
    """Raise DataError for a type that is no picture's; which of them it is, the content says."""
    kind = content_type.partition(";")[0].strip().lower()
    if kind not in MEDIA_TYPES:
        wrong = repr(kind[:60]) if kind else "none"
        hint = "with curl: -H 'Content-Type: image/png' --data-binary @screenshot.png"
        raise DataError(f"Content-Type: expected {', '.join(MEDIA_TYPES)}, found {wrong}; {hint}")


@dataclass(eq=False)
class Opened:
    """A picture whose lines are being read; there is `room` for so many weights, if they are asked for."""

    gray: NDArray[numpy.uint8]
    boxes: list[Box]
    weights: bool = False
    room: int = MOST_WEIGHTS

    def values_of(self, line: Line) -> Record:
        """Return what the response says of a line, but for its label; what it does not say is not kept."""
        self.room -= line.weights.size if self.weights else 0
        if not line.legible:
            return {}
        values = line.to_dict(self.weights and self.room >= 0)
        # of a line, as of a review, `score` is its label's
        values["letter_probability"] = values.pop("score")
        return values


class Pictures:
    """Reads pictures in one thread, parts of several in turn; of a client that has gone the rest is dropped.

    Bodies and pixels are in memory: a quota limits how many there are at once.
    """

    def __init__(self, reader: PictureReader, thread: ThreadPoolExecutor) -> None:
        self.reader, self.thread = reader, thread
        self.quota = Quota(AT_ONCE, AT_ONCE * MOST_BYTES)
        self.open = one_by_one(self.opened, thread, AT_ONCE)
        # nothing waits beyond what the quota lets in
        self.read = Batcher(self.read_lines, thread, cost_of, PART, sys.maxsize)

    @asynccontextmanager
    async def received(self, stream: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        """Receive a body and give it a slot for the time of the block; HTTPException 503 where there is no room."""
        pieces, size, slots = list[bytes](), 0, 0
        try:
            async for piece in stream:
                if not self.quota.take(size=len(piece)):
                    raise HTTPException(503, "too many pictures are being sent; try again in a second")
                size += len(piece)
                pieces.append(piece)
            slots = int(self.quota.take(slots=1))
            if not slots:
                raise HTTPException(503, "too many pictures are being read; try again in a second")
            yield b"".join(pieces)
        finally:
            self.quota.take(-slots, -size)

    async def __call__(self, content: bytes, weights: bool) -> tuple[Opened, list[Record]]:
        """Return a picture and its lines, DataError where it is none or has too many weights."""
        (picture,) = await self.open([content])
        picture.weights = weights
        lines = await self.read([(picture, box) for box in picture.boxes])
        if picture.room < 0:
            advice = "send a part of the picture, or leave weights out"
            raise DataError(f"weights: expected at most {MOST_WEIGHTS} of all lines, found more; {advice}")
        return picture, [line for line in lines if line]

    async def call(self, function: Callable[..., str], *arguments: Any) -> str:
        """Call a function in the thread."""
        return await asyncio.get_running_loop().run_in_executor(self.thread, function, *arguments)

    def opened(self, content: bytes) -> Opened:
        gray = open_gray(content)
        return Opened(gray, boxes_of(gray))

    def read_lines(self, items: list[tuple[Opened, Box]]) -> list[Record]:
        """Return what is read in boxes of one picture or of several, one after the other."""
        found = list[Record]()
        for picture, own in groupby(items, key=lambda item: item[0]):
            boxes = [box for _, box in own]
            # of what will be refused, the rest is not read
            lines = self.reader.read_boxes(picture.gray, boxes) if picture.room >= 0 else ()
            found += map(picture.values_of, lines) if lines else [{} for _ in boxes]
        return found


def cost_of(item: tuple[Opened, Box]) -> int:
    """Return the strips of a line."""
    left, top, right, bottom = item[1]
    return 1 + (right - left) * HEIGHT // ((bottom - top) * STRIP)


def reading_json(picture: Opened, lines: list[Record], rows: Optional[list[Row]]) -> str:
    """Return what /read says: the lines, with their labels where there are a classifier's rows."""
    height, width = picture.gray.shape
    labels = repeat({}) if rows is None else (labels_of(probability, error)[0] for _, _, probability, error in rows)
    # one by one: while a large value becomes JSON nobody else gets an answer
    written = ",".join(encode({**line, **label}) for line, label in zip(lines, labels))
    return f'{{"width":{width},"height":{height},"lines":[{written}]}}'


class Service(SystemService):
    """The lines of text in a picture, with their labels."""

    pictures: Pictures

    def __init__(self, *values: Any) -> None:
        super().__init__(*values)
        self.main = LoadedModel(
            "read", "read", "reader of pictures", self.bundle or present(READER), PictureReader.load
        )
        self.counter = self.server.counters.counter("read", "Pictures read")

    @property
    def routes(self) -> Sequence[Route]:
        content = dict.fromkeys(MEDIA_TYPES, {"schema": {"type": "string", "format": "binary"}})
        options = {"openapi_extra": {"requestBody": {"required": True, "content": content}}}
        title, missing = "Read the text of a screenshot", "the server has no reader of pictures"
        return [Route("/read", "Pictures", title, self.read, None, missing, MOST_BYTES, options)]

    async def load(self) -> None:
        models = self.server.models
        reader = await self.main.load(self.companion, models.mxnet)
        if reader:
            self.pictures = Pictures(reader, models.thread_of(reader))

    async def read(self, request: Request, predict: Labelled = True, weights: LineWeights = False) -> Response:
        """Return the lines of text in a picture, the body itself, in reading order.

        The file's content decides of which of the types it is. `width` and `height` are those of the picture, turned as
        its EXIF says, in pixels. Each of `lines` has its `text`, `box` (left, top, right, bottom), `letter_probability`
        (the geometric mean over its letters), `places` (of each letter where it was read, pixels from the left), and, if
        it is classified, `label`, `score` and `error` as in /predict. `weights` are the attention that each letter was
        written with, to four digits, and `edges` where the strips begin that it is over, and the last one ends.
        """
        self.server.models.require()
        self.main.require()
        check_type(request.headers.get("content-type", ""))
        async with self.pictures.received(request.stream()) as content:
            answer = await unless_gone(request, self.reading(content, predict, weights))
        self.counter.inc()
        return Response(answer, media_type="application/json")

    async def reading(self, content: bytes, predict: bool, weights: bool) -> str:
        picture, lines = await self.pictures(content, weights)
        rows = await self.server.models.labels([line["text"] for line in lines]) if predict else None
        self.server.counters.reviews.inc(len(rows or ()))
        return await self.pictures.call(reading_json, picture, lines, rows)
