"""The commands of applications over the classifier and the systems: report, bulk, serve."""

import multiprocessing
import os
import signal
import sys
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NoReturn, Optional

import click

from ..corpora.data import Texts
from ..errors import ConfigError, MissingPackage
from . import end, options
from .declare import argument, choices, command, option
from .options import Corrections, Model, table

# Packages of `serve`
NEEDED = "fastapi fastapi_offline prometheus_client python_multipart uvicorn".split()


@command()
def report(
    *,
    output: Path = option("the page, .html", "-o", required=True),
    group_by: Optional[str] = option("column to compare by, for example the film; adds predicted stars"),
    film_bundle: Optional[Path] = option(
        "film network for the groups' stars, trained with the same classifier  [default: the packaged one]"
    ),
    date_column: Optional[str] = option("column of dates (2026-03-12 or Mar 12, 2026); the page then shows months"),
    stars_column: Optional[str] = option("column of the table's own stars, whose share comes first"),
    source: Texts = table(argument(metavar="FILE")),
    title: Optional[str] = option("the page's heading"),
    language: str = options.PAGE_LANGUAGE,
    tables: Optional[Path] = option("folder for the tables as csv"),
    words: Optional[Path] = option(
        "table with the columns word and aspect  [default: the words of films]", "--aspects-file"
    ),
    model: Model,
) -> None:
    """Summarize the reviews of a table on one page.

    The page shows shares, words of praise and criticism, judgements about aspects, and representative reviews.

    \b
    nsmc-attention report reviews.csv --output report.html
    nsmc-attention report reviews.csv -o report.html --group-by film --date-column date --title "별빛 아래"
    """
    from ..apps.report.build import report as write

    if film_bundle and not group_by:
        raise ConfigError("--film-bundle: expected --group-by too, found none; add it, or leave --film-bundle out")
    page = partial(write, title=title, language=language, tables_to=tables, stars_column=stars_column)
    page(model.load(), source, output, group_by, date_column, film_bundle=film_bundle, aspects_file=words)
    print(output)


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
    arguments = bundle, engine, scheduler, workers, rows, verbatim, corrections.bundle
    counts = dask.bulk(sources, output, style, *arguments, **how)
    print(
        f"{counted(counts['partitions'], 'partition')} in {output}, {counts['scored']:,} of them "
        f"({counted(counts['rows'], 'review')}) now"
    )
    if counts["rows"]:
        print(f"{output}: {counts['tally'].in_words()}", file=sys.stderr)


def end_workers(number: int, frame: object) -> NoReturn:
    """Kill Dask's workers, and raise SystemExit, by which Dask cleans up."""
    for other in (signal.SIGINT, signal.SIGTERM):
        signal.signal(other, signal.SIG_IGN)
    # hide Dask's errors about them
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    for child in multiprocessing.active_children():
        child.kill()
    sys.exit(128 + number)


def counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'s' * (number != 1)}"


@command()
def serve(
    *,
    host: str = option("address; 0.0.0.0: every network of this machine", default="127.0.0.1"),
    port: int = option("port; 0: any free port", type=click.IntRange(0, 65535), default=8000),
    workers: int = option("number of processes", type=click.IntRange(1, 64), default=1),
    bundle: Optional[Path] = options.BUNDLE,
    engine: str = options.ENGINE,
    restore_bundle: Optional[Path] = option(
        "bundle that corrects spacing and spelling  [default: the packaged editor]"
    ),
    language_bundle: Optional[Path] = option("bundle that fills blanks  [default: the packaged language model]"),
    film_bundle: Optional[Path] = option(
        "bundle that rates films, trained with the same classifier  [default: the packaged one]"
    ),
    read_bundle: Optional[Path] = option("bundle that reads screenshots  [default: the packaged reader]"),
) -> None:
    """Run a web page and an HTTP API.

    \b
    nsmc-attention serve
    curl -s localhost:8000/predict -H 'Content-Type: application/json' -d '{"inputs": "정말 재미있는 영화였어요"}'
    """
    if missing := [name for name in NEEDED if not find_spec(name)]:
        raise MissingPackage("serve", *missing)
    from ..apps.serve.app import serve as run_server
    from ..apps.serve.service import Bundles

    bundles = Bundles(bundle, engine, restore_bundle, language_bundle, film_bundle, read_bundle)
    run_server(host, port, workers=workers, bundles=bundles)
