"""What the hops of many reviews attend to; visualization/test_corpus tests the other statistics, with their figure."""

import numpy
import pytest

from nsmc_attention.classification.prediction import Prediction
from nsmc_attention.evaluation.attention_statistics import by_hop, overlap

RANDOM = numpy.random.RandomState(0)
BLANK = Prediction("", None, None, None, (), (), numpy.zeros((0, 0), "float32"), "blank", ("hops", "keys"))


def prediction(text, weights):
    spans = tuple((2 * place, 2 * place + 1) for place in range(len(text.split())))
    return Prediction(
        text, "positive", 0.9, 0.9, tuple(text.split()), spans, numpy.asarray(weights, "float32"), axes=("hops", "keys")
    )


def test_equal_hops_overlap_wholly_and_hops_on_different_tokens_not_at_all():
    assert overlap([numpy.full((3, 4), 0.25)] * 2) == pytest.approx(1)
    assert overlap([numpy.eye(3), numpy.eye(3, 7)]) == 0
    assert overlap([[[1, 0], [0.25, 0.75]]]) == 0.25


def test_overlap_is_1_less_the_total_variation_distance_averaged_over_pairs_and_reviews():
    many = [RANDOM.dirichlet(numpy.ones(size), 3) for size in (2, 5, 9)]
    pairs = [(each[one], each[other]) for each in many for one, other in ((0, 1), (0, 2), (1, 2))]
    distances = [numpy.abs(one - other).sum() / 2 for one, other in pairs]
    assert overlap(many) == pytest.approx(1 - numpy.mean(distances))


def test_the_order_of_hops_and_of_tokens_and_padding_do_not_change_the_overlap():
    each = RANDOM.dirichlet(numpy.ones(6), 4)
    expected = overlap([each])
    assert overlap([each[::-1]]) == pytest.approx(expected) == pytest.approx(overlap([each[:, RANDOM.permutation(6)]]))
    assert overlap([numpy.pad(each, ((0, 0), (0, 3)))]) == pytest.approx(expected)


def test_reviews_of_one_token_and_single_hops_have_no_overlap():
    assert overlap([numpy.ones((3, 1)), numpy.eye(2)]) == 0, "only the second counts"
    assert overlap([[[0.5, 0.5]]]) == overlap([numpy.ones((3, 1))]) == overlap([]) == 0


def test_words_are_those_that_each_hop_takes():
    many = [prediction("가 나", [[1, 0], [0, 1]]), prediction("나 가", [[0, 1], [0.5, 0.5]]), BLANK]
    first, second = by_hop(many, fewest=2)
    assert first.values.tolist() == [["가", 2, 2.0], ["나", 2, 0.0]]
    assert second.values.tolist() == [["나", 2, 1.5], ["가", 2, 0.5]]
    assert [len(rows) for rows in by_hop(many, fewest=3)] == [0, 0] and by_hop([BLANK]) == []


def test_a_word_weighs_1_on_average_in_every_hop():
    many = [prediction("가 나 다 라", RANDOM.dirichlet(numpy.ones(4), 3)) for _ in range(9)]
    for rows in by_hop(many, fewest=1):
        assert (rows["count"] * rows["weight"]).sum() / rows["count"].sum() == pytest.approx(1, abs=1e-5)
