"""Pictures of the heads of an encoder."""

import numpy
import pytest

from nsmc_attention.errors import ConfigError, DataError
from nsmc_attention.inference.attribution import Attribution
from nsmc_attention.inference.language import Filling
from nsmc_attention.inference.matrices import matrices
from nsmc_attention.inference.prediction import Prediction
from nsmc_attention.model.settings import AXES
from nsmc_attention.visualization.heatmap import draw_heads
from nsmc_attention.visualization.pictures import save_heads

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
    figure = draw_heads(matrices(heads, TOKENS, axes=("layers", "heads", *AXES)), 2)
    plots = [plot for plot in figure.axes if plot.get_title()]
    assert [plot.get_title() for plot in plots] == [
        f"layer {layer}, head {head}" for layer in (1, 2, 3) for head in (1, 2)
    ]
    for place, plot in enumerate(plots):
        (image,) = plot.images
        assert numpy.array_equal(image.get_array(), heads[place // 2, place % 2])
        assert image.get_clim() == (0, pytest.approx(heads.max()))
        keys, queries = ([label.get_text() for label in axis.get_ticklabels()] for axis in (plot.xaxis, plot.yaxis))
        assert keys == (list(TOKENS) if place < 2 else []) and queries == ([] if place % 2 else list(TOKENS))


@pytest.mark.parametrize("suffix, magic", [(".png", b"\x89PNG"), (".svg", b"<?xml"), (".pdf", b"%PDF")])
def test_every_format_is_written_whole(tmp_path, suffix, magic):
    for name, found in (("fill", filling(weights())), ("explain", attribution(weights()).by_word())):
        path = tmp_path / f"{name}{suffix}"
        save_heads(found, path)
        assert path.read_bytes().startswith(magic)
    assert len(list(tmp_path.iterdir())) == 2


@pytest.mark.parametrize("chosen", [{"layer": 2}, {"head": 1}, {"layer": 2, "head": 1}])
def test_a_picture_of_one_layer_or_head_shows_no_other(tmp_path, chosen):
    heads = weights()
    shown = numpy.zeros(heads.shape[:2], bool)
    shown[tuple(slice(None) if name not in chosen else chosen[name] - 1 for name in ("layer", "head"))] = True
    others = numpy.where(shown[..., None, None], heads, numpy.eye(len(TOKENS)))
    flipped = numpy.where(shown[..., None, None], heads[..., ::-1], heads)
    for name, each in (("own", heads), ("others", others), ("flipped", flipped)):
        save_heads(filling(each), tmp_path / f"{name}.png", **chosen)
    own, others, flipped = ((tmp_path / f"{name}.png").read_bytes() for name in ("own", "others", "flipped"))
    assert own == others != flipped


@pytest.mark.parametrize("tokens", [1, 2])
def test_few_tokens_are_drawn(tmp_path, tokens):
    save_heads(filling(weights(2, 1, tokens), ("영화",) * tokens), tmp_path / "a.png")
    assert (tmp_path / "a.png").stat().st_size > 5000


@pytest.mark.parametrize(
    "heads, name, chosen, message",
    [
        (weights(), "a.png", {"layer": 4}, "--layer: expected 1 to 3, found 4"),
        (weights(), "a.png", {"layer": 1, "head": 0}, "--head: expected 1 to 2, found 0"),
        (weights(), "a.html", {}, "unknown suffix '.html'"),
        (
            None,
            "a.png",
            {},
            "a.png: expected the heads of an encoder that is a transformer, found another encoder; take",
        ),
    ],
)
def test_what_cannot_be_drawn_is_refused_with_a_line(tmp_path, heads, name, chosen, message):
    for found in (filling(heads), attribution(heads)):
        with pytest.raises((ConfigError, DataError), match=message):
            save_heads(found, tmp_path / name, **chosen)
    assert not list(tmp_path.iterdir())
