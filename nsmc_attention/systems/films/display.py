"""A film's stars as HTML for notebooks, its reviews below."""

from html import escape
from typing import TYPE_CHECKING

from ...classification.attribution import Attribution
from ...classification.display import words_html
from ...inference.notebook import color, in_frame

if TYPE_CHECKING:
    from .rater import Rating


# The line above a film's reviews, and what is appended to it: of the blank ones, of a film that has no others
HEADS = {
    "en": (
        "<b>{0.stars:.2f} stars</b> · {0.stars_low:.2f} to {0.stars_high:.2f} (90 %) · {0.counted}",
        " · {:,} blank",
        "",
    ),
    "ko": (
        "<b>별점 {0.stars:.2f}</b> · {0.stars_low:.2f}~{0.stars_high:.2f} (90 %) · 리뷰 {0.reviews:,}개",
        " · 빈 리뷰 {:,}개",
        "글이 있는 리뷰가 없습니다",
    ),
}
# The title of a page of films, what it shows, and what it leaves out
FILM_PAGE = {
    "en": (
        "Films by their reviews",
        "Stars: the mean that other reviews of the film are expected to give; nine of ten films are within the interval. "
        "The share beside a review is its part of the film's attention, the shade of a word its part of the review's.",
        " The first {:,} of {:,} films.",
    ),
    "ko": (
        "리뷰로 예측한 영화별 별점",
        "별점: 다른 관객이 줄 것으로 예상되는 평균 별점입니다. 영화 열 편 가운데 아홉 편이 구간 안에 있습니다. 리뷰 옆의 비율은 영화 "
        "전체 어텐션에서 그 리뷰가 차지하는 몫이고, 단어가 진할수록 리뷰 안에서 가중치가 큽니다.",
        " 영화 {1:,}편 가운데 처음 {0:,}편입니다.",
    ),
}


def rating_html(rating: "Rating", language: str = "en") -> str:
    """Return a film's stars as HTML, its reviews below, shaded by their weights, and in each the words by theirs."""
    line, blank, none = HEADS[language]
    if rating.stars is None:
        return in_frame(escape(none or str(rating.error)))
    head = line.format(rating) + (blank.format(rating.blank) if rating.blank else "")
    largest = max((review.weight for review in rating.representative), default=1.0)
    rows = "".join(review_html(review.attribution, review.weight, largest) for review in rating.representative)
    return in_frame(f'<div class="nsmc-head">{head}</div>{rows}')


def review_html(attribution: Attribution, weight: float, largest: float) -> str:
    """Return a review as a row: its share of the weights, and its words."""
    share = f'<span style="background:{color(weight, largest, False)}">{100 * weight:.1f}&nbsp;%</span>'
    words = words_html(attribution.prediction, attribution.values, attribution.signed, float(max(attribution.values)))
    return f'<div class="nsmc-review">{share}{words}</div>'
