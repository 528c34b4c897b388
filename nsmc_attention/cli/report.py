"""The command `report`."""

from functools import partial
from pathlib import Path
from typing import Optional

from ..corpora.data import Texts
from ..errors import ConfigError
from . import options
from .declare import argument, command, option
from .options import Model, table


@command()
def report(
    *,
    output: Path = option("the page, .html", "-o", required=True),
    group_by: Optional[str] = option("column to compare by, for example the film; adds predicted stars"),
    film_bundle: Optional[Path] = option(
        "film network for the groups' stars, trained with the same classifier  [default: the packaged one]"
    ),
    date_column: Optional[str] = option("column of dates, the year first; the page then shows months"),
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
