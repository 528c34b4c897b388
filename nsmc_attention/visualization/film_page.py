"""Films as one self-contained HTML page: their stars, their reviews shaded by weight, and the words of these by theirs."""

from collections.abc import Mapping
from html import escape
from pathlib import Path

from .._io.atomic import write_text
from ..errors import ConfigError
from ..films.display import rating_html
from ..films.rater import Rating
from .page import OWN_CHARACTERS, font_of, in_base64

PAGE = """<!DOCTYPE html>
<html lang="ko"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title><style>
@font-face {{ font-family: "Nanum"; src: url(data:font/woff;base64,{font}) }}
body {{ font: 15px/1.5 Nanum, sans-serif; max-width: 60em; margin: 1.5em auto; padding: 0 1em; color: #222; background: #fff }}
h2 {{ font-size: 1.1em; margin: 1.5em 0 .3em; overflow-wrap: anywhere }}
.nsmc-attention.nsmc-attention {{ font-family: Nanum, sans-serif; width: auto }}
p {{ color: #555; font-size: .9em }}
</style></head><body><h1>{title}</h1>
<p>Stars: the mean that other reviews of the film are expected to give; nine of ten films are within the interval. The share beside
a review is its part of the film's attention, the shade of a word its part of the review's.{more}</p>
{films}</body></html>
"""


def check_page(path: Path) -> None:
    """Raise ConfigError unless a file is named as a page."""
    if path.suffix.lower() not in (".html", ".htm"):
        raise ConfigError(f"{path}: expected a name that ends with .html, found {path.suffix!r}")


def save_ratings(ratings: Mapping[str, Rating], path: Path, films: int, title: str = "nsmc_attention film") -> None:
    """Write the page of some films, the first of so many."""
    more = f" The first {len(ratings):,} of {films:,} films." if films > len(ratings) else ""
    shown = "".join(
        f"<section><h2>{escape(film)}</h2>{rating_html(each)}</section>\n" for film, each in ratings.items()
    )
    font = in_base64(font_of({*OWN_CHARACTERS, *shown}))
    write_text(path, PAGE.format(title=escape(title), font=font, more=more, films=shown))
