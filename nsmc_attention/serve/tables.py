"""A table as a body: stored, read through once, and answered piece by piece while it is scored."""

import asyncio
import errno
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event, Lock

from fastapi.responses import StreamingResponse

from .._io.atomic import temporary_sibling
from ..inference.scoring import table_pieces
from ..reviews.tables import chunks

KINDS = {
    "text/csv": ".csv",
    "text/tab-separated-values": ".tsv",
    "application/x-ndjson": ".jsonl",
    "application/jsonl": ".jsonl",
}


# Bytes that may be stored at once, in tables of the largest size for each that may be worked on
STORED = 4


class Room:
    """What the tables of a process share, counted by any of its threads.

    Bodies that arrive are bounded by their bytes, not by their number: so many slow ones would keep all others out for
    days at the cost of nearly nothing, and what has not been sent takes no room. A place is for a body that is whole.

    Parameters
    ----------
    limits : serve.limits.Limits
    """

    def __init__(self, limits):
        self.places, self.size = limits.tables, STORED * limits.tables * limits.table
        self.taken, self.stored, self.lock = 0, 0, Lock()

    def take(self, places=0, size=0):
        """Tell whether so many more places and bytes are free, and only then take them; fewer than 0 are given back."""
        with self.lock:
            fits = self.taken + places <= self.places and self.stored + size <= self.size
            if fits:
                self.taken, self.stored = self.taken + places, self.stored + size
            return fits


class Table:
    """A body in a file of our own, worked on by one thread at a time; `close` removes it.

    Parameters
    ----------
    kind : str
        One of KINDS.
    text_column : str
    verbatim : bool
        Do not mark what a spreadsheet would compute (see `spreadsheets`).
    folder : path or None
        What the workers of one server share, where the table of a killed one is removed by the next; None is its own.
    threads : concurrent.futures.ThreadPoolExecutor
        Shared with the other tables: a thread of its own would cost each some memory that never comes back.
    room : Room

    Raises
    ------
    OSError, DataError
        The file cannot be made.
    """

    def __init__(self, kind, text_column, verbatim, folder, threads, room):
        self.kind, self.text_column, self.verbatim = kind, text_column, verbatim
        with ExitStack() as held:
            folder = Path(folder or held.enter_context(TemporaryDirectory(prefix="nsmc_attention-")))
            self.path = held.enter_context(temporary_sibling(folder / "table", suffix=KINDS[kind]))
            self.held = held.pop_all()
        self.threads, self.lock, self.ended = threads, Lock(), Event()
        self.room, self.places, self.size = room, 0, 0
        self.pieces = iter(())

    async def store(self, stream):
        """Write an asynchronous stream of bytes; OSError where there is no room."""
        with open(self.path, "wb") as file:
            async for piece in stream:
                if not self.room.take(size=len(piece)):
                    raise OSError(errno.ENOSPC, "tables take all the room they may")
                self.size += len(piece)
                file.write(piece)

    def enter(self):
        """Take a place until the table is closed; tell whether one was free."""
        self.places = int(self.room.take(places=1))
        return bool(self.places)

    async def check(self):
        """Answer its rows, having read all of it: what is wrong is told before the answer begins.

        Raises
        ------
        DataError
        """
        return await self.call(self.count)

    def count(self):
        rows = 0
        for piece in chunks(self.path, self.text_column):
            rows += len(piece)
            # nobody waits for it any more, but the end of the process would
            if self.ended.is_set():
                break
        return rows

    async def scored(self, classifier):
        """Yield the table with its answers, as bytes."""
        # all cores for one table alone, or each would start as many processes as there are cores
        processes = None if self.room.taken == 1 else 1
        self.pieces = table_pieces(
            classifier,
            chunks(self.path, self.text_column),
            self.path.suffix[1:],
            text_column=self.text_column,
            processes=processes,
            verbatim=self.verbatim,
        )
        while piece := await self.call(next, self.pieces, ""):
            yield piece.encode("utf-8", "replace")

    async def call(self, function, *arguments):
        return await asyncio.get_running_loop().run_in_executor(self.threads, self.locked, function, *arguments)

    def locked(self, function, *arguments):
        # who goes away leaves a call behind, beside which the next would come
        with self.lock:
            return function(*arguments)

    def close(self):
        """Remove the file as soon as a thread is done with it."""
        self.ended.set()
        self.threads.submit(self.locked, self.finish)

    def finish(self):
        try:
            if hasattr(self.pieces, "close"):
                self.pieces.close()
        finally:
            # before others may come, it is gone
            try:
                self.held.close()
            finally:
                self.room.take(-self.places, -self.size)


class TableAnswer(StreamingResponse):
    """A table's answer, which closes the table whatever becomes of the client.

    Parameters
    ----------
    table : Table
    classifier : inference.predictor.Classifier
    """

    def __init__(self, table, classifier):
        super().__init__(table.scored(classifier), media_type=table.kind)
        self.table = table

    async def __call__(self, scope, receive, send):
        try:
            await super().__call__(scope, receive, send)
        finally:
            self.table.close()
