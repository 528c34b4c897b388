"""The sequence-to-sequence network: masks, alignments, one step at a time."""

from dataclasses import replace

import numpy
import pytest

from nsmc_attention._runtime.mxnet_shim import import_mxnet
from nsmc_attention.errors import ConfigError
from nsmc_attention.restoration.characters import ROWS
from nsmc_attention.restoration.decoders import ALIGNMENTS, GRUDecoder, LSTMDecoder
from nsmc_attention.restoration.settings import LSTMStack, Stack, WriterConfig

mxnet = import_mxnet()

VOCABULARY, SOURCE, TARGET, ROWS_OF_TABLE = 20, 7, 5, 30
SMALL = WriterConfig(embedding_size=6, encoder=Stack(1, 4), output_units=5, decoder=GRUDecoder(8), dropout=0.0)
LENGTHS = [7, 3, 1]


def config(attention="general", cell="gru", **changes):
    encoder, decoder = (Stack(1, 4), GRUDecoder(8)) if cell == "gru" else (LSTMStack(2, 4), LSTMDecoder(8))
    return replace(SMALL, encoder=encoder, decoder=decoder, attention=ALIGNMENTS[attention](), **changes)


def network(settings, seed=0):
    mxnet.random.seed(seed)
    built = settings.network(ROWS_OF_TABLE, VOCABULARY, 10)
    built.initialize(mxnet.init.Xavier(magnitude=6))
    return built


def inputs(width=SOURCE, seed=0):
    random = numpy.random.RandomState(seed)
    source = random.randint(0, ROWS_OF_TABLE, (3, SOURCE, ROWS))
    padded = numpy.pad(source, ((0, 0), (0, width - SOURCE), (0, 0)), constant_values=3)
    target = random.randint(0, VOCABULARY, (3, TARGET))
    return mxnet.nd.array(padded, dtype="int32"), mxnet.nd.array(LENGTHS), mxnet.nd.array(target, dtype="int32")


EACH = [(kind, cell, fed) for kind in ALIGNMENTS for cell in ("gru", "lstm") for fed in (0, 1)]


@pytest.mark.parametrize("kind, cell, fed", EACH)
def test_padding_and_other_reviews_change_nothing(kind, cell, fed):
    built = network(config(kind, cell, input_feeding=fed))
    logits, weights = (array.asnumpy() for array in built(*inputs()))
    wider, more = (array.asnumpy() for array in built(*inputs(SOURCE + 4)))
    assert numpy.allclose(wider, logits, atol=1e-5) and numpy.allclose(more[:, :, :SOURCE], weights, atol=1e-5)
    for row, length in enumerate(LENGTHS):
        assert (more[row, :, length:] == 0).all()
        alone = built(*(array[row : row + 1] if array.ndim == 1 else cut(array, row, length) for array in inputs()))
        assert numpy.allclose(alone[0].asnumpy()[0], logits[row], atol=1e-5)
        assert numpy.allclose(alone[1].asnumpy()[0], weights[row, :, :length], atol=1e-5)


def cut(array, row, length):
    return array[row : row + 1, :length] if array.shape[1] == SOURCE else array[row : row + 1]


@pytest.mark.parametrize("kind", ALIGNMENTS)
def test_weights_are_shares_of_the_source(kind):
    sums = network(config(kind))(*inputs())[1].asnumpy().sum(axis=2)
    if kind == "none":
        assert (sums == 0).all()
    elif kind == "local-p":
        assert (sums > 0).all() and (sums <= 1 + 1e-6).all()
    else:
        assert sums == pytest.approx(1, abs=1e-5)


def test_local_weights_are_within_a_window():
    settings = config("local-p")
    settings = replace(settings, attention=replace(settings.attention, window=1))
    weights = network(settings)(*inputs())[1].asnumpy()
    assert ((weights > 0).sum(axis=2) <= 3).all()


FIRST = [("general", "gru", 1, first) for first in ("mean", "maximum")]


@pytest.mark.parametrize("kind, cell, fed, first", [*((*each, "projection") for each in EACH), *FIRST])
def test_every_parameter_gets_a_gradient(kind, cell, fed, first):
    settings = config(kind, cell, input_feeding=fed, first_state=first)
    if first != "projection":
        settings = replace(settings, encoder=Stack(1, 8))
    built = network(settings)
    with mxnet.autograd.record():
        loss = (built(*inputs())[0] ** 2).sum()
    loss.backward()
    without = [name for name, each in built.collect_params().items() if not each.grad().asnumpy().any()]
    assert not without


@pytest.mark.parametrize("kind", ALIGNMENTS)
def test_hybridized_and_step_by_step_are_the_same(kind):
    built = network(config(kind))
    source_ids, source_length, target_ids = inputs()
    expected = [array.asnumpy() for array in built(source_ids, source_length, target_ids)]
    built.hybridize()
    memory, keys, mask, *states = built.source(source_ids, source_length)
    combined = mxnet.nd.zeros_like(states[0])
    for place in range(TARGET):
        logits, weights, combined, *states = built.step(target_ids[:, place], memory, keys, mask, combined, *states)
        assert numpy.allclose(logits.asnumpy(), expected[0][:, place], atol=1e-5)
        assert numpy.allclose(weights.asnumpy(), expected[1][:, place], atol=1e-5)


def test_only_input_feeding_reads_what_was_attended_to_before():
    for fed in (0, 1):
        built = network(config(input_feeding=fed))
        memory, keys, mask, *states = built.source(*inputs()[:2])
        ids, zeros = mxnet.nd.array([1, 2, 3]), mxnet.nd.zeros_like(states[0])
        one, other = (built.step(ids, memory, keys, mask, before, *states)[2] for before in (zeros, zeros + 1))
        assert numpy.allclose(one.asnumpy(), other.asnumpy()) == (not fed)


@pytest.mark.parametrize(
    "settings, message",
    [
        (replace(config("dot"), decoder=GRUDecoder(9)), "expected a decoder of 8 units.*found 9; or use general"),
        (config(first_state="mean"), "expected a decoder of 4 units.*found 8; or use projection"),
    ],
)
def test_sizes_that_do_not_fit_are_refused(settings, message):
    with pytest.raises(ConfigError, match=message):
        settings.check_sizes()
