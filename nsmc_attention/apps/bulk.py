"""Scoring of files of any size on Dask, partition by partition, on this machine or on a cluster.

    files -> Partitions (rows of one file, read by this process) -> one output file each, written atomically by a worker

A rerun scores only partitions without output. A worker loads the model once; if it dies, another one scores its
partition. One process can read for all workers, because reading takes a thirtieth of the time of scoring. Dask's
readers are unsuitable: `dask.dataframe.read_csv` cannot split files with line breaks in quotes.
"""

import glob
import json
import signal
import warnings
from collections import deque
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, Callable, Iterable, Iterator, Mapping, Optional, Union

from ..bundle import load_bundle
from ..classifier.prediction import TYPES
from ..classifier.predictor import Classifier
from ..classifier.settings import LAYOUT
from ..errors import ConfigError, DataError, required
from ..machine.files import PREFIX, read_json, remove, vacant, write_text
from ..machine.processes import cores
from ..machine.progress import progress_bar
from ..measure.share import Tally
from ..scoring.files import MARK, has_mark, open_output, say_renamed, table_parts
from ..scoring.reference import Reference, worker_scorer
from ..systems.restore import corrections
from ..systems.restore.restorer import TYPES as RESTORED
from ..tables.parts import PART_BYTES, Source, TablePart
from ..tables.source import SUFFIXES, find_source
from ..tables.table import Table, open_table

Client = required("bulk", "distributed").Client
# The underscore hides the file from programs that read the folder as one table
PLAN = "_plan.json"
# Default number of rows in a partition: seconds of work
PARTITION_ROWS = 50_000
PARTITION_STYLES = ("csv", "tsv", "jsonl", "parquet")
CHANGED = " (or they were written or copied since: their size or modification time differs)"
# Local addresses: Dask's HTTP server runs even without a dashboard, before distributed 2024.9 (the newest for Python 3.9)
# on all interfaces
LOCAL_CLUSTER = {
    "threads_per_worker": 1,
    "processes": True,
    "host": "127.0.0.1",
    "dashboard_address": "127.0.0.1:0",
    "worker_dashboard_address": "127.0.0.1:0",
    "scheduler_kwargs": {"dashboard": False, "dashboard_address": "127.0.0.1:0"},
}


@dataclass(frozen=True)
class Partition:
    """Consecutive rows of one file, the column of their texts, and the name of their output."""

    source: Source
    text_column: str
    rows: TablePart
    output: str


def bulk(
    sources: Iterable[Union[str, Path]],
    output: Union[str, Path],
    style: str = "parquet",
    bundle: Optional[Union[str, Path]] = None,
    engine: str = "auto",
    scheduler: Optional[str] = None,
    workers: Optional[int] = None,
    rows: int = PARTITION_ROWS,
    verbatim: bool = False,
    restore: Union[bool, str, Path] = False,
    **how: Optional[str],
) -> dict[str, Any]:
    """Score files of reviews on Dask; return the numbers of partitions, newly scored partitions and their rows.

    `tally` in the result has the estimated share of positive reviews in the newly scored rows.

    Parameters
    ----------
    sources : list of str
        csv, tsv, jsonl, parquet, xlsx or txt files, patterns (`*.csv`) and folders of such files.
    output : path
        A folder, new or from the same sources, bundle and settings. Each partition becomes a csv, tsv, jsonl or parquet
        file with its columns, label, score, probability and error; `restore` adds restored and restore_error.
    scheduler : str or None
        Address of a running Dask scheduler, whose workers see the same paths; None starts `workers` local processes.
    rows : int
        Maximum number of rows in a partition, which also has at most about 32 MiB.
    verbatim : bool
        Leave cells of csv and tsv unmarked that a spreadsheet would compute (see `tables.writers`).
    restore : bool or path
        Restore doubtful reviews before classifying them: True, or the bundle of a restorer.
    how : text_column, encoding, sheet and header, each str or None
        Input format of the files; None detects it.

    DataError, BundleError or ConfigError if a source or the bundle is damaged or was replaced during the run, or if the
    folder has another plan.
    """
    if style not in PARTITION_STYLES:
        raise ConfigError(f"bulk: expected one of {', '.join(PARTITION_STYLES)}, found {style!r}")
    folder, files = Path(output), expand(sources)
    model: Any = Reference.of(Classifier, load_bundle(bundle, LAYOUT), engine)
    if restore is not False:
        model = corrections.reference(model, restore, engine)
    # before reading, so that a modification during the run changes the plan
    states = [[str(path), *state_of(path)] for path in files]
    how = {**dict.fromkeys(("text_column", "encoding", "sheet", "header")), **how}
    # open all files first, so that an unreadable one stops the run before any scoring
    types = {**(RESTORED if restore else {}), **TYPES}
    tables = [opened(path, types, **how) for path in files]
    plan = {"sources": states, "rows": rows, "style": style, **how}
    check_plan(folder, {**plan, "partition_bytes": PART_BYTES, "verbatim": verbatim, **fingerprints(model)})
    counts = {"partitions": 0, "scored": 0}

    def missing() -> Iterator[Partition]:
        for partition in partitions_of(tables, states, rows, style):
            counts["partitions"] += 1
            if not (folder / partition.output).exists():
                counts["scored"] += 1
                yield partition

    score = partial(score_partition, model=model, folder=str(folder.resolve()), verbatim=verbatim)
    try:
        with connected(scheduler, workers) as client:
            tally = sum(progress_bar(results(client, score, missing()), desc="partitions"), Tally())
    finally:
        # temporary files of killed workers
        for path in folder.glob(f"{PREFIX}*"):
            remove(path)
    return {**counts, "rows": tally.rows, "tally": tally}


