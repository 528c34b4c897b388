"""Signed values: what a sign of 1 leaves as it is, what sentences teach it, and what is no such sentence."""

from dataclasses import replace

import numpy
import pytest

from nsmc_attention.bundle import load_bundle
from nsmc_attention.classifier import ngrams
from nsmc_attention.classifier.batches import Batch, TrainingPart
from nsmc_attention.classifier.engines import embed_batch, gluon_graph
from nsmc_attention.classifier.origins import gates_of, read_sentences, with_sentences
from nsmc_attention.classifier.settings import LAYOUT
from nsmc_attention.classifier.stages import GATES_WEIGHT, ClassifierTrainer, LabelsObjective, as_inputs, ngram_evidence
from nsmc_attention.classifier.train import train
from nsmc_attention.corpora import nsmc
from nsmc_attention.engines.graphs import parameters_of
from nsmc_attention.errors import ConfigError, DataError
from nsmc_attention.machine.gluon import mxnet
from nsmc_attention.network.graphs import parameter_shapes
from nsmc_attention.network.parameters import NGRAM_TABLE, initialize_from
from nsmc_attention.training.runs import Run, read_settings

VERBS = ("재미있", "좋", "감동적이", "웃기", "예쁘", "멋지", "신나", "슬프")
# the last two are not in the training
TAUGHT, HELD_OUT = VERBS[:-2], VERBS[-2:]


def rows_of(verbs):
    """Sentences that negate a verb or do not; the mark is on its first two characters."""
    for verb in verbs:
        size = min(2, len(verb))
        for end in (" 영화", " 정말", "", " 이건", " 다시 말해"):
            before = f"이 영화는{end} "
            marks = f"{len(before)}:{len(before) + size}"
            yield f"{before}{verb}지 않다", 0, f"{marks}:-1"
            yield f"{before}{verb}다", 1, f"{marks}:1"


