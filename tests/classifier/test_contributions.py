"""What each token adds to the log-odds, of real, tiny models: that it is all there is, and how it is shown."""

import json
import re
from functools import lru_cache

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as some

from nsmc_attention.apps.report.build import phrases, report
from nsmc_attention.classifier.explain import Explainer, explain, explain_many
from nsmc_attention.classifier.network import shared_with_next
from nsmc_attention.classifier.predictor import load_classifier
from nsmc_attention.corpora import nsmc
from nsmc_attention.corpora.data import Texts
from nsmc_attention.errors import ConfigError
from nsmc_attention.machine.gluon import mxnet
from nsmc_attention.measure.metrics import log_odds
from nsmc_attention.text.ngrams import SHARED
from nsmc_attention.views.terminal import faithfulness_table

TEXT = "배우는 좋은데 영화는 정말 별로"
WORDS = sorted({word for text in nsmc.load("sample", "test").documents for word in text.split()} | {"", "뷁", "!"})
texts = some.lists(some.sampled_from(WORDS), min_size=1, max_size=60).map(" ".join)
FIXTURES, ENGINES = ("tiny_convolution", "tiny_signed"), ("onnx", "gluon")
cached = lru_cache(load_classifier)


@pytest.fixture(params=FIXTURES)
def folder(request):
    return request.getfixturevalue(request.param)


@pytest.fixture(scope="module")
def classifier(tiny_convolution):
    return load_classifier(tiny_convolution, engine="onnx")


def bias_of(explainer):
    negative, positive = explainer.gluon.block.output.bias.data().asnumpy().tolist()
    return positive - negative


def size_of(picture):
    return re.search('viewBox="([^"]*)"', picture.read_text(encoding="utf-8"))[1]


def encoded(classifier, reviews):
    return [review for review in map(classifier.bundle.codec.encode, reviews) if len(review)]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("fixture", FIXTURES)
@given(reviews=some.lists(texts, min_size=1, max_size=5))
def test_the_log_odds_are_a_bias_and_the_sum(request, fixture, engine, reviews):
    classifier = cached(request.getfixturevalue(fixture), engine)
    explainer, reviews = Explainer(classifier), encoded(classifier, reviews)
    sums = [values.sum(dtype="float64") for values in explainer.scored(reviews)[1]]
    assert log_odds(classifier.score(reviews)) == pytest.approx(bias_of(explainer) + numpy.array(sums), abs=1e-5)


@pytest.mark.parametrize("fixture", FIXTURES)
@given(reviews=some.lists(texts, min_size=2, max_size=5))
def test_contributions_do_not_depend_on_padding_nor_on_the_engine(request, fixture, reviews):
    onnx, gluon = (Explainer(cached(request.getfixturevalue(fixture), engine)) for engine in ENGINES)
    reviews = encoded(onnx.classifier, reviews)
    for review, found, other in zip(reviews, onnx.scored(reviews)[1], gluon.scored(reviews)[1]):
        assert found.shape == (len(review),)
        numpy.testing.assert_allclose(found, onnx.scored([review])[1][0], atol=1e-5)
        numpy.testing.assert_allclose(found, other, atol=1e-5)


@given(some.lists(some.lists(some.floats(-5, 5, width=32), min_size=1, max_size=7), min_size=1, max_size=4))
def test_the_next_token_shares_the_log_odds_of_ngrams_whose_sum_stays(reviews):
    width = max(map(len, reviews)) + 2
    rows, mask = numpy.zeros((2, len(reviews), width, 1))
    for row, inside, review in zip(rows, mask, reviews):
        row[: len(review), 0], inside[: len(review)] = review, 1
    found = shared_with_next(mxnet.nd, mxnet.nd.array(rows), mxnet.nd.array(mask)).asnumpy()[:, :, 0]
    for row, review in zip(found, reviews):
        assert not row[len(review) :].any() and row.sum() == pytest.approx(sum(review), abs=1e-4)
        for place, own in enumerate(review):
            last, previous = place == len(review) - 1, review[place - 1] if place else 0
            assert row[place] == pytest.approx(own * (1 if last else 1 - SHARED) + previous * SHARED, abs=1e-5)


