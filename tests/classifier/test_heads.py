"""The heads of a classifier whose encoder is a Transformer, as `explain` returns them."""

import numpy
import pytest

from nsmc_attention.classifier.explain import explain
from nsmc_attention.classifier.predictor import load_classifier

TEXTS = ["배우는 좋은데 영화는 정말 별로", "최고", "가지고 있는 이야기에 비해 정말로 수준떨어지는 연출, 편집"]


@pytest.fixture(scope="module")
def classifier(tiny_transformer):
    return load_classifier(tiny_transformer)


@pytest.mark.parametrize("text", TEXTS)
def test_engines_agree_on_the_heads_of_a_review(classifier, tiny_transformer, text):
    found, other = explain(text, classifier), explain(text, load_classifier(tiny_transformer, engine="gluon"))
    numpy.testing.assert_allclose(found.heads, other.heads, atol=1e-5)


def test_heads_of_a_review_are_those_that_it_has_in_a_batch(classifier):
    encoded = list(map(classifier.bundle.codec.encode, TEXTS))
    together = classifier.engine.heads(*classifier.bundle.codec.batch(encoded))
    for review, heads in zip(encoded, together):
        alone = explain(review.text, classifier).heads
        size = len(review)
        assert alone.shape == (3, 2, size, size)
        numpy.testing.assert_allclose(alone, heads[..., :size, :size], atol=1e-5)


def test_heads_of_words_are_distributions_over_the_words(classifier):
    found = explain(TEXTS[0], classifier)
    words = found.by_word()
    assert words.heads.shape == (3, 2, 5, 5) and words.heads.sum(axis=-1) == pytest.approx(1, abs=1e-5)
    # 정말 and 별로 have one token each
    assert words.heads[..., 3, 4] == pytest.approx(found.heads[..., -2, -1])
    assert found.without_matrix().heads is None
