"""Commands that classify reviews: predict, report, bulk, serve."""

import sys
from pathlib import Path
from typing import Any, Optional

import click

from ..errors import ConfigError
from .options import (
    Model,
    TextCommand,
    choices,
    cpu_model_options,
    encoding_option,
    input_format_option,
    model_options,
    path_option,
    text_argument,
    text_column_option,
    verbatim_option,
)


@click.command(cls=TextCommand)
@text_argument("score its rows with --input %s")
@path_option(
    "--input", "-i", "source", allow_dash=True, help="csv, tsv, xlsx, jsonl, parquet, txt file, or - for stdin"
)
@input_format_option
@encoding_option
@path_option("--output", "-o", allow_dash=True, default=Path("-"), help="file, or - for stdout")
@click.option(
    "--format",
    "-f",
    "style",
    type=click.Choice(["text", "csv", "tsv", "jsonl", "parquet", "xlsx"]),
    help="of the output  [default: by its suffix, else text]",
)
@text_column_option
@click.option("--weights", is_flag=True, help="with the attention weights (jsonl)")
@click.option("--excel", is_flag=True, help="csv, tsv: begin with the mark by which Excel shows Hangul")
@verbatim_option
@model_options
def predict(
    text: tuple[str, ...],
    source: Optional[Path],
    kind: Optional[str],
    encoding: Optional[str],
    output: Path,
    style: Optional[str],
    text_column: Optional[str],
    weights: bool,
    excel: bool,
    verbatim: bool,
    model: Model,
) -> None:
    """Classify reviews as positive or negative.

    \b
    nsmc-attention predict "정말 재미있는 영화였어요"
    nsmc-attention predict --input reviews.csv --output scored.csv
    cat reviews.txt | nsmc-attention predict --format jsonl
    zcat reviews.csv.gz | nsmc-attention predict --input - --input-format csv --output scored.parquet
    """
    from ..inference.scoring import STDOUT, score_lines, score_table
    from ..reviews.sources import stdin_lines

    if text and source:
        raise ConfigError("predict: give reviews or --input, not both")
    if kind and not source:
        raise ConfigError("predict: --input-format needs --input, which may be - for stdin")
    classifier = model.load()
    if source is None or str(source) == "-" and not kind:
        lines = stdin_lines(encoding) if text in ((), ("-",)) else text
        found = score_lines(classifier, lines, output, style, weights, verbatim)
    else:
        options: dict[str, Any] = {"kind": kind, "verbatim": verbatim, "encoding": encoding, "excel": excel}
        found = score_table(classifier, source, output, style, weights, text_column, **options)
    if str(output) not in STDOUT:
        print(f"{output}: {found}", file=sys.stderr)


@click.command()
@click.argument("source", type=click.Path(path_type=Path), metavar="FILE")
@path_option("--output", "-o", required=True, help="the page, .html")
@click.option("--group-by", help="column to compare by, as the film")
@click.option("--date-column", help="column of dates, to show months")
@text_column_option
@click.option("--date-format", type=click.Choice(["ymd", "dmy", "mdy"]), default="ymd", help="order of numeric dates")
@click.option("--title", help="the page's heading")
@click.option("--language", type=click.Choice(["ko", "en"]), default="ko", help="of the page")
@path_option("--tables", help="folder for the tables as csv")
@input_format_option
@encoding_option
@model_options
def report(
    source: Path,
    output: Path,
    group_by: Optional[str],
    date_column: Optional[str],
    date_format: str,
    title: Optional[str],
    language: str,
    text_column: Optional[str],
    tables: Optional[Path],
    kind: Optional[str],
    encoding: Optional[str],
    model: Model,
) -> None:
    """Summarize what viewers think on one page.

    Shares, words of praise and criticism, representative reviews.

    \b
    nsmc-attention report reviews.csv --output report.html
    nsmc-attention report reviews.csv -o report.html --group-by film --date-column date --title "별빛 아래"
    """
    from ..report.build import report as write

    options: dict[str, Any] = {"encoding": encoding, "title": title, "language": language, "date_format": date_format}
    write(model.load(), source, output, group_by, date_column, text_column, tables, kind, **options)
    print(output)


@click.command()
@click.argument("sources", nargs=-1, required=True, metavar="FILES...")
@path_option("--output", "-o", required=True, help="folder, one file a partition")
@click.option("--format", "-f", "style", default="parquet", metavar=choices(["csv", "tsv", "jsonl", "parquet"]))
@text_column_option
@click.option("--scheduler", help="address of a running Dask scheduler  [default: processes here]")
@click.option("--workers", type=click.IntRange(1), help="processes here  [default: as many as cores]")
@click.option("--rows", type=click.IntRange(1), default=50_000, help="rows of a partition")
@encoding_option
@verbatim_option
@cpu_model_options
def bulk(
    sources: tuple[str, ...],
    output: Path,
    style: str,
    text_column: Optional[str],
    scheduler: Optional[str],
    workers: Optional[int],
    rows: int,
    encoding: Optional[str],
    verbatim: bool,
    model: Model,
) -> None:
    """Classify files, patterns and folders of any size on Dask.

    A rerun continues where it stopped.

    \b
    pip install 'nsmc_attention[bulk]'
    nsmc-attention bulk "reviews/*.parquet" --output scored
    nsmc-attention bulk reviews/ --output scored --scheduler tcp://host:8786
    """
    from .. import bulk as dask

    found = dask.bulk(
        sources, output, style, text_column, model.bundle, model.engine, scheduler, workers, rows, verbatim, encoding
    )
    print(f"{found['partitions']} partitions in {output}, {found['scored']} of them ({found['rows']} reviews) now")


@click.command()
@click.option("--host", default="127.0.0.1", help="0.0.0.0 for every network this machine is in")
@click.option("--port", type=click.IntRange(0, 65535), default=8000, help="0 for any that is free")
@click.option("--workers", type=click.IntRange(1, 64), default=1, help="processes")
@cpu_model_options
@path_option("--restore-bundle", help="bundle that corrects spacing and spelling  [default: the packaged editor]")
def serve(host: str, port: int, workers: int, model: Model, restore_bundle: Optional[Path]) -> None:
    """Serve an interactive page and an HTTP API.

    \b
    pip install 'nsmc_attention[serve]'
    nsmc-attention serve
    curl -s localhost:8000/predict -H 'Content-Type: application/json' -d '{"inputs": "정말 재미있는 영화였어요"}'
    """
    from ..serve.server import serve as run_server

    run_server(host, port, model.bundle, model.engine, workers, restore_bundle=restore_bundle)
