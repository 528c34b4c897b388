"""Lines are found where they were drawn: one box for each, in reading order, and none for what is no text."""

import io
import time

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image, ImageDraw, ImageFont

from nsmc_attention.drawing.figure import font_file
from nsmc_attention.errors import DataError
from nsmc_attention.systems.read.drawing import ink_box
from nsmc_attention.systems.read.layout import find_lines, framed_contrast
from nsmc_attention.systems.read.rules import without_rules

TEXTS = ("배우는 좋은데 영화는 별로", "시간이 아깝네요 ㅠㅠ", "으으음... 두 번 봤어요!")
TEXTS += ("Good 영화 10점 (강추)", "오오 좋소 요요")
LIGHT, DARK = (255, 0), (18, 228)


def page(width=700, height=500, background=255):
    picture = Image.new("L", (width, height), background)
    return picture, ImageDraw.Draw(picture)


def written(pen, place, text, size=20, ink=0):
    pen.text(place, text, fill=ink, font=ImageFont.truetype(str(font_file()), size))


def tops_of(pen, left, top, texts, size, ink, pitch=1.5):
    """Draw lines below each other; return the top of each."""
    tops = [top + round(size * pitch * number) for number in range(len(texts))]
    for own, text in zip(tops, texts):
        written(pen, (left, own), text, size, ink)
    return tops


def assert_at(boxes, places):
    """Each box begins within a letter of its place (left, top, size) and is one line high."""
    assert len(boxes) == len(places), boxes
    for box, (left, top, size) in zip(boxes, places):
        assert abs(box.left - left) <= size and -size / 4 <= box.top - top <= size
        assert 0.6 * size <= box.bottom - box.top <= 1.4 * size


@given(
    texts=st.lists(st.sampled_from(TEXTS), min_size=1, max_size=6),
    size=st.integers(11, 44),
    pitch=st.sampled_from([1.25, 1.5, 2.0]),
    colors=st.sampled_from([LIGHT, DARK, (200, 60)]),
)
def test_each_drawn_line_has_a_box_in_order(texts, size, pitch, colors):
    picture, pen = page(900, 600, colors[0])
    tops = tops_of(pen, 20, 20, texts, size, colors[1], pitch)
    assert_at(find_lines(numpy.asarray(picture)), [(20, top, size) for top in tops])


@given(text=st.sampled_from(TEXTS), size=st.integers(11, 44), edge=st.integers(0, 4))
def test_a_picture_of_one_line_is_its_box(text, size, edge):
    picture, pen = page(1000, 100)
    written(pen, (20, 20), text, size)
    left, top, right, bottom = ink_box(numpy.asarray(picture))
    gray = numpy.asarray(picture)[top - edge : bottom + edge, left - edge : right + edge]
    (box,) = find_lines(gray)
    assert numpy.allclose(box, (edge, edge, right - left + edge, bottom - top + edge), atol=2)


@pytest.mark.parametrize("colors", [(255, 238, 30), (255, 215, 20), (18, 45, 230), (255, 96, 255), (20, 200, 10)])
def test_text_in_bubbles_is_found_below_each_other(colors):
    background, bubble, ink = colors
    picture, pen = page(500, 420, background)
    places = []
    for number, texts in enumerate([TEXTS[:2], ["ㅋㅋㅋ"], TEXTS[2:4], ["네"]]):
        left, top = 20 + 180 * (number % 2), 10 + 100 * number
        pen.rounded_rectangle((left, top, left + 280, top + 24 + 28 * len(texts)), 14, bubble)
        tops = tops_of(pen, left + 14, top + 12, texts, 18, ink)
        places += [(left + 14, own, 18) for own in tops]
    assert_at(find_lines(numpy.asarray(picture)), places)


