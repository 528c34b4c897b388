"""A film's stars as HTML for notebooks, its reviews below."""

from html import escape
from typing import TYPE_CHECKING

from ..classification.attribution import Attribution
from ..classification.display import words_html
from ..inference.notebook import color, in_frame

if TYPE_CHECKING:
    from .rater import Rating


def rating_html(rating: "Rating") -> str:
    """Return a film's stars as HTML, its reviews below, shaded by their weights, and in each the words by theirs."""
    if rating.stars is None:
        return in_frame(escape(str(rating.error)))
    blank = f" · {rating.blank:,} blank" if rating.blank else ""
    span = f"{rating.stars_low:.2f} to {rating.stars_high:.2f} (90 %)"
    head = f"<b>{rating.stars:.2f} stars</b> · {span} · {rating.counted}{blank}"
    largest = max((review.weight for review in rating.representative), default=1.0)
    rows = "".join(review_html(review.attribution, review.weight, largest) for review in rating.representative)
    return in_frame(f'<div class="nsmc-head">{head}</div>{rows}')


def review_html(attribution: Attribution, weight: float, largest: float) -> str:
    """Return a review as a row: its share of the weights, and its words."""
    share = f'<span style="background:{color(weight, largest, False)}">{100 * weight:.1f}&nbsp;%</span>'
    words = words_html(attribution.prediction, attribution.values, attribution.signed, float(max(attribution.values)))
    return f'<div class="nsmc-review">{share}{words}</div>'
