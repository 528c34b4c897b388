"""The compiled editor against the rounded formulas in float64, against ONNX Runtime, and against what does not fit."""

import importlib
import os
import sys
from types import SimpleNamespace

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as some

from nsmc_attention import load_restorer, native
from nsmc_attention.corpora import labelled
from nsmc_attention.engines.graphs import THREAD_BATCH
from nsmc_attention.errors import ConfigError, MissingPackage
from nsmc_attention.native.kernels import VARIABLE
from nsmc_attention.network.graphs import parameter_shapes
from nsmc_attention.systems.restore.engines import EDITOR_LENGTHS, HEADS, NativeEditor, RestorerEngine, kernel_arrays
from nsmc_attention.systems.restore.settings import EditorConfig, RestoreConfig, Stack
from nsmc_attention.text.encoding import clean

# .ci/run builds the extension; elsewhere it is optional
network = (
    importlib.import_module("nsmc_attention.native._network")
    if os.environ.get("CI")
    else pytest.importorskip("nsmc_attention.native._network")
)
KERNELS = [name for name in network.kernels() if name != "bf16"]
# Levels of a state from 0 to 1
LEVELS = 127
MIXED = ["This movie 정말 조앗다", "映画😀가 ㅋㅋㅋ", "뷁쀍 훼손", "가", "9.5점IMAX로보세요!!", "Très bien 재밌"]
READ = RestoreConfig().text.max_length * EDITOR_LENGTHS


def config_of(units, hidden, layers, output):
    encoder = Stack(layers=layers, hidden_size=hidden)
    return RestoreConfig(model=EditorConfig(embedding_size=units, encoder=encoder, output_units=output))


def parameters(rows, tags, config, seed=0):
    random = numpy.random.RandomState(seed)
    return {
        name: (random.standard_normal(shape) * (shape[-1] ** -0.5 if len(shape) > 1 else 1)).astype("float32")
        for name, shape in parameter_shapes(config.network(rows, tags)).items()
    }


def batch_of(rows, lengths, width, seed=0):
    """Ids of padding are out of range: they are not read."""
    lengths = numpy.array(lengths, dtype="int32")
    ids = numpy.random.RandomState(seed).randint(0, rows, (len(lengths), width, 5))
    return numpy.where((numpy.arange(width) < lengths[:, None])[:, :, None], ids, -7).astype("int32"), lengths


def editor(kernel, arrays, layers):
    return NativeEditor(network.load_editor(kernel, *kernel_arrays(arrays, layers)))


def sigmoid(x):
    return 1 / (1 + numpy.exp(-x))


def whole(states):
    return numpy.round(states * LEVELS) / LEVELS


def rounded(weights, directions=2):
    """Return weights (sums, terms) in whole 127ths of the largest pair of neighbours of each sum, in each direction."""
    sizes = abs(weights).reshape(len(weights), directions, -1)
    pairs = numpy.pad(sizes, [(0, 0), (0, 0), (0, sizes.shape[2] % 2)]).reshape(len(weights), -1, 2).sum(axis=2)
    unit = pairs.max(axis=1, keepdims=True) / LEVELS
    return numpy.round(weights / unit) * unit


def softmaxes(arrays, ids, layers):
    """Return the probabilities of tags (S, V) and of a space (S,) of one text by the formulas, in float64.

    States are rounded, and so are the weights that they are multiplied by.
    """
    p = {name: array.astype("float64") for name, array in arrays.items()}
    states, read = p["reader.embedding.weight"][ids].sum(1), lambda weights: weights
    for layer in range(layers):
        both = []
        for direction, step in (("forward", 1), ("backward", -1)):
            name = f"reader.layer{layer}.{direction}_gru._unfused.0."
            inputs = states[::step] @ read(p[name + "i2h_weight"]).T + p[name + "i2h_bias"]
            recurrent = rounded(p[name + "h2h_weight"], 1)
            h, found = numpy.zeros(recurrent.shape[1]), []
            for own in inputs.reshape(len(ids), 3, -1):
                u = (recurrent @ whole(h) + p[name + "h2h_bias"]).reshape(3, -1)
                r, z = sigmoid(own[:2] + u[:2])
                h = (1 - z) * numpy.tanh(own[2] + r * u[2]) + z * h
                found.append(whole(h))
            both.append(found[::step])
        states, read = numpy.concatenate(both, axis=1), rounded
    # of the two rows of a head their difference alone matters
    odds = [
        states @ rounded(numpy.diff(p[f"{head}.weight"], axis=0)).T + numpy.diff(p[f"{head}.bias"]) for head in HEADS
    ]
    change, spaces = (sigmoid(numpy.concatenate([-each, each], axis=1)) for each in odds)
    others = numpy.exp(states @ rounded(p["narrow.weight"]).T @ p["tag.weight"].T + p["tag.bias"])
    others = others / others.sum(1, keepdims=True)
    return numpy.concatenate([change[:, :1], change[:, 1:] * others], axis=1), spaces[:, 1]


