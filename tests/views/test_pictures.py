import base64
import io
import json
import re
from dataclasses import replace

import numpy
import pytest
from fontTools.ttLib import TTFont

from nsmc_attention.classifier.attribution import Attribution
from nsmc_attention.classifier.prediction import Prediction
from nsmc_attention.drawing.html import DARK, LIGHT
from nsmc_attention.errors import ConfigError, DataError
from nsmc_attention.machine.messages import VARIABLE
from nsmc_attention.systems.restore.restoration import (
    BLANK,
    LONGEST_AXIS,
    REJECTED,
    Chunk,
    Restoration,
    save_restoration,
    unchanged,
)
from nsmc_attention.views.heatmap import (
    LINE_WIDTH,
    WORD_SPACE,
    caption,
    draw_heatmap,
    draw_matrices,
    draw_words,
    layout,
)
from nsmc_attention.views.page import page, panel, save_attributions

STRANGE = '</script><script>alert("1")</script> &amp; \u2028 👍 영화 $x$ REVIEWS_AS_JSON'


def attribution(text="배우는 좋은데 영화는 별로", method="attention", source=""):
    tokens = tuple(text.split())
    starts = [sum(len(token) + 1 for token in tokens[:place]) for place in range(len(tokens))]
    size = len(tokens)
    offsets = tuple((start, start + len(token)) for start, token in zip(starts, tokens))
    weights = numpy.full((size, size), 1 / size)
    prediction = Prediction(" ".join(tokens), "negative", 0.8, 0.2, tokens, offsets, weights)
    return Attribution(prediction, numpy.linspace(-1, 1, size) if method != "attention" else weights[0], method, source)


@pytest.mark.parametrize(
    "suffix, magic", [(".PNG", b"\x89PNG"), (".svg", b"<?xml"), (".pdf", b"%PDF"), (".html", b"<!DOCTYPE html>")]
)
def test_every_format_is_written_whole(tmp_path, suffix, magic):
    path = tmp_path / f"picture{suffix}"
    reviews = [("attention", "erasure"), ("gradient", "contribution")]
    save_attributions([[attribution(STRANGE, method) for method in beside] for beside in reviews], path)
    assert path.read_bytes().startswith(magic) and [path] == list(tmp_path.iterdir())


def test_words_stay_on_the_page_and_apart():
    places = layout(attribution("아주긴낱말입니다 " * 60))
    assert len({line for line, *_ in places}) > 3
    for (line, left, width), (next_line, next_left, _) in zip(places, places[1:]):
        assert left + width <= LINE_WIDTH
        assert next_left > left + width if next_line == line else next_left == 0
    assert draw_words([attribution()]).get_size_inches()[0] < LINE_WIDTH


@pytest.mark.parametrize(
    "text", ["좋다 ♥♥♥♥♥ ★☆ ♪ …", "WWWW mmm @@@ i . 영화", "❤❤❤ ☺ 👍👍 ⒜⒜⒜", "국 国 \u202e 👨‍👩‍👧 👍🏽 ❤️"]
)
def test_a_word_is_drawn_within_its_box_by_glyphs_that_its_fonts_have(text, recwarn):
    review = attribution(text)
    figure = draw_words([review])
    figure.canvas.draw()
    (axes,) = figure.axes
    boxes = [each.get_window_extent() for each in axes.patches]
    words = [each.get_window_extent() for each in axes.texts[1 : 1 + len(boxes)]]
    assert len(words) == len(boxes) == len(review.tokens)
    # a letter is moved to a whole pixel, of which an inch has 100
    assert all(box.x0 - 2 < word.x0 and word.x1 < box.x1 + 2 for word, box in zip(words, boxes))
    assert not [each for each in recwarn if "missing from font" in str(each.message)]


def parted(text):
    """An attribution of tokens with bars between those of a word."""
    tokens = text.replace("|", " ").split()
    starts = [place - text.count("|", 0, place) for place in (match.start() for match in re.finditer(r"[^ |]+", text))]
    spans = tuple((start, start + len(token)) for start, token in zip(starts, tokens))
    whole = attribution(" ".join(tokens))
    return replace(whole, prediction=replace(whole.prediction, text=text.replace("|", ""), offsets=spans))


