"""The bundle that ships with the package."""

import json
from pathlib import Path

import numpy
import pytest
from PIL import Image, ImageDraw, ImageFont

from benchmarks.restoration.alignment import readability
from nsmc_attention import film, load_film, load_reader
from nsmc_attention.apps.evaluation import evaluate
from nsmc_attention.bundle import load_bundle
from nsmc_attention.classifier.predictor import load_classifier
from nsmc_attention.classifier.settings import LAYOUT
from nsmc_attention.corpora import nsmc
from nsmc_attention.drawing.figure import font_file
from nsmc_attention.systems.film.settings import LAYOUT as FILMS_LAYOUT
from nsmc_attention.systems.read.drawing import Style, draw, korean_faces
from nsmc_attention.systems.read.settings import READER
from nsmc_attention.systems.restore.noise import typed
from nsmc_attention.systems.restore.restorer import load_restorer
from nsmc_attention.systems.restore.settings import WRITER
from nsmc_attention.systems.sequences.characters import edit_distance
from nsmc_attention.text.encoding import clean
from recipes.spelling import well_spelt


@pytest.mark.parametrize("engine", ["onnx", "gluon"])
def test_two_hundred_sentences_are_answered_as_when_it_was_packaged(engine):
    lines = (Path(__file__).parents[1] / "golden.jsonl").read_text(encoding="utf-8").splitlines()
    golden = [json.loads(line) for line in lines]
    assert len(golden) == 200
    for line, found in zip(golden, load_classifier(engine=engine).predict_many([line["text"] for line in golden])):
        assert found.probability == pytest.approx(line["probability"], abs=1e-4), line["text"]
        assert len(found.tokens) == line["tokens"], "another dictionary"
        assert found.token_weights[:8].tolist() == pytest.approx(line["token_weights"], abs=1e-4)


def test_it_is_small_and_says_where_it_comes_from():
    manifest = load_bundle(None, LAYOUT).manifest
    assert sum(path.stat().st_size for path in LAYOUT.packaged[0].iterdir()) <= 16 * 10**6
    assert manifest["data"]["train"]["rows"] == 150000
    beginnings = "A1/bundle C1/bundle C2/bundle"
    assert manifest["command"] == f"python -m recipes.averaged averaged {beginnings} --sentences sentences.csv"
    assert manifest["data"]["mean_of"]["name"].split(",") == beginnings.split()
    found = manifest["data"]["pretraining"]
    assert found["left_out_by_id"] > 49000 and found["left_out_by_text"] > 0
    left_out = sum(found[key] for key in ("blank", "repeated", "left_out_by_id", "left_out_by_text"))
    assert found["kept"] == found["read"] - left_out
    assert manifest["parity"]["reviews"] == 1000


@pytest.mark.slow
def test_the_recorded_test_figures_are_reached_again(nsmc_folder):
    found = evaluate(load_classifier(), nsmc.load("nsmc", "test"))
    recorded = load_bundle(None, LAYOUT).manifest["metrics"]["test"]
    assert found["accuracy"] == pytest.approx(recorded["accuracy"], abs=1e-4) and found["accuracy"] >= 0.8965
    assert found["log_loss"] == pytest.approx(recorded["log_loss"], abs=1e-4) and found["ece"] <= 0.01


def test_the_packaged_film_network_reads_by_the_packaged_classifier():
    praised = film(["최고의 영화", "정말 재미있었다", "배우들 연기가 좋다", "또 보고 싶다", "감동적이다"])
    blamed = film(["재미없고 지루하다", "돈이 아깝다", "최악의 연출", "왜 만들었는지", "0점 주고 싶다"])
    assert 1 <= blamed.stars_low < blamed.stars < 5.5 < 8 < praised.stars < praised.stars_high <= 10
    assert len(praised.representative) == 3 and "FilmRater" in repr(load_film())


def test_the_packaged_film_network_is_small_and_was_judged_by_other_films():
    bundle = load_bundle(None, FILMS_LAYOUT)
    assert sum(path.stat().st_size for path in FILMS_LAYOUT.packaged[0].iterdir()) <= 4 * 10**6
    assert bundle.codec.classifier == load_bundle(None, LAYOUT).fingerprint
    assert bundle.manifest["command"] == "nsmc-attention train --task film --data nsmc --preset pooling"
    for count in ("5", "20", "64"):
        assert 0.88 <= bundle.manifest["metrics"]["test"][count]["inside"] <= 0.92


def test_the_packaged_writers_attention_can_be_read():
    assert sum(path.stat().st_size for path in WRITER.iterdir()) <= 6 * 10**6
    random = numpy.random.RandomState(0)
    sentences = well_spelt(map(clean, nsmc.load("sample", "test").documents))
    sources = [typed(text, random) for text in sentences if len(text) <= 40]
    figures = readability(load_restorer(beam=4).restore_many(sources[:60]))
    assert figures["on the letter"] >= 0.95
    assert figures["largest weight"] <= 0.9 and figures["entropy"] >= 0.3


def test_the_packaged_reader_reads_screenshots_and_looks_where_the_letters_are():
    """Of the sample's test reviews; the font is not one of those that the figures of docs/reading.md are of."""
    assert sum(path.stat().st_size for path in READER.iterdir()) <= 6 * 10**6
    face = next(face for face in korean_faces(str(font_file().parent)) if face.path == font_file())
    texts = [clean(text) for text in nsmc.load("sample", "test").documents[:60]]
    reader, edits, near = load_reader(), 0, []
    for number, text in enumerate(texts):
        dark = {"ink": 230, "background": 30} if number % 2 else {}
        gray, ends = draw(text, Style(face, size=(14, 20, 32)[number % 3], smooth=1 + number % 2 * 2, **dark))
        (line,) = reader(gray).lines
        edits += edit_distance(line.text, text)
        if line.text == text:
            size = ends[-1] - ends[0]
            near += (numpy.abs(line.places - (ends[:-1] + ends[1:]) / 2) <= size / len(text) / 2).tolist()
    assert edits <= 0.015 * sum(map(len, texts))
    assert len(near) > 400 and numpy.mean(near) >= 0.9


@pytest.mark.parametrize("size", [14, 20, 24, 28])
def test_low_letters_alone_in_a_picture_keep_their_spaces(size):
    """A box that fits them is too low, and at 24 and 28 pixels they were misread in it."""
    picture = Image.new("L", (420, 90), 255)
    ImageDraw.Draw(picture).text((20, 20), "ㅋㅋㅋㅋㅋ ㅠㅠㅠㅠ ㅇㅈ", font=ImageFont.truetype(str(font_file()), size))
    assert load_reader()(picture).text == "ㅋㅋㅋㅋㅋ ㅠㅠㅠㅠ ㅇㅈ"