@pytest.mark.parametrize("kernel", KERNELS)
@given(
    some.tuples(some.integers(1, 40), some.integers(1, 40), some.integers(1, 3), some.integers(1, 40)),
    some.integers(2, 100),
    some.lists(some.integers(1, 20), min_size=1, max_size=19),
    some.integers(0, 1000),
)
def test_editors_of_any_size_are_those_of_the_formulas(kernel, sizes, tags, lengths, seed):
    arrays, layers = parameters(tags + 9, tags, config_of(*sizes), seed), sizes[2]
    ids, lengths = batch_of(tags + 9, lengths, max(lengths) + seed % 3, seed)
    found, certainty, spaces = editor(kernel, arrays, layers)(ids, lengths)
    for text, length in enumerate(lengths):
        of_tags, of_spaces = softmaxes(arrays, ids[text, :length], layers)
        # a state between two levels may be rounded to either
        assert certainty[text, :length] == pytest.approx(of_tags.max(1), abs=5e-3)
        assert of_tags[range(length), found[text, :length]] == pytest.approx(of_tags.max(1), abs=5e-3)
        assert spaces[text, :length] == pytest.approx(of_spaces, abs=5e-3)
        assert not found[text, length:].any() and not spaces[text, length:].any()
        assert (certainty[text, length:] == 1).all()


@pytest.mark.parametrize("levels", [name for name in KERNELS if name not in ("baseline", "avx2")])
@given(sizes=some.tuples(some.integers(1, 40), some.integers(1, 200), some.integers(1, 3)), seed=some.integers(0, 1000))
def test_products_of_bytes_are_those_of_every_instruction(levels, sizes, seed):
    arrays = parameters(60, 50, config_of(*sizes, 20), seed)
    batch = batch_of(60, [9, 1, 7], 9, seed)
    both = (editor(kernel, arrays, sizes[2])(*batch) for kernel in ("avx2", levels))
    # the probability of a tag has a sum of as many parts as a vector has numbers
    assert all(one == pytest.approx(other, abs=1e-6) for one, other in zip(*both))


@pytest.mark.parametrize("kernel", KERNELS)
@given(some.lists(some.integers(1, 12), min_size=1, max_size=40), some.randoms(use_true_random=False))
def test_a_text_has_the_same_bits_in_any_batch(kernel, lengths, random):
    run = editor(kernel, parameters(60, 50, config_of(8, 20, 2, 20)), 2)
    ids, lengths = batch_of(60, lengths, max(lengths))
    whole, order = run(ids, lengths), random.sample(range(len(lengths)), len(lengths))
    again = run(ids[order], lengths[order])
    assert all((one[order] == other).all() for one, other in zip(whole, again))
    for text in order[:5]:
        alone = run(ids[text : text + 1], lengths[text : text + 1])
        assert all((one[0] == other[text]).all() for one, other in zip(alone, whole))


def test_of_equal_tags_the_first_is_chosen():
    arrays = {name: 0 * array for name, array in parameters(60, 50, config_of(8, 8, 1, 8)).items()}
    arrays["tag.bias"][[7, 23, 41]] = 9
    arrays["change.bias"][1] = 2
    for kernel in KERNELS:
        # the first tag of the layer is the one after KEEP
        assert (editor(kernel, arrays, 1)(*batch_of(60, [3], 3))[0] == 8).all()
    arrays["change.bias"][1] = 0
    for kernel in KERNELS:
        assert not editor(kernel, arrays, 1)(*batch_of(60, [3], 3))[0].any()


