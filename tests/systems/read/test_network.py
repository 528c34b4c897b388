"""The network: its location features, and that a line is read alike beside others."""

import numpy

from nsmc_attention.machine.mxnet_shim import import_mxnet
from nsmc_attention.systems.read.decoding import Letters
from nsmc_attention.systems.read.settings import Location, ReaderConfig
from nsmc_attention.systems.read.strips import padded
from nsmc_attention.systems.sequences.characters import BEGIN

mxnet = import_mxnet()

from nsmc_attention.systems.read.network import LocationAlignment, Reader  # noqa: E402

LETTERS = Letters((" ", *"가나다라!"))


def drawn(*shape, seed=0):
    return numpy.random.RandomState(seed).normal(0, 0.5, shape).astype("float32")


def test_location_features_are_those_of_chorowski():
    """score = v . tanh(W s + V h + U f) with f = F * [last; total], equations 8 and 9."""
    alignment = LocationAlignment(3, Location(units=4, features=2, window=5))
    alignment.initialize(mxnet.init.Normal(0.5))
    query, keys, last = drawn(2, 3), drawn(2, 6, 4, seed=1), numpy.abs(drawn(2, 6, seed=2))
    total, mask = last + 0.5, numpy.array([[1.0] * 6, [1, 1, 1, 1, 0, 0]])
    given = map(mxnet.nd.array, (query, keys, mask, last, total))
    weights, again, after = (array.asnumpy() for array in alignment(*given))
    own = {name: item.data().asnumpy() for name, item in alignment._collect_params_with_prefix().items()}
    window = own["features.weight"][..., 0]  # (features, 2, window)
    both = numpy.pad(numpy.stack([last, total], axis=1), ((0, 0), (0, 0), (2, 2)))
    seen = [[row[None, :, place : place + 5] for place in range(6)] for row in both]
    features = numpy.array([[(window * each).sum(axis=(1, 2)) for each in row] for row in seen])
    projected = (query @ own["query.weight"].T)[:, None] + keys + features @ own["location.weight"].T
    scores = numpy.tanh(projected) @ own["value.weight"][0]
    scores = numpy.where(mask > 0, numpy.exp(scores), 0)
    expected = scores / scores.sum(axis=1, keepdims=True)
    assert numpy.allclose(weights, expected, atol=1e-5) and numpy.array_equal(weights, again)
    assert numpy.allclose(after, total + weights)


def test_a_line_is_read_alike_beside_longer_ones():
    settings = ReaderConfig(hidden_size=6, decoder_size=5, embedding_size=4, output_units=4)
    network = Reader(*LETTERS.sizes, settings)
    network.initialize(mxnet.init.Xavier())
    lines = [numpy.abs(drawn(length, 128, seed=length)) for length in (9, 30)]
    ids = mxnet.nd.array([[BEGIN, 5, 6]], dtype="int32")

    def read(pictures):
        batch, lengths = map(mxnet.nd.array, padded(pictures))
        return [array.asnumpy() for array in network(batch, lengths, mxnet.nd.tile(ids, (len(pictures), 1)))]

    alone, beside = read(lines[:1]), read(lines)
    assert numpy.allclose(beside[0][0], alone[0][0], atol=1e-5)
    assert numpy.allclose(beside[1][0, :, :9], alone[1][0, :, :9], atol=1e-5) and not beside[1][0, :, 9:].any()
    assert numpy.allclose(beside[2][0, :9], alone[2][0, :9], atol=1e-5)
    assert numpy.allclose(alone[1].sum(axis=2), 1, atol=1e-5)
