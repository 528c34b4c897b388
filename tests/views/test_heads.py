"""Pictures of the heads of an encoder."""

import numpy
import pytest

from nsmc_attention.classifier.attribution import Attribution
from nsmc_attention.classifier.prediction import Prediction
from nsmc_attention.drawing.matrices import matrices
from nsmc_attention.systems.language.model import Filling
from nsmc_attention.views.heatmap import draw_matrices
from nsmc_attention.views.page import save_heads

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
