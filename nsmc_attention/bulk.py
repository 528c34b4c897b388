"""Files of any size, scored partition by partition on Dask: on this machine, or on any cluster that has a scheduler.

    files -> Partitions (a stretch of bytes, or row groups) -> one output file each, written whole or not at all

What is done already is not done again: a rerun scores only the partitions whose output is missing. A worker
loads one model and keeps it; if it dies, its partition is given to another.
"""
import glob
import hashlib
import json
import sys
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import lru_cache
from itertools import count
from pathlib import Path

from .atomic import PREFIX, neighbour, replaced_file, sweep, vacant, write_text
from .bundle import load_bundle
from .errors import ConfigError, DataError, MissingPackage
from .inference.scoring import table_pieces, write_parquet
from .reviews import tables
from .reviews.corpus import decode
from .signals import held_back

# An underscore keeps it from those who read the folder as one table
PLAN = "_plan.json"
# Rows of a partition: seconds of work, megabytes of memory
ROWS = 50_000
FORMATS = ("csv", "tsv", "jsonl", "parquet")
# Those with quotes, and what is between their fields
QUOTED = {"csv": b",", "tsv": b"\t"}
# Without a dashboard Dask's HTTP server still runs, before distributed 2024.9 (the newest for Python 3.9) open to all
OWN_MACHINE = {"host": "127.0.0.1", "dashboard_address": "127.0.0.1:0", "worker_dashboard_address": "127.0.0.1:0",
               "scheduler_kwargs": {"dashboard": False, "dashboard_address": "127.0.0.1:0"}}


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
    """

    source: str
    kind: str
    start: int
    end: int
    header: str
    output: str


def bulk(sources, output, style="parquet", text_column="document", bundle=None, engine="auto", scheduler=None,
         workers=None, rows=ROWS, verbatim=False):
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
    partitions = [each for number, path in enumerate(files) for each in split(path, number, style, rows)]
    check_plan(folder, {"sources": [[str(path), path.stat().st_size] for path in files], "rows": rows, "style": style,
                        "text_column": text_column, "verbatim": verbatim, "bundle": fingerprint(verified)})
    missing = [each for each in partitions if not (folder / each.output).exists()]
    done = 0
    try:
        with connected(distributed, scheduler, workers) as client:
            same = (str(folder.resolve()), text_column, str(verified.folder.resolve()), engine, verbatim)
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
    kind = tables.format_of(path)
    stretches = row_groups(path, rows) if kind == "parquet" else byte_stretches(path, kind, rows)
    for place, (start, end, header) in enumerate(stretches):
        yield Partition(str(path), kind, start, end, header, f"{number:04d}-{path.stem}-{place:05d}.{style}")


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
        header = decode(first_row(file, separator), path) if separator or kind == "nsmc" else ""
        first = start = end = file.tell()
        held, inside = 0, False
        for line in file:
            end += len(line)
            inside = separator is not None and within_quotes(line, separator, inside)
            held += not inside
            if held == rows:
                yield start, end, header
                start, held = end, 0
        # a table without rows has an output too
        if end > start or end == first:
            yield start, end, header


def first_row(file, separator):
    """Read and answer the first row of a table that is not blank; without a separator, its first line."""
    row, inside = b"", False
    for line in iter(file.readline, b""):
        row += line if row or line.strip(b"\r\n") else b""
        inside = separator is not None and within_quotes(line, separator, inside)
        if row and not inside:
            break
    return row


def within_quotes(line, separator, inside):
    """Tell whether a quoted field goes on beyond a line, as csv reads: a quote opens a field at its start alone."""
    if b'"' not in line:
        return inside
    begins, place, marks = not inside, 0, line.rstrip(b"\r\n")
    while place < len(marks):
        mark = marks[place:place + 1]
        if inside and mark == b'"':
            # two of them are one that is meant
            inside = marks[place + 1:place + 2] == b'"'
            place += inside
        elif not inside:
            inside, begins = begins and mark == b'"', mark == separator
        place += 1
    return inside


def fingerprint(bundle):
    """Answer what tells this bundle from every other."""
    return hashlib.sha256(json.dumps(bundle.manifest["files"], sort_keys=True).encode()).hexdigest()


def check_plan(folder, plan):
    """Write the plan into a folder without outputs; refuse one of another plan, or that holds something else."""
    path = folder / PLAN
    if path.is_file() and any(each.name != PLAN and not each.name.startswith(PREFIX) for each in folder.iterdir()):
        try:
            saved = dict(json.loads(path.read_text(encoding="utf-8")))
        except (ValueError, TypeError, RecursionError):
            saved = {}
        for name, value in plan.items():
            if saved.get(name) != value:
                raise ConfigError(f"{folder}: was begun with other {name.replace('_', ' ')}; "
                                  "name another --output, or remove it")
        return
    if not vacant(folder) and not path.is_file():
        raise ConfigError(f"{folder}: expected a new or empty folder, or one that bulk began; name another --output")
    folder.mkdir(parents=True, exist_ok=True)
    write_text(path, json.dumps(plan, ensure_ascii=False, indent=2) + "\n")


def connected(distributed, scheduler, workers):
    """Answer a client of the scheduler at an address, or of worker processes here, one thread each."""
    from .processes import cores

    if not scheduler:
        with held_back():
            return distributed.Client(n_workers=workers or cores(), threads_per_worker=1, processes=True,
                                      silence_logs=50, **OWN_MACHINE)
    try:
        return distributed.Client(scheduler, timeout=10)
    except (OSError, ValueError) as problem:
        raise ConfigError(f"--scheduler {scheduler}: no Dask scheduler answers there; "
                          "give its address as tcp://host:8786") from problem


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


@lru_cache(maxsize=1)
def classifier_of(folder, engine):
    from .inference.engines import load_engine
    from .inference.predictor import Classifier

    bundle = load_bundle(folder)
    return Classifier(bundle, load_engine(bundle, engine, "cpu", threads=1))


def score_partition(partition, folder, text_column, bundle, engine, verbatim=False):
    """Score one Partition (as a dict) and write its output; answer its rows. Runs in a worker."""
    partition = Partition(**partition)
    classifier, output = classifier_of(bundle, engine), Path(folder) / partition.output
    with own_file(partition, output) as path:
        try:
            pieces = tables.chunks(path, text_column, kind=partition.kind)
            with replaced_file(output) as temporary:
                if output.suffix == ".parquet":
                    return write_parquet(classifier, pieces, temporary, text_column, processes=1, folder=folder)
                return write_rows(classifier, pieces, output.suffix[1:], text_column, verbatim, temporary)
        except DataError as problem:
            where = f"{partition.source}, from byte {partition.start}"
            raise DataError(str(problem).replace(str(path), where)) from None


@contextmanager
def own_file(partition, output):
    """Give the rows of a Partition as a temporary file beside its output, for the readers of `reviews.tables`."""
    with neighbour(output, suffix=Path(partition.source).suffix) as path:
        if partition.kind == "parquet":
            with tables.parquet_file(Path(partition.source)) as whole:
                table = whole.read_row_groups(list(range(partition.start, partition.end)))
            tables.require_parquet().write_table(table, path)
        else:
            with open(path, "wb") as file:
                file.write(partition.header.encode())
                copy(partition, file)
        yield path


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
