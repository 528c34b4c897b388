"""The graphs of a restorer compute what its Gluon network computes, and hold its parameters in as few bytes."""

from dataclasses import replace

import numpy
import pytest

from nsmc_attention._runtime.mxnet_shim import import_mxnet

mxnet = import_mxnet()

from nsmc_attention.model.attention import ALIGNMENTS  # noqa: E402
from nsmc_attention.model.onnx.restoring import lower_restorer  # noqa: E402
from nsmc_attention.model.parameters import fill, round_tables, stored_forms  # noqa: E402
from nsmc_attention.model.settings import EditorConfig, GRUDecoder, LSTMDecoder, LSTMStack, Stack, WriterConfig  # noqa: E402
from nsmc_attention.text.characters import ROWS  # noqa: E402

VOCABULARY, TABLE, WIDTH = 20, 30, 7
CELLS = {"gru": (Stack, GRUDecoder), "lstm": (LSTMStack, LSTMDecoder)}


def editor(cell="gru", layers=2):
    return EditorConfig(embedding_size=6, encoder=CELLS[cell][0](layers, 4), output_units=5)


def writer(kind="general", cell="gru", fed=1, first="projection"):
    stack, decoder = CELLS[cell]
    half = 4 if first == "projection" else 8
    size = 2 * half if kind == "dot" else 8
    return WriterConfig(
        embedding_size=6,
        encoder=stack(1, half),
        output_units=5,
        decoder=decoder(size),
        attention=ALIGNMENTS[kind](),
        input_feeding=fed,
        first_state=first,
    )


EDITORS = [editor(cell, layers) for cell in CELLS for layers in (1, 2)]
WRITERS = [writer(kind, cell, fed) for kind in ALIGNMENTS for cell in CELLS for fed in (0, 1)]
WRITERS += [writer("general", cell, 1, first) for cell in CELLS for first in ("mean", "maximum")]
WRITERS += [replace(writer("local-p"), attention=ALIGNMENTS["local-p"](window=1))]


def title(settings):
    if settings.kind == "editor":
        return f"editor-{settings.encoder.kind}-{settings.encoder.layers}"
    parts = (settings.attention.kind, settings.decoder.kind, settings.first_state, settings.input_feeding)
    return "-".join(map(str, parts))


def network(settings):
    built = settings.network(TABLE, VOCABULARY)
    random = numpy.random.RandomState(1)
    shapes = {name: shape for name, (_, shape) in stored_forms(built).items() if not name.endswith(".scale")}
    fill(built, {name: random.normal(0, 0.5, shape) for name, shape in shapes.items()}, mxnet.cpu())
    round_tables(built)
    return built


def batch(reviews=4, width=WIDTH):
    random = numpy.random.RandomState(0)
    lengths = numpy.array([width, *random.randint(1, width + 1, reviews - 1)], "int32")
    return random.randint(0, TABLE, (reviews, width, ROWS)).astype("int32"), lengths


def as_nd(array):
    return mxnet.nd.array(array, dtype=array.dtype if array.ndim > 1 else "float32")


def session(model):
    import onnxruntime

    return onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])


def run(session, *arrays):
    names = [item.name for item in session.get_inputs()]
    return session.run(None, dict(zip(names, arrays)))


def close(found, expected):
    numpy.testing.assert_allclose(found, expected, atol=1e-5)


@pytest.mark.parametrize("settings", EDITORS, ids=title)
def test_an_editor_tags_every_character_as_gluon_does(settings):
    built = network(settings)
    running = session(lower_restorer(built)["model.onnx"])
    for ids, lengths in (batch(), batch(1, 1), batch(3, 1)):
        tags, certainty, spaces = run(running, ids, lengths)
        of_tags, of_spaces = (each.softmax(axis=2).asnumpy() for each in built(as_nd(ids), as_nd(lengths)))
        inside = numpy.arange(ids.shape[1]) < lengths[:, None]
        assert tags.dtype == numpy.int32 and (tags == of_tags.argmax(axis=2))[inside].all()
        close(certainty[inside], of_tags.max(axis=2)[inside])
        close(spaces[inside], of_spaces[:, :, 1][inside])


@pytest.mark.parametrize("settings", WRITERS, ids=title)
def test_a_writer_writes_step_by_step_as_gluon_does(settings):
    built = network(settings)
    source, step = map(session, lower_restorer(built).values())
    for ids, lengths in (batch(), batch(1, 1)):
        encoded = run(source, ids, lengths)
        expected = [each.asnumpy() for each in built.source(as_nd(ids), as_nd(lengths))]
        for found, other in zip(encoded, expected):
            close(found, other)
        memory, keys, mask, *states = encoded
        combined = numpy.zeros_like(states[0])
        by_gluon = [as_nd(each) for each in (*expected[:3], combined, *expected[3:])]
        for chosen in (2, 9):
            last = numpy.full(len(ids), chosen, "int32")
            log_probability, weights, combined, *states = run(step, last, memory, keys, mask, combined, *states)
            logits, *others = built.step(mxnet.nd.array(last, dtype="int32"), *by_gluon)
            close(log_probability, logits.log_softmax(axis=1).asnumpy())
            for found, other in zip((weights, combined, *states), others):
                close(found, other.asnumpy())
            by_gluon[3:] = others[1:]
