"""Attributions of a real, tiny model: what each method promises of its numbers."""

import numpy
import pytest

from nsmc_attention.classifier.explain import Explainer, explain, explain_many
from nsmc_attention.classifier.predictor import load_classifier
from nsmc_attention.corpora import nsmc
from nsmc_attention.errors import ConfigError, DataError
from nsmc_attention.measure.metrics import log_odds

TEXT = "배우는 좋은데 영화는 정말 별로"


@pytest.fixture(scope="module")
def explainer(classifier):
    return Explainer(classifier)


@pytest.fixture(scope="module")
def encoded(classifier):
    texts = nsmc.load("sample", "test").documents[:40]
    return [each for each in map(classifier.bundle.codec.encode, texts) if len(each)]


def test_attention_is_the_prediction_s_own(classifier):
    prediction, found = classifier.predict(TEXT), explain(TEXT, classifier)
    assert numpy.array_equal(found.values, prediction.token_weights)
    assert numpy.array_equal(found.matrix, prediction.weights) and found.tokens == prediction.tokens


def test_erasure_is_what_leaving_a_token_out_changes(classifier):
    found = explain(TEXT, classifier, "erasure")
    review = classifier.bundle.codec.encode(TEXT)
    whole, without = log_odds(classifier.score([review, review.take([0, 1, *range(3, len(review))])]))
    assert found.values[2] == pytest.approx(whole - without, abs=1e-4)


def test_the_gradient_is_that_of_a_small_step(explainer, encoded):
    """Along the rows themselves: what a review's log-odds gain when all its rows grow by a thousandth."""
    network, nd = explainer.gluon.block, explainer.gluon.mxnet.nd
    encoder = explainer.bundle.codec
    for review in encoded[:10]:
        batch = encoder.batch([review])
        rows = network.embed_tokens(nd, nd.array(batch[0], dtype="int32"), nd.array(batch[2], dtype="int32"))
        mask, lengths = nd.ones((1, len(review), 1)), nd.array(batch[1], dtype="float32")
        scaled = ([factor * row for row in rows] for factor in (0.99, 1.01))
        logits = [network.forward_embedded(nd, each, mask, lengths)[0] for each in scaled]
        odds = [float((each[0, 1] - each[0, 0]).asscalar()) for each in logits]
        assert explainer.gradients([review])[0].sum() == pytest.approx((odds[1] - odds[0]) / 0.02, abs=0.01)


def test_gradients_do_not_depend_on_the_other_reviews_of_a_batch(explainer, encoded):
    many = explainer.gradients(encoded)
    for review, found in list(zip(encoded, many))[::7]:
        numpy.testing.assert_allclose(explainer.gradients([review])[0], found, atol=1e-5)


def test_gradients_of_the_article_s_model_are_taken_too(post_run_folder):
    found = explain(TEXT, load_classifier(post_run_folder / "bundle"), "gradient")
    assert len(found.values) == len(found.tokens) and numpy.abs(found.values).max() > 0


def test_reviews_of_several_models_and_methods_stay_together(classifier, post_run_folder):
    other = load_classifier(post_run_folder / "bundle")
    found = explain_many([classifier, other], [TEXT, "최고"], ["attention", "erasure"], by_word=True)
    names = [(each.bundle.name, method) for each in (classifier, other) for method in ("attention", "erasure")]
    assert [[(each.source, each.method) for each in beside] for beside in found] == [names] * 2
    assert found[0][0].tokens == tuple(TEXT.split())


def test_what_cannot_be_explained_is_refused(classifier):
    with pytest.raises(DataError, match="blank"):
        explain(" ", classifier)
    with pytest.raises(ConfigError, match="unknown method 'gradients'; did you mean 'gradient'"):
        explain(TEXT, classifier, "gradients")
