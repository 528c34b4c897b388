"""The rating of groups of reviews in reports; see `registry.modules`."""

from .rater import rater_of

__all__ = ["rater_of"]