@pytest.fixture(scope="module")
def texts():
    """Real and mixed texts of 1 to four times as many characters as those of the training."""
    documents = list(filter(None, map(clean, labelled.load_reviews("sample", "test").documents)))
    whole = "".join(documents).replace(" ", "")
    return [*documents[:40], *MIXED, *(whole[: READ * part // 3] for part in range(1, 4))]


@pytest.fixture(scope="module")
def by_onnx(texts):
    """The packaged editor by ONNX Runtime, and what it makes of the texts."""
    restorer = load_restorer(engine="onnx")
    return restorer.engine, restorer.restore_many(texts)


def native_restorer(kernel, monkeypatch, bundle=None):
    monkeypatch.setenv(VARIABLE, kernel)
    return load_restorer(bundle, engine="native")


# Of probabilities by states and weights in 8 bits
NEAR = 5e-2


def same(found, expected):
    """Return the share of Restorations with the same text."""
    return numpy.mean([one.text == other.text for one, other in zip(found, expected)])


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("at_once", [1, 40])
def test_the_packaged_editor_says_what_it_does_with_onnx_runtime(kernel, at_once, texts, by_onnx, monkeypatch):
    restorer, (onnx, restored) = native_restorer(kernel, monkeypatch), by_onnx
    assert at_once == 1 or same(restorer.restore_many(texts), restored) > 0.95
    texts = texts[::7] if at_once == 1 else texts
    for start in range(0, len(texts), at_once):
        batch = restorer.characters.batch(texts[start : start + at_once])
        inside = numpy.arange(batch[0].shape[1]) < batch[1][:, None]
        found, expected = ([each[inside] for each in one.tag(*batch)] for one in (restorer.engine, onnx))
        assert all(abs(one - other).max() <= NEAR for one, other in zip(found[1:], expected[1:]))
        # where two tags are as likely, either may be the likeliest
        assert (found[0] == expected[0])[expected[1] > 0.5 + NEAR].all()


@pytest.mark.parametrize("kernel", KERNELS)
def test_a_trained_editor_of_other_sizes_restores_as_with_onnx_runtime(kernel, texts, tiny_editor, monkeypatch):
    found = native_restorer(kernel, monkeypatch, tiny_editor).restore_many(texts)
    expected = load_restorer(tiny_editor, engine="onnx").restore_many(texts)
    # hardly trained, it is in doubt more often
    assert same(found, expected) > 0.9
    assert [each.score for each in found] == pytest.approx([each.score for each in expected], rel=0.05, abs=0.1)


@pytest.mark.parametrize(
    ("ids", "lengths", "message"),
    [
        ([[[0, 0, 0, 0, 60]]], [1], "source_ids: expected 0 to 59, found 60"),
        ([[[0, 0, -1, 0, 0]]], [1], "source_ids: expected 0 to 59, found -1"),
        ([[[0] * 4]], [1], "source_ids: expected a C-contiguous array"),
        ([[[0] * 5]], [2], "source_length: expected 1 to 1, found 2"),
        ([[[0] * 5]], [0], "source_length: expected 1 to 1, found 0"),
        ([[[0] * 5]], [1, 1], "source_length: expected a C-contiguous array"),
    ],
)
def test_a_batch_that_would_be_read_beyond_the_table_is_refused(ids, lengths, message):
    run = editor("baseline", parameters(60, 50, config_of(4, 4, 1, 4)), 1)
    with pytest.raises(ValueError, match=message):
        run(numpy.array(ids, dtype="int32"), numpy.array(lengths, dtype="int32"))


def test_parameters_of_another_shape_are_refused():
    embedding, layers, *heads = kernel_arrays(parameters(60, 50, config_of(4, 4, 2, 4)), 2)
    for number, array in enumerate(heads):
        wrong = [*heads[:number], numpy.ascontiguousarray(array[1:]), *heads[number + 1 :]]
        with pytest.raises(ValueError, match="expected a C-contiguous array"):
            network.load_editor("baseline", embedding, layers, *wrong)
    for wrong in [(), (layers[1],), (layers[0], layers[0]), (tuple(each[..., :5].copy() for each in layers[0]),)]:
        with pytest.raises(ValueError, match="expected"):
            network.load_editor("baseline", embedding, wrong, *heads)


def test_kernels_of_classifiers_and_other_devices_run_no_editor_and_kernels_of_editors_nothing_else():
    if "bf16" in network.kernels():
        with pytest.raises(ValueError, match="kernel: expected one of editors, found bf16"):
            editor("bf16", parameters(60, 50, config_of(4, 4, 1, 4)), 1)
    for options, message in (
        ({"engine": "native-bf16"}, "unknown engine 'native-bf16'; did you mean 'native'?"),
        ({"engine": "native", "device": "gpu"}, "the native engine runs on the CPU"),
        ({"engine": "native", "beam": 1}, "does not compute .*: expected model.kind editor, found writer"),
    ):
        with pytest.raises(ConfigError, match=message):
            load_restorer(**options)
    assert load_restorer(beam=1).engine.name == "onnx"


def test_without_the_extension_or_with_another_version_onnx_runtime_is_used(monkeypatch):
    assert load_restorer().engine.name == "native"
    monkeypatch.delattr(network, "VERSION")
    with pytest.raises(MissingPackage, match="it is of another version.*install the package again"):
        load_restorer(engine="native")
    monkeypatch.delattr(native, "_network")
    monkeypatch.setitem(sys.modules, "nsmc_attention.native._network", None)
    assert load_restorer().engine.name == "onnx"
    with pytest.raises(MissingPackage, match="install the package again where there is GCC or Clang, or use"):
        load_restorer(engine="native")


def test_batches_are_large_where_that_leaves_no_thread_without_work() -> None:
    engine = RestorerEngine({"model.onnx": SimpleNamespace(name="native", batch_size=1000)}, 2)
    assert [engine.size_of_batches(texts) for texts in (1, 100, 2000, 9000)] == [THREAD_BATCH, THREAD_BATCH, 500, 1000]
