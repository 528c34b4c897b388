"""Commands that go over texts: predict, restore, fill, film, read, report, bulk, serve."""

import json
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Optional

import click

from ..errors import ConfigError
from ..reviews.data import Texts
from . import options
from .declare import TextCommand, argument, choices, command, option, text_argument
from .options import Heads, Model, Restoring, Scoring, TaskModel, table

if TYPE_CHECKING:
    from ..inference.reference import Scorer
    from ..systems.restoration.restorer import Restorer


@command(TextCommand)
def predict(
    *,
    text: tuple[str, ...] = text_argument("score its rows with --input %s"),
    scoring: Scoring,
    weights: bool = option("with the attention weights (jsonl)"),
    share: Optional[str] = option(
        "add labels that lean to the commoner side: table, by the table's estimated share of positive reviews, or the share",
        metavar="[table|0..1]",
    ),
    restoring: Restoring,
    model: Model,
) -> None:
    """Classify reviews as positive or negative, and estimate the share of positive ones in --input.

    \b
    nsmc-attention predict "정말 재미있는 영화였어요"
    nsmc-attention predict --input reviews.csv --output scored.csv
    nsmc-attention predict --input reviews.csv --output scored.csv --restore
    nsmc-attention predict --input reviews.csv --output scored.csv --share table
    cat reviews.txt | nsmc-attention predict --format jsonl
    zcat reviews.csv.gz | nsmc-attention predict --input - --input-format csv --output scored.parquet
    """
    scoring.check("predict", text)
    from ..classification.likeness import remark

    classifier = model.load()
    scorer = restoring.over(classifier, model)
    if share:
        scorer = leaning(scorer, share, scoring)
    scoring.score(scorer, text, weights, partial(remark, classifier))


def leaning(scorer: "Scorer", share: str, scoring: Scoring) -> "Scorer":
    """Return the scorer with labels by a share; ConfigError where there is no table to estimate it of."""
    from ..classification.share import LabelsByShare, require_share, share_given
    from ..inference.scoring import tally_table

    number = share_given(share)
    if number is None:
        # the tally is printed when the table is written
        number = require_share(tally_table(scorer, scoring.table_twice("--share table")).share, scoring.source)
    return LabelsByShare(scorer, number)


@command(TextCommand)
def restore(
    *,
    text: tuple[str, ...] = text_argument("restore its rows with --input %s"),
    scoring: Scoring,
    beam: Optional[int] = option("use the writer, whose search follows so many hypotheses, 1: greedy"),
    alpha: Optional[float] = option("use the writer, with this length penalty, 0: none  [default: 0.6]"),
    min_probability: Optional[float] = option(
        "leave out what the editor is less sure of, 0.5 to 1  [default: 0.7 of a character, 0.6 of a space]"
    ),
    n_best: bool = option("all that the writer found for TEXT, best first: score, restored text"),
    picture: Optional[Path] = option(
        ".png, .svg or .pdf: an editor's tags or, with --beam, a writer's attention, for one TEXT", "--explain"
    ),
    model: Model,
) -> None:
    """Correct the spacing and spelling of texts.

    By an editor, which corrects each character; with --beam or --alpha by a writer, which writes the text anew. A text
    that is blank, or of which too much would change, is returned as it is; a table and jsonl say why.

    \b
    nsmc-attention restore "배우들연기가 정말조앗는데 스토리가별로엿다"
    nsmc-attention restore --input reviews.csv --output restored.csv
    nsmc-attention restore --beam 4 --n-best "정말재밋엇어요"
    nsmc-attention restore "정말재밋엇어요" --beam 4 --explain attention.png
    """
    scoring.check("restore", text)
    check_extras(text, scoring, n_best, picture)
    from ..systems.restoration.rows import TableRestorer

    # of the packaged restorers, one is loaded that searches
    beam = 4 if n_best and (beam, model.bundle) == (None, None) else beam
    restorer = TableRestorer.load(*model, beam=beam, alpha=alpha, min_probability=min_probability)
    if n_best:
        return print_hypotheses(restorer, text, scoring.style == "jsonl")
    scoring.score(restorer, text)
    if picture:
        from ..visualization.pictures import save_restoration

        save_restoration(restorer(text[0]), picture)


@command(TextCommand)
def fill(
    *,
    text: tuple[str, ...] = text_argument("read its reviews one by one: `fill` takes one text, not %s", required=True),
    top: int = option("candidates", default=5, type=click.IntRange(1)),
    as_json: bool = option("one line of JSON, with what [MASK] attended to", "--json"),
    heads: Heads,
    model: TaskModel,
) -> None:
    """Print the likeliest words at each [MASK] of a text: probability, words and the text with them.

    \b
    nsmc-attention fill "주인공의 [MASK]에 소름이 돋았다"
    nsmc-attention fill "엔딩 [MASK]이 [MASK] 때까지" --top 10 --json
    nsmc-attention fill "이 영화 정말 [MASK]" --heads heads.png
    """
    if len(text) > 1:
        raise ConfigError(f"fill: expected one TEXT, found {len(text)}; put it in quotes")
    heads.check()
    from ..systems.language.model import LanguageModel

    filling = LanguageModel.load(*model)(text[0], top)
    heads.save(filling)
    if as_json:
        print(json.dumps(filling.to_dict(), ensure_ascii=False))
        return
    for candidate in filling.candidates:
        print(f"{candidate.probability:.4g}\t{candidate.token}\t{candidate.text}")