def partitions_of(
    tables: Iterable[tuple[Source, str]], states: list[list[object]], rows: int, style: str
) -> Iterator[Partition]:
    """Read files and yield their Partitions; DataError for a file that was modified since `states`."""
    for number, (source, column) in enumerate(tables):
        for index, part in enumerate(open_table(source, column, rows).parts):
            if [str(source.path), *state_of(source.path)] not in states:
                raise DataError(f"{source.path}: was modified while bulk ran; begin again, with another --output")
            yield Partition(source, column, part, f"{number:04d}-{source.path.stem}-{index:05d}.{style}")


def results(client: Any, score: Callable[[Partition], Tally], partitions: Iterable[Partition]) -> Iterator[Tally]:
    """Yield score(partition) by Dask's workers, in order; each worker has two partitions in advance."""
    # large graphs are intended: the scheduler keeps partitions, to send them to another worker if one dies
    warnings.filterwarnings("ignore", "Sending large graph")
    futures, ahead = deque[Any](), 2 * sum(client.ncores().values())
    for partition in partitions:
        futures.append(client.submit(score, partition, pure=False, retries=2))
        if len(futures) > ahead:
            # no variable holds the future, so that its worker can release the result
            yield futures.popleft().result()
    while futures:
        yield futures.popleft().result()


def fingerprints(model: Any) -> dict[str, Optional[str]]:
    """Return the fingerprints of a classifier and, if there is one, of its restorer, for the plan."""
    restorer = getattr(model, "restorer", None)
    return {"bundle": getattr(model, "classifier", model).fingerprint, "restorer": restorer and restorer.fingerprint}


def expand(sources: Iterable[Union[str, Path]]) -> list[Path]:
    """Return the different files of paths, patterns and folders, in order; DataError if a source matches no file."""
    matches: list[Path] = []
    for source in map(str, sources):
        path = Path(source)
        if path.is_dir():
            # an underscore marks files that are not tables, such as the plan of an earlier bulk
            paths = [child for child in path.glob("[!_]*") if child.suffix.lower() in SUFFIXES]
        else:
            paths = [path] if path.is_file() else [Path(name) for name in glob.glob(source, recursive=True)]
        files = [path.resolve() for path in sorted(paths) if path.is_file()]
        if not files:
            raise DataError(f"{source}: no such file, folder of tables, or pattern that matches any")
        matches += files
    return list(dict.fromkeys(matches))


def opened(
    path: Path, types: Mapping[str, str], text_column: Optional[str], **how: Optional[str]
) -> tuple[Source, str]:
    """Return a file's Source and its column of texts, detected in its first rows; report renamed columns."""
    table = open_table(find_source(path, **how), text_column)
    say_renamed([*next(table.parts, {})], types, path)
    return replace(table.source, guessed=False), table.text_column


def state_of(path: Path) -> tuple[int, int]:
    """Return a file's size and modification time (ns), which detect a change of its content."""
    status = path.stat()
    return status.st_size, status.st_mtime_ns


def check_plan(folder: Path, plan: dict[str, Any]) -> None:
    """Write the plan into a folder without outputs; ConfigError for a folder with another plan or other files."""
    path, text = folder / PLAN, json.dumps(plan, ensure_ascii=False, indent=2) + "\n"
    if path.is_file() and any(entry.name != PLAN and not entry.name.startswith(PREFIX) for entry in folder.iterdir()):
        saved = read_json(path.read_bytes(), path, ConfigError, "the plan of an earlier bulk")
        # file names that are not UTF-8 were written with replacements
        for name, value in json.loads(text.encode("utf-8", "replace")).items():
            if not isinstance(saved, dict) or saved.get(name) != value:
                difference = f"other {name.replace('_', ' ')}{CHANGED if name == 'sources' else ''}"
                raise ConfigError(f"{folder}: was begun with {difference}; name another --output, or remove it")
        return
    if not vacant(folder) and not path.is_file():
        raise ConfigError(f"{folder}: expected a new or empty folder, or one that bulk began; name another --output")
    folder.mkdir(parents=True, exist_ok=True)
    write_text(path, text)


def connected(scheduler: Optional[str], workers: Optional[int]) -> Any:
    """Return a client of the scheduler at an address, or of a local cluster."""
    if not scheduler:
        with signals_blocked():
            return Client(silence_logs=50, n_workers=workers or cores(), **LOCAL_CLUSTER)
    try:
        return Client(scheduler, timeout=10)
    except (OSError, ValueError) as problem:
        hint = "no Dask scheduler answers there; give its address as tcp://host:8786"
        raise ConfigError(f"--scheduler {scheduler}: {hint}") from problem


@contextmanager
def signals_blocked() -> Iterator[None]:
    """Block SIGINT and SIGTERM in processes that start in this context, which would print tracebacks on Ctrl-C."""
    # start the tracker now: its later start would unblock the signals
    import_module("multiprocessing.resource_tracker").ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT, signal.SIGTERM))
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def score_partition(partition: Partition, model: object, folder: str, verbatim: bool = False) -> Tally:
    """Score a Partition in a worker and write its output; return the Tally of its rows."""
    scorer, output = worker_scorer(model), Path(folder) / partition.output
    table = Table(partition.source, partition.text_column, iter([partition.rows]))
    style = output.suffix[1:]
    with open_output(output, style) as file:
        if has_mark(style, partition.source, output):
            file.write(MARK)
        return sum(table_parts(scorer, table, file, style, processes=1, verbatim=verbatim), Tally())