@pytest.mark.parametrize("paper", [195, 245, 229, 120, 0])
@pytest.mark.parametrize("edge", [4, 8])
def test_lighter_bubbles_that_fit_tightly_round_one_line_are_found(paper, edge):
    picture, pen = page(420, 300, paper)
    places = [(20 + 120 * (number % 2), 20 + 58 * number, 18) for number in range(4)]
    for (left, top, size), text in zip(places, TEXTS):
        box = pen.textbbox((left, top), text, font=ImageFont.truetype(str(font_file()), size))
        pen.rounded_rectangle((box[0] - edge, box[1] - edge, box[2] + edge, box[3] + edge), 8, 255)
        written(pen, (left, top), text, size)
    assert_at(find_lines(numpy.asarray(picture)), places)


@pytest.mark.parametrize("colors", [(255, 107, 255), (16, 107, 255), (255, 60, 255)])
@pytest.mark.parametrize("padding", [5, 6])
def test_a_number_in_a_badge_is_as_wide_as_its_digits(colors, padding):
    picture, pen = page(400, 120, colors[0])
    written(pen, (20, 20), TEXTS[0], 14, colors[2] if colors[0] < 100 else 0)
    left, top, right, bottom = pen.textbbox((300, 60), "24", font=ImageFont.truetype(str(font_file()), 11))
    pen.rounded_rectangle((left - padding, top - 2, right + padding, bottom + 2), 8, colors[1])
    written(pen, (300, 60), "24", 11, colors[2])
    _, box = find_lines(numpy.asarray(picture))
    assert abs(box.left - left) <= 1 and abs(box.right - right) <= 1


@pytest.mark.parametrize("pitches", [(1.5, 1.5), (1.4, 1.9)])
@pytest.mark.parametrize("colors", [LIGHT, DARK])
def test_the_left_column_is_read_before_the_right_one(colors, pitches):
    picture, pen = page(760, 400, colors[0])
    written(pen, (20, 10), "두 단으로 된 글의 제목은 그 위에 길게 쓰여 있다", 28, colors[1])
    places = [(20, 10, 28)]
    for left, pitch in zip((20, 400), pitches):
        places += [(left, top, 18) for top in tops_of(pen, left, 80, TEXTS, 18, colors[1], pitch)]
    assert_at(find_lines(numpy.asarray(picture)), places)


def test_letters_that_are_set_apart_have_wide_spaces_between_their_words():
    """As in Gulim: 6 pixels between letters of 20, and 20 between words, as many as there are to an icon."""
    picture, pen = page()
    left = 20
    for letter in "글자 사이가 넓은 줄":
        written(pen, (left, 20), letter)
        left += 14 if letter == " " else 24
    (box,) = find_lines(numpy.asarray(picture))
    assert box.left < 30 and box.right > left - 30


@pytest.mark.parametrize("text", ["...", "......", "ㅋㅋㅋ", "^^", "ㅡㅡ", "~", "ㅠㅠ"])
def test_low_lines_are_as_high_as_others(text):
    picture, pen = page()
    tops = tops_of(pen, 20, 20, [TEXTS[0], text, TEXTS[1]], 20, 0)
    boxes = find_lines(numpy.asarray(picture))
    assert_at(boxes, [(20, top, 20) for top in tops])
    assert boxes[0].bottom <= boxes[1].top and boxes[1].bottom <= boxes[2].top


@pytest.mark.parametrize("kind", ["rule", "frame", "disc", "photograph", "bars"])
def test_what_is_beside_text_is_no_line(kind):
    picture, pen = page()
    if kind == "rule":
        pen.line((10, 12, 690, 12), 190, 2)
        pen.line((10, 130, 690, 130), 0, 1)
    elif kind == "frame":
        pen.rounded_rectangle((8, 8, 600, 140), 10, None, 120)
    elif kind == "disc":
        pen.ellipse((40, 20, 90, 70), 90)
    elif kind == "photograph":
        noise = numpy.random.RandomState(1).randint(0, 256, (60, 60)).astype("uint8")
        picture.paste(Image.fromarray(noise), (30, 20))
    else:
        pen.rectangle((20, 200, 400, 300), 60)
    tops = tops_of(pen, 110, 20, TEXTS[:3], 20, 0)
    assert_at(find_lines(numpy.asarray(picture)), [(110, top, 20) for top in tops])


