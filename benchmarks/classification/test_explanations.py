"""Attention rollout, and integrated gradients of the packaged classifier."""

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as some

from benchmarks.classification.explanations import IntegratedGradients, integration_points, orders, rollout
from nsmc_attention.classifier.engines import embed_batch
from nsmc_attention.classifier.explain import Explainer
from nsmc_attention.classifier.predictor import load_classifier
from nsmc_attention.corpora import nsmc


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


def test_integrated_gradients_add_up_to_the_log_odds_less_those_of_nothing():
    """Completeness, Sundararajan et al. 2017, proposition 1."""
    classifier = load_classifier()
    explainer = Explainer(classifier)
    encoded = list(filter(len, map(classifier.bundle.codec.encode, nsmc.load("sample", "test").documents[:8])))
    probability, values = explainer.scorer(IntegratedGradients(explainer.gluon, 96)).read(encoded)[:2]
    graph = explainer.gluon
    for review, odds, each in zip(encoded, numpy.log(probability / (1 - probability)), values):
        rows, mask, lengths = embed_batch(graph, classifier.bundle.codec.batch([review]))
        logits = graph.block.forward_embedded(graph.mxnet.nd, [0 * row for row in rows], mask, lengths)[0]
        nothing = float((logits[0, 1] - logits[0, 0]).asscalar())
        assert each.sum() == pytest.approx(odds - nothing, abs=0.02)


@pytest.mark.parametrize("steps", [1, 2, 24])
def test_the_points_of_the_path_weigh_1_together(steps):
    shares, weights = zip(*integration_points(steps))
    assert sum(weights) == pytest.approx(1) and all(0 < share <= 1 for share in shares)


def test_every_order_has_a_number_for_each_token():
    explainer = Explainer(load_classifier())
    reviews = list(map(explainer.bundle.codec.encode, ["배우는 좋은데 영화는 정말 별로", "최고"]))
    found = orders(explainer, reviews)
    assert [*found] == ["contribution", "attention", "gradient", "integrated", "erasure", "random"]
    for name, values in found.items():
        assert list(map(len, values)) == list(map(len, reviews))
        if name in ("attention", "random"):
            assert [each.sum() for each in values] == pytest.approx([1, 1], abs=1e-5)
