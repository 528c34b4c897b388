"""What a network is given of a line: the same however it is coloured, and strips that are its columns."""

import numpy
import pytest
from numpy.random import RandomState

from nsmc_attention.drawing.figure import font_file
from nsmc_attention.systems.read.drawing import (
    Degradation,
    Style,
    common_syllables,
    degraded,
    draw,
    ink_box,
    invented_line,
    korean_faces,
    review_line,
)
from nsmc_attention.systems.read.settings import HEIGHT, STRIP
from nsmc_attention.systems.read.strips import MARGIN, cut_out, padded, strips

FACE = next(face for face in korean_faces(str(font_file().parent)) if face.path == font_file())


def line(text="재미있다", **style):
    gray, _ = draw(text, Style(FACE, **style))
    return cut_out(gray, ink_box(gray))[0]


def test_colours_do_not_matter():
    """Dark on light, light on dark, and gray on gray to the rounding of 8 bits."""
    plain = strips(line())
    assert numpy.array_equal(strips(line(ink=255, background=0)), plain)
    assert numpy.abs(strips(line(ink=60, background=200)) - plain).max() < 0.03
    assert plain.min() == 0 and plain.max() > 0.9


def test_strips_are_columns_from_left_to_right():
    gray = numpy.full((HEIGHT, 40), 255, dtype="uint8")
    gray[10:20, 9] = 0
    own = strips(gray)
    assert own.shape == (10, HEIGHT * STRIP)
    columns = own.reshape(-1, HEIGHT)
    assert numpy.flatnonzero(columns.any(axis=1)).tolist() == [9]
    assert numpy.flatnonzero(columns[9]).tolist() == list(range(10, 20))


def test_padding_has_a_margin():
    short, long = strips(line("가")), strips(line("재미있는 영화"))
    batch, lengths = padded([short, long], step=16)
    assert lengths.tolist() == [len(short), len(long)] and batch.shape[1] % 16 == 0
    assert batch.shape[1] >= len(long) + MARGIN
    assert numpy.array_equal(batch[0, : len(short)], short) and not batch[0, len(short) :].any()


@pytest.mark.parametrize("smooth", [1, 3])
@pytest.mark.parametrize("spacing", [0, 3])
def test_letters_are_where_drawing_says(smooth, spacing):
    """The ink between two ends is that of a letter: none is where a wide space is drawn."""
    gray, ends = draw("가   나", Style(FACE, size=24, smooth=smooth, spacing=spacing))
    inked = numpy.flatnonzero((gray < 128).any(axis=0))
    left, right = inked[inked < ends[1] + 1], inked[inked > ends[4] - 1]
    assert len(left) + len(right) == len(inked)
    assert left[0] >= ends[0] - 1 and right[-1] <= ends[5] + 1


def test_degradations_leave_letters():
    gray, _ = draw("재미있다", Style(FACE, size=28))
    for how in (Degradation(jpeg=50), Degradation(blur=1.0), Degradation(angle=1.0), Degradation(noise=5)):
        changed = degraded(gray, how, RandomState(0))
        assert changed.shape == gray.shape and not numpy.array_equal(changed, gray)
        own, before = ink_box(changed, 0.5), ink_box(gray, 0.5)
        assert max(abs(one - other) for one, other in zip(own, before)) <= 3
    assert degraded(gray, Degradation(scale=0.5), RandomState(0)).shape[0] == gray.shape[0] // 2


def test_lines_of_reviews_are_whole_words_within_the_limit():
    review, random = "정말 재미있는 영화였어요 시간가는줄몰랐습니다 강추", RandomState(0)
    for _ in range(200):
        text = review_line(review, 12, random)
        assert 0 < len(text) <= 12
        assert f" {text} " in f" {review} " or " " not in text and text in review


def test_invented_lines_have_syllables_that_fonts_have():
    random = RandomState(0)
    assert len(common_syllables()) == 2350
    lines = [invented_line(20, random) for _ in range(300)]
    assert all(len(text) <= 20 and text == text.strip() for text in lines)
    assert {"가" <= letter <= "힣" for text in lines for letter in text} == {True, False}
    assert all(letter in common_syllables() for text in lines for letter in text if "가" <= letter <= "힣")
