"""Files of any size, scored partition by partition on Dask: on this machine, or on a cluster with a scheduler.

    files -> Partitions (whole rows of one file) -> one output file each, written atomically

A rerun scores only the partitions whose output is missing. A worker loads the model once; if it dies, its partition is
given to another.
Dask's own readers are not used: `dask.dataframe.read_csv` cannot split at line breaks within quotes.
"""

import glob
import json
import multiprocessing
import signal
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, Callable, Iterable, Iterator, Optional, Union

from ..._io.atomic import PREFIX, remove, vacant, write_text
from ..._io.reading import read_json
from ..._runtime.processes import can_start_workers, cores
from ..._runtime.progress import progress_bar
from ...bundle import load_bundle
from ...classification.predictor import Classifier
from ...classification.system import LAYOUT
from ...errors import ConfigError, DataError, MissingPackage
from ...evaluation.share import Tally
from ...inference.reference import Reference, Scorer, worker_scorer
from ...inference.scoring import MARK, marks, open_output, table_parts
from ...registry import ability
from ...tables import rows as table_rows
from ...tables.parts import PART_BYTES, Source, Span, TablePart
from ...tables.source import SUFFIXES, find_source
from ...tables.table import Table, open_table, with_column

try:
    from distributed import Client
except ImportError as problem:
    raise MissingPackage("bulk", "distributed") from problem

# The underscore hides it from programs that read the folder as one table
PLAN = "_plan.json"
# Rows of a partition: seconds of work
PARTITION_ROWS = 50_000
PARTITION_STYLES = ("csv", "tsv", "jsonl", "parquet")
CHANGED = " (or they were written or copied since: their size or modification time differs)"
# Open files of Dask, and of each worker process
FILES, FILES_EACH = 40, 12
# Without a dashboard Dask's HTTP server still runs, before distributed 2024.9 (the newest for Python 3.9) open to all
OWN_MACHINE = {
    "threads_per_worker": 1,
    "processes": True,
    "host": "127.0.0.1",
    "dashboard_address": "127.0.0.1:0",
    "worker_dashboard_address": "127.0.0.1:0",
    "scheduler_kwargs": {"dashboard": False, "dashboard_address": "127.0.0.1:0"},
}


@dataclass(frozen=True)
class Partition:
    """Some rows of one file and the column of their texts, the output's name, and `state_of` the file."""

    source: Source
    text_column: str
    span: Optional[Span]
    output: str
    state: tuple[int, int]

    def missing(self, folder: Path) -> bool:
        return not (folder / self.output).exists()


