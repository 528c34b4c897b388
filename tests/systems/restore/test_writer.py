"""The sequence-to-sequence network: masks, one step at a time, and no place that knows of a later one."""

from dataclasses import replace

import numpy
import pytest

from nsmc_attention.errors import ConfigError
from nsmc_attention.machine.mxnet_shim import import_mxnet
from nsmc_attention.systems.restore.settings import RESTORE_PRESETS, Decoder, Stack, WriterConfig
from nsmc_attention.systems.sequences import ROWS

mxnet = import_mxnet()

from nsmc_attention.systems.restore.network import DecoderLayer, causal_mask  # noqa: E402

VOCABULARY, SOURCE, TARGET, ROWS_OF_TABLE = 20, 7, 5, 30
LENGTHS = [7, 3, 1]
DECODER = Decoder(layers=2, heads=2, units=8, feed_forward=10, dropout=0.0)
WRITER = WriterConfig(embedding_size=6, encoder=Stack(1, 4), output_units=5, decoder=DECODER, dropout=0.0)
WRITERS = [WRITER, replace(WRITER, decoder=replace(DECODER, layers=1, norm="pre"))]
every_writer = pytest.mark.parametrize("settings", WRITERS, ids=str)


def network(settings):
    mxnet.random.seed(0)
    built = settings.network(ROWS_OF_TABLE, VOCABULARY, 10)
    built.initialize(mxnet.init.Xavier(magnitude=6))
    # the first call finds out the sizes, by MXNet's own operators, which round otherwise
    built(*inputs())
    return built


def inputs(width=SOURCE):
    random = numpy.random.RandomState(0)
    source = random.randint(0, ROWS_OF_TABLE, (3, SOURCE, ROWS))
    padded = numpy.pad(source, ((0, 0), (0, width - SOURCE), (0, 0)), constant_values=3)
    target = random.randint(0, VOCABULARY, (3, TARGET))
    return mxnet.nd.array(padded, dtype="int32"), mxnet.nd.array(LENGTHS), mxnet.nd.array(target, dtype="int32")


def run(built, *arrays):
    return [array.asnumpy() for array in built(*arrays)]


def close(array, expected):
    numpy.testing.assert_allclose(array, expected, atol=1e-5)


@every_writer
def test_hybridized_and_step_by_step_are_the_same_as_at_once(settings):
    built = network(settings)
    source_ids, source_length, target = inputs()
    logits, weights = run(built, source_ids, source_length, target)
    built.hybridize()
    source, state = built.begin(source_ids, source_length)
    for place in range(TARGET):
        of_step, attended, *state = built.step(target[:, place], *source, *state)
        close(of_step.asnumpy(), logits[:, place])
        close(attended.asnumpy(), weights[:, place])


@every_writer
def test_a_later_character_changes_nothing_before_it(settings):
    built, (*source, target) = network(settings), inputs()
    before = run(built, *source, target)
    target[:, 3:] = (target[:, 3:] + 1) % VOCABULARY
    for changed, expected in zip(run(built, *source, target), before):
        assert (changed[:, :3] == expected[:, :3]).all() and (changed[:, 3:] != expected[:, 3:]).any()


def test_the_first_place_of_the_self_attention_is_none():
    layer, nd = DecoderLayer(DECODER), mxnet.nd
    layer.initialize(mxnet.init.Normal(0.5))
    nothing, source = [nd.zeros((3, 2, 1, 4))] * 2, [nd.random.normal(shape=(3, 2, 6, 4))] * 2
    hidden = causal_mask(nd, nd.arange(1), nd.arange(TARGET))
    _, weights, *_ = layer(nd.random.normal(shape=(3, TARGET, 8)), nothing, hidden, source, nd.zeros((3, 1, 1, 6)))
    assert (weights.asnumpy()[..., 0] == 0).all()


@every_writer
def test_the_weights_of_all_layers_are_those_that_the_network_uses(settings):
    built, given, decoder = network(settings), inputs(SOURCE + 2), settings.decoder
    _, used = run(built, *given)
    built.hybridize()
    nd, (*source, target) = mxnet.nd, given
    arrays, state = built.begin(*source)
    _, weights, _ = built.step.decode(nd, target, *arrays, state, built.step.positions.data())
    own, of_source = (nd.stack(*layers, axis=1).asnumpy() for layers in zip(*weights))
    # the first place is none
    own = own[..., 1:]
    assert own.shape == (3, decoder.layers, decoder.heads, TARGET, TARGET)
    assert of_source.shape == (3, decoder.layers, decoder.heads, TARGET, SOURCE + 2)
    close(of_source[:, -1].mean(axis=1), used)
    for array in (own, of_source):
        close(array.sum(axis=-1), 1)
    assert all((of_source[row][..., length:] == 0).all() for row, length in enumerate(LENGTHS))
    assert (numpy.triu(own, 1) == 0).all() and (own[..., numpy.tri(TARGET) > 0] > 0).all()


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"model.decoder.heads": 3}, "model.decoder.heads: expected a divisor of 56"),
        ({"model.decoder.hidden_size": 8}, "unknown setting 'hidden_size' of the kind transformer"),
        ({"max_length": 1024, "model.decoder.layers": 24}, "attention scores of at most"),
        ({"model.decoder.kind": "gru"}, "model.decoder.kind: unknown kind 'gru'; known: transformer"),
    ],
)
def test_settings_that_do_not_fit_each_other_are_refused(changes, message):
    with pytest.raises(ConfigError, match=message):
        RESTORE_PRESETS["writer"].with_fields(**changes)
