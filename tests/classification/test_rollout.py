"""Attention rollout: its arithmetic, and as a method of `explain`."""

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as some

from nsmc_attention.classification.explain import explain, rollout
from nsmc_attention.classification.predictor import load_classifier
from nsmc_attention.errors import ConfigError

TEXTS = ["배우는 좋은데 영화는 정말 별로", "최고", "가지고 있는 이야기에 비해 정말로 수준떨어지는 연출, 편집"]


@pytest.fixture(scope="module")
def classifier(tiny_transformer):
    return load_classifier(tiny_transformer)


def distributions(seed, *shape):
    return numpy.random.RandomState(seed).dirichlet(numpy.ones(shape[-1]), shape[:-1])


@given(some.integers(1, 5), some.integers(1, 4), some.integers(1, 9), some.integers(0, 99))
def test_what_is_carried_down_is_a_distribution_over_the_tokens(layers, heads, tokens, seed):
    weights = distributions(seed, layers, heads, tokens, tokens)
    found = rollout(weights, numpy.eye(tokens))
    assert found.shape == (tokens, tokens) and (found >= 0).all() and found.sum(axis=1) == pytest.approx(1)
    pooled = distributions(seed, tokens)
    assert rollout(weights, pooled) == pytest.approx(pooled @ found)


def test_it_is_the_product_of_the_paper_s_equation():
    heads = distributions(0, 3, 2, 4, 4)
    first, second, third = (0.5 * each.mean(axis=0) + 0.5 * numpy.eye(4) for each in heads)
    assert rollout(heads, numpy.eye(4)) == pytest.approx(third @ second @ first)


@pytest.mark.parametrize("text", TEXTS)
def test_engines_agree_on_the_rollout_of_a_review(classifier, tiny_transformer, text):
    found = explain(classifier, text, "rollout")
    assert found.values.shape == (len(found.tokens),) and found.values.sum() == pytest.approx(1, abs=1e-5)
    assert (found.values >= 0).all() and found.matrix is None and not found.signed
    other = explain(load_classifier(tiny_transformer, engine="gluon"), text, "rollout")
    numpy.testing.assert_allclose(found.values, other.values, atol=1e-5)
    numpy.testing.assert_allclose(found.heads, other.heads, atol=1e-5)


def test_heads_of_a_review_are_those_that_it_has_in_a_batch(classifier):
    encoded = list(map(classifier.bundle.codec.encode, TEXTS))
    together = classifier.engine.heads(*classifier.bundle.codec.batch(encoded))
    for review, heads in zip(encoded, together):
        alone = explain(classifier, review.text).heads
        size = len(review)
        assert alone.shape == (3, 2, size, size)
        numpy.testing.assert_allclose(alone, heads[..., :size, :size], atol=1e-5)


def test_heads_of_words_are_distributions_over_the_words(classifier):
    found = explain(classifier, TEXTS[0], "rollout")
    words = found.by_word()
    assert words.heads.shape == (3, 2, 5, 5) and words.heads.sum(axis=-1) == pytest.approx(1, abs=1e-5)
    # 정말 and 별로 have one token each
    assert words.heads[..., 3, 4] == pytest.approx(found.heads[..., -2, -1])
    assert found.without_matrix().heads is None


def test_an_encoder_without_heads_has_no_rollout(bundle_folder, post_run_folder):
    for folder, kind in ((bundle_folder, "gru"), (post_run_folder / "bundle", "article")):
        other = load_classifier(folder)
        assert explain(other, TEXTS[0]).heads is None
        with pytest.raises(ConfigError, match=f"^method rollout: expected .* a transformer, found {kind}; use"):
            explain(other, TEXTS[0], "rollout")
