"""Commands that go over texts: predict, restore, fill, film, report, bulk, serve."""

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Optional

import click

from ..errors import ConfigError
from .options import (
    Heads,
    Model,
    Restoring,
    TextCommand,
    Texts,
    choices,
    classifier_option,
    cpu_model_options,
    encoding_option,
    film_bundle_option,
    heads_options,
    input_format_option,
    model_options,
    path_option,
    restoring_options,
    sheet_option,
    task_model_options,
    text_argument,
    text_column_option,
    texts_options,
    verbatim_option,
)

if TYPE_CHECKING:
    from ..restoration.restorer import Restorer


@click.command(cls=TextCommand)
@text_argument("score its rows with --input %s")
@texts_options
@click.option("--weights", is_flag=True, help="with the attention weights (jsonl)")
@restoring_options
@model_options
def predict(text: tuple[str, ...], texts: Texts, weights: bool, restoring: Restoring, model: Model) -> None:
    """Classify reviews as positive or negative.

    \b
    nsmc-attention predict "정말 재미있는 영화였어요"
    nsmc-attention predict --input reviews.csv --output scored.csv
    nsmc-attention predict --input reviews.csv --output scored.csv --restore
    cat reviews.txt | nsmc-attention predict --format jsonl
    zcat reviews.csv.gz | nsmc-attention predict --input - --input-format csv --output scored.parquet
    """
    texts.check("predict", text)
    texts.score(restoring.scorer(model), text, weights)


@click.command(cls=TextCommand)
@text_argument("restore its rows with --input %s")
@texts_options
@click.option("--beam", type=int, help="use the writer, whose search follows so many hypotheses, 1: greedy")
@click.option("--alpha", type=float, help="use the writer, with this length penalty, 0: none  [default: 0.6]")
@click.option("--n-best", is_flag=True, help="all that the writer found for TEXT, best first: score, restored text")
@path_option("--explain", "picture", help=".png, .svg or .pdf: which characters were made of which, for one TEXT")
@task_model_options
def restore(
    text: tuple[str, ...],
    texts: Texts,
    beam: Optional[int],
    alpha: Optional[float],
    n_best: bool,
    picture: Optional[Path],
    model: Model,
) -> None:
    """Correct the spacing and spelling of texts.

    By an editor, which corrects each character; with --beam or --alpha by a writer, which writes the text anew. A text
    that is blank, or of which too much would change, is returned as it is; a table and jsonl say why.

    \b
    nsmc-attention restore "배우들연기가 정말조앗는데 스토리가별로엿다"
    nsmc-attention restore --input reviews.csv --output restored.csv
    nsmc-attention restore --beam 4 --n-best "정말재밋엇어요"
    nsmc-attention restore "정말재밋엇어요" --explain alignment.png
    """
    texts.check("restore", text)
    check_extras(text, texts, n_best, picture)
    from ..restoration.restorer import load_restorer

    # of the packaged restorers, one is loaded that searches
    beam = 4 if n_best and (beam, model.bundle) == (None, None) else beam
    restorer = load_restorer(model.bundle, beam, model.engine, model.device, alpha)
    if n_best:
        return print_hypotheses(restorer, text, texts.style == "jsonl")
    if picture:
        from ..visualization.pictures import save_restoration

        save_restoration(restorer(text[0]), picture)
    texts.score(restorer, text)


@click.command(cls=TextCommand)
@text_argument("read its reviews one by one: `fill` takes one text, not %s", required=True)
@click.option("--top", default=5, type=click.IntRange(1), help="candidates")
@click.option("--json", "as_json", is_flag=True, help="one line of JSON, with what [MASK] attended to")
@heads_options
@task_model_options
def fill(text: tuple[str, ...], top: int, as_json: bool, heads: Heads, model: Model) -> None:
    """Print the likeliest words at the [MASK] of a text: probability, word and the text with it.

    \b
    nsmc-attention fill "주인공의 [MASK]에 소름이 돋았다"
    nsmc-attention fill "이 영화 정말 [MASK]" --top 10 --json
    nsmc-attention fill "이 영화 정말 [MASK]" --heads heads.png
    """
    if len(text) > 1:
        raise ConfigError(f"fill: expected one TEXT, found {len(text)}; put it in quotes")
    heads.check()
    from ..language.model import load_language_model

    filling = load_language_model(model.bundle, model.engine, model.device)(text[0], top)
    heads.save(filling)
    if as_json:
        print(json.dumps(filling.to_dict(), ensure_ascii=False))
        return
    for each in filling.candidates:
        print(f"{each.probability:.4f}\t{each.token}\t{each.text}")