@command()
def film(
    *,
    group_by: str = option("column that names the film of each review", required=True),
    output: Path = options.OUTPUT,
    style: Optional[str] = options.FORMAT,
    page: Optional[Path] = option(".html: the films' reviews, and their words, shaded by their weights", "--explain"),
    language: str = options.PAGE_LANGUAGE,
    source: Texts = table(allow_dash=True),
    classifier: Optional[Path] = options.CLASSIFIER,
    model: TaskModel,
) -> None:
    """Print the mean stars of each film of a table, with an interval, from the texts of its reviews alone.

    As text: stars, the interval that holds nine of ten films, reviews, film.

    \b
    nsmc-attention film reviews.csv --group-by film
    nsmc-attention film reviews.csv --group-by film --output films.csv --explain films.html
    nsmc-attention film reviews.csv --group-by film --format jsonl
    """
    if page:
        from ..visualization.pictures import check_page

        check_page(page)
    from ..systems.films.rater import FilmRater
    from ..systems.films.rows import rate_table

    rater = FilmRater.load(*model, classifier=classifier)
    rated = rate_table(rater, source, group_by, output=output, style=style, draw=bool(page))
    if page:
        from ..visualization.pictures import save_ratings

        save_ratings(rated.drawn, page, rated.films, language)
    print(f"{source.data}: {rated}", file=sys.stderr)


@command()
def read(
    *,
    pictures: tuple[str, ...] = argument(nargs=-1, required=True, metavar="PICTURE..."),
    predict: bool = option("classify each line"),
    paragraphs: bool = option("join lines that follow each other closely, as of a review that is wrapped"),
    restoring: Restoring,
    output: Path = options.OUTPUT,
    style: Optional[str] = options.FORMAT,
    picture: Optional[Path] = option(
        ".png, .svg, .pdf or .html: where each letter was read, for one PICTURE", "--explain"
    ),
    weights: bool = option("with the attention weights (jsonl)"),
    language: str = options.PAGE_LANGUAGE,
    model: TaskModel,
) -> None:
    """Read the lines of text in screenshots: PNG, JPEG, GIF, WEBP, BMP or TIFF files, or - for stdin.

    As text: the lines alone; as a table also where each is, and how likely its letters are.

    \b
    nsmc-attention read screenshot.png
    nsmc-attention read screenshot.png --predict
    nsmc-attention read *.png --predict --restore --output lines.csv
    nsmc-attention read screenshot.png --explain where.html
    """
    if picture:
        from ..visualization.pictures import check_picture

        check_picture(picture)
        if len(pictures) > 1:
            raise ConfigError(f"read --explain: expected one PICTURE, found {len(pictures)}")
    from .._runtime.progress import progress_bar
    from ..systems.reading.opening import LARGEST_FILE
    from ..systems.reading.reader import PictureReader
    from ..systems.reading.rows import write_readings

    reader, other = PictureReader.load(*model), Model(None, "auto", model.device)
    scorer: Optional[Scorer] = restoring.scorer(other) if predict else restoring.load(other) or None
    # of stdin, one byte more than a picture may have
    given = ((name, sys.stdin.buffer.read(LARGEST_FILE + 1) if name == "-" else name) for name in pictures)
    shown = ((name, reader(one)) for name, one in progress_bar(given, total=len(pictures), unit="picture", delay=2))
    # the one that is drawn
    drawn = list(shown) if picture else []
    write_readings(drawn or shown, scorer, output, style, weights, paragraphs)
    if picture:
        from ..visualization.pictures import save_reading

        save_reading(drawn[0][1], picture, language)


def counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'s' * (number != 1)}"


def refuse_without(flag: str, given: Any, other: str, needed: Any) -> None:
    """Raise ConfigError for an option that has no effect without another."""
    if given and not needed:
        raise ConfigError(f"{flag}: expected {other} too, found none; add it, or leave {flag} out")


def check_extras(text: tuple[str, ...], scoring: Scoring, n_best: bool, picture: Optional[Path]) -> None:
    """Raise ConfigError for what --n-best and --explain do not go together with."""
    for flag, given in (("--n-best", n_best), ("--explain", picture)):
        if given and text in ((), ("-",)):
            raise ConfigError(f"restore {flag}: expected TEXT, found none; give the text itself")
    if n_best and (picture or str(scoring.output) != "-" or scoring.style not in (None, "text", "jsonl")):
        raise ConfigError("restore --n-best: prints text or jsonl; leave --output, --explain and other formats out")
    if picture:
        from ..drawing.figure import check_suffix

        check_suffix(picture)
        if len(text) > 1:
            raise ConfigError(f"restore --explain: expected one TEXT, found {len(text)}")


