"""Uploaded tables, as a request's body or a form's file: stored, then read and scored behind the fence."""

import json
import shutil
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Union

from fastapi import Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import StreamingResponse

from ...classifier.domain_shift import domain_shift
from ...classifier.positive_share import LabelsByShare, require_share
from ...corpora.data import Texts
from ...errors import DataError, NsmcError
from ...machine.aliases import Record
from ...scoring.files import score_table, tally_table
from ...scoring.reference import Reference
from ...tables.table import Table, open_table

MEDIA_TYPES = {"text/csv": "csv", "text/tab-separated-values": "tsv", "application/x-ndjson": "jsonl"}
MEDIA_TYPES.update({"application/jsonl": "jsonl", "application/vnd.apache.parquet": "parquet"})
MEDIA_TYPES["application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"] = "xlsx"
# Input formats whose response is csv
BINARY = ("xlsx", "parquet")
# Media type of a form with a file, as sent by `curl -F file=@reviews.csv`
FORM = "multipart/form-data"
# Media types that browsers and curl send for files of unknown type, and for csv if Excel is installed
VAGUE = ("", "application/octet-stream", "application/vnd.ms-excel", "text/plain")
# Bytes of a chunk of the response; most letters of a name in a header, and most names
CHUNK_BYTES, LETTERS, NAMES = 1 << 16, 200, 50


def upload_kind(media_type: str, name: str = "") -> str:
    """Return the format of an uploaded table by its media type or, if that is vague, by the file's name.

    DataError for a format that is not in MEDIA_TYPES.
    """
    media_type = media_type.partition(";")[0].strip().lower()
    suffix = Path(name).suffix.lower().replace("ndjson", "jsonl")[1:]
    kind = suffix if name and media_type in VAGUE else MEDIA_TYPES.get(media_type, "")
    if kind not in MEDIA_TYPES.values():
        wrong = repr((name or media_type)[:60]) if name or media_type else "none"
        expected = f"expected {FORM}, {', '.join(MEDIA_TYPES)}"
        raise DataError(f"Content-Type: {expected}, found {wrong}; with curl: -F file=@reviews.csv")
    return kind


@asynccontextmanager
async def stored(request: Request) -> AsyncIterator[tuple[Path, str, str]]:
    """Store a request's body, or its form's only file; yield the path, the media type and the file's name."""
    media_type, name = request.headers.get("content-type", ""), ""
    with TemporaryDirectory(prefix="nsmc_attention-") as folder, open(Path(folder) / "body", "wb") as file:
        if media_type.lower().startswith(FORM):
            form = await request.form(max_files=1)
            upload: Any = next(iter(form.values()), "")
            if len(form.multi_items()) != 1 or isinstance(upload, str):
                found = ", ".join(map(repr, form))[:100] or "none"
                raise DataError(f"form: expected one file alone, found {found}; options belong in the address")
            media_type, name = upload.content_type or "", upload.filename or ""
            await run_in_threadpool(shutil.copyfileobj, upload.file, file)
        else:
            async for chunk in request.stream():
                file.write(chunk)
        file.flush()
        yield Path(file.name), media_type, name


@dataclass(frozen=True)
class Upload(Texts):
    """An uploaded table; `remarks` has its detected `text_column`, and `sheets` if there are several."""

    remarks: Record = field(default_factory=dict)

    def open(self) -> Table:
        options: Record = {"kind": self.kind, "sheet": self.sheet or None, "header": self.header or None}
        table = open_table(self.data, self.text_column or None, note=self.note, **options)
        self.remarks["text_column"] = table.text_column
        return table

    def note(self, source: Any) -> None:
        self.remarks["sheets"] = [source.sheet, *source.other_sheets] if source.other_sheets else []

    @property
    def output(self) -> str:
        """Format of the scored table."""
        return "csv" if self.kind in BINARY else str(self.kind)


def read_table(model: Any, function: Callable[..., Record], table: Upload, output: Path, *arguments: Any) -> Record:
    """Call `function`, which writes a table, and return its remarks; errors do not contain the path."""
    try:
        return {**function(model, table, output, *arguments), **table.remarks}
    except NsmcError as problem:
        if str(output) in str(problem):  # no disk space
            raise OSError(str(problem)) from problem
        problem.args = (str(problem).replace(str(table.data), "table"),)
        vars(problem).update(sheets=table.remarks.get("sheets"))
        raise


def load_scorer(reference: Reference) -> Any:
    """Load a classifier or film network on one thread; its first review builds the tokenizer."""
    model = reference.load("cpu", 1)
    model(["영화"])
    return model


def score(classifier: Any, table: Upload, output: Path, verbatim: bool, share: Union[float, str, None]) -> Record:
    """Write a table with predictions; return its number of rows, estimated share and domain shift."""
    shifts = list[Any]()
    if isinstance(share, str):
        share = require_share(tally_table(classifier, table, processes=1).share, "table")
    scorer = classifier if share is None else LabelsByShare(classifier, share)
    scored = partial(score_table, scorer, table, output, table.output, processes=1, verbatim=verbatim)
    tally = scored(inspect=lambda texts, _: shifts.append(domain_shift(classifier, texts))).tally
    return {"rows": tally.rows, "share": tally.share._asdict(), "unlike": asdict(shifts[0]) if any(shifts) else None}


def table_response(output: Path, kind: str, remarks: Record) -> StreamingResponse:
    """Return the response with a file; headers have its column of reviews, other sheets, share and domain shift."""
    file, size = open(output, "rb"), output.stat().st_size

    def chunks() -> Iterator[bytes]:
        with file:
            while chunk := file.read(CHUNK_BYTES):
                yield chunk

    media_type = next(name for name, known in MEDIA_TYPES.items() if known == kind)
    headers = {"Content-Length": str(size), "X-Text-Column": json.dumps(remarks["text_column"][:LETTERS])}
    if remarks["sheets"]:
        headers["X-Sheets"] = json.dumps([name[:LETTERS] for name in remarks["sheets"][:NAMES]])
    optional = (name for name in ("share", "unlike") if remarks.get(name))
    headers.update({f"X-{name.title()}": json.dumps(remarks[name]) for name in optional})
    return StreamingResponse(chunks(), media_type=media_type, headers=headers)
