"""A film's stars, the reviews that carry the most weight, and both as HTML for notebooks and pages."""

from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any, NamedTuple, Optional

from ...classifier.attribution import Attribution
from ...classifier.prediction import Prediction
from ...drawing.html import color, in_frame, shaded_words
from ...views.page import write_page

BLANK = "blank: no review with a word"
# The line above a film's reviews, and what is appended to it: of the blank ones, of a film that has no others
HEADS = {
    "en": (
        "<b>{0.stars:.2f} stars</b> · {0.stars_low:.2f} to {0.stars_high:.2f} (90 %) · {0.counted}",
        " · {:,} blank",
        BLANK,
    ),
    "ko": (
        "<b>별점 {0.stars:.2f}</b> · {0.stars_low:.2f}~{0.stars_high:.2f} (90 %) · 리뷰 {0.reviews:,}개",
        " · 빈 리뷰 {:,}개",
        "텍스트가 있는 리뷰가 없습니다",
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
        "별점: 다른 관객이 줄 평균 별점의 예측값입니다. 영화 열 편 가운데 아홉 편은 실제 평균 별점이 구간 안에 있습니다. "
        "리뷰 옆의 비율은 리뷰의 어텐션 가중치입니다. 리뷰 안에서 가중치가 큰 단어일수록 진합니다.",
        " 영화 {1:,}편 가운데 앞의 {0:,}편만 표시합니다.",
    ),
}


class Representative(NamedTuple):
    """A review with its weight, its share of the film's attention (0 to 1), and the prediction that shows its words."""

    prediction: Prediction
    weight: float

    @property
    def attribution(self) -> Attribution:
        """The attention of its words."""
        return Attribution(self.prediction, self.prediction.token_weights.astype("float64"), "attention")

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON: text, weight, tokens, token_weights."""
        text, tokens = self.prediction.text, list(self.prediction.tokens)
        weights = self.prediction.token_weights.tolist()
        return {"text": text, "weight": self.weight, "tokens": tokens, "token_weights": weights}


@dataclass(frozen=True)
class Rating:
    """The predicted rating of a film.

    Attributes
    ----------
    reviews, blank : int
        Reviews that were read, and those without a word, which were not.
    stars, stars_low, stars_high : float or None
        The mean stars of other reviews of the film, and an interval that holds it for nine of ten films; None, with the
        reason in `error`, where no review has a word.
    representative : tuple of Representative
        The reviews with the largest weights, the largest first.
    """

    reviews: int
    blank: int
    stars: Optional[float]
    stars_low: Optional[float]
    stars_high: Optional[float]
    representative: tuple[Representative, ...] = ()

    @property
    def error(self) -> Optional[str]:
        return BLANK if self.stars is None else None

    @property
    def counted(self) -> str:
        """The number of reviews in words: "1 review"."""
        return "1 review" if self.reviews == 1 else f"{self.reviews:,} reviews"

    def __repr__(self) -> str:
        if self.stars is None:
            return f"Rating(error={self.error!r})"
        return f"Rating({self.stars:.2f} stars, {self.stars_low:.2f} to {self.stars_high:.2f}, {self.counted})"

    def to_dict(self, shown: Optional[int] = None) -> dict[str, Any]:
        """Return plain values for JSON, with at most `shown` of the reviews."""
        values: dict[str, Any] = {"reviews": self.reviews, "stars": self.stars}
        values.update(stars_low=self.stars_low, stars_high=self.stars_high)
        values["representative"] = [review.to_dict() for review in self.representative[:shown]]
        return {**values, "error": self.error} if self.error else values

    def _repr_html_(self) -> str:
        return rating_html(self)


def rating_html(rating: Rating, language: str = "en") -> str:
    """A film's stars as HTML, its reviews below, shaded by their weights, and in each the words by theirs."""
    line, blank, none = HEADS[language]
    if rating.stars is None:
        return in_frame(none)
    head = line.format(rating) + (blank.format(rating.blank) if rating.blank else "")
    largest = max((review.weight for review in rating.representative), default=1.0)
    rows = "".join(review_html(review.attribution, review.weight, largest) for review in rating.representative)
    return in_frame(f'<div class="nsmc-head">{head}</div>{rows}')


def review_html(attribution: Attribution, weight: float, largest: float) -> str:
    """Return a review as a row: its share of the weights, and its words."""
    share = f'<span style="background:{color(weight, largest, False)}">{100 * weight:.1f}&nbsp;%</span>'
    words = shaded_words(
        attribution.text, attribution.tokens, attribution.offsets, attribution.values, attribution.signed
    )
    return f'<div class="nsmc-review">{share}{words}</div>'


def save_ratings(ratings: Mapping[str, Rating], path: Path, films: int, language: str = "ko") -> None:
    """Write the page of some films, the first of so many: stars, and reviews and words shaded by weight."""
    title, about, more = FILM_PAGE[language]
    if films > len(ratings):
        about += more.format(len(ratings), films)
    sections = (f"<h2>{escape(film)}</h2>{rating_html(own, language)}" for film, own in ratings.items())
    write_page(path, "".join(f"<section>{section}</section>\n" for section in sections), title, about, language)