@click.command()
@click.argument("source", type=click.Path(path_type=Path, allow_dash=True), metavar="FILE")
@click.option("--group-by", required=True, help="column that names the film of each review")
@path_option("--output", "-o", allow_dash=True, default=Path("-"), help="file, or - for stdout")
@click.option(
    "--format",
    "-f",
    "style",
    type=click.Choice(["text", "csv", "tsv", "jsonl", "parquet", "xlsx"]),
    help="of the output  [default: by its suffix, else text]",
)
@path_option("--explain", "page", help=".html: the films' reviews, and their words, shaded by their weights")
@text_column_option
@sheet_option
@input_format_option
@encoding_option
@classifier_option
@task_model_options
def film(
    source: Path,
    group_by: str,
    output: Path,
    style: Optional[str],
    page: Optional[Path],
    text_column: Optional[str],
    sheet: Optional[str],
    kind: Optional[str],
    encoding: Optional[str],
    classifier: Optional[Path],
    model: Model,
) -> None:
    """Print the mean stars of each film of a table, with an interval, from the texts of its reviews alone.

    As text: stars, the interval that holds nine of ten films, reviews, film.

    \b
    nsmc-attention film reviews.csv --group-by film
    nsmc-attention film reviews.csv --group-by film --output films.csv --explain films.html
    nsmc-attention film reviews.csv --group-by film --format jsonl
    """
    if page:
        from ..visualization.film_page import check_page

        check_page(page)
    from ..films.rater import load_film
    from ..films.tables import rate_table

    rater = load_film(model.bundle, model.engine, model.device, classifier)
    found = rate_table(rater, source, group_by, output, style, text_column, kind, encoding, bool(page), sheet)
    if page:
        from ..visualization.film_page import save_ratings

        save_ratings(found.drawn, page, found.films)
    print(f"{source}: {found}", file=sys.stderr)


def refuse_without(option: str, given: Any, other: str, needed: Any) -> None:
    """Raise ConfigError for an option that has no effect without another."""
    if given and not needed:
        raise ConfigError(f"{option}: expected {other} too, found none; add it, or leave {option} out")


def check_extras(text: tuple[str, ...], texts: Texts, n_best: bool, picture: Optional[Path]) -> None:
    """Raise ConfigError for what --n-best and --explain do not go together with."""
    for option, given in (("--n-best", n_best), ("--explain", picture)):
        if given and text in ((), ("-",)):
            raise ConfigError(f"restore {option}: expected TEXT, found none; give the text itself")
    if n_best and (picture or str(texts.output) != "-" or texts.style not in (None, "text", "jsonl")):
        raise ConfigError("restore --n-best: prints text or jsonl; leave --output, --explain and other formats out")
    if picture:
        from ..drawing.figure import check_suffix

        check_suffix(picture)
        if len(text) > 1:
            raise ConfigError(f"restore --explain: expected one TEXT, found {len(text)}")


def print_hypotheses(restorer: "Restorer", texts: tuple[str, ...], as_json: bool) -> None:
    """Print what a search found for each text, best first: score, restored text and, if it is rejected, why."""
    for text in texts:
        for each in restorer.n_best(text):
            line = "\t".join([f"{each.score:.4f}", each.text, *filter(None, [each.error])])
            print(json.dumps(each.to_dict(), ensure_ascii=False) if as_json else line)


