"""Explanations compared with a reader's marks: `benchmarks.classification.plausibility`."""

import numpy
import pytest

from benchmarks.classification.plausibility import marked, marked_reviews, plausibility, precision
from nsmc_attention import load_classifier


def test_marks_are_the_characters_in_brackets():
    review = marked("배우는 좋은데 [지루]하고 [길다]", 0)
    assert review.text == "배우는 좋은데 지루하고 길다" and [review.text[a:b] for a, b in review.spans] == [
        "지루",
        "길다",
    ]


def test_the_reviews_are_marked_in_part():
    reviews = marked_reviews()
    assert len(reviews) >= 100 and len({review.text for review in reviews}) == len(reviews)
    assert abs(sum(review.label for review in reviews) / len(reviews) - 0.5) < 0.1
    for review in reviews:
        letters = sum(end - start for start, end in review.spans)
        assert review.spans and 0 < letters < len(review.text) and not set("[]") & set(review.text)


def test_precision_is_the_share_of_marked_ones_among_as_many():
    wanted = numpy.array([True, False, True, False])
    assert precision(numpy.array([4, 1, 3, 2]), wanted) == 1 and precision(numpy.array([1, 4, 3, 2]), wanted) == 0.5


def test_marks_themselves_are_fully_plausible_and_chance_is_not():
    encoder, reviews = load_classifier().encoder, marked_reviews()[:40]
    encoded = encoder.encode_many([review.text for review in reviews])
    side = [(2 * one.label - 1) * one.tokens(review) for one, review in zip(reviews, encoded)]
    found = plausibility(reviews, encoded, {"contribution": side, "attention": side}, ["contribution"], seed=0)
    assert found["contribution"] == found["attention"] == 1 and 0.1 < found["random"] < 0.8
    other = plausibility(reviews, encoded, {"contribution": [-row for row in side]}, ["contribution"], seed=0)
    assert other["contribution"] == pytest.approx(0, abs=0.05)
