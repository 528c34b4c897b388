"""Figures of three classes, where the data has neutral reviews."""

import pandas
import pytest

from nsmc_attention import evaluate, load_classifier, load_reviews

REVIEWS = ["정말 좋아요", "별로예요", "그냥 그래요", "언제 와요?", "최고예요", "환불했어요"]


@pytest.mark.parametrize(
    "name, cells", [("별점", [5, 1, 3, 3, 5, 1]), ("감성", ["긍정", "부정", "중립", "중립", "긍정", "부정"])]
)
def test_neutral_reviews_are_a_class_of_their_own(tmp_path, name, cells):
    pandas.DataFrame({"리뷰": REVIEWS, name: cells}).to_csv(tmp_path / "a.csv", index=False)
    reviews = load_reviews(tmp_path / "a.csv")
    assert reviews.neutral == ["그냥 그래요", "언제 와요?"] and len(reviews) == 4
    found = evaluate(load_classifier(), reviews)["three_classes"]
    # rows are negative, neutral and positive, the last column is no opinion
    assert found["confusion"] == [[2, 0, 0, 0], [0, 1, 0, 1], [0, 0, 2, 0]]
    assert found["macro_f1"] == pytest.approx((1 + 2 / 3 + 1) / 3)
    assert "three_classes" not in evaluate(load_classifier(), load_reviews("sample", "test"))
