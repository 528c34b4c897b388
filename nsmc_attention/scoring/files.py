"""Texts from lines or a table, scored or restored in parts into text, csv, tsv, jsonl, parquet or xlsx.

    texts -> Scorer (a classifier, a restorer, or both in turn) -> its output columns, after those of the table

Every row keeps its place and its other columns; the last output column says why a row has no result. Memory does not grow
with the number of rows; an output file appears whole or not at all. Worker processes, each with its own predictor on one
thread, score a large table: tokenizing holds Python's lock, so threads would not use all cores.
"""

import os
import sys
from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Optional, Union

from ..corpora.data import File, open_file
from ..errors import ConfigError, DataError, NsmcError, did_you_mean, list_names
from ..machine.files import NO_ROOM, replaced_file
from ..machine.processes import can_start_workers, cores
from ..machine.progress import progress_bar
from ..measure.share import Tally
from ..tables.parts import Source, TablePart, as_text, cut
from ..tables.source import BINARY, say_once
from ..tables.workbook import why_not_kept
from ..tables.writers import WRITERS, ScoredRows, Writer, kept_writer, output_names
from ..text.encoding import clean
from .reference import Row, Scorer, worker_scorer

if TYPE_CHECKING:
    from concurrent.futures import Future

    from ..tables.table import Table

PathLike = Union[str, Path]
# Rows written at a time, and lines read at a time
ROWS_WRITTEN, WINDOW = 512, 4096
# Rows of the first part that are sampled for the share; later parts have fewer, each of which stands for more rows
SAMPLED_ROWS = 1024
# Byte-order mark, by which Excel recognizes UTF-8
MARK = "\ufeff"
# /dev/stdout is not opened by its name, which would truncate a file that it is redirected to
STDOUT = ("-", "/dev/stdout")
STYLES = {f".{style}": style for style in ("csv", "tsv", "jsonl", "parquet", "xlsx")}
STYLES.update({".ndjson": "jsonl", ".txt": "text", "": "text"})


class Scored:
    """The `tally` of scored rows, with a progress bar on stderr after two seconds."""

    def __init__(self, output: PathLike):
        # a bar would break the lines on a terminal
        shown = False if str(output) in STDOUT and sys.stdout.isatty() else None
        self.tally = Tally()
        self.bar = progress_bar(shown=shown, unit=" reviews", delay=2)

    def __str__(self) -> str:
        rows = self.tally.rows
        return f"{rows:,} review{'s' * (rows != 1)}, {self.tally.errors:,} with an error"

    def count(self, progress: Iterable[Tally]) -> "Scored":
        """Add up the tallies; return self."""
        with self.bar:
            for tally in progress:
                self.tally += tally
                self.bar.update(tally.rows)
        return self


def score_lines(
    scorer: Scorer,
    lines: Iterable[str],
    output: PathLike = "-",
    style: Optional[str] = None,
    weights: bool = False,
    verbatim: bool = False,
) -> Scored:
    """Score an iterable of texts; csv output has the clean texts in the column `text`."""
    style = style_of(output, style, weights)
    if style in BINARY:
        raise ConfigError(f"{style} output: expected a table, found lines; say what they are by --input-format")
    with open_output(output, style) as file:
        parts = line_parts(scorer, lines, style, weights)
        return Scored(output).count(write_parts(scorer, parts, ["text"], file, style, verbatim))


def line_parts(scorer: Scorer, lines: Iterable[str], style: str, weights: bool = False) -> Iterator[ScoredRows]:
    """Yield scored lines; about `tables.parts.PART_BYTES` bytes are in memory at a time."""
    for texts in cut(lines, WINDOW, sys.getsizeof):
        results = scorer.objects(texts, weights) if style == "jsonl" else scorer.rows(texts)
        yield ScoredRows({} if style == "jsonl" else {"text": [*map(clean, texts)]}, texts, results)


def score_table(
    scorer: Scorer,
    source: File,
    output: PathLike = "-",
    style: Optional[str] = None,
    weights: bool = False,
    processes: Optional[int] = None,
    verbatim: bool = False,
    excel: bool = False,
    inspect: Optional[Callable[[list[str], list[str]], object]] = None,
) -> Scored:
    """Score a table of any size; its columns come first in the output.

    The style (text, csv, tsv, jsonl, parquet, xlsx) defaults to that of the output's suffix; see `has_mark` for `excel`,
    `writer_of` and `refuse_loss` for workbooks. `processes` workers (None: one a core) share a table of several parts,
    unless the output is jsonl. Cells that a spreadsheet would compute are escaped (`tables.writers`), unless `verbatim`.
    `inspect` is called with the texts of the first part, before they are scored, and the columns that are written.
    """
    style = style_of(output, style, weights)
    with open_output(output, style) as file:
        table = open_file(source)
        refuse_loss(table.source, output, style)
        if inspect:
            first = list(islice(table.parts, 1))
            texts = [text for part in first for text in texts_of(part, table.text_column)]
            inspect(texts, [] if style == "text" else [*chain(*first)])
            table = replace(table, parts=chain(first, table.parts))
        if has_mark(style, table.source, output, excel):
            file.write(MARK)
        return Scored(output).count(table_parts(scorer, table, file, style, weights, processes, verbatim))


