"""A table as a request's body or a form's file: stored, checked to its end, and streamed back while it is scored."""

import asyncio
import errno
import io
import json
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict
from pathlib import PurePath
from tempfile import TemporaryFile
from threading import Event, Lock
from typing import Any, AsyncIterable, AsyncIterator, Callable, Iterable, Iterator, Optional, Sequence

import numpy
from fastapi.responses import StreamingResponse
from python_multipart.exceptions import MultipartParseError
from python_multipart.multipart import MultipartParser, parse_options_header
from starlette.types import Receive, Scope, Send

from ..._runtime.aliases import Record
from ...classification.likeness import Unlike, unlike
from ...classification.predictor import Classifier
from ...errors import DataError
from ...evaluation.share import Share
from ...inference.reference import Scorer
from ...inference.scoring import MARK, table_parts, tally_of, texts_of
from ...tables import tables
from ...tables.bounded_lines import BINARY
from ...tables.sources import Source, kind_of
from .guard import Limits

MEDIA_TYPES = {"text/csv": "csv", "text/tab-separated-values": "tsv"}
MEDIA_TYPES.update({"application/x-ndjson": "jsonl", "application/jsonl": "jsonl"})
MEDIA_TYPES["application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"] = "xlsx"
MEDIA_TYPES["application/vnd.apache.parquet"] = "parquet"
# What to do with other files that people send
ADVICE = {
    "application/json": "send a list of texts to /predict, or an object a line as application/x-ndjson",
    ".json": "send an object a line, as .jsonl",
    ".txt": "put a first line `review` above the reviews and name it .csv",
}
# Of a body that is a form with a file, as `curl -F file=@reviews.csv` sends it; bytes of the name and value of a part's header
FORM, HEADER = "multipart/form-data", 8192
# What browsers and curl call a file whose type they do not know, or a csv where Excel is installed
VAGUE = ("", "application/octet-stream", "application/vnd.ms-excel", "text/plain")
# Characters that are sent at a time
PIECE = 1 << 16
# Reviews that the share of positive ones is estimated from: more would hardly narrow its interval
SAMPLED = 2000
# Bytes that may be stored at once, in tables of the largest size for each that may be scored
STORED = 4


def upload_kind(media_type: str, name: str = "") -> str:
    """Return the kind of an uploaded table by its media type, or by the file's name where that says nothing.

    DataError for a kind that is none of MEDIA_TYPES.
    """
    media_type = media_type.partition(";")[0].strip().lower()
    advice = ADVICE.get(PurePath(name).suffix.lower() or media_type, "with curl: -F file=@reviews.csv")
    unnamed = not name or media_type not in VAGUE or PurePath(name).suffix.lower() in ADVICE
    kind = MEDIA_TYPES.get(media_type) or (None if unnamed else kind_of(name))
    if kind not in MEDIA_TYPES.values():
        wrong = repr((name or media_type)[:60]) if name or media_type else "none"
        expected = f"expected multipart/form-data, {', '.join(MEDIA_TYPES)}"
        raise DataError(f"Content-Type: {expected}, found {wrong}; {advice}")
    return str(kind)


