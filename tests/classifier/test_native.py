"""The compiled kernels against the formulas in float64, against the other engines, and against what does not fit."""

import importlib
import os
import shutil
import subprocess
import sys

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st
from safetensors.numpy import save

from nsmc_attention import load_classifier, native
from nsmc_attention.bundle import load_bundle, read_contents, write_bundle
from nsmc_attention.classifier.engines import PRECISIONS, NativeEngine, load_engine, native_engine
from nsmc_attention.classifier.predictor import TokenScorer
from nsmc_attention.classifier.settings import LAYOUT
from nsmc_attention.corpora import labelled
from nsmc_attention.errors import BundleError, ConfigError, MissingPackage
from nsmc_attention.native.kernels import VARIABLE
from nsmc_attention.systems.language.model import load_language_model
from nsmc_attention.text.ngrams import NGRAMS

# .ci/run builds the extension; elsewhere it is optional
network = (
    importlib.import_module("nsmc_attention.native._network")
    if os.environ.get("CI")
    else pytest.importorskip("nsmc_attention.native._network")
)
KERNELS = network.kernels()
# Those of float32, and of states and weights in 16 bits
FLOATS = [name for name in KERNELS if name != "bf16"]


def bound(kernel, of_floats=2e-5):
    """How near results are to those of the formulas in float64."""
    return of_floats if kernel == "baseline" else 1e-3


def parameters(
    words, units, hidden, score, buckets, scale=1.0, seed=0, window=0, value_units=1, curved=True, signed=False
):
    """Random arguments of `load`, whose states and scores are as large as those of trained networks with scale 1.

    With a window values are near the token, the tanh of a sum if they are `curved`, and perhaps signed.
    """
    random = numpy.random.RandomState(seed)

    def normal(*shape, factor=1.0):
        return (random.standard_normal(shape) * factor).astype("float32")

    return {
        "embedding": random.randint(-127, 128, (words, units)).astype("int8"),
        "embedding_scale": numpy.abs(normal(words)) / 64,
        "input_weights": normal(2, 3, hidden, units, factor=units**-0.5),
        "input_bias": normal(2, 3, hidden),
        "recurrent": normal(2, 3, hidden, hidden, factor=hidden**-0.5),
        "hidden_bias": normal(2, hidden),
        "projection": normal(2, score, 2, hidden, factor=3 * scale * hidden**-0.5),
        "projection_bias": normal(2, score, factor=scale),
        "evidence": normal(2, 2, score, factor=scale),
        "score": normal(score),
        "output": normal(value_units if window else 2 * hidden, factor=hidden**-0.5),
        "output_bias": 0.25,
        "wide": 0.5,
        "ngrams": normal(buckets, 2).__abs__().astype("float16") if buckets else None,
        "values": normal(value_units, window, units, factor=units**-0.5) if window else None,
        "value_bias": normal(value_units) if window and curved else None,
        "sign": normal(2, hidden, factor=2 * hidden**-0.5) if signed else None,
        "sign_bias": 0.5,
    }


def batch_of(words, buckets, lengths, width, seed=0):
    random = numpy.random.RandomState(seed)
    lengths = numpy.array(lengths, dtype="int32")
    inside = numpy.arange(width) < lengths[:, None]
    # ids of padding are out of range: they are not read
    ids = numpy.where(inside, random.randint(0, words, inside.shape), -7).astype("int32")
    if not buckets:
        return ids, lengths
    ngrams = random.randint(0, buckets, (*inside.shape, NGRAMS))
    return ids, lengths, numpy.where(inside[:, :, None], ngrams, 2**30).astype("int32")


def sigmoid(x):
    return 1 / (1 + numpy.exp(-x))


