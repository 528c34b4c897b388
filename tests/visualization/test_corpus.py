import numpy
import pytest

from nsmc_attention.classification.prediction import Prediction
from nsmc_attention.evaluation.attention_statistics import (
    by_distance,
    by_position,
    by_tag,
    by_word,
    entropy,
    evenness,
    token_table,
)
from nsmc_attention.text.tokenizers import mecab_tags
from nsmc_attention.visualization.corpus import draw_corpus

RANDOM = numpy.random.RandomState(0)
BLANK = Prediction("", None, None, None, (), (), numpy.zeros((0, 0), dtype="float32"), "blank: no word to score")


def prediction(text, weights, label="positive"):
    tokens = text.split()
    starts = numpy.cumsum([0] + [len(token) + 1 for token in tokens])
    offsets = tuple((int(start), int(start) + len(token)) for start, token in zip(starts, tokens))
    return Prediction(text, label, 0.9, 0.9, tuple(tokens), offsets, numpy.asarray(weights, dtype="float32"))


def random_predictions(count=40):
    words = [f"말{number}" for number in range(6)]
    return [
        prediction(" ".join(RANDOM.choice(words, size)), RANDOM.dirichlet(numpy.ones(size), size), label)
        for size, label in zip(RANDOM.randint(1, 12, count), RANDOM.choice(["positive", "negative"], count))
    ]


def test_evenness_runs_from_one_word_to_all_alike():
    assert evenness([[1.0, 0, 0], [0, 1.0]]) == 0
    assert evenness([[0.25] * 4, [0.5] * 2]) == pytest.approx(1)
    assert evenness([[0.5, 0.5], [1.0]]) == pytest.approx(1), "one token has no choice"
    assert evenness([[1.0]]) == 1
    assert entropy([0.5, 0.5]) == pytest.approx(numpy.log(2))


def equal_weights(size):
    return numpy.full(size, 1 / size, dtype="float32")


def test_rounding_takes_no_evenness_beyond_its_range():
    for size in range(2, 300):
        assert 0.9999 < evenness([equal_weights(size)]) <= 1
    assert evenness([numpy.float32([1 + 1e-6, 0])]) == 0


def test_every_token_of_a_scored_review_is_a_row_and_weighs_1_on_average():
    predictions = [*random_predictions(), BLANK]
    table = token_table(predictions)
    assert len(table) == sum(len(each.tokens) for each in predictions)
    assert table["weight"].mean() == pytest.approx(1, abs=1e-5)
    assert table["position"].between(0, 1).all()
    assert token_table([BLANK]).empty


def test_words_and_places_are_means_of_the_rows():
    table = token_table(
        [
            prediction("가 나", [[1, 0], [1, 0]]),
            prediction("나 가", [[0, 1], [0, 1]], "negative"),
            prediction("가 나", [[0.5, 0.5], [0.5, 0.5]]),
        ]
    )
    words = by_word(table, fewest=1)
    assert words.values.tolist() == [
        ["negative", "가", 1, 2.0],
        ["negative", "나", 1, 0.0],
        ["positive", "가", 2, 1.5],
        ["positive", "나", 2, 0.5],
    ]
    assert by_word(table, fewest=2)["label"].tolist() == ["positive", "positive"]
    assert by_position(table, bins=2)["weight"].tolist() == pytest.approx([1.0, 1.0])


def test_attention_of_equal_weights_is_1_at_every_distance():
    rows = by_distance([prediction("가 나 다", numpy.full((3, 3), 1 / 3)), BLANK], farthest=5)
    assert rows["distance"].tolist() == [-2, -1, 0, 1, 2] and rows["count"].tolist() == [1, 2, 3, 2, 1]
    assert rows["weight"].tolist() == pytest.approx([1] * 5)


def test_distance_is_the_key_s_place_less_the_query_s():
    following = numpy.eye(3, k=1)
    rows = by_distance([prediction("가 나 다", following)]).set_index("distance")["weight"]
    assert rows[1] == pytest.approx(3) and rows.drop(1).abs().max() == 0


def test_distances_are_of_any_matrix_and_the_mean_of_heads():
    weights = numpy.random.RandomState(0).dirichlet(numpy.ones(5), (2, 3))
    tokens, spans = tuple("가나다라마"), tuple((start, start + 1) for start in range(5))
    each = Prediction("가나다라마", "positive", 0.9, 0.9, tokens, spans, weights, axes=("heads", "queries", "keys"))
    rows = by_distance([each, each.averaged()]).set_index("distance")
    assert rows.index.tolist() == [-2, -1, 0, 1, 2, 3, 4] and rows["count"].tolist() == [1, 2, 3, 3, 3, 2, 1]
    assert rows.loc[4, "weight"] == pytest.approx(5 * weights[:, 0, 4].mean())


def test_a_token_has_the_tag_of_the_morpheme_that_it_begins_in():
    text = "영화가 지루했다"
    tags = {text[start:end]: tag for start, end, tag in mecab_tags(text)}
    assert tags["영화"].startswith("N") and tags["가"].startswith("J")
    each = Prediction(
        text,
        "negative",
        0.9,
        0.1,
        ("영화", "가", "지", "루", "했", "다"),
        ((0, 2), (2, 3), (4, 5), (5, 6), (6, 7), (7, 8)),
        numpy.full((6, 6), 1 / 6),
    )
    table = token_table([each], mecab_tags)
    assert table["tag"].tolist()[:4] == [tags["영화"], tags["가"], tags["지루"], tags["지루"]]
    assert by_tag(table, fewest=1)["share"].sum() == pytest.approx(1)
    assert mecab_tags("") == []


def test_a_figure_is_drawn_of_any_reviews():
    figure = draw_corpus(random_predictions() * 10, mecab_tags)
    assert len(figure.axes) == 6 and figure.axes[0].get_yticklabels()


def test_every_review_of_two_words_is_in_the_figure_of_evenness():
    predictions = [prediction("가 " * size, numpy.tile(equal_weights(size), (size, 1))) for size in range(1, 60)]
    bars = draw_corpus(predictions, mecab_tags).axes[5].patches
    assert sum(bar.get_height() for bar in bars) == 58
