"""The tagging network: masks, and every parameter in use."""

import numpy
import pytest

from nsmc_attention._runtime.mxnet_shim import import_mxnet
from nsmc_attention.restoration.characters import ROWS
from nsmc_attention.restoration.settings import EditorConfig, LSTMStack, Stack

mxnet = import_mxnet()

VOCABULARY, TABLE, WIDTH, LENGTHS = 12, 20, 7, [7, 3, 1]


def network(encoder):
    mxnet.random.seed(0)
    built = EditorConfig(embedding_size=6, encoder=encoder, output_units=5, dropout=0.0).network(TABLE, VOCABULARY, 10)
    built.initialize(mxnet.init.Xavier(magnitude=6))
    return built


def inputs(width=WIDTH):
    source = numpy.random.RandomState(0).randint(0, TABLE, (3, WIDTH, ROWS))
    padded = numpy.pad(source, ((0, 0), (0, width - WIDTH), (0, 0)), constant_values=3)
    return mxnet.nd.array(padded, dtype="int32"), mxnet.nd.array(LENGTHS)


@pytest.mark.parametrize("encoder", [Stack(1, 4), Stack(2, 4), LSTMStack(2, 4)], ids=str)
def test_padding_and_other_texts_change_nothing(encoder):
    built = network(encoder)
    expected, wider = ([array.asnumpy() for array in built(*inputs(width))] for width in (WIDTH, WIDTH + 4))
    ids, lengths = inputs()
    for row, length in enumerate(LENGTHS):
        alone = built(ids[row : row + 1, :length], lengths[row : row + 1])
        for one, other, single in zip(expected, wider, alone):
            assert numpy.allclose(one[row, :length], other[row, :length], atol=1e-5)
            assert numpy.allclose(one[row, :length], single[0].asnumpy(), atol=1e-5)
    assert expected[0].shape == (3, WIDTH, VOCABULARY) and expected[1].shape == (3, WIDTH, 2)


def test_every_parameter_gets_a_gradient():
    built = network(Stack(2, 4))
    with mxnet.autograd.record():
        loss = sum((array**2).sum() for array in built(*inputs()))
    loss.backward()
    assert all(each.grad().asnumpy().any() for each in built.collect_params().values())
