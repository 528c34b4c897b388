"""From a picture to a Reading, whatever the network has learnt; what the packaged one reads is in tests/systems/test_pretrained.py."""

import json
from types import SimpleNamespace

import numpy
import pytest
from PIL import Image, ImageDraw

from nsmc_attention import load_classifier, load_reader, read, save_reading
from nsmc_attention.drawing.figure import font_file
from nsmc_attention.errors import ConfigError, DataError
from nsmc_attention.systems.read.drawing import Style, draw, korean_faces
from nsmc_attention.systems.read.reader import PictureReader, is_readable
from nsmc_attention.systems.read.reading import COLUMNS, LEAST, SURE, SURER, SUREST, Line, Reading, write_readings
from nsmc_attention.systems.read.strips import Box
from nsmc_attention.systems.sequences.characters import END, edit_distance
from nsmc_attention.systems.sequences.search import Hypothesis

FACE = next(face for face in korean_faces(str(font_file().parent)) if face.path == font_file())
TEXTS = ("정말 재미있는 영화였어요", "별로", "ㅋㅋㅋ 시간 가는 줄 몰랐다!!")
WIDTH = 400


@pytest.fixture(scope="session")
def page():
    """A picture (height, WIDTH) of three lines."""
    rows = [draw(text, Style(FACE, size=20))[0] for text in TEXTS]
    return numpy.concatenate([numpy.pad(row, ((0, 0), (0, WIDTH - row.shape[1])), constant_values=255) for row in rows])


@pytest.fixture(scope="session")
def reader(tiny_reader):
    return load_reader(tiny_reader)


def test_a_reading_has_its_lines_in_order_with_where_each_letter_was_read(reader, page):
    boxes = [Box(15, 60 * row + 15, WIDTH - 5, 60 * row + 45) for row in range(3)]
    for line, box in zip(reader.read_boxes(page, boxes), boxes):
        assert line.box == box and 0 < line.score <= 1
        assert line.weights.shape == (len(line.text), len(line.edges) - 1)
        assert numpy.allclose(line.weights.sum(axis=1), 1, atol=1e-4)
        assert (numpy.diff(line.edges) > 0).all() and line.edges[0] < box.left and line.edges[-1] >= box.right
        assert ((line.places >= line.edges[0]) & (line.places <= line.edges[-1])).all()


@pytest.mark.parametrize("shade", [0, 128, 255])
def test_nothing_is_read_of_an_empty_picture(reader, shade):
    reading = reader(numpy.full((50, 80), shade, "uint8"))
    assert reading.lines == () and reading.text == "" and "0 lines" in repr(reading)
    assert reading.to_dict() == {"width": 80, "height": 50, "lines": [], "left_out": []}
    assert "no line of text found" in reading._repr_html_()
    with pytest.raises(DataError, match="expected lines of text"):
        save_reading(reading, "x.png")


def test_spaces_at_the_ends_of_a_line_and_between_consonants_alone_are_left_out(reader):
    ids = [reader.letters.ids[letter] for letter in " 가 ㅋ ㅋ "]
    weights = numpy.eye(7, 8, dtype="float32")
    line = reader.line(Hypothesis(tuple(ids), -3.0, weights, False), Box(0, 0, 9, 9), 32, 0)
    assert line.text == "가 ㅋㅋ" and numpy.array_equal(line.weights, weights[[1, 2, 3, 5]])


def test_the_text_is_taken_that_decoder_and_ctc_find_likeliest_together(reader):
    """CTC reads what the decoder did not find; it is taken where it is worth more than the decoder loses by it."""
    one, other = Hypothesis((9,), -1.0, numpy.ones((1, 3)), False), (10,)
    log_probability = numpy.full((1, len(reader.letters)), -5.0)
    log_probability[0, [10, END]] = -1.5
    step = lambda ids, source, state: (log_probability, numpy.ones((1, 3)), state)  # noqa: E731
    parts = numpy.full((4, reader.letters.count), -9.0)
    parts[:, reader.letters.table[10]] = -0.1
    parts[:, reader.letters.table[9]] = -0.2
    for weight, expected in ((0.0, (9,)), (0.05, (9,)), (0.95, other)):
        own = PictureReader(reader.bundle, SimpleNamespace(name="onnx", step=step), ctc=weight)
        # the two letters share parts, so that CTC prefers its own by little
        assert own.choose(one, list(other), parts, ([], [])).ids == expected