def test_morphemes_of_a_word_are_drawn_without_gaps_and_words_with_one():
    places = layout(parted("배우|는 좋|았|는데"))
    gaps = [left - (before + width) for (_, before, width), (_, left, _) in zip(places, places[1:])]
    assert gaps == pytest.approx([0, WORD_SPACE, 0, 0])


def test_a_matrix_of_any_length_fits_a_screen_with_names_that_do_not_overlap():
    for count in (1, 12, 60, 200):
        keys = [f"말{number}" for number in range(count)]
        weights = numpy.random.RandomState(0).dirichlet(numpy.ones(count), count)
        figure = draw_heatmap(weights, keys)
        assert max(figure.get_size_inches()) < 13
        figure.canvas.draw()
        axis = figure.axes[0].yaxis
        names = axis.get_ticklabels()
        assert names[0].get_fontsize() >= 7 and (count > 60 or len(names) == count)
        heights = [name.get_window_extent().y0 for name in names]
        assert all(low - high > 6 for low, high in zip(heights, heights[1:]))
        shown = [name.get_text() for name in figure.axes[0].xaxis.get_ticklabels()]
        assert keys[int(weights.sum(axis=0).argmax())] in shown


def test_ticks_of_a_matrix_stand_between_words():
    figure = draw_matrices(parted("배우|는 좋|았|는데 별로").matrices())
    for axis in (figure.axes[0].xaxis, figure.axes[0].yaxis):
        assert axis.get_minorticklocs().tolist() == [-0.5, 1.5, 4.5, 5.5]


