"""What the attention of many reviews is on: words, tags, hops, and how evenly it is spread."""

import numpy
import pytest

from nsmc_attention.classifier.prediction import Prediction
from nsmc_attention.measure.metrics import evenness, overlap
from nsmc_attention.text.tokenizers import mecab_tags
from nsmc_attention.views.heatmap import by_hop, tags_at

RANDOM = numpy.random.RandomState(0)
BLANK = Prediction("", None, None, None, (), (), numpy.zeros((0, 0), "float32"), "blank", ("hops", "keys"))


def prediction(text, weights, label="positive", axes=("hops", "keys")):
    spans = tuple((2 * place, 2 * place + 1) for place in range(len(text.split())))
    return Prediction(text, label, 0.9, 0.9, tuple(text.split()), spans, numpy.asarray(weights, "float32"), axes=axes)


def test_overlap_is_1_less_the_total_variation_distance_averaged_over_pairs_and_reviews():
    many = [RANDOM.dirichlet(numpy.ones(size), 3) for size in (2, 5, 9)]
    pairs = [(each[one], each[other]) for each in many for one, other in ((0, 1), (0, 2), (1, 2))]
    distances = [numpy.abs(one - other).sum() / 2 for one, other in pairs]
    assert overlap(many) == pytest.approx(1 - numpy.mean(distances))
    assert overlap([numpy.ones((3, 1)), numpy.eye(2)]) == 0, "of reviews of one token there is none"
    assert overlap([[[0.5, 0.5]]]) == overlap([numpy.ones((3, 1))]) == overlap([]) == 0


def test_words_are_those_that_each_hop_takes():
    many = [prediction("가 나", [[1, 0], [0, 1]]), prediction("나 가", [[0, 1], [0.5, 0.5]]), BLANK]
    first, second = by_hop(many, fewest=2)
    assert first.values.tolist() == [["가", 2, 2.0], ["나", 2, 0.0]]
    assert second.values.tolist() == [["나", 2, 1.5], ["가", 2, 0.5]]
    assert [len(rows) for rows in by_hop(many, fewest=3)] == [0, 0] and by_hop([BLANK]) == []


def test_evenness_runs_from_one_word_to_all_alike():
    assert evenness([[1.0, 0, 0], [0, 1.0]]) == 0
    assert evenness([[0.25] * 4, [0.5] * 2]) == pytest.approx(1)
    assert evenness([[0.5, 0.5], [1.0]]) == pytest.approx(1), "one token has no choice"
    assert evenness([[1.0]]) == 1
    # rounding takes none beyond its range
    for size in range(2, 300):
        assert 0.9999 < evenness([numpy.full(size, 1 / size, dtype="float32")]) <= 1
    assert evenness([numpy.float32([1 + 1e-6, 0])]) == 0


def test_a_token_has_the_tag_of_the_morpheme_that_it_begins_in():
    text = "영화가 지루했다"
    tags = {text[start:end]: tag for start, end, tag in mecab_tags(text)}
    assert tags["영화"].startswith("N") and tags["가"].startswith("J")
    offsets = ((0, 2), (2, 3), (4, 5), (5, 6), (6, 7), (7, 8))
    assert tags_at(offsets, mecab_tags(text))[:4] == [tags["영화"], tags["가"], tags["지루"], tags["지루"]]