def say_renamed(names: Sequence[str], types: Mapping[str, str], where: object) -> None:
    """Say on stderr how output columns are renamed, if the table already has columns with their names."""
    if duplicates := [name for name in types if name in names]:
        results = list_names(output_names(names, types))
        say_once(f"{where}: the table already has {list_names(duplicates)}; the results are in {results}")


def has_mark(style: str, source: Source, output: PathLike, excel: bool = False) -> bool:
    """Return whether an output begins with a byte-order mark, without which Excel shows no Hangul."""
    return style in ("csv", "tsv") and (excel or source.from_office and str(output) not in STDOUT)


def refuse_loss(source: Source, output: PathLike, style: Optional[str] = None) -> None:
    """Raise DataError if the output would replace the file that is read and lose some of it.

    A scored table, in a `style`, keeps its columns, and a workbook all its content, unless `why_not_kept` gives a reason;
    other tables (style None) keep nothing.
    """
    replaced = not source.stream and os.path.exists(output) and os.path.samefile(source.path, output)
    if style is None and replaced:
        raise DataError(f"{output}: would lose the reviews; name another --output")
    if replaced and source.kind == "xlsx":
        reason = why_not_kept(source) if style == "xlsx" else f"would lose its formats, written as {style}"
        if reason:
            raise DataError(f"{output}: the workbook {reason}; name another --output")


def writer_of(table: "Table", style: str) -> Writer:
    """Return the writer of a table's parts in a style; say on stderr if openpyxl cannot save a workbook whole."""
    if style != "xlsx" or table.source.kind != "xlsx":
        return WRITERS[style]
    if reason := why_not_kept(table.source):
        say_once(f"{table.source.path}: {reason}; a new workbook has the values alone")
        return WRITERS[style]
    return partial(kept_writer, table.source)


def table_parts(
    scorer: Scorer,
    table: "Table",
    file: IO[Any],
    style: str,
    weights: bool = False,
    processes: Optional[int] = None,
    verbatim: bool = False,
) -> Iterator[Tally]:
    """Score and write a table as `score_table` does; yield a Tally for every few rows written."""
    writer, first = writer_of(table, style), list(islice(table.parts, 2))
    if not first:
        # a table without rows still has a column
        names, empty = [table.text_column], ScoredRows({table.text_column: []}, [], [])
        return write_parts(scorer, [empty], names, file, style, verbatim, writer)
    # a table of one part starts no processes
    names, processes = list(first[0]), processes if len(first) > 1 else 1
    # parts being scored; `itertools.tee` would hold 57 of them before it frees one
    pending: deque[TablePart] = deque()

    def windows() -> Iterator[list[str]]:
        for part in chain(first, table.parts):
            pending.append(part)
            yield texts_of(part, table.text_column)

    objects = ((texts, scorer.objects(texts, weights)) for texts in windows())
    stream = objects if style == "jsonl" else row_stream(scorer, windows(), processes)
    with_cells = ((pending.popleft(), *scored) for scored in stream)
    scored_rows = (ScoredRows(part, texts, results, part.types, part.numbers) for part, texts, results in with_cells)
    return write_parts(scorer, scored_rows, names, file, style, verbatim, writer)


def write_parts(
    scorer: Scorer,
    windows: Iterable[ScoredRows],
    names: list[str],
    file: IO[Any],
    style: str,
    verbatim: bool,
    writer: Optional[Writer] = None,
) -> Iterator[Tally]:
    """Write windows of scored rows of a table with these columns; yield a Tally for every few rows."""
    before = 0
    with (writer or WRITERS[style])(file, names, scorer.types, verbatim) as write:
        for window in windows:
            results, probabilities, errors = iter(window.results), list[Any](), 0
            step = max(1, len(window.texts)) if style == "parquet" else ROWS_WRITTEN
            for start in range(0, len(window.texts) or 1, step):
                rows, chunk = slice(start, start + step), list(islice(results, step))
                columns = {name: cells[rows] for name, cells in window.columns.items()}
                write(ScoredRows(columns, window.texts[rows], chunk, window.types, window.numbers[rows]))
                chunk_probabilities, chunk_errors = outcomes(scorer, chunk)
                probabilities += chunk_probabilities
                errors += chunk_errors
                yield Tally(len(chunk))
            # for a whole window, as small arrays take longer
            yield replace(tally_of(scorer, window.texts, probabilities, errors, before), rows=0)
            before += len(window.texts)


