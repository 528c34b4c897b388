"""A film's predicted rating with its most important reviews, and their HTML for notebooks and pages."""

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
# Line above a film's reviews, its addition for blank reviews, and its replacement if all reviews are blank
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
# Title of a page of films, explanation of its content, and note on omitted films
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
    """A review as a prediction with token weights, and its share of the film's attention (0 to 1)."""

    prediction: Prediction
    weight: float

    @property
    def attribution(self) -> Attribution:
        """Attention weights of the review's words."""
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
        Numbers of reviews that were read, and of reviews without a word, which were skipped.
    stars, stars_low, stars_high : float or None
        Expected mean stars of other reviews of the film, and an interval that contains this mean for nine of ten films;
        None, with the reason in `error`, if no review has a word.
    representative : tuple of Representative
        Reviews with the largest weights, in descending order.
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
        """The number of reviews with its noun: "1 review"."""
        return "1 review" if self.reviews == 1 else f"{self.reviews:,} reviews"

    def __repr__(self) -> str:
        if self.stars is None:
            return f"Rating(error={self.error!r})"
        return f"Rating({self.stars:.2f} stars, {self.stars_low:.2f} to {self.stars_high:.2f}, {self.counted})"

    def to_dict(self, shown: Optional[int] = None) -> dict[str, Any]:
        """Return plain values for JSON, with at most `shown` of the representative reviews."""
        values: dict[str, Any] = {"reviews": self.reviews, "stars": self.stars}
        values.update(stars_low=self.stars_low, stars_high=self.stars_high)
        values["representative"] = [review.to_dict() for review in self.representative[:shown]]
        return {**values, "error": self.error} if self.error else values

    def _repr_html_(self) -> str:
        return rating_html(self)


def rating_html(rating: Rating, language: str = "en") -> str:
    """Return a film's stars and its reviews as HTML, with reviews and words shaded by their weights."""
    line, blank, all_blank = HEADS[language]
    if rating.stars is None:
        return in_frame(all_blank)
    head = line.format(rating) + (blank.format(rating.blank) if rating.blank else "")
    largest = max((review.weight for review in rating.representative), default=1.0)
    rows = "".join(review_html(review.attribution, review.weight, largest) for review in rating.representative)
    return in_frame(f'<div class="nsmc-head">{head}</div>{rows}')


def review_html(attribution: Attribution, weight: float, largest: float) -> str:
    """Return an HTML row for a review: weight in percent and shaded words; the weight `largest` is the darkest."""
    share = f'<span style="background:{color(weight, largest, False)}">{100 * weight:.1f}&nbsp;%</span>'
    words = shaded_words(
        attribution.text, attribution.tokens, attribution.offsets, attribution.values, attribution.signed
    )
    return f'<div class="nsmc-review">{share}{words}</div>'


def save_ratings(ratings: Mapping[str, Rating], path: Path, films: int, language: str = "ko") -> None:
    """Write a page of ratings with shaded reviews and words; a note says if there are more `films` than ratings."""
    title, about, omitted = FILM_PAGE[language]
    if films > len(ratings):
        about += omitted.format(len(ratings), films)
    sections = (f"<h2>{escape(film)}</h2>{rating_html(rating, language)}" for film, rating in ratings.items())
    write_page(path, "".join(f"<section>{section}</section>\n" for section in sections), title, about, language)
