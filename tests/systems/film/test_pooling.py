"""Pooling in one pass, whose order and cuts change nothing, and the scale of its intervals."""

import math

import numpy
import pytest

from nsmc_attention.errors import BundleError
from nsmc_attention.systems.film.pooling import COUNTS, Pool, Scale
from nsmc_attention.systems.film.train import COVERAGE, inside, margin

RANDOM = numpy.random.RandomState(0)
COUNT = 1000
SCORES = RANDOM.normal(0, 5, COUNT).astype("float32")
VALUES = RANDOM.normal(0, 1, (COUNT, 6)).astype("float32")
TEXTS = [f"리뷰 {number}" for number in range(COUNT)]


def pooled(order, size, scores=SCORES):
    pool = Pool(3)
    for start in range(0, len(order), size):
        part = list(order[start : start + size])
        pool.add(scores[part], VALUES[part], [TEXTS[place] for place in part])
    return pool


@pytest.mark.parametrize("size", [1, 7, 333, COUNT])
@pytest.mark.parametrize("order", [numpy.arange(COUNT), numpy.random.RandomState(1).permutation(COUNT)])
def test_neither_order_nor_cuts_matter(order, size):
    found, whole = pooled(order, size), pooled(numpy.arange(COUNT), COUNT)
    numpy.testing.assert_allclose(found.pooled, whole.pooled, rtol=1e-10, atol=1e-12)
    assert [text for text, _ in found.weights] == [text for text, _ in whole.weights]
    assert [weight for _, weight in found.weights] == pytest.approx([weight for _, weight in whole.weights])


def test_what_is_pooled_is_the_weighted_and_the_plain_mean():
    weights = numpy.exp(SCORES.astype("float64") - SCORES.max())
    weights /= weights.sum()
    found = pooled(numpy.arange(COUNT), 10)
    numpy.testing.assert_allclose(found.pooled, numpy.concatenate([weights @ VALUES, VALUES.mean(axis=0)]), atol=1e-6)
    best = numpy.argsort(-weights)[:3]
    assert found.weights == [(TEXTS[place], pytest.approx(weights[place])) for place in best]
    # memory does not grow with the reviews
    assert found.weighted.shape == found.summed.shape == (6,) and len(found.best) == 3 and found.count == COUNT


def test_scores_far_apart_do_not_overflow():
    scores = numpy.full(COUNT, -1e4, dtype="float32")
    scores[500] = 1e4
    found = pooled(numpy.arange(COUNT), 100, scores)
    numpy.testing.assert_allclose(found.pooled[:6], VALUES[500])
    assert found.weights[0] == (TEXTS[500], pytest.approx(1))


SCALE = Scale("pretrained", "ab" * 32, 258, 1.0, 10.0, [0.5] * len(COUNTS))


@pytest.mark.parametrize(
    "content", [b"", b"[]", b"{}", b"3", b"\xff", SCALE.to_json()[:-3].encode() + b', "other": 1}']
)
def test_another_content_is_refused(content):
    with pytest.raises(BundleError, match="scale.json: expected the scale of a film network"):
        Scale.from_json(content, "scale.json")


def widened(quantiles, counts, margins, bounds=(1.0, 10.0)):
    return Scale("", "", 0, *bounds, margins).intervals(quantiles, counts)


@pytest.mark.parametrize("half", [0.0, 0.5, 3.0])
def test_widened_or_narrowed_quantiles_hold_nine_of_ten_new_films(half):
    random = numpy.random.RandomState(0)
    seen, new = random.normal(5, 1, (2, 4000))
    more = margin(seen * 0 + 5 - half, seen * 0 + 5 + half, seen)
    quantiles = numpy.tile([5 - half, 5, 5 + half], (4000, 1))
    found = widened(quantiles, numpy.full(4000, 5), [more] * len(COUNTS))
    assert inside(found, new) == pytest.approx(COVERAGE, abs=0.02)


def test_the_margin_is_the_conformal_quantile():
    stars = numpy.arange(19.0)
    assert margin(stars * 0, stars * 0, stars) == 17, "the 18th of 19 distances: ceil(20 * 0.9)"
    assert margin(numpy.zeros(8), numpy.zeros(8), numpy.ones(8)) == math.inf, "too few to promise anything"


def test_margins_are_interpolated_between_numbers_of_reviews():
    margins = numpy.linspace(2, 0, len(COUNTS))
    quantiles = numpy.tile([5.0, 5.5, 6.0], (4, 1))
    low = widened(quantiles, numpy.array([1, 4, 5, 10**6]), margins, (-100, 100))[:, 0]
    assert low[0] == 3 and low[3] == 5 and low[0] < low[1] < low[2] < low[3]


def test_an_interval_stays_within_the_stars_and_around_its_middle():
    quantiles = numpy.array([[-3.0, 9.5, 12.0], [5.0, 5.5, 6.0]])
    wide, narrow = (widened(quantiles, numpy.ones(2), [each] * len(COUNTS)) for each in (1.0, -4.0))
    assert wide[0].tolist() == [1, 9.5, 10] and narrow[1].tolist() == [5.5, 5.5, 5.5]
    assert inside(wide, numpy.array([1.0, 10.0])) == 0.5
