"""The command `film`."""

import sys
from pathlib import Path
from typing import Optional

from ..corpora.data import Texts
from ..errors import ConfigError
from . import options
from .declare import argument, command, option
from .options import TaskModel, table


@command()
def film(
    *,
    group_by: str = option("column that names the film of each review", required=True),
    output: Path = options.OUTPUT,
    style: Optional[str] = options.FORMAT,
    page: Optional[Path] = option(".html: the films' reviews and words, shaded by their weights", "--explain"),
    language: str = options.PAGE_LANGUAGE,
    source: Texts = table(argument(metavar="FILE", allow_dash=True)),
    classifier: Optional[Path] = options.CLASSIFIER,
    model: TaskModel,
) -> None:
    """Predict the mean rating of each film of a table from the texts of its reviews, with an interval.

    Text output: predicted stars, their 90 % interval, number of reviews, film.

    \b
    nsmc-attention film reviews.csv --group-by film
    nsmc-attention film reviews.csv --group-by film --output films.csv --explain films.html
    nsmc-attention film reviews.csv --group-by film --format jsonl
    """
    if page and page.suffix.lower() not in (".html", ".htm"):
        raise ConfigError(f"{page}: expected a name that ends with .html, found {page.suffix!r}")
    from ..systems.film.rater import FilmRater, rate_table

    rater = FilmRater.load(*model, classifier=classifier)
    counts = rate_table(rater, source, group_by, output=output, style=style, draw=bool(page))
    if page:
        from ..systems.film.rating import save_ratings

        save_ratings(counts.ratings, page, counts.films, language)
    print(f"{source.data}: {counts}", file=sys.stderr)
