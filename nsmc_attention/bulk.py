"""Files of any size, scored partition by partition on Dask: on this machine, or on any cluster that has a scheduler.

    files -> Partitions (a stretch of bytes, or row groups) -> one output file each, written whole or not at all

What is done already is not done again: a rerun scores only the partitions whose output is missing. A worker
loads one model and keeps it; if it dies, its partition is given to another.
"""

import glob
import json
import sys
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from itertools import chain, count
from pathlib import Path

from ._io.atomic import PREFIX, neighbour, replaced_file, sweep, vacant, write_text
from ._runtime.signals import held_back
from .bundle.format import load_bundle
from .errors import ConfigError, DataError, MissingPackage
from .inference.parallel import worker_classifier
from .inference.scoring import table_pieces, write_parquet
from .reviews import tables
from .reviews.corpus import decode
from .reviews.pieces import LINE, cut

# An underscore keeps it from those who read the folder as one table
PLAN = "_plan.json"
# Rows of a partition: seconds of work, megabytes of memory
ROWS = 50_000
FORMATS = ("csv", "tsv", "jsonl", "parquet")
# Bytes read at a time, and those of a line: with more it has more than LINE characters, whatever they are in UTF-8
BLOCK, LONGEST = 2**20, 4 * LINE
# What a message says beside the name of what differs
HINTS = {"sources": " (or they were written or copied since: their size or time of change differs)"}
# Those with quotes, and what is between their fields
QUOTED = {"csv": b",", "tsv": b"\t"}
# Without a dashboard Dask's HTTP server still runs, before distributed 2024.9 (the newest for Python 3.9) open to all
OWN_MACHINE = {
    "host": "127.0.0.1",
    "dashboard_address": "127.0.0.1:0",
    "worker_dashboard_address": "127.0.0.1:0",
    "scheduler_kwargs": {"dashboard": False, "dashboard_address": "127.0.0.1:0"},
}


@dataclass(frozen=True)
class Partition:
    """A stretch of one file.

    Attributes
    ----------
    source : str
        Path of the file, as every worker sees it.
    kind : str
        See `reviews.tables.format_of`.
    start, end : int
        Bytes of the file; of parquet, row groups.
    header : str
        The first line of csv and tsv.
    output : str
        Name of its output file.
    state : tuple of int
        See `state_of`; of the file when it was cut.
    """

    source: str
    kind: str
    start: int
    end: int
    header: str
    output: str
    state: tuple


def bulk(
    sources,
    output,
    style="parquet",
    text_column="document",
    bundle=None,
    engine="auto",
    scheduler=None,
    workers=None,
    rows=ROWS,
    verbatim=False,
):
    """Score files of reviews on Dask.

    Parameters
    ----------
    sources : list of str
        csv, tsv, jsonl, parquet or txt files, patterns (`*.csv`) and folders of such files.
    output : path
        A folder, for one file a partition: the rows with their columns, and label, score, probability, error.
        Going on with a folder needs the same sources, bundle and settings.
    style : "csv", "tsv", "jsonl" or "parquet"
    scheduler : str or None
        Address of a running Dask scheduler, whose workers see the same paths and have this package; None starts
        `workers` processes here.
    workers : int or None
        None is the number of cores.
    rows : int
        Rows of a partition.
    verbatim : bool
        Do not mark what a spreadsheet would compute in csv and tsv (see `spreadsheets`).

    Returns
    -------
    dict
        partitions, scored (of them now), rows (scored now).

    Raises
    ------
    DataError, ConfigError, BundleError, MissingPackage
    """
    distributed = require_dask()
    if style not in FORMATS:
        raise ConfigError(f"bulk: expected one of {', '.join(FORMATS)}, found {style!r}")
    files, folder = expand(sources), Path(output)
    verified = load_bundle(bundle)
    # before they are read: what is changed meanwhile then is another plan
    named = [[str(path), *state_of(path)] for path in files]
    partitions = [each for number, path in enumerate(files) for each in split(path, number, style, rows)]
    check_plan(
        folder,
        {
            "sources": named,
            "rows": rows,
            "style": style,
            "text_column": text_column,
            "verbatim": verbatim,
            "bundle": verified.fingerprint,
        },
    )
    missing = [each for each in partitions if not (folder / each.output).exists()]
    done = 0
    try:
        with connected(distributed, scheduler, workers) as client:
            same = (
                str(folder.resolve()),
                text_column,
                str(verified.folder.resolve()),
                verified.fingerprint,
                engine,
                verbatim,
            )
            futures = [client.submit(score_partition, asdict(each), *same, pure=False, retries=2) for each in missing]
            for scored in progress(distributed.as_completed(futures, with_results=True), len(missing)):
                done += scored
    finally:
        # of workers that died, or were ended in the middle
        sweep(folder)
    return {"partitions": len(partitions), "scored": len(missing), "rows": done}