def test_a_weight_of_ctc_out_of_range_is_refused(reader):
    for weight in (-0.1, 2):
        with pytest.raises(ConfigError, match="ctc: expected a weight from 0 to 1"):
            PictureReader(reader.bundle, reader.engine, weight)


def test_lines_of_any_length_are_readable_up_to_a_bound():
    assert is_readable(Box(0, 0, 3000, 20)) and not is_readable(Box(0, 0, 30_000, 20))
    assert not is_readable(Box(0, 0, 400, 300))


def test_a_table_has_a_row_for_each_line_with_its_sentiment(reader, page, bundle_folder, tmp_path, capsys):
    classifier = load_classifier(bundle_folder)
    readings = [("one.png", reader(page)), ("blank.png", reader(page[:3, :9]))]
    reading = readings[0][1]
    write_readings(readings, classifier, tmp_path / "lines.csv")
    header, *rows = (tmp_path / "lines.csv").read_text(encoding="utf-8").splitlines()
    assert header.split(",") == [*COLUMNS, *classifier.types] and len(rows) == len(reading.lines)
    assert "blank.png: no line of text found" in capsys.readouterr().err
    write_readings(readings, classifier, tmp_path / "lines.jsonl")
    objects = [json.loads(line) for line in (tmp_path / "lines.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [row["text"] for row in objects] == [line.text for line in reading.lines]
    for row, line in zip(objects, reading.lines):
        assert [row[side] for side in ("left", "top", "right", "bottom")] == list(line.box)
        assert {"label", "places"} <= row.keys() and len(row["places"]) == len(line.text)
    write_readings(iter(readings[1:]), None, tmp_path / "none.csv")
    assert (tmp_path / "none.csv").read_text(encoding="utf-8").split() == [",".join(COLUMNS)]


def line_at(left, top, text="정말", height=20, score=0.9):
    return Line(text, Box(left, top, left + 90, top + height), score, numpy.ones((2, 1)), numpy.array([0.0, 9.0]))


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ([line_at(10, 10), line_at(10, 40), line_at(12, 70)], [3]),
        # a wide gap, another column, a smaller line
        ([line_at(10, 10), line_at(10, 60)], [1, 1]),
        ([line_at(10, 10), line_at(300, 40)], [1, 1]),
        ([line_at(10, 10), line_at(10, 40, height=10)], [1, 1]),
        ([line_at(10, 40), line_at(10, 10)], [1, 1]),
        ([], []),
    ],
)
def test_lines_that_follow_closely_are_a_paragraph(lines, expected):
    reading = Reading(tuple(lines), numpy.zeros((90, 400), "uint8"))
    assert [len(group) for group in reading.paragraphs] == expected


def test_a_paragraph_is_one_row(tmp_path, bundle_folder):
    lines = line_at(10, 10, "정말 재미있는", score=0.5), line_at(12, 40, "영화였어요")
    readings = [("a.png", Reading(lines, numpy.zeros((90, 200), "uint8")))]
    classifier = load_classifier(bundle_folder)
    write_readings(readings, classifier, tmp_path / "all.jsonl", paragraphs=True)
    (row,) = [json.loads(line) for line in (tmp_path / "all.jsonl").read_text(encoding="utf-8").splitlines()]
    assert row["text"] == "정말 재미있는 영화였어요" and row["label"] == classifier.predict(row["text"]).label
    assert [row[side] for side in ("left", "top", "right", "bottom")] == [10, 10, 102, 60]
    assert row["letter_probability"] == 0.5
    assert [line["text"] for line in row["lines"]] == ["정말 재미있는", "영화였어요"]


