"""The report's section of stars: each group's mean stars with an interval, and the reviews that carry the most weight.

reviews with their groups -> a Pool for each group -> stars of every group; reviews and words of those on the page
"""

from dataclasses import dataclass
from typing import Any

import pandas

from ..films.rater import FilmRater, Rating
from .charts import star_rows
from .page import Example, ExampleList, Section

# Reviews of a group on the page
SHOWN = 3
STARS = ["stars", "stars_low", "stars_high"]


@dataclass(frozen=True)
class FilmSection:
    """What the page shows of the groups with the most reviews: their Ratings, and the ends of the scale of stars."""

    ratings: dict[str, Rating]
    lowest: float
    highest: float


def rate_groups(rater: FilmRater, frame: pandas.DataFrame, groups: pandas.DataFrame, most: int) -> FilmSection:
    """Add STARS to the rows of `groups`, of the reviews of a frame with `group` and `text`; rate the first `most`.

    What is kept of a group does not grow with its reviews. Rows of the frame without a group belong to none.
    """
    named = frame[frame["group"].notna()]
    pools = rater.pool(zip(named["group"], named["text"]), SHOWN)
    rows = [pools[name] for name in groups.index]
    bounds = [(stars, low, high) for _, (low, stars, high) in rater.bounds(rows)]
    groups[STARS] = pandas.DataFrame(bounds, columns=STARS, index=groups.index, dtype="float64")
    ratings = dict(zip(groups.index, rater.ratings(rows[:most])))
    return FilmSection(ratings, rater.scale.lowest, rater.scale.highest)


def films_section(films: FilmSection, groups: pandas.DataFrame, name: str, say: dict[str, str]) -> Section:
    """Return the section: a line for each group with its stars, and below the reviews of each to unfold."""
    rows = groups.loc[list(films.ratings)].sort_values("stars", ascending=False, kind="stable")
    lists = [reviews_of(group, films.ratings[group], say) for group in rows.index]
    values: dict[str, Any] = {"name": name, "shown": len(rows), "count": len(groups)}
    values.update(lowest=films.lowest, highest=films.highest)
    return Section("films", star_rows(rows, films.lowest, films.highest), values, lists)


def reviews_of(name: str, rating: Rating, say: dict[str, str]) -> ExampleList:
    """Return the reviews of a group with the largest weights, each with its share."""
    shown = [
        Example(each.attribution, say["films_weight"].format(share=100 * each.weight)) for each in rating.representative
    ]
    return ExampleList(say["films_reviews"].format(name=name, stars=rating.stars), shown, folded=True)
