"""The page of rated films."""

from collections.abc import Mapping
from html import escape
from pathlib import Path

from ...errors import ConfigError
from ...visualization.pictures import PAGE
from ..sequences.pages import write_page
from .rating import FILM_PAGE, Rating, rating_html


def save_ratings(ratings: Mapping[str, Rating], path: Path, films: int, language: str = "ko") -> None:
    """Write the page of some films, the first of so many: stars, reviews shaded by weight, and their words by theirs."""
    title, about, more = FILM_PAGE[language]
    if films > len(ratings):
        about += more.format(len(ratings), films)
    sections = (f"<h2>{escape(film)}</h2>{rating_html(own, language)}" for film, own in ratings.items())
    write_page(path, "".join(f"<section>{section}</section>\n" for section in sections), title, about, language)


def check_page(path: Path) -> None:
    """Raise ConfigError unless a file is named as a page."""
    if path.suffix.lower() not in (PAGE, ".htm"):
        raise ConfigError(f"{path}: expected a name that ends with .html, found {path.suffix!r}")
