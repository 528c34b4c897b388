"""The Transformer: places, masks and sizes; what padding changes is in tests/systems/test_networks.py."""

import numpy

from nsmc_attention.machine.mxnet_shim import import_mxnet

mxnet = import_mxnet()

from mxnet import nd  # noqa: E402

from nsmc_attention.network.encoders import TransformerEncoder  # noqa: E402
from nsmc_attention.network.transformer import SelfAttention, Transformer  # noqa: E402


def transformer():
    settings = TransformerEncoder(layers=3, heads=2, units=8, feed_forward=10, positions="learned")
    mxnet.random.seed(0)
    built = Transformer(settings, 6, max_length=20)
    built.initialize(mxnet.init.Normal(0.5))
    return built


def test_places_tell_equal_tokens_apart():
    states = transformer()(nd.ones((5, 1, 6)), nd.array([5]))[0].asnumpy()[:, 0]
    assert len({tuple(row) for row in states.round(4).tolist()}) == 5


def test_each_head_begins_with_a_neighbour_of_its_own():
    built = SelfAttention(8, 4, 0.0, relative=True)
    built.initialize(mxnet.init.Zero())
    weights = built(nd.zeros((11, 1, 8)), nd.full((1, 11), 11, dtype="int32"))[1].asnumpy()
    assert weights[0, :, 5].argmax(axis=-1).tolist() == [4, 6, 3, 7]
    numpy.testing.assert_allclose(weights[0, :, 5].max(axis=-1), numpy.exp(4) / (numpy.exp(4) + 10), rtol=1e-5)


def test_with_a_causal_mask_no_weight_is_above_the_diagonal():
    built = SelfAttention(8, 2, 0.0)
    built.initialize(mxnet.init.Normal(0.5))
    states = nd.random.normal(shape=(6, 2, 8))
    contexts, weights = built(states, nd.array([range(1, 7)] * 2, dtype="int32"))
    rows = weights.asnumpy()
    assert (numpy.triu(rows, 1) == 0).all()
    numpy.testing.assert_allclose(rows.sum(axis=-1), 1, atol=1e-5)
    states[4:] = 9
    again, _ = built(states, nd.array([range(1, 7)] * 2, dtype="int32"))
    numpy.testing.assert_allclose(again.asnumpy()[:4], contexts.asnumpy()[:4], atol=1e-5)