def expected(given, ids, ngrams=None):
    """Return the probability, the weights (T, T) and the contributions (T,) of one review by the formulas, in float64.

    Without values near the token, the contributions are None.
    """
    p = {name: None if each is None else numpy.asarray(each, "float64") for name, each in given.items()}
    x = p["embedding"][ids] * p["embedding_scale"][ids, None]
    states = numpy.zeros((len(ids), 2, p["recurrent"].shape[-1]))
    for direction, order in enumerate((range(len(ids)), range(len(ids) - 1, -1, -1))):
        h = numpy.zeros(states.shape[-1])
        for t in order:
            a = p["input_weights"][direction] @ x[t] + p["input_bias"][direction]
            u = p["recurrent"][direction] @ h
            r, z = sigmoid(a[:2] + u[:2])
            n = numpy.tanh(a[2] + r * (u[2] + p["hidden_bias"][direction]))
            states[t, direction] = h = (1 - z) * n + z * h
    odds = numpy.zeros(len(ids))
    if ngrams is not None:
        rows = p["ngrams"][ngrams]
        odds = rows[..., 0].sum(1) / numpy.sqrt(max(rows[..., 1].sum(), 1e-6))
    evidence = numpy.stack([odds, numpy.concatenate([[0.0], odds[:-1]])], axis=1)
    query, key = (
        numpy.einsum("adh,tdh->ta", p["projection"][side], states)
        + p["projection_bias"][side]
        + evidence @ p["evidence"][:, side]
        for side in (0, 1)
    )
    scores = numpy.tanh(query[:, None] + key[None]) @ p["score"]
    weights = numpy.exp(scores - scores.max(1, keepdims=True))
    weights /= weights.sum(1, keepdims=True)
    if p["values"] is None:
        pooled = numpy.tensordot(weights.mean(0), states, 1).ravel()
        return sigmoid(pooled @ p["output"] + p["wide"] * odds.sum() + p["output_bias"]), weights, None
    reach = p["values"].shape[1] // 2
    padded = numpy.pad(x, [(reach, reach), (0, 0)])
    values = [numpy.einsum("uwe,we->u", p["values"], padded[t : t + 2 * reach + 1]) for t in range(len(ids))]
    if p["value_bias"] is not None:
        values = numpy.tanh(values + p["value_bias"])
    # a third of what begins in a token is the next one's
    given = numpy.append(odds[:-1] / 3, 0)
    odds = odds - given + numpy.append(0, given[:-1])
    own = weights.mean(0) * (values @ p["output"])
    if p["sign"] is not None:
        own *= numpy.tanh(numpy.einsum("dh,tdh->t", p["sign"], states) + p["sign_bias"])
    contributions = own + p["wide"] * numpy.sqrt(numpy.maximum(weights.sum(0), 1e-6)) * odds
    return sigmoid(contributions.sum() + p["output_bias"]), weights, contributions


@pytest.mark.parametrize("kernel", FLOATS)
@given(
    st.integers(1, 40),
    st.integers(1, 40),
    st.integers(1, 40),
    st.sampled_from([0, 2, 50]),
    st.lists(st.integers(1, 20), min_size=1, max_size=19),
    st.integers(0, 1000),
    st.sampled_from([(0, 1, False), (1, 1, False), (1, 17, True), (3, 5, True), (5, 16, False)]),
    st.booleans(),
)
def test_networks_of_any_size_are_those_of_the_formulas(
    kernel, units, hidden, score, buckets, lengths, seed, values, signed
):
    window, value_units, curved = values
    given = parameters(30, units, hidden, score, buckets, 1.0, seed, window, value_units, curved, signed)
    batch = batch_of(30, buckets, lengths, max(lengths) + seed % 3, seed)
    engine = NativeEngine(network.load(kernel=kernel, **given), threads=1)
    probability, weights = engine(*batch)
    near, contributions = bound(kernel), None
    if window:
        same, contributions = engine.contributions(*batch)
        assert numpy.array_equal(same, probability)
    for review, length in enumerate(lengths):
        found = expected(given, *(array[review, :length] for array in (batch[0], *batch[2:])))
        assert probability[review] == pytest.approx(found[0], abs=near)
        assert weights[review, :length, :length] == pytest.approx(found[1], abs=near)
        assert not weights[review, length:].any() and not weights[review, :, length:].any()
        if window:
            assert contributions[review, :length] == pytest.approx(found[2], abs=near * max(1, abs(found[2]).max()))
            assert not contributions[review, length:].any()