def print_hypotheses(restorer: "Restorer", texts: tuple[str, ...], as_json: bool) -> None:
    """Print what a search found for each text, best first: score, restored text and, if it is rejected, why."""
    for text in texts:
        for hypothesis in restorer.n_best(text):
            line = "\t".join([f"{hypothesis.score:.4f}", hypothesis.text, *filter(None, [hypothesis.error])])
            print(json.dumps(hypothesis.to_dict(), ensure_ascii=False) if as_json else line)


@command()
def report(
    *,
    output: Path = option("the page, .html", "-o", required=True),
    group_by: Optional[str] = option("column to compare by, as the film; each group has stars, too"),
    film_bundle: Optional[Path] = options.FILM_BUNDLE,
    date_column: Optional[str] = option("column of dates, to show months"),
    stars_column: Optional[str] = option("column of the table's own stars, to show them  [default: found]"),
    source: Texts = table(),
    date_format: str = option("order of numeric dates", type=click.Choice(["ymd", "dmy", "mdy"]), default="ymd"),
    title: Optional[str] = option("the page's heading"),
    language: str = options.PAGE_LANGUAGE,
    tables: Optional[Path] = option("folder for the tables as csv"),
    model: Model,
) -> None:
    """Summarize what viewers think on one page.

    Shares, words of praise and criticism, representative reviews.

    \b
    nsmc-attention report reviews.csv --output report.html
    nsmc-attention report reviews.csv -o report.html --group-by film --date-column date --title "별빛 아래"
    """
    from ..apps.report.build import report as write

    refuse_without("--film-bundle", film_bundle, "--group-by", group_by)
    page = partial(write, title=title, language=language, date_format=date_format, tables_to=tables)
    page = partial(page, stars_column=stars_column)
    page(model.load(), source, output, group_by=group_by, date_column=date_column, film_bundle=film_bundle)
    print(output)


@command()
def bulk(
    *,
    sources: tuple[str, ...] = argument(nargs=-1, required=True, metavar="FILES..."),
    output: Path = option("folder, one file a partition", "-o", required=True),
    style: str = option(None, "--format", "-f", default="parquet", metavar=choices(["csv", "tsv", "jsonl", "parquet"])),
    text_column: Optional[str] = options.TEXT_COLUMN,
    sheet: Optional[str] = options.SHEET,
    header: Optional[str] = options.HEADER,
    group_by: Optional[str] = option("column of the films: rate each in a second table, in _groups/ of the output"),
    film_bundle: Optional[Path] = options.FILM_BUNDLE,
    scheduler: Optional[str] = option("address of a running Dask scheduler  [default: processes here]"),
    workers: Optional[int] = option("processes here  [default: as many as cores]", type=click.IntRange(1)),
    rows: int = option("rows of a partition", type=click.IntRange(1), default=50_000),
    encoding: Optional[str] = options.ENCODING,
    verbatim: bool = options.VERBATIM,
    restoring: Restoring,
    bundle: Optional[Path] = options.BUNDLE,
    engine: str = options.ENGINE,
) -> None:
    """Classify files, patterns and folders of any size on Dask.

    A rerun continues where it stopped.

    \b
    nsmc-attention bulk "reviews/*.parquet" --output scored
    nsmc-attention bulk "reviews/*.parquet" --output scored --group-by film
    nsmc-attention bulk reviews/ --output scored --scheduler tcp://host:8786
    """
    refuse_without("--film-bundle", film_bundle, "--group-by", group_by)
    from ..apps.bulk import run as dask

    read = partial(dask.bulk, text_column=text_column, encoding=encoding, sheet=sheet, verbatim=verbatim, rows=rows)
    read = partial(read, header=header)
    score = partial(read, bundle=bundle, engine=engine, restore=restoring.bundle)
    rate = partial(score, group_by=group_by, film_bundle=film_bundle)
    counts = rate(sources, output, style, scheduler=scheduler, workers=workers)
    films = f"; {counted(counts['films'], 'film')} in {output / dask.FILMS}/groups.{style}" if group_by else ""
    print(
        f"{counted(counts['partitions'], 'partition')} in {output}, {counts['scored']:,} of them "
        f"({counted(counts['rows'], 'review')}) now{films}"
    )
    if counts["rows"]:
        print(f"{output}: {counts['tally'].in_words()}", file=sys.stderr)


@command()
def serve(
    *,
    host: str = option("0.0.0.0 for every network this machine is in", default="127.0.0.1"),
    port: int = option("0 for any that is free", type=click.IntRange(0, 65535), default=8000),
    workers: int = option("processes", type=click.IntRange(1, 64), default=1),
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
    """Serve an interactive page and an HTTP API.

    \b
    nsmc-attention serve
    curl -s localhost:8000/predict -H 'Content-Type: application/json' -d '{"inputs": "정말 재미있는 영화였어요"}'
    """
    from ..apps.serve.models import Bundles
    from ..apps.serve.server import serve as run_server

    bundles = Bundles(bundle, engine, restore_bundle, language_bundle, film_bundle, read_bundle)
    run_server(host, port, workers=workers, bundles=bundles)
