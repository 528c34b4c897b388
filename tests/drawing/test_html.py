"""What a notebook shows of a prediction or an attribution."""

import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as some

from nsmc_attention.classifier.attribution import Attribution
from nsmc_attention.classifier.prediction import Prediction
from nsmc_attention.drawing.html import MOST_CELLS
from nsmc_attention.systems.restore.restoration import BLANK, Chunk, Restoration

VOID = {"br", "img", "input"}
TOKENS = some.lists(some.text(min_size=1, max_size=6), min_size=1, max_size=6)


def prediction(tokens):
    starts = numpy.cumsum([0, *(len(token) + 1 for token in tokens)]).tolist()
    offsets = tuple((start, start + len(token)) for start, token in zip(starts, tokens))
    weights = numpy.random.RandomState(0).dirichlet(numpy.ones(len(tokens)), len(tokens))
    return Prediction(" ".join(tokens), "positive", 0.9, 0.9, tuple(tokens), offsets, weights.astype("f4"))


class Reader(HTMLParser):
    """Collects the names of the elements, all text, and that of the words; fails on elements that do not match."""

    def __init__(self, content):
        super().__init__()
        self.names, self.open, self.text, self.words = [], [], "", ""
        self.feed(content)
        self.close()
        assert not self.open

    def handle_starttag(self, name, attributes):
        self.names.append(name)
        if name not in VOID:
            self.open.append((name, dict(attributes).get("class")))

    def handle_endtag(self, name):
        assert self.open.pop()[0] == name

    def handle_data(self, data):
        if ("style", None) not in self.open:
            self.text += data
        if ("div", "nsmc-words") in self.open:
            self.words += data


@given(TOKENS)
@pytest.mark.parametrize("method", ["attention", "erasure"])
def test_any_text_is_shown_as_text_and_never_read_as_html(method, tokens):
    each = prediction(tokens)
    found = Attribution(each, numpy.linspace(-1, 1, len(tokens)), method, "<b>&model")
    content = Reader(found._repr_html_())
    plain = Reader(Attribution(prediction(["가"] * len(tokens)), found.values, method)._repr_html_())
    assert content.names == plain.names
    assert content.words == each.text
    assert "<b>&model" in content.text


@given(some.text(max_size=200))
def test_reprs_are_one_short_line_with_the_result(text):
    found = Attribution(prediction([text or "가"]), numpy.ones(1), "erasure", "model")
    blank = Prediction(text, None, None, None, (), (), numpy.zeros((0, 0)), "blank: no word to score")
    for line in map(repr, (found, found.prediction, blank)):
        assert len(line.splitlines()) == 1
        assert len(line) < 500 and line.startswith(("Prediction('", 'Prediction("', "Attribution('", 'Attribution("'))
    assert repr(found).endswith(", positive 0.9000, erasure, 1 tokens)")
    assert repr(found.prediction).endswith(", positive 0.9000, 1 tokens)")
    assert "blank: no word to score" in Reader(blank._repr_html_()).text


def test_nothing_is_loaded_run_or_named_so_that_outputs_do_not_clash():
    content = prediction(["좋은", "영화"])._repr_html_()
    assert not re.findall(r"<script|<link|url\(|https?:|src=|\bid=|@import|on[a-z]+=", content)
    (style,) = re.findall("<style>(.*?)</style>", content, re.DOTALL)
    for rule in re.findall(r"([^{}]+)\{", style):
        assert all(".nsmc-attention" in selector for selector in rule.split(", ")), "no rule is for the host's elements"


def test_every_weight_is_a_cell_to_unfold_but_signed_values_have_a_legend_alone():
    each = prediction(["배우는", "좋은데", "별로"])
    content = Reader(each._repr_html_())
    assert content.names.count("table") == 1 and content.names.count("td") == each.weights.size
    assert content.names.count("details") == 1 and f"{each.weights.max():.3f}" in content.text
    signed = Reader(Attribution(each, numpy.array([2.0, -1.0, 0.0]), "erasure")._repr_html_())
    assert "table" not in signed.names and "negative -2.000" in signed.text and "+2.000 positive" in signed.text


def test_averaged_weights_and_very_long_reviews_are_shown_without_a_matrix():
    many = prediction(["가"] * (int(MOST_CELLS**0.5) + 1))
    for each in (many, many.averaged(), replace(many, weights=many.weights[0], axes=("keys",))):
        content = each._repr_html_()
        assert "<table" not in content and len(content) < 50_000


def restoration(source, text):
    places = numpy.minimum(numpy.arange(len(text)), len(source) - 1)
    return Restoration(source, text, -0.5, (Chunk(0, 0, places),))


@given(some.text("<&\"'>a/ 가", min_size=1).map(str.split).map(" ".join).filter(bool))
def test_a_restoration_is_shown_as_text_and_never_read_as_html(text):
    each = restoration(text, f"{text}!")
    content = Reader(each._repr_html_())
    assert set(content.names) <= {"style", "div", "b", "span", "del", "ins"}
    assert content.names.count("ins") == content.names.count("del") == 1
    shown = content.text.replace("1 correction", "")
    assert sorted(shown.replace("␣", " ")) == sorted(each.source + each.text)
    assert BLANK in Restoration("", "", 0.0, (), BLANK)._repr_html_()