class FormFile:
    """The bytes of a form's only file; `kind` is known after them. DataError if it is no such form."""

    def __init__(self, content_type: str, stream: AsyncIterator[bytes]) -> None:
        boundary = parse_options_header(content_type)[1].get(b"boundary", b"")
        if not 0 < len(boundary) <= 70:
            raise DataError(f"Content-Type: expected {FORM} with a boundary of at most 70 characters")
        self.stream, self.kind = stream, ""
        self.name, self.value, self.headers = b"", b"", dict[bytes, bytes]()
        self.pieces: list[bytes] = []
        self.whole = False
        events = ("header_field", "header_value", "header_end", "headers_finished", "part_data", "end")
        self.parser = MultipartParser(boundary, {f"on_{event}": getattr(self, event) for event in events})  # type: ignore[arg-type]

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            async for piece in self.stream:
                self.parser.write(piece)
                yield b"".join(self.pieces)
                self.pieces.clear()
        except MultipartParseError as problem:
            raise DataError(f"form: expected {FORM}, found something else ({problem})") from problem
        if not self.kind or not self.whole:
            raise DataError("form: expected one file to its end, found less; with curl: -F file=@reviews.csv")

    def header_field(self, data: bytes, start: int, end: int) -> None:
        self.name += data[start:end]
        self.check_header()

    def header_value(self, data: bytes, start: int, end: int) -> None:
        self.value += data[start:end]
        self.check_header()

    def check_header(self) -> None:
        # the releases of the parser for Python 3.9 have no limit
        if len(self.name) + len(self.value) > HEADER:
            raise DataError(f"form: expected headers of at most {HEADER} bytes, found more")

    def header_end(self) -> None:
        if self.name.lower() in (b"content-disposition", b"content-type"):
            self.headers[self.name.lower()] = self.value
        self.name = self.value = b""

    def headers_finished(self) -> None:
        _, options = parse_options_header(self.headers.get(b"content-disposition", b""))
        if b"filename" not in options or self.kind:
            name = options.get(b"name", b"").decode("utf-8", "replace")[:60]
            raise DataError(f"form: expected one file alone, found {name!r} too; options belong in the address")
        self.kind = upload_kind(
            self.headers.get(b"content-type", b"").decode("latin-1"), options[b"filename"].decode("utf-8", "replace")
        )
        self.headers.clear()

    def part_data(self, data: bytes, start: int, end: int) -> None:
        self.pieces.append(data[start:end])

    def end(self) -> None:
        self.whole = True


class Quota:
    """Slots and bytes that the uploads of a process share, used from any thread.

    Uploads are limited by total bytes, so that a few slow clients cannot occupy every slot; a slot is for an upload that
    has been received.
    """

    def __init__(self, slots: int, size: int) -> None:
        self.slots, self.size = slots, size
        self.used_slots, self.used_size, self.lock = 0, 0, Lock()

    def take(self, slots: int = 0, size: int = 0) -> bool:
        """Take slots and bytes if they are free, and return whether they were; negative numbers give back."""
        with self.lock:
            if fits := self.used_slots + slots <= self.slots and self.used_size + size <= self.size:
                self.used_slots, self.used_size = self.used_slots + slots, self.used_size + size
            return fits


class StorageQuota(Quota):
    """That of the tables of a process."""

    def __init__(self, limits: Limits) -> None:
        super().__init__(limits.tables, STORED * limits.tables * limits.table)


