"""The command `bulk`."""

import multiprocessing
import os
import signal
import sys
from pathlib import Path
from typing import Any, NoReturn, Optional

import click

from . import end, options
from .declare import argument, choices, command, option
from .options import Corrections


@command()
def bulk(
    *,
    sources: tuple[str, ...] = argument(nargs=-1, required=True, metavar="FILES..."),
    output: Path = option("folder, with one file per partition", "-o", required=True),
    style: str = option(None, "--format", "-f", default="parquet", metavar=choices(["csv", "tsv", "jsonl", "parquet"])),
    how: dict[str, Any] = options.HOW,
    scheduler: Optional[str] = option("address of a running Dask scheduler  [default: local processes]"),
    workers: Optional[int] = option("local processes  [default: one per core]", type=click.IntRange(1)),
    rows: int = option("rows per partition", type=click.IntRange(1), default=50_000),
    verbatim: bool = options.VERBATIM,
    corrections: Corrections,
    bundle: Optional[Path] = options.BUNDLE,
    engine: str = options.ENGINE,
) -> None:
    """Classify files of any size on Dask; FILES may be patterns and folders.

    After an interruption, the same command continues the run.

    \b
    nsmc-attention bulk "reviews/*.parquet" --output scored
    nsmc-attention bulk reviews/ --output scored --scheduler tcp://host:8786
    """
    from ..apps import bulk as dask

    for number in (signal.SIGINT, signal.SIGTERM):
        if signal.getsignal(number) is end:
            signal.signal(number, end_workers)
    given = bundle, engine, scheduler, workers, rows, verbatim, corrections.bundle
    counts = dask.bulk(sources, output, style, *given, **how)
    print(
        f"{counted(counts['partitions'], 'partition')} in {output}, {counts['scored']:,} of them "
        f"({counted(counts['rows'], 'review')}) now"
    )
    if counts["rows"]:
        print(f"{output}: {counts['tally'].in_words()}", file=sys.stderr)


def end_workers(number: int, frame: object) -> NoReturn:
    """Kill Dask's workers, and raise SystemExit, by which Dask cleans up."""
    for each in (signal.SIGINT, signal.SIGTERM):
        signal.signal(each, signal.SIG_IGN)
    # Dask would complain
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    for child in multiprocessing.active_children():
        child.kill()
    sys.exit(128 + number)


def counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'s' * (number != 1)}"