def require_dask():
    try:
        import distributed
    except ImportError as problem:
        raise MissingPackage(f"bulk needs Dask ({problem}): pip install 'nsmc_attention[bulk]'") from problem
    return distributed


def expand(sources):
    """Answer the files that paths, patterns and folders name, each once, in order; DataError where one has none."""
    found = []
    for source in map(str, sources):
        folder = Path(source)
        if folder.is_dir():
            paths = [path for path in folder.iterdir() if path.is_file() and path.suffix.lower() in tables.FORMATS]
        else:
            paths = [folder] if folder.is_file() else [Path(name) for name in glob.glob(source, recursive=True)]
        paths = [path for path in sorted(paths) if path.is_file()]
        if not paths:
            raise DataError(f"{source}: no such file, folder of tables, or pattern that matches any")
        found += [path.resolve() for path in paths]
    return list(dict.fromkeys(found))


def split(path, number, style, rows):
    """Yield the Partitions of a file; no row is cut, however many lines it has."""
    state, kind = state_of(path), tables.format_of(path)
    stretches = row_groups(path, rows) if kind == "parquet" else byte_stretches(path, kind, rows)
    for place, (start, end, header) in enumerate(stretches):
        output = f"{number:04d}-{path.stem}-{place:05d}.{style}"
        yield Partition(str(path), kind, start, end, header, output, state)


def state_of(path):
    """Answer a file's size and when it was changed last (ns): what tells that its rows are still the same."""
    try:
        found = Path(path).stat()
    except OSError as problem:
        raise DataError(f"{path}: cannot be read: {problem.strerror}") from problem
    return found.st_size, found.st_mtime_ns


def row_groups(path, rows):
    with tables.parquet_file(path) as file:
        groups = [file.metadata.row_group(group).num_rows for group in range(file.num_row_groups)]
    start, held = 0, 0
    for group, size in enumerate(groups):
        held += size
        if held >= rows or group == len(groups) - 1:
            yield start, group + 1, ""
            start, held = group + 1, 0


def byte_stretches(path, kind, rows):
    """Yield (start, end, header) of stretches of whole rows: a line break within quotes ends no row."""
    separator = QUOTED.get(kind)
    with open(path, "rb") as file:
        lines, header, start = lines_of(file, path), "", 0
        if separator or kind == "nsmc":
            header, start = first_row(lines, separator, path)
        first = end = start
        held, inside = 0, False
        for line in lines:
            end += len(line)
            inside = separator is not None and within_quotes(line, separator, inside)
            held += not inside
            if held == rows:
                yield start, end, header
                start, held = end, 0
        # a table without rows has an output too
        if end > start or end == first:
            yield start, end, header


def lines_of(file, path):
    """Yield the lines of a binary file, which end as those of text do: at \\n, at \\r\\n and at a bare \\r."""
    number, rest = 0, b""
    while block := file.read(BLOCK):
        # the last may go on, be it after its \r
        *whole, rest = (rest + block).splitlines(keepends=True)
        number += len(whole)
        if len(rest) > LONGEST:
            raise DataError(f"{path} line {number + 1}: expected at most {LINE:,} characters, found more")
        yield from whole
    if rest:
        yield rest


def first_row(lines, separator, path):
    """Answer a table's first row that is not blank (its first line, without a separator), and the bytes up to its end.

    DataError where it is longer than a line may be: each partition holds it.
    """
    row, read, inside = bytearray(), 0, False
    for line in lines:
        read += len(line)
        row += line if row or line.strip(b"\r\n") else b""
        inside = separator is not None and within_quotes(line, separator, inside)
        if len(row) > LINE:
            raise DataError(f"{path}: expected at most {LINE:,} bytes in the header, found more; is a quote missing?")
        if row and not inside:
            break
    return decode(bytes(row), path), read


def within_quotes(line, separator, inside):
    """Tell whether a quoted field goes on beyond a line, as csv reads: a quote opens a field at its start alone."""
    if b'"' not in line:
        return inside
    begins, place, marks = not inside, 0, line.rstrip(b"\r\n")
    while place < len(marks):
        mark = marks[place : place + 1]
        if inside and mark == b'"':
            # two of them are one that is meant
            inside = marks[place + 1 : place + 2] == b'"'
            place += inside
        elif not inside:
            inside, begins = begins and mark == b'"', mark == separator
        place += 1
    return inside