def test_what_is_hardly_text_is_left_out_and_counted(page):
    for score in (0.99, 0.9, 0.75, 2 * LEAST, LEAST / 2):
        assert line_at(0, 0, "재미있다", 20, score).legible == (score >= LEAST)
        # icons are read as one sign
        for text, least in (("네", SURE), ("ㅡㅡ", SURER), ("ㅋ", SUREST), ("D", SUREST)):
            assert line_at(0, 0, text, 20, score).legible == (score >= least)
        assert not any(line_at(0, 0, text, 20, score).legible for text in ("", "<", "♡", "ㅡ"))
        assert line_at(0, 0, "3", 20, score).legible == (score >= LEAST)
    lines = tuple(line_at(0, 40 * row, "가", 20, score) for row, score in enumerate((0.9, 0.5, 0.4)))
    assert Reading(lines[:1], page).doubts == ""
    places = Box(0, 0, 9, 9), Box(0, 40, 30, 49)
    reading = Reading(lines, page, places)
    assert reading.doubts == (
        "2 of 3 lines may be read wrong (letter_probability below 0.6); 2 places left out (icons or illegible text)"
    )
    assert reading.to_dict()["left_out"] == [[0, 0, 9, 9], [0, 40, 30, 49]]
    assert "2 places left out (icons or illegible text)" in reading._repr_html_()
    assert Reading(lines[:1], page, places[:1]).doubts == "1 place left out (icons or illegible text)"


def test_a_place_that_cannot_be_read_is_said_with_its_box(reader, page, tmp_path, capsys, monkeypatch):
    line, too_long = Box(15, 15, WIDTH - 5, 45), Box(0, 70, 30_000, 90)
    monkeypatch.setattr("nsmc_attention.systems.read.reader.find_lines", lambda *_: [line, too_long])
    monkeypatch.setattr(Line, "legible", True)
    reading = reader(page)
    assert [one.box for one in reading.lines] == [line] and reading.left_out == (too_long,)
    write_readings([("one.png", reading)], None, tmp_path / "lines.csv")
    assert "1 place left out" in capsys.readouterr().err


def test_pictures_of_where_letters_were_read(page, tmp_path):
    line = Line("가<&나", Box(15, 15, WIDTH - 5, 45), 0.5, numpy.full((4, 10), 0.1, "float32"), numpy.arange(11) * 9.0)
    reading = Reading((line,), page)
    for name in ("where.png", "where.svg", "where.html"):
        save_reading(reading, tmp_path / name)
        assert (tmp_path / name).stat().st_size > 3000
    html = (tmp_path / "where.html").read_text(encoding="utf-8")
    assert "&lt;" in html and "&amp;" in html and "가<&나" not in html
    assert reading._repr_html_().count("<b style") == 4
    with Image.open(tmp_path / "where.png") as picture:
        assert picture.width > 300


CARDS = """
산들바람 2023.08.14
★★★★☆
음악이 오래 기억에 남는다
#여운 #음악
밤하늘*** | 2024.01.02
★★☆☆☆ 4/10
결말을 알 수가 없다...
#실망
ㅋㅋㅋㅋ ㅠㅠㅠ
별점 ★☆☆☆☆ 1점
ㄹㅇ 꿀잼 ㅎㅎ
☆☆☆☆☆
""".strip().splitlines()


@pytest.mark.parametrize("size", [14, 18, 24, 32])
@pytest.mark.parametrize("paper, ink", [("white", "black"), ("#1f2329", "#e8eaed")])
def test_every_line_of_a_card_is_read(size, paper, ink):
    font, height = FACE.at(size), int(1.8 * size)
    picture = Image.new("RGB", (18 * size, height * len(CARDS) + 40), paper)
    for number, line in enumerate(CARDS):
        ImageDraw.Draw(picture).text((20, 20 + height * number), line, font=font, fill=ink)
    lines = [line.text for line in read(picture).lines]
    assert len(lines) == len(CARDS)
    wrong = sum(map(edit_distance, lines, CARDS))
    assert wrong <= 0.03 * sum(map(len, CARDS)), lines
    for line, right in zip(lines, CARDS):
        assert line.count("★") == right.count("★") and line.count("☆") == right.count("☆")