@pytest.mark.parametrize("kernel", KERNELS)
@given(st.lists(st.integers(1, 12), min_size=1, max_size=40), st.integers(0, 5), st.randoms(use_true_random=False))
def test_a_review_has_the_same_bits_in_any_batch_and_on_any_number_of_threads(kernel, lengths, wider, random):
    loaded = network.load(kernel=kernel, **parameters(30, 8, 40, 20, 50))
    width = max(lengths)
    batch = batch_of(30, 50, lengths, width)
    probability, weights = NativeEngine(loaded, threads=1)(*batch)
    order = random.sample(range(len(lengths)), len(lengths))
    tokens = batch[0].ravel(), batch[2].reshape(-1, NGRAMS), width * numpy.array(order, dtype="int32"), batch[1][order]
    assert (NativeEngine(loaded, threads=2).in_window(False, *tokens)[0] == probability[order]).all()
    others = [numpy.pad(array[order], [(0, 0), (0, wider), (0, 0)][: array.ndim]) for array in batch]
    again = NativeEngine(loaded, threads=3)(*others)
    assert (again[0] == probability[order]).all() and (again[1][:, :width, :width] == weights[order]).all()
    for review in order[:5]:
        alone = NativeEngine(loaded, threads=1)(*(array[review : review + 1] for array in batch))
        assert alone[0][0] == probability[review] and (alone[1][0] == weights[review]).all()


@pytest.mark.parametrize("kernel", KERNELS)
@given(st.lists(st.lists(st.integers(1, 12), min_size=1, max_size=20), min_size=2, max_size=4))
def test_a_batch_has_the_same_bits_whatever_was_predicted_before_it(kernel, batches):
    """Rows of the table are computed with the first batch that has their word, in whatever company."""
    given = parameters(200, 8, 40, 20, 50)
    loaded = network.load(kernel=kernel, **given)
    for seed, lengths in enumerate(batches):
        batch = batch_of(200, 50, lengths, max(lengths), seed)
        found, fresh = NativeEngine(loaded, threads=1), NativeEngine(network.load(kernel=kernel, **given), threads=1)
        assert all((one == other).all() for one, other in zip(found(*batch), fresh(*batch)))


@pytest.mark.parametrize("kernel", KERNELS)
def test_threads_that_begin_together_have_the_same_bits(kernel):
    given = parameters(3000, 8, 40, 20, 50)
    lengths = [20] * 400
    batch = batch_of(3000, 50, lengths, 20)
    expected = NativeEngine(network.load(kernel=kernel, **given), threads=1)(*batch)
    found = NativeEngine(network.load(kernel=kernel, **given), threads=4)(*batch)
    assert all((one == other).all() for one, other in zip(found, expected))


# 16 bits are too few for the sums of the largest scale
@pytest.mark.parametrize(
    "kernel, scale", [(each, by) for each in FLOATS for by in (10, 100, 1e4) if by <= 100 or bound(each) < 1e-4]
)
def test_scores_beyond_the_range_of_exponentials_are_those_of_the_formulas(kernel, scale):
    """Queries and keys whose exponentials overflow in float32, of both signs: tanh of their sum is rarely saturated."""
    given = parameters(30, 8, 16, 5, 50, scale)
    # keys that undo their queries
    given["projection"][1] = -given["projection"][0] * numpy.float32(1 - 0.5 / scale)
    given["projection_bias"][1] = -given["projection_bias"][0]
    given["evidence"][:, 1] = -given["evidence"][:, 0]
    batch = batch_of(30, 50, [15], 15)
    probability, weights = NativeEngine(network.load(kernel=kernel, **given))(*batch)
    found = expected(given, batch[0][0], batch[2][0])
    # the sums are rounded to 2^-24 of their largest term
    near = bound(kernel) * (1 + scale / 10)
    assert weights[0] == pytest.approx(found[1], abs=near) and probability[0] == pytest.approx(found[0], abs=near)


