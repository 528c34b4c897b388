"""Ratings of groups of reviews, for reports and for tables of any size; see `registry.modules`."""

from .pooling_scorer import PoolingScorer, merge
from .rater import FilmRater, rater_of
from .rows import names_of, shown_in, write_ratings

__all__ = ["PoolingScorer", "load", "merge", "names_of", "rater_of", "shown_in", "write_ratings"]
load = FilmRater.load
