"""The sequence-to-sequence networks: masks, alignments, one step at a time, and no place that knows of a later one."""

from dataclasses import replace

import numpy
import onnx
import pytest

from nsmc_attention._runtime.mxnet_shim import import_mxnet
from nsmc_attention.errors import ConfigError
from nsmc_attention.model.encoders import TransformerEncoder
from nsmc_attention.systems.restoration.settings import RESTORE_PRESETS
from nsmc_attention.systems.sequences.decoders import ALIGNMENTS, GRUDecoder, TransformerDecoder
from nsmc_attention.systems.sequences.graphs import ROWS
from nsmc_attention.systems.sequences.settings import Stack, WriterConfig

mxnet = import_mxnet()

from nsmc_attention.model.onnx.graph import lower  # noqa: E402
from nsmc_attention.model.parameters import initialize_from  # noqa: E402
from nsmc_attention.model.tracing import parameter_shapes  # noqa: E402
from nsmc_attention.systems.sequences.transformer_writer import DecoderLayer, causal_mask  # noqa: E402

VOCABULARY, SOURCE, TARGET, ROWS_OF_TABLE = 20, 7, 5, 30
LENGTHS = [7, 3, 1]
SMALL = WriterConfig(embedding_size=6, encoder=Stack(1, 4), output_units=5, decoder=GRUDecoder(8), dropout=0.0)
DECODER = TransformerDecoder(layers=2, heads=2, units=8, feed_forward=10, dropout=0.0)
TRANSFORMERS = [replace(SMALL, decoder=DECODER)]
TRANSFORMERS += [replace(SMALL, decoder=replace(DECODER, layers=1, norm="pre", positions="sinusoidal"))]
TRANSFORMERS += [replace(TRANSFORMERS[0], encoder=TransformerEncoder(3, 2, 8, 10, dropout=0.0))]


def config(attention="general", **changes):
    return replace(SMALL, attention=ALIGNMENTS[attention](), **changes)


every_transformer = pytest.mark.parametrize("settings", TRANSFORMERS, ids=str)


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


@pytest.mark.parametrize("kind", ["local-m", "local-p"])
def test_local_weights_are_around_the_step_or_where_nothing_is_predicted_in_the_middle(kind):
    built = network(replace(SMALL, attention=ALIGNMENTS[kind](window=1)))
    steps = numpy.arange(1, TARGET + 1)
    if kind == "local-p":
        built.step.alignment.place.weight.set_data(mxnet.nd.zeros((1, 8)))
    _, weights = run(built, *inputs())
    for row, length in enumerate(LENGTHS):
        center = numpy.full(TARGET, length / 2) if kind == "local-p" else numpy.minimum(steps, length)
        places = numpy.arange(1, SOURCE + 1)
        assert ((weights[row] > 0) == ((abs(places - center[:, None]) <= 1) & (places <= length))).all()


@pytest.mark.parametrize("settings", [*map(config, ALIGNMENTS), *TRANSFORMERS], ids=str)
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


def test_only_input_feeding_reads_what_was_attended_to_before():
    for fed in (0, 1):
        built = network(config(input_feeding=fed))
        source, (zeros, *states) = built.begin(*inputs()[:2])
        ids = mxnet.nd.array([1, 2, 3])
        one, other = (built.step(ids, *source, before, *states)[2] for before in (zeros, zeros + 1))
        assert numpy.allclose(one.asnumpy(), other.asnumpy()) == (not fed)


@every_transformer
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


@every_transformer
def test_the_weights_of_all_layers_are_those_that_the_network_uses(settings):
    built, given, decoder = network(settings), inputs(SOURCE + 2), settings.decoder
    _, used = run(built, *given)
    built.hybridize()
    weights = {name: array.asnumpy() for name, array in built.attention(*given).items()}
    own, of_source, *of_encoder = weights.values()
    assert own.shape == (3, decoder.layers, decoder.heads, TARGET, TARGET)
    assert of_source.shape == (3, decoder.layers, decoder.heads, TARGET, SOURCE + 2)
    close(of_source[:, -1].mean(axis=1), used)
    assert [array.shape for array in of_encoder] == [(3, 3, 2, SOURCE + 2, SOURCE + 2)] * ("encoder" in weights)
    for array in weights.values():
        close(array.sum(axis=-1), 1)
    for array in (of_source, *of_encoder):
        assert all((array[row][..., length:] == 0).all() for row, length in enumerate(LENGTHS))
    assert (numpy.triu(own, 1) == 0).all() and (own[..., numpy.tri(TARGET) > 0] > 0).all()


UNUSED = {"model.decoder.kind": "transformer"}
ENCODER = {"encoder": "transformer"}


@pytest.mark.parametrize(
    "changes, message",
    [
        (
            {"attention": "dot"},
            "expected a decoder of 384 units.*found 256; give --set model.decoder.hidden_size=384, or",
        ),
        ({**UNUSED, "attention": "dot"}, "model.attention.kind: expected general, the default, .*dot; leave it out"),
        ({**UNUSED, "model.attention.dropout": 0.5}, "model.attention.dropout: expected 0.0, the default"),
        ({**UNUSED, "model.input_feeding": 0}, "model.input_feeding: expected 1, the default"),
        ({**UNUSED, "model.decoder.heads": 3}, "model.decoder.heads: expected a divisor of 128"),
        ({**UNUSED, "training.sampling": 0.5}, "training.sampling: expected 0, because a transformer decoder"),
        ({**UNUSED, "model.decoder.hidden_size": 8}, "unknown setting 'hidden_size' of the kind transformer"),
        ({**UNUSED, "max_length": 1024, "model.decoder.layers": 24}, "attention scores of at most"),
        ({**ENCODER, "max_length": 1024, "model.encoder.heads": 128}, "attention scores of at most"),
        ({**ENCODER, "model.encoder.heads": 3}, "model.encoder.heads: expected a divisor of 128"),
        ({**ENCODER, "hidden_size": 8}, "unknown setting 'hidden_size' of the kind transformer"),
    ],
)
def test_settings_that_do_not_fit_each_other_are_refused(changes, message):
    with pytest.raises(ConfigError, match=message):
        RESTORE_PRESETS["writer"].with_fields(**changes)


def test_a_step_projects_its_keys_no_more():
    """Of general attention, the keys are a matrix product of the source: one that a step does not repeat."""
    settings = WriterConfig(embedding_size=6, encoder=Stack(1, 4), output_units=5, decoder=GRUDecoder(8))
    built = settings.network(20, 12, 10)
    initialize_from(built, {name: numpy.ones(each) for name, each in parameter_shapes(built).items()}, mxnet.cpu())
    source, step = (onnx.load_from_string(each).graph for each in lower(built, settings.graphs).values())
    named = [{item.name for item in graph.initializer if ".key." in item.name} for graph in (source, step)]
    assert named == [{"source.key.weight"}, set()]