@click.command()
@click.argument("source", type=click.Path(path_type=Path), metavar="FILE")
@path_option("--output", "-o", required=True, help="the page, .html")
@click.option("--group-by", help="column to compare by, as the film; each group has stars, too")
@film_bundle_option
@click.option("--date-column", help="column of dates, to show months")
@text_column_option
@sheet_option
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
    film_bundle: Optional[Path],
    date_column: Optional[str],
    date_format: str,
    title: Optional[str],
    language: str,
    text_column: Optional[str],
    sheet: Optional[str],
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

    refuse_without("--film-bundle", film_bundle, "--group-by", group_by)
    options: dict[str, Any] = {"encoding": encoding, "title": title, "language": language, "date_format": date_format}
    options.update(film_bundle=film_bundle, sheet=sheet)
    write(model.load(), source, output, group_by, date_column, text_column, tables, kind, **options)
    print(output)


@click.command()
@click.argument("sources", nargs=-1, required=True, metavar="FILES...")
@path_option("--output", "-o", required=True, help="folder, one file a partition")
@click.option("--format", "-f", "style", default="parquet", metavar=choices(["csv", "tsv", "jsonl", "parquet"]))
@text_column_option
@click.option("--group-by", help="column of the films: rate each in a second table, in _groups/ of the output")
@film_bundle_option
@click.option("--scheduler", help="address of a running Dask scheduler  [default: processes here]")
@click.option("--workers", type=click.IntRange(1), help="processes here  [default: as many as cores]")
@click.option("--rows", type=click.IntRange(1), default=50_000, help="rows of a partition")
@encoding_option
@verbatim_option
@restoring_options
@cpu_model_options
def bulk(
    sources: tuple[str, ...],
    output: Path,
    style: str,
    text_column: Optional[str],
    group_by: Optional[str],
    film_bundle: Optional[Path],
    scheduler: Optional[str],
    workers: Optional[int],
    rows: int,
    encoding: Optional[str],
    verbatim: bool,
    restoring: Restoring,
    model: Model,
) -> None:
    """Classify files, patterns and folders of any size on Dask.

    A rerun continues where it stopped.

    \b
    pip install 'nsmc_attention[bulk]'
    nsmc-attention bulk "reviews/*.parquet" --output scored
    nsmc-attention bulk "reviews/*.parquet" --output scored --group-by film
    nsmc-attention bulk reviews/ --output scored --scheduler tcp://host:8786
    """
    refuse_without("--film-bundle", film_bundle, "--group-by", group_by)
    from .. import bulk as dask

    options: dict[str, Any] = {"encoding": encoding, "verbatim": verbatim, "restore": restoring.bundle}
    options.update(group_by=group_by, film_bundle=film_bundle)
    found = dask.bulk(
        sources, output, style, text_column, model.bundle, model.engine, scheduler, workers, rows, **options
    )
    films = f"; {found['films']:,} films in {output / dask.FILMS}/groups.{style}" if group_by else ""
    print(
        f"{found['partitions']} partitions in {output}, {found['scored']} of them ({found['rows']} reviews) now{films}"
    )


@click.command()
@click.option("--host", default="127.0.0.1", help="0.0.0.0 for every network this machine is in")
@click.option("--port", type=click.IntRange(0, 65535), default=8000, help="0 for any that is free")
@click.option("--workers", type=click.IntRange(1, 64), default=1, help="processes")
@cpu_model_options
@path_option("--restore-bundle", help="bundle that corrects spacing and spelling  [default: the packaged editor]")
@path_option("--language-bundle", help="bundle that fills blanks  [default: the packaged language model]")
@path_option(
    "--film-bundle", help="bundle that rates films, trained with the same classifier  [default: the packaged one]"
)
def serve(host: str, port: int, workers: int, model: Model, **bundles: Any) -> None:
    """Serve an interactive page and an HTTP API.

    \b
    pip install 'nsmc_attention[serve]'
    nsmc-attention serve
    curl -s localhost:8000/predict -H 'Content-Type: application/json' -d '{"inputs": "정말 재미있는 영화였어요"}'
    """
    from ..serve.server import serve as run_server

    run_server(host, port, model.bundle, model.engine, workers, **bundles)