FORKED = """
import os, signal, sys, time
from nsmc_attention.classifier.engines import load_engine
from nsmc_attention.classifier.predictor import Classifier
from nsmc_attention.bundle import load_bundle
from nsmc_attention.classifier.settings import LAYOUT

bundle = load_bundle(None, LAYOUT)
classifier = Classifier(bundle, load_engine(bundle, sys.argv[1], threads=2))
texts = ["정말 재미있는 영화였어요"] * 32
expected = classifier.rows(texts)
# its threads wait now
time.sleep(0.3)
child = os.fork()
if not child:
    signal.alarm(60)
    os._exit(classifier.rows(texts) != expected)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


def test_a_compiled_part_of_another_version_is_not_used(monkeypatch):
    monkeypatch.delattr(network, "VERSION")
    with pytest.raises(MissingPackage, match="it is of another version.*install the package again"):
        native_engine(load_bundle(None, LAYOUT))
    assert load_classifier().engine.name == "onnx"


def test_a_forked_process_predicts_with_threads_of_its_own():
    assert subprocess.run([sys.executable, "-c", FORKED, "native"]).returncode == 0


@pytest.fixture(scope="module")
def reviews():
    encoder = load_bundle(None, LAYOUT).codec
    return [encoder.encode(text) for text in labelled.load_reviews("sample", "test").documents[:100]]


@pytest.fixture(scope="module")
def by_onnx(reviews):
    bundle = load_bundle(None, LAYOUT)
    return TokenScorer(bundle.codec, load_engine(bundle, "onnx"), bundle.config).read(reviews)[:2]


@pytest.mark.parametrize("kernel", KERNELS)
def test_the_packaged_bundle_predicts_as_with_onnx_runtime(kernel, reviews, by_onnx, monkeypatch):
    if kernel != "bf16":
        monkeypatch.setenv(VARIABLE, kernel)
    bundle = load_bundle(None, LAYOUT)
    engine = native_engine(bundle, None, "native-bf16" if kernel == "bf16" else "native")
    probability, weights = TokenScorer(bundle.codec, engine, bundle.config).read(reviews)[:2]
    near = 3e-3 if kernel == "bf16" else min(3e-4, bound(kernel))
    assert abs(probability - by_onnx[0]).max() <= near
    of_weights = 1e-2 if kernel == "bf16" else min(5e-4, bound(kernel, 1e-5))
    assert max(abs(one - other).max() for one, other in zip(weights, by_onnx[1])) <= of_weights


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"token_ids": [[0, 30]]}, "token_ids: expected 0 to 29, found 30"),
        ({"token_ids": [[-1, 0]]}, "token_ids: expected 0 to 29, found -1"),
        ({"valid_length": [3]}, "valid_length: expected 1 to 2, found 3"),
        ({"valid_length": [0]}, "valid_length: expected 1 to 2, found 0"),
        ({"valid_length": [1, 1]}, "valid_length: expected a C-contiguous array of type 'i'"),
        ({"ngram_ids": [[[0] * 7 + [50]] * 2]}, "ngram_ids: expected 0 to 49, found 50"),
        ({"ngram_ids": [[[0] * 7] * 2]}, "ngram_ids: expected a C-contiguous array"),
    ],
)
def test_a_batch_that_would_be_read_beyond_a_table_is_refused(changed, message):
    loaded = network.load(kernel="baseline", **parameters(30, 4, 4, 4, 50))
    sound = {"token_ids": [[0, 29]], "valid_length": [2], "ngram_ids": [[[49] * 8] * 2]}
    batch = [numpy.array(each, dtype="int32") for each in {**sound, **changed}.values()]
    with pytest.raises(ValueError, match=message):
        NativeEngine(loaded)(*batch)


@pytest.mark.parametrize(
    "name", [name for name, each in parameters(2, 2, 2, 2, 2, window=1, signed=True).items() if hasattr(each, "shape")]
)
def test_a_parameter_of_another_shape_or_type_is_refused(name):
    given = parameters(30, 4, 5, 6, 50, window=3, value_units=7, signed=True)
    own = given[name]
    for wrong in (own[..., :1].repeat(9, -1), own.astype("float64"), own[None], own[:0]):
        if name in ("embedding", "score", "hidden_bias", "values") and wrong.dtype != "float64" and wrong.size:
            # these say what the sizes are, which others do not fit
            name = "[a-z_]+"
        with pytest.raises(ValueError, match=f"{name}: expected a C-contiguous array"):
            network.load(kernel="baseline", **{**given, **({name: wrong} if name in given else {"embedding": wrong})})


@pytest.mark.filterwarnings("ignore:overflow")
def test_parameters_that_are_no_numbers_are_the_error_of_the_other_engines(bundle_folder, tmp_path):
    bundle = load_bundle(bundle_folder, LAYOUT)
    arrays = bundle.parameters()
    arrays["evidence.weight"][:] = numpy.nan
    write_bundle(tmp_path / "b", bundle.manifest, {**read_contents(bundle), "model.safetensors": save(arrays)})
    for engine in ("native", "gluon"):
        with pytest.raises(BundleError, match="expected a probability from the network, found none"):
            load_classifier(tmp_path / "b", engine).predict("정말 재미있는 영화")


@pytest.mark.parametrize(
    ("folder", "found"),
    [
        ("tiny_transformer", "model.encoder.kind gru, found transformer"),
        ("tiny_structured", "model.attention.kind additive, found structured"),
        ("post_run_folder", "model.kind classifier, found article"),
    ],
)
def test_a_bundle_of_another_architecture_is_left_to_onnx_runtime(folder, found, request):
    folder = request.getfixturevalue(folder)
    assert load_classifier(folder).engine.name == "onnx"
    with pytest.raises(ConfigError, match=f"the native engine does not compute .*: expected {found}; use --engine"):
        load_classifier(folder, "native")


def test_without_the_extension_onnx_runtime_is_used(monkeypatch):
    monkeypatch.delattr(native, "_network")
    monkeypatch.setitem(sys.modules, "nsmc_attention.native._network", None)
    assert load_classifier().engine.name == "onnx"
    with pytest.raises(MissingPackage, match="install the package again where there is GCC or Clang, or use"):
        load_classifier(engine="native")


def test_the_variable_chooses_a_kernel_that_the_processor_runs(monkeypatch):
    monkeypatch.setenv(VARIABLE, "mmx")
    with pytest.raises(ConfigError, match=f"{VARIABLE}: expected baseline or.*, found 'mmx'"):
        load_classifier(engine="native")
    monkeypatch.setenv(VARIABLE, "bf16")
    with pytest.raises(ConfigError, match="found 'bf16'"):
        load_classifier(engine="native")


@pytest.mark.skipif(len(FLOATS) < 2, reason="a processor without vectors that could be left out")
def test_bf16_is_refused_where_the_processor_has_none(monkeypatch):
    monkeypatch.setenv(VARIABLE, "baseline")
    with pytest.raises(ConfigError, match="expected bf16, found baseline; use --engine native"):
        load_classifier(engine="native-bf16")


@pytest.mark.parametrize("engine", PRECISIONS)
def test_it_runs_on_no_gpu_and_no_other_task(engine):
    with pytest.raises(ConfigError, match=f"the {engine} engine runs on the CPU"):
        load_classifier(engine=engine, device="gpu")
    with pytest.raises(ConfigError, match=f"unknown engine '{engine}'; known: auto, gluon, onnx"):
        load_language_model(engine=engine)


def test_a_file_of_another_engine_is_neither_read_nor_verified(bundle_folder, tmp_path):
    folder = shutil.copytree(bundle_folder, tmp_path / "bundle")
    expected = load_classifier(folder, "native").predict("정말 재미있는 영화")
    (folder / "model.onnx").write_bytes(b"altered")
    assert load_classifier(folder, "native").predict("정말 재미있는 영화") == expected
    with pytest.raises(BundleError, match="model.onnx: expected sha256"):
        load_classifier(folder, "onnx")


def test_a_restorer_beside_a_native_classifier_takes_its_own_engine(command):
    done = command("predict", "정말재밌어요", "--restore", "--engine", "native")
    assert done.returncode == 0, done.stderr
