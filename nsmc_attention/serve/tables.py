"""A table as a body: stored, read through once, and answered piece by piece while it is scored."""
import asyncio
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock

from fastapi.responses import StreamingResponse

from ..atomic import neighbour
from ..inference.scoring import table_pieces
from ..reviews.tables import chunks

KINDS = {"text/csv": ".csv", "text/tab-separated-values": ".tsv", "application/x-ndjson": ".jsonl",
         "application/jsonl": ".jsonl"}


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
    """

    def __init__(self, kind, text_column, verbatim, folder, threads):
        self.kind, self.text_column, self.verbatim = kind, text_column, verbatim
        self.held = ExitStack()
        folder = Path(folder or self.held.enter_context(TemporaryDirectory(prefix="nsmc_attention-")))
        self.path = self.held.enter_context(neighbour(folder / "table", suffix=KINDS[kind]))
        self.threads, self.lock = threads, Lock()
        self.pieces = iter(())

    async def store(self, stream):
        """Write an asynchronous stream of bytes."""
        with open(self.path, "wb") as file:
            async for piece in stream:
                file.write(piece)

    async def check(self):
        """Answer its rows, having read all of it: what is wrong is told before the answer begins.

        Raises
        ------
        DataError
        """
        return await self.call(lambda: sum(len(piece) for piece in chunks(self.path, self.text_column)))

    async def scored(self, classifier):
        """Yield the table with its answers, as bytes."""
        self.pieces = table_pieces(classifier, chunks(self.path, self.text_column), self.path.suffix[1:],
                                   text_column=self.text_column, verbatim=self.verbatim)
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
        self.threads.submit(self.locked, self.finish)

    def finish(self):
        if hasattr(self.pieces, "close"):
            self.pieces.close()
        self.held.close()


class TableAnswer(StreamingResponse):
    """A table's answer, which closes the table whatever becomes of the client.

    Parameters
    ----------
    table : Table
    classifier : inference.predictor.Classifier
    places : asyncio.Semaphore
        One of which is taken meanwhile.
    """

    def __init__(self, table, classifier, places):
        super().__init__(table.scored(classifier), media_type=table.kind)
        self.table, self.places = table, places

    async def __call__(self, scope, receive, send):
        try:
            async with self.places:
                await super().__call__(scope, receive, send)
        finally:
            self.table.close()