class Sample:
    """Up to SAMPLED texts of a stream, each of which is as likely to be among them (reservoir sampling, Vitter 1985)."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.seen, self.random = 0, numpy.random.RandomState(0)

    def add(self, texts: Sequence[str]) -> None:
        places = (self.random.rand(len(texts)) * (self.seen + 1 + numpy.arange(len(texts)))).astype("int64")
        room = max(0, min(SAMPLED - self.seen, len(texts)))
        self.texts += texts[:room]
        for index in (numpy.flatnonzero(places[room:] < SAMPLED) + room).tolist():
            self.texts[places[index]] = texts[index]
        self.seen += len(texts)


class Table:
    """A body in a file without a name, which a killed worker cannot leave behind; OSError if there is no space.

    Tables share the threads; one thread at a time uses a table.
    """

    def __init__(
        self,
        kind: str,
        text_column: Optional[str],
        verbatim: bool,
        threads: ThreadPoolExecutor,
        quota: StorageQuota,
        sheet: Optional[str] = None,
        header: Optional[str] = None,
    ):
        self.kind, self.text_column, self.verbatim, self.quota = kind, text_column, verbatim, quota
        self.sheet, self.header = sheet, header
        # of a workbook that has several, the one that is read first
        self.sheets: list[str] = []
        # how the texts are unlike film reviews, and the share of positive ones, found while they are counted
        self.unlike: Optional[Unlike] = None
        self.share: Optional[Share] = None
        self.file = TemporaryFile(prefix="nsmc_attention-", buffering=0)
        self.path = f"/dev/fd/{self.file.fileno()}"
        self.threads, self.lock, self.closed = threads, Lock(), Event()
        self.slots = self.size = 0
        # generators that read the file, each through the one before
        self.reading: list[Any] = []

    async def store(self, stream: AsyncIterable[bytes]) -> None:
        """Write the body; OSError if there is no space."""
        async for piece in stream:
            if not self.quota.take(size=len(piece)):
                raise OSError(errno.ENOSPC, "tables use all the space that they may")
            self.size += len(piece)
            self.file.write(piece)

    def enter(self) -> int:
        """Take a slot until the table is closed; return 0 if none is free."""
        self.slots = int(self.quota.take(slots=1))
        return self.slots

    @property
    def output(self) -> str:
        """The kind of the scored table: that of the table, csv of xlsx and parquet, which cannot be streamed."""
        return "csv" if self.kind in BINARY else self.kind

    def read(self) -> tables.Table:
        """Open the table; its encoding, delimiter and text column are found."""
        found: Record = {"kind": self.kind, "sheet": self.sheet, "header": self.header}
        return tables.open_table(self.path, self.text_column, note=self.note, **found)

    def note(self, source: Source) -> None:
        self.sheets = [source.sheet, *source.other_sheets] if source.other_sheets else []

    def count(self, classifier: Optional[Classifier] = None) -> int:
        """Return the number of rows, having read them all, and fill `unlike` and `share`; DataError if one is malformed."""
        rows, table, sample = 0, self.read(), Sample()
        self.text_column = table.text_column
        self.reading.append(table.parts)
        for part in table.parts:
            texts = texts_of(part, table.text_column) if classifier else []
            if classifier and not rows:
                self.unlike = unlike(classifier, texts)
            sample.add(texts)
            rows += part.rows
            # the client has gone, and the end of the process would wait
            if self.closed.is_set():
                return rows
        if classifier:
            self.share = tally_of(classifier, sample.texts, classifier.rows(sample.texts)).share
        return rows

    async def score(self, scorer: Scorer) -> AsyncIterator[bytes]:
        """Yield the table with the predictions."""
        # all cores for a single table; several would each start as many processes as there are cores
        processes = None if self.quota.used_slots == 1 else 1
        table = await self.call(self.read)
        self.reading.append(table.parts)
        if self.output != "jsonl" and table.source.from_office:
            yield MARK.encode()
        written = io.StringIO()
        parts = table_parts(scorer, table, written, self.output, processes=processes, verbatim=self.verbatim)
        async for piece in self.stream(in_pieces(written, parts)):
            yield piece

    async def stream(self, pieces: Iterator[str]) -> AsyncIterator[bytes]:
        """Yield pieces of text, none of them empty but the last, as the table's thread makes them."""
        self.reading.append(pieces)
        while piece := await self.call(next, pieces, ""):
            yield piece.encode("utf-8", "replace")

    async def call(self, function: Callable[..., Any], *arguments: Any) -> Any:
        return await asyncio.get_running_loop().run_in_executor(self.threads, self.locked, function, *arguments)

    def locked(self, function: Callable[..., Any], *arguments: Any) -> Any:
        # the call of a client that has gone is still running when the file is closed
        with self.lock:
            return function(*arguments)

    def close(self) -> Future[None]:
        """Remove the file as soon as no thread uses it; the result is there when it is removed."""
        self.closed.set()
        return self.threads.submit(self.locked, self.remove)

    def remove(self) -> None:
        try:
            for generator in reversed(self.reading):
                generator.close()
        finally:
            self.file.close()
            self.quota.take(-self.slots, -self.size)


def in_pieces(written: io.StringIO, parts: Iterable[object]) -> Iterator[str]:
    """Yield what is written while the parts are made, PIECE characters or a little more at a time, then the rest."""
    for _ in parts:
        if written.tell() > PIECE:
            yield written.getvalue()
            written.seek(0)
            written.truncate()
    yield written.getvalue()


class TableResponse(StreamingResponse):
    """A response made of a table, of one kind; the table is closed when the response ends or the client goes."""

    def __init__(self, table: Table, content: AsyncIterator[bytes], kind: str) -> None:
        media_type = next(name for name, known in MEDIA_TYPES.items() if known == kind)
        # where the page finds the reviews in the answer, and where else there may be some
        headers = {"X-Text-Column": json.dumps(table.text_column)}
        if table.sheets:
            headers["X-Sheets"] = json.dumps(table.sheets)
        if table.share:
            headers["X-Share"] = json.dumps(table.share._asdict())
        if table.unlike:
            headers["X-Unlike"] = json.dumps(asdict(table.unlike))
        super().__init__(content, media_type=media_type, headers=headers)
        self.table = table

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            self.table.close()