@pytest.mark.parametrize("quality", [85, 60, 40])
@pytest.mark.parametrize("colors", [LIGHT, DARK])
def test_jpeg_adds_no_lines(colors, quality):
    picture, pen = page(background=colors[0])
    tops = tops_of(pen, 20, 20, TEXTS, 18, colors[1])
    file = io.BytesIO()
    picture.save(file, "JPEG", quality=quality)
    boxes = find_lines(numpy.asarray(Image.open(file)))
    assert_at(boxes, [(20, top, 18) for top in tops])


RANDOM = numpy.random.RandomState(0)
SHAPES = (0, 0), (0, 5), (1, 1), (3, 400), (300, 200)
NO_TEXT = [numpy.full(shape, gray) for shape in SHAPES for gray in (0, 120, 255)]
NO_TEXT += [RANDOM.randint(0, 256, (300, 400)), (128 + 25 * RANDOM.randn(300, 400)).clip(0, 255)]
NO_TEXT += [numpy.tile(numpy.linspace(0, 255, 400), (300, 1))]


@pytest.mark.parametrize("gray", NO_TEXT, ids=range(len(NO_TEXT)))
def test_a_blank_picture_noise_and_a_gradient_have_no_lines(gray):
    assert find_lines(gray.astype("uint8")) == []


@given(st.binary(min_size=1, max_size=400), st.integers(1, 20))
def test_any_pixels_have_boxes_inside_the_picture(pixels, width):
    whole = pixels[: max(1, len(pixels) // width) * width].ljust(width, b"\0")
    gray = numpy.frombuffer(whole, "uint8").reshape(-1, width)
    for box in find_lines(gray):
        assert 0 <= box.left < box.right <= width and 0 <= box.top < box.bottom <= len(gray)


def test_a_picture_of_more_marks_than_dense_text_has_is_refused_at_once():
    gray = numpy.full((1800, 1800), 255, "uint8")
    gray[::6, ::6] = 0
    started = time.perf_counter()
    with pytest.raises(DataError, match="at most 32,768 separate marks, as of dense text, found 90,000"):
        find_lines(gray)
    assert time.perf_counter() - started < 2
    # a screen full of small text has half as many
    gray[::12] = 255
    gray[:, ::12] = 255
    find_lines(gray)


@pytest.mark.parametrize("gap", [1, 2])
def test_text_one_pixel_above_a_rule_is_found(gap):
    picture, pen = page()
    tops = tops_of(pen, 20, 20, TEXTS[:3], 20, 0)
    for top, text in zip(tops, TEXTS):
        below = pen.textbbox((20, top), text, font=ImageFont.truetype(str(font_file()), 20))[3] + gap
        pen.line((10, below, 600, below), 120, 1)
    gray = numpy.asarray(picture)
    assert_at(find_lines(without_rules(gray, framed_contrast(gray))), [(20, top, 20) for top in tops])


@given(size=st.integers(14, 32), thick=st.integers(1, 6), rows=st.integers(1, 4), colors=st.sampled_from([LIGHT, DARK]))
def test_each_cell_of_a_table_is_a_line(size, thick, rows, colors):
    picture, pen = page(900, 400, colors[0])
    places = [(20 + 7 * size * (number % 3), 20 + 2 * size * (number // 3)) for number in range(3 * rows)]
    for left, top in places:
        pen.rectangle((left, top, left + 7 * size + thick - 1, top + 2 * size + thick - 1), None, 120, thick)
        written(pen, (left + size, top + 0.4 * size + thick / 2), "별점 높음", size, colors[1])
    assert len(find_lines(numpy.asarray(picture))) == len(places)
