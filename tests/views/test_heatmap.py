"""Pictures of weights: one matrix, or those of the heads of an encoder."""

import numpy
import pytest

from nsmc_attention.classifier.attribution import Attribution
from nsmc_attention.classifier.prediction import Prediction
from nsmc_attention.drawing.figure import save_figure
from nsmc_attention.drawing.matrices import matrices
from nsmc_attention.errors import ConfigError, DataError
from nsmc_attention.systems.language.model import Filling
from nsmc_attention.views.heatmap import draw_heatmap, draw_matrices, save_heatmap
from nsmc_attention.views.page import save_heads

BLANK = Prediction("", None, None, None, (), (), numpy.zeros((0, 0), dtype="float32"), "blank: no word to score")


def prediction(tokens):
    size = len(tokens)
    weights = numpy.full((size, size), 1 / size, dtype="float32")
    return Prediction(" ".join(tokens), "positive", 0.9, 0.9, tuple(tokens), tuple((0, 0) for _ in tokens), weights)


def test_hangul_is_drawn_with_a_font_that_has_it(recwarn):
    figure = draw_heatmap(numpy.eye(3), ["가지고", "있는", "ㅋㅋ"], "수준떨어지는")
    figure.canvas.draw()
    assert not [warning for warning in recwarn if "missing from font" in str(warning.message)]


def test_svg_shows_hangul_without_any_font(tmp_path):
    save_heatmap(prediction(["영화"]), tmp_path / "a.svg")
    assert "<text" not in (tmp_path / "a.svg").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "weights, tokens, message",
    [
        (numpy.eye(2), ["가"], "expected weights of 1 x 1 for 1 queries and 1 tokens .*, found"),
        (numpy.ones(2), ["가", "나"], "expected weights of 2 x 2 .*, found"),
        (numpy.zeros((0, 0)), [], "expected at least one token"),
    ],
)
def test_weights_that_do_not_fit_the_tokens_are_refused(weights, tokens, message):
    with pytest.raises(DataError, match=message):
        draw_heatmap(weights, tokens)


WORDS, QUERIES = ["정말", "재밋", "엇", "어요", "!"], ["정말", "재미있", "었어요"]


@pytest.mark.parametrize(
    "shape, axes, rows, titles",
    [
        ((3, 5), ("queries", "keys"), QUERIES, ["a"]),
        ((2, 3, 5), ("heads", "queries", "keys"), QUERIES, ["a, head 1", "a, head 2"]),
        ((1, 2, 3, 5), ("layers", "heads", "queries", "keys"), QUERIES, ["a, layer 1, head 1", "a, layer 1, head 2"]),
        ((2, 5), ("hops", "keys"), ["hop 1", "hop 2"], ["a"]),
        ((5,), ("keys",), ["mean 1"], ["a"]),
    ],
)
def test_queries_and_keys_may_be_two_sequences_with_a_matrix_for_each_head(tmp_path, shape, axes, rows, titles):
    weights = numpy.random.RandomState(0).dirichlet(numpy.ones(5), shape[:-1])
    figure = draw_heatmap(weights, WORDS, "a", QUERIES, axes)
    plots = [plot for plot in figure.axes if plot.get_title()]
    assert [plot.get_title() for plot in plots] == titles
    for plot, matrix in zip(plots, weights.reshape(-1, len(rows), 5)):
        assert [label.get_text() for label in plot.get_xticklabels()] == WORDS
        assert [label.get_text() for label in plot.get_yticklabels()] == rows
        numpy.testing.assert_array_equal(plot.images[0].get_array(), matrix)
    save_figure(figure, tmp_path / "a.png")
    assert (tmp_path / "a.png").stat().st_size > 5000


def test_a_matrix_of_two_sequences_is_as_wide_as_its_keys_and_as_high_as_its_queries():
    width, height = draw_heatmap(numpy.full((2, 30), 1 / 30), ["긴"] * 30, queries=["가", "나"]).get_size_inches()
    assert width > 4 * height


def test_an_unknown_suffix_a_blank_review_and_no_folder_leave_nothing(tmp_path):
    with pytest.raises(ConfigError, match=r"unknown suffix '.jpg'"):
        save_heatmap(prediction(["가"]), tmp_path / "a.jpg")
    with pytest.raises(DataError, match="blank"):
        save_heatmap(BLANK, tmp_path / "a.png")
    assert not list(tmp_path.iterdir())


TOKENS = ("이", "[MASK]", "재미있", "다")


def weights(layers=3, heads=2, tokens=len(TOKENS)):
    return numpy.random.RandomState(0).dirichlet(numpy.ones(tokens), (layers, heads, tokens)).astype("float32")


def filling(heads, tokens=TOKENS):
    return Filling("".join(tokens), tokens, 1, (), heads)


def attribution(heads):
    offsets = ((0, 1), (2, 8), (9, 12), (12, 13))
    prediction = Prediction("이 [MASK] 재미있다", "positive", 0.8, 0.8, TOKENS, offsets, numpy.eye(4))
    return Attribution(prediction, numpy.ones(4), "attention", heads=heads)


def test_a_grid_has_one_scale_and_names_on_its_outer_axes_alone():
    heads = weights()
    panels = matrices(heads, TOKENS, axes=("layers", "heads", "queries", "keys"))
    figure = draw_matrices(panels, 2)
    plots = [plot for plot in figure.axes if plot.get_title()]
    assert len(figure.axes) == len(plots) + 1, "one legend for all"
    titles = [f"layer {layer}, head {head}" for layer in (1, 2, 3) for head in (1, 2)]
    assert [plot.get_title() for plot in plots] == titles
    for place, plot in enumerate(plots):
        (image,) = plot.images
        assert numpy.array_equal(image.get_array(), heads[place // 2, place % 2])
        assert image.get_clim() == (0, pytest.approx(heads.max()))
        keys, queries = ([label.get_text() for label in axis.get_ticklabels()] for axis in (plot.xaxis, plot.yaxis))
        assert keys == (list(TOKENS) if place < 2 else []) and queries == ([] if place % 2 else list(TOKENS))


@pytest.mark.parametrize("found", [attribution(weights()).by_word(), filling(weights(2, 1, 1), ("[MASK]",))])
def test_a_picture_is_written_whole(tmp_path, found):
    save_heads(found, tmp_path / "a.png")
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG") and len(list(tmp_path.iterdir())) == 1