def bulk(
    sources: Iterable[Union[str, Path]],
    output: Union[str, Path],
    style: str = "parquet",
    text_column: Optional[str] = None,
    bundle: Optional[Union[str, Path]] = None,
    engine: str = "auto",
    scheduler: Optional[str] = None,
    workers: Optional[int] = None,
    rows: int = PARTITION_ROWS,
    verbatim: bool = False,
    encoding: Optional[str] = None,
    restore: Union[bool, str, Path] = False,
    sheet: Optional[str] = None,
    header: Optional[str] = None,
) -> dict[str, Any]:
    """Score files of reviews on Dask; return the numbers of partitions, of those scored now, of their rows.

    `tally` has the estimated share of positive reviews in the rows scored now.

    Parameters
    ----------
    sources : list of str
        csv, tsv, jsonl, parquet, xlsx or txt files, patterns (`*.csv`) and folders of such files; of each, what is None
        of `text_column`, `encoding`, `sheet` and `header` is found.
    output : path
        A folder, new or of the same sources, bundle and settings, for one csv, tsv, jsonl or parquet file a partition:
        the rows' columns, label, score, probability, error; with `restore`, before these restored and restore_error.
    scheduler : str or None
        Address of a running Dask scheduler, whose workers see the same paths; None starts `workers` local processes.
    rows : int
        Rows of a partition at most; one of text has about 32 MiB at most too. A workbook is one partition.
    verbatim : bool
        Do not mark cells of csv and tsv that a spreadsheet would compute (see `tables.writers`).
    restore : bool or path
        Restore what is in doubt, and classify that: True, or the bundle of a restorer.

    DataError, BundleError or ConfigError where a source or the bundle is damaged or was replaced meanwhile, or the folder is
    of another plan.
    """
    if style not in PARTITION_STYLES:
        raise ConfigError(f"bulk: expected one of {', '.join(PARTITION_STYLES)}, found {style!r}")
    folder, files = Path(output), expand(sources)
    model = model_of(bundle, engine, restore)
    # before they are read, so that a later modification makes another plan
    states = [[str(path), *state_of(path)] for path in files]
    columns = (text_column, encoding, sheet, header)
    partitions = [part for number, path in enumerate(files) for part in split(path, number, style, rows, *columns)]
    plan = {"sources": states, "rows": rows, "partition_bytes": PART_BYTES, "style": style}
    settings = {"text_column": text_column, "encoding": encoding, "verbatim": verbatim, "sheet": sheet}
    settings["header"] = header
    check_plan(folder, {**plan, **settings, **fingerprints(model)})
    missing = [part for part in partitions if part.missing(folder)]
    counts: dict[str, Any] = {"partitions": len(partitions), "scored": len(missing)}
    others = (model, str(folder.resolve()), verbatim)
    try:
        with connected(scheduler, workers) as client:
            tally = sum(results(client, score_partition, missing, *others), Tally())
    finally:
        # of workers that were killed
        for path in folder.glob(f"{PREFIX}*"):
            remove(path)
    return {**counts, "rows": tally.rows, "tally": tally}


def results(client: Any, function: Callable[..., Any], partitions: list[Partition], *others: Any) -> Iterator[Any]:
    """Yield function(partition, *others) of each Partition, computed by Dask's workers or, without a client, here, in order."""
    shown = partial(progress_bar, total=len(partitions), desc="partitions")
    if not client:
        yield from shown(function(part, *others) for part in partitions)
        return
    futures = [client.submit(function, part, *others, pure=False, retries=2) for part in partitions]
    for future in shown(futures):
        yield future.result()
        # else its worker would keep the result
        future.release()


def model_of(bundle: Optional[Union[str, Path]], engine: str, restore: Union[bool, str, Path]) -> Any:
    """Return what workers load a classifier by, one of restored texts if `restore` says so; BundleError as `load_bundle`."""
    classifier = Reference.of(Classifier, load_bundle(bundle, LAYOUT), engine)
    if restore is False:
        return classifier
    if not (correcting := ability("corrections")):
        raise ConfigError("bulk --restore: no system of this installation corrects texts; leave it out")
    return correcting.reference(classifier, restore, engine)


def fingerprints(model: Any) -> dict[str, Optional[str]]:
    """Return the part of a plan that names the models: of a classifier's reference, or of two."""
    restorer = getattr(model, "restorer", None)
    return {"bundle": getattr(model, "classifier", model).fingerprint, "restorer": restorer and restorer.fingerprint}


def expand(sources: Iterable[Union[str, Path]]) -> list[Path]:
    """Return the files named by paths, patterns and folders, each once, in order; DataError where one names none."""
    matches: list[Path] = []
    for source in map(str, sources):
        folder = Path(source)
        if folder.is_dir():
            # an underscore hides what is no table, as the plan of an earlier bulk
            tables_in = (path for path in folder.iterdir() if path.suffix.lower() in SUFFIXES)
            paths = [path for path in tables_in if not path.name.startswith("_")]
        else:
            paths = [folder] if folder.is_file() else [Path(name) for name in glob.glob(source, recursive=True)]
        if not (paths := [path.resolve() for path in sorted(paths) if path.is_file()]):
            raise DataError(f"{source}: no such file, folder of tables, or pattern that matches any")
        matches += paths
    return list(dict.fromkeys(matches))


