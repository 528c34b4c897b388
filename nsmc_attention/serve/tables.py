"""A table as a request's body: stored, checked to its end, and streamed back while it is scored."""

import asyncio
import errno
from concurrent.futures import ThreadPoolExecutor
from tempfile import TemporaryFile
from threading import Event, Lock
from typing import Any, AsyncIterable, AsyncIterator, Callable, Iterator

import pandas
from fastapi.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from ..inference.predictor import Classifier
from ..inference.scoring import table_pieces
from ..reviews.nsmc import is_nsmc
from ..reviews.tables import chunks
from .limits import Limits

KINDS = {"text/csv": "csv", "text/tab-separated-values": "tsv"}
KINDS.update({"application/x-ndjson": "jsonl", "application/jsonl": "jsonl"})
# Bytes that may be stored at once, in tables of the largest size for each that may be scored
STORED = 4


class StorageQuota:
    """What the tables of a process share, used from any thread.

    Uploads are limited by total bytes, so that a few slow clients cannot occupy every slot; a slot is for a table that
    has been received.
    """

    def __init__(self, limits: Limits) -> None:
        self.slots, self.size = limits.tables, STORED * limits.tables * limits.table
        self.used_slots, self.used_size, self.lock = 0, 0, Lock()

    def take(self, slots: int = 0, size: int = 0) -> bool:
        """Take slots and bytes if they are free, and return whether they were; negative numbers give back."""
        with self.lock:
            fits = self.used_slots + slots <= self.slots and self.used_size + size <= self.size
            if fits:
                self.used_slots, self.used_size = self.used_slots + slots, self.used_size + size
            return fits


class Table:
    """A body in a file without a name, which a killed worker cannot leave behind; OSError if there is no space.

    Tables share the threads; one thread at a time uses a table.
    """

    def __init__(self, kind: str, text_column: str, verbatim: bool, threads: ThreadPoolExecutor, quota: StorageQuota):
        self.kind, self.text_column, self.verbatim, self.quota = kind, text_column, verbatim, quota
        self.file = TemporaryFile(prefix="nsmc_attention-", buffering=0)
        self.path = f"/dev/fd/{self.file.fileno()}"
        self.threads, self.lock, self.closed = threads, Lock(), Event()
        self.slots = self.size = 0
        self.pieces: Any = None

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

    def rows(self) -> Iterator[pandas.DataFrame]:
        # where opening /dev/fd duplicates the file, it continues at the file's position
        self.file.seek(0)
        kind = "nsmc" if self.kind == "tsv" and is_nsmc(self.path) else self.kind
        return chunks(self.path, self.text_column, kind=kind)

    def count(self) -> int:
        """Return the number of rows, having read them all; DataError if one is malformed."""
        rows = 0
        for frame in self.rows():
            rows += len(frame)
            # the client has gone, and the end of the process would wait
            if self.closed.is_set():
                break
        return rows

    async def score(self, classifier: Classifier) -> AsyncIterator[bytes]:
        """Yield the table with the predictions."""
        options: dict[str, Any] = {"text_column": self.text_column, "verbatim": self.verbatim}
        # all cores for a single table; several would each start as many processes as there are cores
        processes = None if self.quota.used_slots == 1 else 1
        self.pieces = table_pieces(classifier, self.rows(), self.kind, processes=processes, **options)
        while piece := await self.call(next, self.pieces, ""):
            yield piece.encode("utf-8", "replace")

    async def call(self, function: Callable[..., Any], *arguments: Any) -> Any:
        return await asyncio.get_running_loop().run_in_executor(self.threads, self.locked, function, *arguments)

    def locked(self, function: Callable[..., Any], *arguments: Any) -> Any:
        # the call of a client that has gone is still running when the file is closed
        with self.lock:
            return function(*arguments)

    def close(self) -> None:
        """Remove the file as soon as no thread uses it."""
        self.closed.set()
        self.threads.submit(self.locked, self.remove)

    def remove(self) -> None:
        try:
            if self.pieces:
                self.pieces.close()
        finally:
            self.file.close()
            self.quota.take(-self.slots, -self.size)


class TableResponse(StreamingResponse):
    """A scored table, closed when the response ends or the client goes."""

    def __init__(self, table: Table, classifier: Classifier, media_type: str, headers: dict[str, str]) -> None:
        super().__init__(table.score(classifier), media_type=media_type, headers=headers)
        self.table = table

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            self.table.close()