@pytest.mark.parametrize("size", [11, 12, 13, 14])
@pytest.mark.parametrize("color", ["#f5a623", "black"])
def test_small_stars_are_counted(size, color):
    # ☆☆☆☆☆ of 12 pixels is read as ★☆☆☆☆
    stars = ["★" * count + "☆" * (5 - count) for count in range(size == 12, 6)]
    picture = Image.new("RGB", (300, 420), "white")
    pen = ImageDraw.Draw(picture)
    for number, text in enumerate(stars):
        pen.text((20, 16 + 66 * number), text, font=FACE.at(size), fill=color)
        pen.text((20, 40 + 66 * number), "배우 연기가 좋았다", font=FACE.at(14), fill="black")
    assert [line.text for line in read(picture).lines][::2] == stars


def four_lines(height):
    """A picture, which is 640 pixels wide, with four lines in its upper part, and a pen for more."""
    picture = Image.new("L", (640, height), 255)
    pen = ImageDraw.Draw(picture)
    for row in range(4):
        pen.text((30, 20 + 40 * row), "배우 연기가 정말 좋았어요", 20, FACE.at(24))
    return picture, pen


@pytest.mark.parametrize("kind", ["underline", "rule", "frame"])
def test_text_that_touches_a_frame_is_read_or_left_out(kind):
    font, place, (picture, pen) = FACE.at(24), (30, 240), four_lines(360)
    pen.text(place, "평점은 8점입니다", 20, font)
    left, top, right, bottom = pen.textbbox(place, "평점은 8점입니다", font=font)
    if kind == "underline":
        pen.line((left, bottom - 2, right, bottom - 2), 20, 2)
    elif kind == "rule":
        pen.line((0, bottom - 2, 640, bottom - 2), 150, 2)
    else:
        pen.rectangle((left - 10, top - 6, right + 8, bottom), None, 60, 2)
    reading = read(picture)
    boxes = [line.box for line in reading.lines] + list(reading.left_out)
    # around the text, but for its outermost pixels
    beyond = numpy.subtract(boxes, (left + 4, top + 2, right - 4, bottom - 4)) * [-1, -1, 1, 1]
    assert len(boxes) >= 5 and (beyond >= 0).all(axis=1).any()


@pytest.mark.parametrize("text", ["A", "5", "굿", "가", "응", "헐", "★"])
@pytest.mark.parametrize("size", [40, 60, 90])
def test_a_large_letter_alone_is_read_or_left_out(text, size):
    picture, pen = four_lines(420)
    pen.text((300, 240), text, 20, FACE.at(size))
    reading = read(picture)
    assert len(reading.lines) >= 4
    assert any(box.top > 200 for box in [*(line.box for line in reading.lines), *reading.left_out])


@pytest.mark.parametrize("size", [24, 36, 60])
@pytest.mark.parametrize("text", ["응", "넵", "ㅎㅎ", "ㅋㅋ", "ㅇㅇ"])
def test_a_letter_or_two_alone_stay_together(text, size):
    picture = Image.new("L", (400, 160), 255)
    ImageDraw.Draw(picture).text((40, 40), text, 20, FACE.at(size))
    assert read(picture).text == text


def test_icons_beside_text_are_left_out_and_counted():
    picture = Image.new("L", (640, 260), 255)
    pen = ImageDraw.Draw(picture)
    for row in range(4):
        pen.line([(40, 26 + 60 * row), (28, 36 + 60 * row), (40, 46 + 60 * row)], 20, 3)
        pen.text((70, 20 + 60 * row), f"{row + 1}번째 줄입니다", 20, FACE.at(24))
        # as near to its number as a space
        pen.ellipse((236, 28 + 60 * row, 249, 41 + 60 * row), None, 20, 2)
        pen.line((247, 39 + 60 * row, 254, 46 + 60 * row), 20, 3)
        pen.text((266, 20 + 60 * row), "67", 20, FACE.at(24))
    reading = read(picture)
    assert reading.text.split("\n") == [text for row in range(4) for text in (f"{row + 1}번째 줄입니다", "67")]
    assert len(reading.left_out) == 8 and reading.doubts == "8 places left out (icons or illegible text)"