def tally_of(scorer: Scorer, texts: Sequence[str], scores: Sequence[Any], errors: int = 0, before: int = 0) -> Tally:
    """Return the Tally of texts with their `outcomes`; `before` is the number of the table's rows before them."""
    if not (judge := scorer.judge):
        return Tally(len(texts), errors)
    step = max(1, -(-(before + len(texts)) // SAMPLED_ROWS))
    return Tally.of(texts, scores, errors, judge.prior) + Tally(evidence=judge.sample(texts[::step], step))


def outcomes(scorer: Scorer, results: Sequence[Any]) -> tuple[list[Any], int]:
    """Return the probabilities (None for errors) and the number of errors of results, dicts or rows of output columns."""
    place = [*scorer.types].index("probability") if scorer.judge else -1
    if results and isinstance(results[0], dict):
        results, place = [(result.get("probability"), result.get("error")) for result in results], 0
    columns = [*zip(*results)] or [()] * (1 + abs(place))
    errors = len(results) - columns[-1].count(None)
    return [None if error else probability for probability, error in zip(columns[place], columns[-1])], errors


def score_window(reference: Hashable, texts: list[str]) -> list[Row]:
    """Return the output columns of a window, in a worker; between processes columns are cheaper than rows."""
    return list(zip(*worker_scorer(reference).rows(texts)))


def row_stream(
    scorer: Scorer, windows: Iterable[list[str]], processes: Optional[int] = None
) -> Iterator[tuple[list[str], list[Row]]]:
    """Yield (window, `scorer.rows` of it) for each window of texts, in order.

    Each of the processes (None: one a core; 1: only this process) loads the scorer's bundles again; BundleError if one was
    replaced, NsmcError if a process was killed. Only this process is used if too few files can be opened.
    """
    processes = processes or cores()
    if processes == 1 or not can_start_workers():
        yield from ((window, scorer.rows(window)) for window in windows)
        return
    # import logging, which a single review does not need
    from concurrent.futures import BrokenExecutor

    from ..machine.workers import Workers

    pending: "deque[tuple[list[str], Future[list[Row]]]]" = deque()
    try:
        with Workers(processes) as pool:
            for window in windows:
                pending.append((window, pool.submit(score_window, scorer.reference, window)))
                if len(pending) >= 2 * processes:
                    texts, future = pending.popleft()
                    yield texts, list(zip(*future.result()))
            for texts, future in pending:
                yield texts, list(zip(*future.result()))
    except BrokenExecutor as problem:
        raise NsmcError(
            "a worker process was killed, as the system does when memory runs out; begin again with more memory or "
            "on fewer cores"
        ) from problem


def tally_table(scorer: Scorer, source: File, processes: Optional[int] = None) -> Tally:
    """Score a table without writing it, and return its Tally; DataError as in `open_table`."""
    table, tally = open_file(source), Tally()
    windows = (texts_of(part, table.text_column) for part in table.parts)
    with progress_bar(unit=" reviews", desc="share", delay=2) as bar:
        for texts, rows in row_stream(scorer, windows, processes):
            tally += tally_of(scorer, texts, *outcomes(scorer, rows), tally.rows)
            bar.update(len(texts))
    return tally


def texts_of(part: TablePart, text_column: str) -> list[str]:
    cells = part[text_column]
    return cells if set(map(type, cells)) == {str} else [as_text(cell) for cell in cells]


def style_of(output: PathLike, style: Optional[str], weights: bool = False) -> str:
    """Return an output's style, by default that of its suffix; ConfigError if it is unknown or cannot have weights."""
    suffix = Path(output).suffix
    if style is None and suffix.lower() not in STYLES:
        hint = did_you_mean(suffix, filter(None, STYLES))
        raise ConfigError(f"{output}: unknown suffix {suffix!r}{hint}; or choose a --format")
    style = style or STYLES[suffix.lower()]
    if weights and style != "jsonl":
        raise ConfigError(f"--weights needs --format jsonl, found {style}")
    return style


@contextmanager
def open_output(output: PathLike, style: str) -> Iterator[IO[Any]]:
    """Open an output, which appears whole or not at all; "-" is stdout."""
    if str(output) in STDOUT:
        yield sys.stdout.buffer if style in BINARY else sys.stdout
        return
    text: Any = {"encoding": "utf-8", "newline": "", "errors": "replace"}
    with replaced_file(output) as temporary:
        try:
            # an open file, as pyarrow accepts only UTF-8 paths
            with open(temporary, "wb") if style in BINARY else open(temporary, "w", **text) as file:
                yield file
        except OSError as problem:
            # a device's error has no file name, which `replaced_file` needs
            if problem.errno in NO_ROOM and problem.filename is None:
                problem.filename = str(output)
            raise
