"""Shades on which words can be read, and hues that nobody takes for each other."""

import numpy
import pytest

from nsmc_attention.drawing.html import DARK, LIGHT

THEMES = pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
# Linear RGB as people without the red or the green cones see it (Viénot, Brettel & Mollon 1999)
BLIND = {
    "protanopia": [[0.11238, 0.88762, 0], [0.11238, 0.88762, 0], [0.00401, -0.00401, 1]],
    "deuteranopia": [[0.29275, 0.70725, 0], [0.29275, 0.70725, 0], [-0.02234, 0.02234, 1]],
}


def linear(color):
    share = numpy.asarray(color) / 255
    return numpy.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)


def contrast(one, other):
    """WCAG 2.1's contrast ratio, 1..21."""
    dark, light = sorted(float(linear(each) @ [0.2126, 0.7152, 0.0722]) for each in (one, other))
    return (light + 0.05) / (dark + 0.05)


@THEMES
@pytest.mark.parametrize("signed", [False, True])
def test_a_word_is_readable_on_every_shade(theme, signed):
    for value in numpy.linspace(-1, 1, 101):
        assert contrast(theme.ink, theme.shade(value, 1, signed)) >= 4.5


@THEMES
def test_text_is_readable_on_paper_in_every_colour_that_text_has(theme):
    for color in (theme.ink, theme.dim, theme.positive, theme.negative, theme.attention):
        assert contrast(color, theme.paper) >= 4.5


@THEMES
def test_a_larger_value_has_a_stronger_shade_and_0_the_paper(theme):
    for signed, sign in ((False, 1), (True, 1), (True, -1)):
        steps = [contrast(theme.paper, theme.shade(sign * value, 2, signed)) for value in numpy.linspace(0, 2, 21)]
        assert steps[0] == 1 and all(low < high for low, high in zip(steps, steps[1:]))
    assert theme.shade(0, 0, True) == theme.paper


@THEMES
@pytest.mark.parametrize("sight", [None, *BLIND])
def test_attention_positive_and_negative_stay_apart_for_the_colour_blind(theme, sight):
    shades = [theme.shade(1, 1, False), theme.shade(1, 1, True), theme.shade(-1, 1, True)]
    seen = [linear(each) if sight is None else BLIND[sight] @ linear(each) for each in shades]
    # what tells hues of like lightness apart: blue against yellow
    blueness = [(each[2] - each[:2].mean()) / each.sum() for each in seen]
    negative, attention, positive = sorted(blueness)
    assert [negative, attention, positive] == [blueness[2], blueness[0], blueness[1]]
    assert min(attention - negative, positive - attention) > 0.1
