"""The command `report`."""

from functools import partial
from pathlib import Path
from typing import Optional

from ...cli import options
from ...cli.declare import command, option
from ...cli.options import Added, Model, of_systems, refuse_all_without, table, values_of
from ...corpora.data import Texts


@command()
def report(
    *,
    output: Path = option("the page, .html", "-o", required=True),
    group_by: Optional[str] = option("column to compare by, for example the film; adds predicted stars"),
    raters: Added = of_systems("GroupOptions"),
    date_column: Optional[str] = option("column of dates, the year first; the page then shows months"),
    stars_column: Optional[str] = option("column of the table's own stars, shown beside the estimate"),
    source: Texts = table(),
    title: Optional[str] = option("the page's heading"),
    language: str = options.PAGE_LANGUAGE,
    tables: Optional[Path] = option("folder for the tables as csv"),
    words: Added = of_systems("ReportOptions"),
    model: Model,
) -> None:
    """Summarize the reviews of a table on one page.

    The page shows shares, words of praise and criticism, judgements about aspects, and representative reviews.

    \b
    nsmc-attention report reviews.csv --output report.html
    nsmc-attention report reviews.csv -o report.html --group-by film --date-column date --title "별빛 아래"
    """
    from .build import report as write

    bundles = values_of(raters)
    refuse_all_without(bundles, "--group-by", group_by)
    page = partial(write, title=title, language=language, tables_to=tables, stars_column=stars_column)
    page(model.load(), source, output, group_by, date_column, **bundles, **values_of(words))
    print(output)