def of_page(text):
    html = page([[attribution(text)]], title=text)
    (content,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', html, re.DOTALL)
    return html, json.loads(content)


def test_a_page_holds_the_review_as_data_and_nowhere_as_html():
    html, data = of_page(STRANGE)
    found = data["reviews"][0][0]
    assert found["text"] == " ".join(STRANGE.split()) and data["title"] == STRANGE
    # the review can neither end the script that holds it nor begin another
    assert html.count("<script") == html.count("</script>") == 2


def test_a_page_reaches_nothing_outside():
    html, _ = of_page("영화")
    assert "default-src 'none'" in html
    outside_the_font = re.sub("base64,[A-Za-z0-9+/=]+", "", html)
    assert not re.findall(r"https?:|//[a-z]|<link|<img|@import|fetch\(", outside_the_font)


def test_a_page_brings_every_letter_that_it_shows():
    html, _ = of_page("꿻뷁 영화")
    (encoded,) = re.findall(r"base64,([A-Za-z0-9+/=]+)", html)
    known = TTFont(io.BytesIO(base64.b64decode(encoded))).getBestCmap()
    shown = "꿻뷁영화" + "".join(re.findall("[가-힣]", html))
    assert {ord(character) for character in shown} <= set(known)
    assert len(encoded) < 200_000


def with_hops(count):
    """The attention of some hops to five words."""
    tokens, offsets = ("정말", "재밋", "엇", "어요", "!"), ((0, 2), (2, 4), (4, 5), (5, 7), (7, 8))
    weights = numpy.random.RandomState(0).dirichlet(numpy.ones(5), count)
    prediction = Prediction("정말재밋엇어요!", "positive", 0.9, 0.9, tokens, offsets, weights, axes=("hops", "keys"))
    return Attribution(prediction, prediction.token_weights, "attention")


def test_panels_name_the_rows_of_their_matrix_where_these_are_hops():
    hops = panel(with_hops(2))
    assert numpy.shape(hops["matrix"]) == (2, 5) and hops["queries"] == ["hop 1", "hop 2"]
    assert "queries" not in panel(attribution())


def test_the_page_shades_words_by_the_query_that_is_clicked(chromium, tmp_path):
    save_attributions([[with_hops(3)]], tmp_path / "a.html")
    page = chromium.new_page()
    page.goto((tmp_path / "a.html").as_uri())
    assert page.locator(".more").inner_text() == "Show the matrix (3 × 5)"
    page.locator(".more").click()
    assert page.locator("tbody td").count() == 15
    before = page.locator(".word").first.get_attribute("style")
    page.get_by_role("button", name="hop 2").click()
    assert page.locator(".say").inner_text() == "hop 2 →"
    assert page.locator(".word").first.get_attribute("style") != before


@pytest.mark.parametrize(
    "sentiment, stars, english, korean",
    [
        ("neutral", 5.75, "neutral, 5.8 stars", "중립, 5.8점"),
        (None, None, "no opinion", "의견 없음"),
        ("negative", None, "", ""),
    ],
)
def test_a_page_and_a_caption_have_the_opinion_beside_the_label_in_the_language_of_the_user(
    chromium, tmp_path, monkeypatch, sentiment, stars, english, korean
):
    one = attribution()
    one = replace(one, prediction=replace(one.prediction, sentiment=sentiment, stars=stars))
    browser = chromium.new_page()
    for language, label, said, method in (("en", "negative", english, "attention"), ("ko", "부정", korean, "어텐션")):
        monkeypatch.setenv(VARIABLE, language)
        save_attributions([[one]], tmp_path / f"{language}.html")
        browser.goto((tmp_path / f"{language}.html").as_uri())
        expected = [each for each in (f"{label} 80.0 %", said, method) if each]
        assert browser.locator(".head > :not(.bar)").all_inner_texts() == expected
        assert caption(one) == " - ".join(expected)


SHADES = """selector => [...document.querySelectorAll(selector)].map(
    each => getComputedStyle(each).backgroundColor.match(/[0-9.]+/g).map(Number))"""


@pytest.mark.parametrize("scheme, theme", [("light", LIGHT), ("dark", DARK)])
def test_a_page_has_the_shades_of_pictures_and_one_scale_for_matrices_beside_each_other(
    chromium, tmp_path, scheme, theme
):
    signed, even = attribution(method="erasure"), attribution()
    sharp = replace(even, prediction=replace(even.prediction, weights=numpy.eye(4)))
    save_attributions([[signed, even, sharp]], tmp_path / "a.html")
    page = chromium.new_page(color_scheme=scheme)
    page.goto((tmp_path / "a.html").as_uri())
    expected = [theme.shade(value, max(each.values), each.signed) for each in (signed, even) for value in each.values]
    shown = [over(theme.paper, *color) for color in page.evaluate(SHADES, ".word")[:8]]
    numpy.testing.assert_allclose(shown, expected, atol=1.01)
    for more in page.locator(".more").all():
        more.click()
    strengths = [color[3] if color[3:] else 1 for color in page.evaluate(SHADES, "tbody td")]
    assert strengths[:16] == pytest.approx([0.95 / 4] * 16, abs=0.01), "a quarter of the other's largest"
    assert max(strengths[16:]) == pytest.approx(0.95, abs=0.01)


def over(paper, red, green, blue, share=1.0):
    return [low + share * (high - low) for low, high in zip(paper, (red, green, blue))]


def test_no_review_is_no_picture(tmp_path):
    for suffix in (".png", ".html"):
        with pytest.raises(DataError, match="at least one review"):
            save_attributions([], tmp_path / f"a{suffix}")
    assert not list(tmp_path.iterdir())


def restoration(source, text):
    places = numpy.minimum(numpy.arange(len(text)), len(source) - 1)
    return Restoration(source, text, -0.5, (Chunk(0, 0, places),))


@pytest.mark.parametrize("suffix, magic", [(".png", b"\x89PNG"), (".svg", b"<?xml")])
@pytest.mark.parametrize("source, text", [("정말조앗다", "정말 좋았다"), ("a", "a"), ("<&$x$ 👍", "<&$x$ ")])
def test_a_restoration_is_drawn(tmp_path, suffix, magic, source, text):
    path = tmp_path / f"a{suffix}"
    save_restoration(restoration(source, text), path)
    assert path.read_bytes().startswith(magic) and [path] == list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "each, name, message",
    [
        (restoration("가" * (LONGEST_AXIS + 1), "나"), "a.png", "at most 140 characters, found 141; restore one"),
        (restoration("나", "가" * (LONGEST_AXIS + 1)), "a.png", "at most 140 characters, found 141"),
        (Restoration("", "", 0.0, (), BLANK), "a.png", "expected a restored text to draw, found none .blank"),
        (unchanged("가", REJECTED), "a.png", "expected a restored text to draw, found none .more than the edit bound"),
        (restoration("가", "가"), "a.html", "unknown suffix '.html'"),
    ],
)
def test_a_restoration_that_cannot_be_drawn_is_refused_with_a_line(tmp_path, each, name, message):
    with pytest.raises((ConfigError, DataError), match=message):
        save_restoration(each, tmp_path / name)
    assert not list(tmp_path.iterdir())
