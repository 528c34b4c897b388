import json
import math
import subprocess
import sys
from itertools import count, islice

import numpy
import pytest

from nsmc_attention.bundle import load_bundle, read_contents, write_bundle
from nsmc_attention.classifier.engines import runs_natively
from nsmc_attention.classifier.predictor import TokenScorer, load_classifier, renormalize_rows
from nsmc_attention.classifier.settings import LAYOUT, preset
from nsmc_attention.corpora import nsmc
from nsmc_attention.errors import BundleError


@pytest.fixture(scope="module")
def texts():
    return nsmc.load("sample", "test").documents


@pytest.fixture(scope="module", params=["onnx", "gluon"])
def classifier(request, bundle_folder):
    return load_classifier(bundle_folder, request.param)


def test_a_review_is_answered_alone_as_in_a_batch(classifier, texts):
    together = classifier.predict_many(texts)
    assert [classifier.predict(text) for text in texts[:40]] == together[:40]
    assert classifier.predict_many(texts[::-1])[::-1] == together


def test_a_prediction_holds_together(classifier, post_run_folder, tiny_structured, texts):
    """Also of a fixed length, whose weights are shared among the review's own tokens, and of three hops."""
    others = [
        load_classifier(folder, classifier.engine.name) for folder in (post_run_folder / "bundle", tiny_structured)
    ]
    assert others[1].predict(texts[0]).axes == ("hops", "keys")
    for each in [found for one in (classifier, *others) for found in one.predict_many(texts)]:
        size = len(each.tokens)
        assert [each.text[start:end] for start, end in each.offsets] == list(each.tokens)
        assert each.weights.shape == (3 if each.axes[0] == "hops" else size, size)
        assert each.token_weights.shape == (size,)
        numpy.testing.assert_allclose(each.weights.sum(axis=1), 1, atol=1e-5)
        assert math.isclose(each.token_weights.sum(), 1, abs_tol=1e-5)
        assert each.label == (None if each.error else "positive" if each.probability >= 0.5 else "negative")
        assert each.score == (None if each.error else max(each.probability, 1 - each.probability))
        assert json.loads(json.dumps(each.to_dict(weights=True)))["tokens"] == list(each.tokens)


def test_where_all_was_laid_on_the_padding_every_token_has_the_same():
    found = renormalize_rows(numpy.float32([[0, 0], [0.1, 0.3]]))
    assert found.dtype == numpy.float32
    numpy.testing.assert_allclose(found, [[0.5, 0.5], [0.25, 0.75]])


@pytest.mark.parametrize(
    "changes, length, fits",
    [
        ({}, 48, 32),
        ({}, 96, 8),
        ({"attention_units": 64}, 48, 16),
        ({"attention_units": 512}, 48, 2),
        ({"attention_units": 512}, 1024, 1),
        ({"attention": "dot"}, 48, 32),
        ({"attention": "multihead", "attention_heads": 128}, 48, 8),
    ],
)
def test_a_batch_is_smaller_where_reviews_or_what_each_pair_has_is_larger(classifier, changes, length, fits):
    config = preset("default").with_fields(**changes)
    scorer = TokenScorer(classifier.bundle.codec, Recorded(), config)
    assert scorer.max_batch_size(length) == fits


def test_a_batch_of_a_fixed_length_is_bounded_by_that_length(post_run_folder):
    encoder = load_classifier(post_run_folder / "bundle").bundle.codec
    engine = Recorded()
    TokenScorer(encoder, engine, preset("post").with_fields(max_length=192))([encoder.encode("정말")] * 10)
    assert engine.shapes == [(2, 192)] * 5


class Recorded:
    """An engine that computes nothing."""

    batch_size, axes = 32, ("keys",)

    def __init__(self):
        self.shapes = []

    def __call__(self, token_ids, *arrays):
        self.shapes.append(token_ids.shape)
        return numpy.full(len(token_ids), 0.5), token_ids


def test_a_stream_is_read_window_by_window(classifier):
    endless = (f"영화 {number}" for number in count())
    assert [each.text for each in islice(classifier.predict_stream(endless), 5)] == [f"영화 {n}" for n in range(5)]


def test_probabilities_are_those_of_the_predictions(classifier, texts):
    found = classifier.probabilities([*texts, " "])
    expected = [each.probability for each in classifier.predict_many(texts)]
    numpy.testing.assert_allclose(found[:-1], expected, atol=1e-5)
    assert math.isnan(found[-1])


@pytest.mark.parametrize("text", ["", " \n", "\0", "\ud800"])
def test_a_text_without_a_word_is_answered_with_the_reason(classifier, text):
    each = classifier.predict(text)
    assert (each.label, each.score, each.probability, each.tokens) == (None, None, None, ())
    assert each.error == "blank: no word to score"


def test_an_onnx_file_of_another_kind_is_refused(bundle_folder, tmp_path):
    bundle = load_bundle(bundle_folder, LAYOUT)
    write_bundle(tmp_path / "b", bundle.manifest, {**read_contents(bundle), "model.onnx": b"no onnx"})
    with pytest.raises(BundleError, match="model.onnx: ONNX Runtime cannot load it"):
        load_classifier(tmp_path / "b", "onnx")
    contents = read_contents(bundle)
    del contents["model.onnx"]
    write_bundle(tmp_path / "b", bundle.manifest, contents)
    with pytest.raises(BundleError, match="has no model.onnx; write it with `nsmc-attention export"):
        load_classifier(tmp_path / "b", "onnx")
    expected = "native" if runs_natively(bundle) else "gluon"
    assert load_classifier(tmp_path / "b").engine.name == expected


@pytest.mark.parametrize("packaged", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_prediction_works_where_mxnet_and_onnx_cannot_be_imported(bundle_folder, tmp_path, packaged):
    code = f"""
import sys
for name in ("mxnet", "gluonnlp", "onnx"):
    sys.modules[name] = None
from nsmc_attention import load_classifier, evaluate, save_heatmap
from nsmc_attention.corpora import labelled
classifier = load_classifier(None if {packaged} else {str(bundle_folder)!r}, "onnx")
save_heatmap(classifier.predict("정말 재미있는 영화"), {str(tmp_path / "a.png")!r})
print(evaluate(classifier, labelled.load_reviews("sample", "test"))["n"])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.strip() == "180", done.stderr