def test_a_classifier_that_has_them_is_explained_by_them(folder):
    classifier = load_classifier(folder, engine="onnx")
    explainer = Explainer(classifier)
    assert explainer.methods[0] == "contribution" and "attention" in explainer.methods
    found, named = explain(TEXT, classifier), explain(TEXT, classifier, "contribution")
    assert found.method == "contribution" and found.signed and numpy.array_equal(found.values, named.values)
    assert found.by_word().values.sum() == pytest.approx(found.values.sum())
    assert explainer(TEXT).method == explain_many([classifier], [TEXT])[0][0].method == "contribution"


def test_another_classifier_is_explained_by_attention_and_has_none(bundle_folder, post_run_folder):
    for folder, kind in ((bundle_folder, "states"), (post_run_folder / "bundle", "article")):
        other = load_classifier(folder)
        assert Explainer(other).methods[0] == explain(TEXT, other).method == "attention"
        assert "contribution" not in Explainer(other).methods
        with pytest.raises(ConfigError, match=f"^method contribution: expected .* near the token, found {kind}; use"):
            explain(TEXT, other, "contribution")


def test_the_matrix_of_the_weights_is_beside_them(classifier):
    found, attention = explain(TEXT, classifier), explain(TEXT, classifier, "attention")
    assert numpy.array_equal(found.matrix, attention.matrix)
    assert "contribution" in found._repr_html_() and "<details" in found._repr_html_()


def test_explain_shows_contributions_and_on_demand_the_matrix(command, classifier, tiny_convolution, tmp_path):
    options = ["explain", TEXT, "--bundle", tiny_convolution, "--engine", "onnx"]
    first, named = command(*options), command(*options, "--method", "contribution")
    assert named.returncode == 0 and first.stdout == named.stdout and " - contribution - " in named.stdout
    assert f"별로({explain(TEXT, classifier).values[-1]:+.2f})" in named.stdout and "+ for positive" in named.stdout
    assert " - attention - " in command(*options, "--method", "attention").stdout
    named = ("a.svg", ["--method", "attention"]), ("b.svg", ["--picture", "matrix"]), ("c.svg", [])
    for name, more in (*named, ("d.svg", ["--picture", "words"])):
        assert command(*options, *more, "--output", tmp_path / name).returncode == 0
    matrix, same, own, words = (size_of(tmp_path / f"{name}.svg") for name in "abcd")
    assert matrix == same != words == own


@pytest.mark.parametrize("fixture", FIXTURES)
def test_faithfulness_measures_contributions_and_their_sum(command, request, fixture):
    options = ["--data", "sample", "--bundle", request.getfixturevalue(fixture), "--engine", "onnx", "--limit", 20]
    found = json.loads(command("faithfulness", *options, "--json").stdout)
    assert found["orders"].keys() == {"contribution", "attention", "gradient", "erasure", "random"}
    assert found["correlation"].keys() == {"contribution", "attention", "gradient"}
    assert all(-1 <= value <= 1 for value in found["correlation"].values()) and 0 <= found["gap"] < 1e-5
    lines = command("faithfulness", *options).stdout.splitlines()
    assert lines[:-1] == faithfulness_table(found).splitlines()[:-1] and lines[1].endswith("correlation")
    assert lines[2].startswith("contribution ") and lines[2].endswith(f" {found['correlation']['contribution']:.3f}")
    assert f"sum of the contributions, to {found['gap']:.1g}" in "\n".join(lines)


def test_a_report_shades_its_examples_by_them(classifier, tmp_path):
    (tmp_path / "a.txt").write_text("\n".join(nsmc.load("sample", "test").documents[:20]), encoding="utf-8")
    report(classifier, Texts(str(tmp_path / "a.txt")), tmp_path / "a.html", language="ko")
    html, say = (tmp_path / "a.html").read_text(encoding="utf-8"), phrases("ko")
    assert say["shades_contribution"] in html and say["shades_attention"] not in html
    assert '"signed": true' in html and '"signed": false' not in html and say["meaning_contribution"] in html
