"""A table as a request's body or a form's file: stored, then read and scored behind the fence into another file."""

import json
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, field, replace
from itertools import chain, islice
from os import fstat
from pathlib import PurePath
from tempfile import TemporaryFile
from typing import Any, BinaryIO, Optional, Union

from fastapi import Request
from fastapi.responses import StreamingResponse

from ..._runtime.aliases import Record
from ...classification.likeness import unlike
from ...classification.share import LabelsByShare, require_share
from ...errors import DataError, NsmcError
from ...inference.reference import Reference
from ...inference.scoring import MARK, marks, table_parts, tally_of, texts_of
from ...inference.tally import Tally
from ...tables import tables

MEDIA_TYPES = {"text/csv": "csv", "text/tab-separated-values": "tsv"}
MEDIA_TYPES.update({"application/x-ndjson": "jsonl", "application/jsonl": "jsonl"})
MEDIA_TYPES["application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"] = "xlsx"
MEDIA_TYPES["application/vnd.apache.parquet"] = "parquet"
# Kinds that are answered with csv
BINARY = ("xlsx", "parquet")
# A body that is a form with a file, as `curl -F file=@reviews.csv` sends it
FORM = "multipart/form-data"
# What browsers and curl call a file whose type they do not know, or a csv where Excel is installed
VAGUE = ("", "application/octet-stream", "application/vnd.ms-excel", "text/plain")
# Bytes that are sent at a time; letters of a name in a header, and the most names
PIECE, LETTERS, NAMES = 1 << 16, 200, 50


def upload_kind(media_type: str, name: str = "") -> str:
    """Return the kind of an uploaded table by its media type, or by the file's name where that says nothing.

    DataError for a kind that is none of MEDIA_TYPES.
    """
    media_type = media_type.partition(";")[0].strip().lower()
    suffix = PurePath(name).suffix.lower().replace("ndjson", "jsonl")[1:]
    kind = MEDIA_TYPES.get(media_type) or (suffix if name and media_type in VAGUE else "")
    if kind not in MEDIA_TYPES.values():
        wrong = repr((name or media_type)[:60]) if name or media_type else "none"
        expected = f"expected {FORM}, {', '.join(MEDIA_TYPES)}"
        raise DataError(f"Content-Type: {expected}, found {wrong}; with curl: -F file=@reviews.csv")
    return kind


@asynccontextmanager
async def stored(request: Request) -> AsyncIterator[tuple[BinaryIO, str, str]]:
    """Store a request's body, or its form's only file, in a file without a name; yield it, its media type and its name."""
    media_type = request.headers.get("content-type", "")
    if not media_type.lower().startswith(FORM):
        with TemporaryFile(prefix="nsmc_attention-") as body:
            async for piece in request.stream():
                body.write(piece)
            body.flush()
            yield body, media_type, ""
        return
    async with request.form(max_files=1) as form:
        found: dict[str, Any] = dict(form.multi_items())
        others = [name for name, value in found.items() if isinstance(value, str)]
        if others or not found:
            wrong = f"found {others[0][:60]!r} too; options belong in the address" if others else "found none"
            raise DataError(f"form: expected one file alone, {wrong}; with curl: -F file=@reviews.csv")
        (upload,) = found.values()
        # in memory, if it is small
        upload.file.rollover()
        upload.file.flush()
        yield upload.file, upload.content_type or "", upload.filename or ""


@dataclass
class Table:
    """An uploaded table behind the fence: its path, and how it is read; `sheets` of a workbook with several are found."""

    path: Any
    kind: str
    text_column: Optional[str] = None
    sheet: Optional[str] = None
    header: Optional[str] = None
    sheets: list[str] = field(default_factory=list)

    def open(self) -> tables.Table:
        """Open the table; its encoding, delimiter and text column are found."""
        found: Record = {"kind": self.kind, "sheet": self.sheet or None, "header": self.header or None}
        return tables.open_table(self.path, self.text_column or None, note=self.note, **found)

    def note(self, source: Any) -> None:
        self.sheets = [source.sheet, *source.other_sheets] if source.other_sheets else []

    @property
    def output(self) -> str:
        """The kind of the scored table."""
        return "csv" if self.kind in BINARY else self.kind


def read_table(model: Any, function: Callable[..., Record], table: Table, *given: Any) -> Record:
    """Return what a function writes and says of a table, and its sheets, behind the fence."""
    try:
        return {**function(model, table, *given), "sheets": table.sheets}
    except NsmcError as problem:
        problem.args = (str(problem).replace(table.path, "table"),)
        vars(problem)["sheets"] = table.sheets
        raise


def load_scorer(reference: Reference) -> Any:
    """Load a classifier on one thread, with its tokenizer, which the first review builds."""
    classifier = reference.load("cpu", 1)
    classifier.predict("영화")
    return classifier


def score(classifier: Any, table: Table, output: str, verbatim: bool, share: Union[float, str, None]) -> Record:
    """Write a table with the predictions, and return what else is to be said of it."""
    scorer, opened = classifier, table.open()
    if share:
        scorer = LabelsByShare(classifier, share_of(table, classifier) if isinstance(share, str) else share)
    first = list(islice(opened.parts, 1))
    strange = unlike(classifier, [text for part in first for text in texts_of(part, opened.text_column)])
    opened = replace(opened, parts=chain(first, opened.parts))
    with open(output, "w", encoding="utf-8", newline="", errors="replace") as file:
        if marks(table.output, opened.source, output):
            file.write(MARK)
        parts = table_parts(scorer, opened, file, table.output, processes=1, verbatim=verbatim)
        tally = sum(parts, Tally())
    said = {"text_column": opened.text_column, "rows": tally.rows, "share": tally.share._asdict()}
    return {**said, "unlike": asdict(strange) if strange else None}


def share_of(table: Table, classifier: Any) -> float:
    """Return the share of positive reviews of a table, having read it; DataError if it cannot be estimated."""
    opened = table.open()
    windows = (texts_of(part, opened.text_column) for part in opened.parts)
    tally = sum((tally_of(classifier, texts, classifier.rows(texts)) for texts in windows), Tally())
    return require_share(tally.share, "table")


def table_response(file: BinaryIO, kind: str, said: Record) -> StreamingResponse:
    """Return the response of a file of a kind, whose headers say where the page finds the reviews, and where else some are."""

    def pieces() -> Iterator[bytes]:
        with file:
            while piece := file.read(PIECE):
                yield piece

    media_type = next(name for name, known in MEDIA_TYPES.items() if known == kind)
    headers = {"Content-Length": str(fstat(file.fileno()).st_size)}
    headers["X-Text-Column"] = json.dumps(said["text_column"][:LETTERS])
    if said["sheets"]:
        headers["X-Sheets"] = json.dumps([name[:LETTERS] for name in said["sheets"][:NAMES]])
    for name in ("share", "unlike"):
        if said.get(name):
            headers[f"X-{name.title()}"] = json.dumps(said[name])
    return StreamingResponse(pieces(), media_type=media_type, headers=headers)
