"""The Transformer's decoder: a target at once is the same as step by step, and no place knows of a later one."""

from dataclasses import replace

import numpy
import pytest

from nsmc_attention._runtime.mxnet_shim import import_mxnet
from nsmc_attention.errors import ConfigError
from nsmc_attention.restoration.characters import ROWS
from nsmc_attention.restoration.decoders import TransformerDecoder
from nsmc_attention.restoration.settings import RESTORE_PRESETS, Stack, WriterConfig

mxnet = import_mxnet()

from nsmc_attention.model.transformer import DecoderLayer  # noqa: E402
from nsmc_attention.restoration.transformer_writer import causal_mask  # noqa: E402

VOCABULARY, SOURCE, TARGET, ROWS_OF_TABLE = 20, 7, 5, 30
LENGTHS = [7, 3, 1]
DECODER = TransformerDecoder(layers=2, heads=2, units=8, feed_forward=10, dropout=0.0)
SMALL = WriterConfig(embedding_size=6, encoder=Stack(1, 4), output_units=5, decoder=DECODER, dropout=0.0)
FORMS = [DECODER, replace(DECODER, layers=1, norm="pre", positions="sinusoidal")]
every_form = pytest.mark.parametrize("decoder", FORMS, ids=lambda each: each.norm)


def network(decoder):
    mxnet.random.seed(0)
    built = replace(SMALL, decoder=decoder).network(ROWS_OF_TABLE, VOCABULARY, 10)
    built.initialize(mxnet.init.Normal(0.5))
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
    return [each.asnumpy() for each in built(*arrays)]


def close(found, expected):
    numpy.testing.assert_allclose(found, expected, atol=1e-5)


@every_form
def test_step_by_step_is_the_same_as_at_once(decoder):
    built = network(decoder)
    source_ids, source_length, target = inputs()
    logits, weights = run(built, source_ids, source_length, target)
    assert logits.shape == (3, TARGET, VOCABULARY) and weights.shape == (3, TARGET, SOURCE)
    built.hybridize()
    source, state = built.begin(source_ids, source_length)
    for place in range(TARGET):
        found, attended, *state = built.step(target[:, place], *source, *state)
        close(found.asnumpy(), logits[:, place])
        close(attended.asnumpy(), weights[:, place])
        assert {each.shape for each in state} == {(3, decoder.heads, place + 2, decoder.units // decoder.heads)}


@every_form
def test_a_later_character_changes_nothing_before_it(decoder):
    built, (*source, target) = network(decoder), inputs()
    before = run(built, *source, target)
    target[:, 3:] = (target[:, 3:] + 1) % VOCABULARY
    for found, expected in zip(run(built, *source, target), before):
        assert (found[:, :3] == expected[:, :3]).all() and (found[:, 3:] != expected[:, 3:]).any()


@every_form
def test_the_padding_of_the_source_changes_nothing(decoder):
    built = network(decoder)
    logits, weights = run(built, *inputs())
    wider, more = run(built, *inputs(SOURCE + 4))
    close(wider, logits)
    close(more[:, :, :SOURCE], weights)
    close(more.sum(axis=2), 1)
    for row, length in enumerate(LENGTHS):
        assert (more[row, :, length:] == 0).all()


def test_no_weight_of_the_self_attention_is_above_the_diagonal():
    layer, nd = DecoderLayer(DECODER), mxnet.nd
    layer.initialize(mxnet.init.Normal(0.5))
    nothing, source = [nd.zeros((3, 2, 1, 4))] * 2, [nd.random.normal(shape=(3, 2, 6, 4))] * 2
    hidden = causal_mask(nd, nd.arange(1), nd.arange(TARGET))
    _, weights, *_ = layer(nd.random.normal(shape=(3, TARGET, 8)), nothing, hidden, source, nd.zeros((3, 1, 1, 6)))
    rows = weights.asnumpy()
    assert (rows[..., 0] == 0).all(), "the first place is none"
    assert (numpy.triu(rows[..., 1:], 1) == 0).all() and (rows[..., 1:][..., numpy.tri(TARGET) > 0] > 0).all()
    close(rows.sum(axis=-1), 1)


@every_form
def test_the_weights_of_all_layers_are_those_that_the_network_uses(decoder):
    built, given = network(decoder), inputs(SOURCE + 2)
    _, used = run(built, *given)
    built.hybridize()
    own, of_source = run(built.attention, *given)
    assert own.shape == (3, decoder.layers, decoder.heads, TARGET, TARGET)
    assert of_source.shape == (3, decoder.layers, decoder.heads, TARGET, SOURCE + 2)
    close(of_source[:, -1].mean(axis=1), used)
    for weights in (own, of_source):
        close(weights.sum(axis=-1), 1)
    assert (numpy.triu(own, 1) == 0).all() and (own[..., numpy.tri(TARGET) > 0] > 0).all()


@every_form
def test_every_parameter_gets_a_gradient(decoder):
    built = network(decoder)
    with mxnet.autograd.record():
        loss = (built(*inputs())[0] ** 2).sum()
    loss.backward()
    learnt = {name: each for name, each in built.collect_params().items() if each.grad_req != "null"}
    assert not [name for name, each in learnt.items() if not each.grad().asnumpy().any()]


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"attention": "dot"}, "model.attention.kind: expected general, the default, .*found dot; leave it out"),
        ({"model.attention.dropout": 0.5}, "model.attention.dropout: expected 0.0, the default"),
        ({"model.input_feeding": 0}, "model.input_feeding: expected 1, the default"),
        ({"model.first_state": "mean"}, "model.first_state: expected projection, the default"),
        ({"model.decoder.heads": 3}, "model.decoder.heads: expected a divisor of 128"),
        ({"training.sampling": 0.5}, "training.sampling: expected 0, because a transformer decoder"),
        ({"model.decoder.hidden_size": 8}, "unknown setting 'hidden_size' of the kind transformer"),
        ({"max_length": 1024, "model.decoder.layers": 24}, "attention scores of at most"),
    ],
)
def test_what_a_transformer_decoder_does_not_use_is_refused(changes, message):
    with pytest.raises(ConfigError, match=message):
        RESTORE_PRESETS["writer"].with_fields(**{"model.decoder.kind": "transformer", **changes})