def write(path, rows, header="document,label,signs"):
    path.write_text("\n".join([header, *(",".join(map(str, row)) for row in rows), ""]), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    return write(tmp_path_factory.mktemp("data") / "negations.csv", [*rows_of(TAUGHT)] * 8)


@pytest.fixture(scope="module")
def small(tiny):
    values = {"values": "convolution", "window": 1, "signed": 1}
    return tiny.with_fields(epochs=8, ngram_buckets=0, erasure_reviews=0, dropout=0.0, word_dropout=0.0, **values)


@pytest.fixture(scope="module")
def taught(small, table, tmp_path_factory):
    out = tmp_path_factory.mktemp("runs") / "taught"
    return train("sample", small, out, quiet=True, sentences=table), out


def batch_of(bundle, texts):
    return bundle.codec.batch([bundle.codec.encode(text) for text in texts])


def outputs(network, batch):
    ids, lengths, *ngrams = (mxnet.nd.array(array, dtype=kind) for array, kind in zip(batch, ("int32", None, "int32")))
    return [array.asnumpy() for array in network(ids, lengths, *ngrams)]


@pytest.mark.parametrize("attention", ["additive", "structured", "uniform"])
@pytest.mark.parametrize("buckets", [0, 40])
def test_with_a_gate_of_1_a_network_is_the_unsigned_one(tiny, attention, buckets):
    config = tiny.with_fields(attention=attention, values="convolution", ngram_buckets=buckets).without_dropout()
    signed, plain = config.with_fields(signed=1).network(30), config.network(30)
    draw = numpy.random.RandomState(0)
    arrays = {name: draw.normal(size=shape) for name, shape in parameter_shapes(signed).items()}
    if buckets:
        arrays[NGRAM_TABLE] = abs(arrays[NGRAM_TABLE])
        # where there is no n-gram
        arrays[NGRAM_TABLE][0] = 0
    arrays.update({"gate.weight": numpy.zeros_like(arrays["gate.weight"]), "gate.bias": numpy.array([20.0])})
    for network in (signed, plain):
        initialize_from(network, {name: arrays[name] for name in network._collect_params_with_prefix()}, mxnet.cpu())
    lengths, inside = numpy.array([5, 2], dtype="float32"), numpy.arange(5) < [[5], [2]]
    grams = [draw.randint(buckets, size=(2, 5, 8)) * inside[:, :, None]] if buckets else []
    batch = (draw.randint(30, size=(2, 5)), lengths, *grams)
    for one, other in zip(outputs(signed, batch), outputs(plain, batch)):
        numpy.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("fixture", ["tiny_signed", "tiny_convolution"])
def test_ngrams_are_fitted_with_the_factors_that_they_have_in_the_network(request, fixture, tmp_path):
    bundle = load_bundle(request.getfixturevalue(fixture), LAYOUT)
    trainer = ClassifierTrainer(bundle.config, bundle.codec, Run(tmp_path, quiet=True))
    arrays = parameters_of(bundle)[1]
    if fixture == "tiny_signed":
        arrays["gate.bias"][:] = 0
        arrays["gate.weight"][:] = numpy.random.RandomState(0).normal(0, 20, arrays["gate.weight"].shape)
    network = trainer.network_of(arrays, dropout=False)
    frame = nsmc.load("sample", "test").frame[:60]
    reviews = [review for review in map(bundle.codec.encode, frame["document"]) if len(review)]
    part = TrainingPart(reviews, numpy.zeros(len(reviews)), frame)
    factors, tokens = trainer.factors(network, part), [review.tokens for review in reviews]
    # a sign turns what a word says round, not what its n-grams do
    assert min(map(min, factors)) > 0
    table = arrays[NGRAM_TABLE]
    present, weighted = ngrams.presence(tokens, len(table)), ngrams.presence(tokens, len(table), factors)
    expected = (weighted @ table[:, 0]) / numpy.sqrt(present @ table[:, 1])
    found = ngram_evidence(network, trainer.batches(part, with_ngrams=True), mxnet.cpu())
    numpy.testing.assert_allclose(found, expected, atol=1e-4)


def test_marked_tokens_get_their_sign_and_no_others(tiny_signed, table):
    codec = load_bundle(tiny_signed, LAYOUT).codec
    frame = nsmc.load("sample", "train").frame[:1]
    known = TrainingPart([codec.encode(frame["document"][0])], numpy.array([1]), frame)
    negations = read_sentences(table)
    part = with_sentences(known, negations.frame, codec)
    signs = gates_of(part)
    assert len(part.reviews) == len(signs) == len(part.labels) == len(part.frame) == 1 + len(negations)
    assert part.labels.tolist() == [1, *negations.labels] and numpy.isnan(signs[0]).all()
    for review, own, marks in zip(part.reviews[1:], signs[1:], negations.frame["signs"]):
        ((start, end, sign),) = marks
        inside = [first < end and last > start for first, last in review.offsets]
        assert any(inside) and (own[inside] == sign).all() and numpy.isnan(own[~numpy.array(inside)]).all()


def test_the_loss_adds_the_squared_error_of_known_signs(small):
    network = small.network(30)
    network.explains = False
    network.initialize()
    draw = numpy.random.RandomState(0)
    wanted = numpy.array([[numpy.nan, -1, 1], [0, numpy.nan, numpy.nan]], dtype="float32")
    ids, lengths = draw.randint(2, 30, (2, 3)).astype("int32"), numpy.array([3, 1], dtype="float32")
    plain = Batch(ids, lengths, numpy.array([0, 1], dtype="float32"), None)
    marked = replace(plain, gates=wanted)
    signs = network(*as_inputs(plain, mxnet.cpu()))[2].asnumpy()
    first, second = (LabelsObjective(None, mxnet.cpu()).loss(network, each).asscalar() for each in (plain, marked))
    assert second == pytest.approx(first + GATES_WEIGHT * numpy.nansum((signs - wanted) ** 2) / 2, rel=1e-5)


def test_sentences_teach_the_gate_of_words_that_they_lack(taught):
    bundle, _ = taught
    graph = gluon_graph(bundle, "cpu")
    for verbs in (TAUGHT, HELD_OUT):
        documents, _, cells = zip(*rows_of(verbs))
        rows, mask, lengths = embed_batch(graph, batch_of(bundle, documents))
        states = graph.block.encode(mxnet.nd, rows, mask, lengths).states
        found = graph.block.gate(states).asnumpy()[:, :, 0]
        for document, cell, signs in zip(documents, cells, found):
            start, _, wanted = cell.split(":")
            at = [first <= int(start) < last for first, last in bundle.codec.encode(document).offsets].index(True)
            assert float(wanted) * signs[at] > (0.8 if verbs is TAUGHT else 0), (document, signs)


def test_the_bundle_names_the_sentences_none_of_which_are_in_the_dev_part(
    taught, small, table, bundle_folder, tmp_path
):
    bundle, out = taught
    data = bundle.manifest["data"]
    assert data["sentences"].items() >= {"name": "negations.csv", "rows": len(read_sentences(table))}.items()
    assert bundle.manifest["command"].endswith("--sentences negations.csv")
    assert data["sentences"]["sha256"] == read_settings(out)["sentences"]
    assert "sentences of negations.csv" in bundle.read("README.md").decode()
    without = load_bundle(bundle_folder, LAYOUT).manifest["data"]
    assert "sentences" not in without and all(without[name] == data[name] for name in ("train", "dev"))
    other = write(tmp_path / "negations.csv", [*rows_of(TAUGHT)])
    for given, message in ((other, "another sentences: .*, found '"), (None, "another sentences: .*, found None")):
        with pytest.raises(ConfigError, match=f"cannot resume with {message}"):
            train("sample", small, out, quiet=True, resume=True, sentences=given)
    again = train("sample", small, out, quiet=True, resume=True, sentences=table)
    assert again.fingerprint == bundle.fingerprint


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([("재미없다", 0)], "expected a column 'signs', found document, label"),
        ([("재미없다", 0, "0:2:1"), ("좋다", 1, "0:3:1")], "row 3: .* of the 2 characters .* found '0:3:1'"),
        ([("재미없다", 0, "2:2:1")], "row 2: expected start:end:sign .* found '2:2:1'"),
        ([("재미없다", 0, "0:2:-1.5")], "row 2: .* a sign from -1 to 1, found '0:2:-1.5'"),
        ([("재미없다", 0, "0:2:-1 x")], "row 2: .* found 'x'"),
        ([(" ", 0, "")], "row 2: expected a sentence, found none"),
        ([("재미없다", "maybe", "")], "row 2: expected .*maybe"),
        ([], "no (reviews|sentences)"),
    ],
)
def test_what_is_no_table_of_sentences_is_one_line(rows, message, tmp_path):
    header = ",".join(("document", "label", "signs")[: len(rows[0])]) if rows else "document,label,signs"
    with pytest.raises(DataError, match=message) as error:
        read_sentences(write(tmp_path / "n.csv", rows, header))
    assert "\n" not in str(error.value) and str(error.value).startswith(str(tmp_path / "n.csv"))
