"""Pooling in one pass: order and cuts change nothing, and the weights are a softmax."""

import numpy
import pytest

from nsmc_attention.systems.film.pooling import Pool

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


def test_a_text_that_is_there_again_is_kept_once():
    pool = Pool(3)
    for scores in ([3, 3, 1], [3, 2, 3]):
        pool.add(numpy.float32(scores), VALUES[:3], ["최고" if score == 3 else f"{score}" for score in scores])
    assert [text for text, _ in pool.weights] == ["최고", "2", "1"] and pool.count == 6