def check_plan(folder, plan):
    """Write the plan into a folder without outputs; refuse one of another plan, or that holds something else."""
    path, text = folder / PLAN, json.dumps(plan, ensure_ascii=False, indent=2) + "\n"
    if path.is_file() and any(each.name != PLAN and not each.name.startswith(PREFIX) for each in folder.iterdir()):
        try:
            saved = dict(json.loads(path.read_text(encoding="utf-8")))
        except (ValueError, TypeError, RecursionError):
            saved = {}
        # as it was written: a file's name may be no UTF-8
        for name, value in json.loads(text.encode("utf-8", "replace")).items():
            if saved.get(name) != value:
                raise ConfigError(
                    f"{folder}: was begun with other {name.replace('_', ' ')}{HINTS.get(name, '')}; "
                    "name another --output, or remove it"
                )
        return
    if not vacant(folder) and not path.is_file():
        raise ConfigError(f"{folder}: expected a new or empty folder, or one that bulk began; name another --output")
    folder.mkdir(parents=True, exist_ok=True)
    write_text(path, text)


def connected(distributed, scheduler, workers):
    """Answer a client of the scheduler at an address, or of worker processes here, one thread each."""
    from ._runtime.processes import cores

    if not scheduler:
        with held_back():
            return distributed.Client(
                n_workers=workers or cores(), threads_per_worker=1, processes=True, silence_logs=50, **OWN_MACHINE
            )
    try:
        return distributed.Client(scheduler, timeout=10)
    except (OSError, ValueError) as problem:
        raise ConfigError(
            f"--scheduler {scheduler}: no Dask scheduler answers there; give its address as tcp://host:8786"
        ) from problem


def progress(completed, total):
    """Yield the rows of each partition as it is done, with a bar on stderr; an error of one ends all."""
    from tqdm import tqdm

    with tqdm(total=total, desc="partitions", file=sys.stderr, disable=None, mininterval=0.5) as bar:
        rows = 0
        for _, scored in completed:
            rows += scored
            bar.update()
            bar.set_postfix_str(f"{rows / max(1e-9, bar.format_dict['elapsed']):,.0f} reviews/s")
            yield scored


def score_partition(partition, folder, text_column, bundle, fingerprint, engine, verbatim=False):
    """Score one Partition (as a dict) and write its output; answer its rows. Runs in a worker."""
    partition = Partition(**partition)
    classifier, output = worker_classifier(bundle, fingerprint, engine), Path(folder) / partition.output
    with own_file(partition, output) as path:
        try:
            pieces = tables.chunks(path, text_column, kind=partition.kind)
            with replaced_file(output) as temporary:
                if output.suffix == ".parquet":
                    # pyarrow takes no path that is not UTF-8
                    with open(temporary, "wb") as file:
                        return write_parquet(classifier, pieces, file, text_column, processes=1, folder=folder)
                return write_rows(classifier, pieces, output.suffix[1:], text_column, verbatim, temporary)
        except DataError as problem:
            where = f"{partition.source}, from byte {partition.start}"
            raise DataError(str(problem).replace(str(path), where)) from None


@contextmanager
def own_file(partition, output):
    """Give the rows of a Partition as a temporary file beside its output, for the readers of `reviews.tables`.

    DataError where the source is another than when it was cut: its rows would stand among those of the old one.
    """
    with neighbour(output, suffix=Path(partition.source).suffix) as path:
        check_state(partition)
        with open(path, "wb") as file:
            if partition.kind == "parquet":
                copy_groups(partition, file)
            else:
                file.write(partition.header.encode())
                copy(partition, file)
        check_state(partition)
        yield path


def check_state(partition):
    if state_of(partition.source) != tuple(partition.state):
        raise DataError(f"{partition.source}: was changed while bulk ran; begin again, with another --output")


def copy_groups(partition, file):
    found = groups_of(partition)
    first = next(found)
    with tables.require_parquet().ParquetWriter(file, first.schema) as writer:
        for table in chain([first], found):
            writer.write_table(table)


def groups_of(partition):
    """Yield the rows of a Partition of parquet as pyarrow Tables of few bytes, whatever its row groups hold decoded."""
    from pyarrow import Table

    with tables.parquet_file(Path(partition.source)) as whole:
        # a table without rows still has its columns
        yield whole.schema_arrow.empty_table()
        groups = list(range(partition.start, partition.end))
        batches = whole.iter_batches(batch_size=tables.DECODED, row_groups=groups)
        for piece in cut(batches, tables.ROWS // tables.DECODED, lambda batch: batch.nbytes):
            yield Table.from_batches(piece)


def copy(partition, file):
    with open(partition.source, "rb") as whole:
        whole.seek(partition.start)
        left = partition.end - partition.start
        while left and (piece := whole.read(min(left, 1 << 20))):
            file.write(piece)
            left -= len(piece)


def write_rows(classifier, pieces, style, text_column, verbatim, output):
    """Write the rows as csv, tsv or jsonl; answer their number."""
    rows = count()
    with open(output, "w", encoding="utf-8", newline="", errors="replace") as file:
        file.writelines(table_pieces(classifier, pieces, style, False, text_column, 1, verbatim, lambda: next(rows)))
    return next(rows)