def split(
    path: Path,
    number: int,
    style: str,
    rows: int,
    text_column: Optional[str] = None,
    encoding: Optional[str] = None,
    sheet: Optional[str] = None,
    header: Optional[str] = None,
) -> Iterator[Partition]:
    """Yield the Partitions of a file; no row is cut, however many lines it has."""
    state, source = state_of(path), find_source(path, encoding=encoding, sheet=sheet, header=header)
    # reads the first rows only
    table = open_table(source, text_column)
    source, text_column = table.source, table.text_column
    for index, span in enumerate(table_rows.spans(source, rows)):
        yield Partition(source, text_column, span, f"{number:04d}-{path.stem}-{index:05d}.{style}", state)


def state_of(path: Union[str, Path]) -> tuple[int, int]:
    """Return a file's size and modification time (ns), by which a change of its rows is noticed."""
    try:
        status = Path(path).stat()
    except OSError as problem:
        raise DataError(f"{path}: cannot be read: {problem.strerror}") from problem
    return status.st_size, status.st_mtime_ns


def check_plan(folder: Path, plan: dict[str, Any]) -> None:
    """Write the plan into a folder without outputs; ConfigError for a folder of another plan or with other content."""
    path, text = folder / PLAN, json.dumps(plan, ensure_ascii=False, indent=2) + "\n"
    if path.is_file() and any(entry.name != PLAN and not entry.name.startswith(PREFIX) for entry in folder.iterdir()):
        saved = read_json(path.read_bytes(), path, ConfigError, "the plan of an earlier bulk")
        # names of files that are not UTF-8 are compared as they were written
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
    """Return a client of the scheduler at an address, or of local worker processes; None where none can be started."""
    if not scheduler:
        count = workers or cores()
        if not (can_start_workers(FILES + FILES_EACH * count) and has_locks()):
            return nullcontext()
        with signals_blocked():
            return Client(silence_logs=50, n_workers=count, **OWN_MACHINE)  # type: ignore[no-untyped-call]
    try:
        return Client(scheduler, timeout=10)  # type: ignore[no-untyped-call]
    except (OSError, ValueError) as problem:
        hint = "no Dask scheduler answers there; give its address as tcp://host:8786"
        raise ConfigError(f"--scheduler {scheduler}: {hint}") from problem


def has_locks() -> bool:
    """Return whether processes can share locks, for which /dev/shm has to be writable."""
    try:
        multiprocessing.Lock()
    except (ImportError, OSError):
        return False
    return True


@contextmanager
def signals_blocked() -> Iterator[None]:
    """Block SIGINT and SIGTERM in the processes started within the block: Ctrl-C reaches them too, and they would complain."""
    # its start would unblock the signals
    import_module("multiprocessing.resource_tracker").ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT, signal.SIGTERM))
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def score_partition(partition: Partition, model: object, folder: str, verbatim: bool = False) -> Tally:
    """Score a Partition in a worker and write its output; return the Tally of its rows.

    DataError if the source was modified: rows of two versions would be mixed.
    """
    return write_output(worker_scorer(model), partition, parts_of(partition), folder, verbatim)


def parts_of(partition: Partition) -> Iterator[TablePart]:
    source, column = partition.source, partition.text_column
    return with_column(table_rows.parts_of(source, span=partition.span, text_column=column), column, source.path)


def write_output(
    scorer: Scorer, partition: Partition, parts: Iterator[TablePart], folder: str, verbatim: bool
) -> Tally:
    """Write a Partition's output; return the Tally of its rows."""
    check_state(partition)
    output, table = Path(folder) / partition.output, Table(partition.source, partition.text_column, parts)
    style = output.suffix[1:]
    with open_output(output, style) as file:
        if marks(style, partition.source, output):
            file.write(MARK)
        tally = sum(table_parts(scorer, table, file, style, processes=1, verbatim=verbatim), Tally())
        check_state(partition)
    return tally


def check_state(partition: Partition) -> None:
    if state_of(partition.source.path) != partition.state:
        raise DataError(f"{partition.source.path}: was modified while bulk ran; begin again, with another --output")
