import ctypes
import sys

import numpy
import pytest

from nsmc_attention.classifier.settings import preset
from nsmc_attention.errors import ConfigError, MissingPackage
from nsmc_attention.machine.mxnet_shim import import_mxnet

mxnet = import_mxnet()

from mxnet import autograd, gluon, nd  # noqa: E402

from nsmc_attention.classifier.article import ArticleClassifier  # noqa: E402
from nsmc_attention.classifier.network import ngram_log_odds, shared_with_next, with_previous_token  # noqa: E402
from nsmc_attention.machine.mxnet_shim import choose_device  # noqa: E402
from nsmc_attention.network.attention import ATTENTIONS  # noqa: E402
from nsmc_attention.text.ngrams import NGRAMS  # noqa: E402

VOCABULARY, BUCKETS = 50, 40
LENGTHS = [7, 3, 1, 5]
HOPS = 3
NEAR = [{"values": "convolution", "window": 3}, {"values": "convolution", "window": 1}]
every_value = pytest.mark.parametrize("values", NEAR, ids=lambda values: " ".join(map(str, values.values())))
one_weight = pytest.mark.parametrize("attention", [name for name in ATTENTIONS if name != "multihead"])
every_score = pytest.mark.parametrize("attention", ATTENTIONS)


def network(attention="additive", buckets=BUCKETS, **values):
    hops = {"attention_hops": HOPS} if attention == "structured" else {}
    config = preset("default").with_fields(
        embedding_size=6, hidden_size=4, max_length=9, attention=attention, ngram_buckets=buckets, **hops, **values
    )
    mxnet.random.seed(0)
    built = config.network(VOCABULARY)
    built.initialize(mxnet.init.Normal(0.5))
    if buckets:
        # it is 0 until it is filled, and then has no effect
        table = nd.random.uniform(0.5, 2, shape=(buckets, 2))
        table[0] = 0
        built.ngram_table.weight.set_data(table)
    return built


def inputs(filler=1, lengths=LENGTHS, buckets=BUCKETS):
    """Random tokens, `filler` in the padding, and, unless buckets is 0, random n-grams."""
    width, draw = max(lengths), numpy.random.RandomState(0)
    inside = numpy.arange(width) < numpy.array(lengths)[:, None]
    ids = numpy.where(inside, draw.randint(2, VOCABULARY, inside.shape), filler)
    ngrams = draw.randint(0, buckets or 1, (*inside.shape, NGRAMS)) * inside[:, :, None]
    given = nd.array(ids, dtype="int32"), nd.array(lengths, dtype="float32"), nd.array(ngrams, dtype="int32")
    return given if buckets else given[:2]


class HeapState(ctypes.Structure):
    """The struct mallinfo2 of glibc."""

    names = "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost"
    _fields_ = [(name, ctypes.c_size_t) for name in names.split()]


def bytes_in_use():
    library = ctypes.CDLL(None)
    if not hasattr(library, "mallinfo2"):
        pytest.skip("needs glibc 2.33")
    library.mallinfo2.restype = HeapState
    found = library.mallinfo2()
    return found.uordblks + found.hblkhd


@every_score
def test_a_backward_pass_keeps_no_memory(attention):
    built, given = network(attention), inputs()

    def passes(times):
        for _ in range(times):
            with autograd.record():
                logits, _ = built(*given)
            logits.backward()
        nd.waitall()

    passes(20)
    before = bytes_in_use()
    passes(50)
    # with a concatenation of matrices, it was 1,800 bytes a pass for each
    assert bytes_in_use() - before < 50 * 500


@every_score
def test_eight_reviews_can_be_overfitted(attention):
    config = preset("default").with_fields(
        attention=attention, embedding_size=16, hidden_size=8, dropout=0.0, word_dropout=0.0, ngram_buckets=0
    )
    mxnet.random.seed(0)
    built = config.network(VOCABULARY)
    built.initialize(mxnet.init.Xavier())
    given, labels = inputs(lengths=[7, 3, 2, 5, 6, 4, 7, 2], buckets=0), nd.array([0, 1, 1, 0, 1, 0, 0, 1])
    trainer = gluon.Trainer(built.collect_params(), "adam", {"learning_rate": 0.02}, kvstore=None)
    for _ in range(120):
        with autograd.record():
            loss = gluon.loss.SoftmaxCELoss()(built(*given)[0], labels).mean()
        loss.backward()
        trainer.step(1)
    assert loss.asscalar() < 0.01


@pytest.mark.parametrize("attention", ["additive", "structured"])
def test_the_logits_are_those_of_the_mean_context_or_of_all_hops_contexts_and_of_the_ngrams(attention):
    built = network(attention)
    ids, lengths, ngrams = inputs()
    logits, weights = (array.asnumpy() for array in built(ids, lengths, ngrams))
    states = nd.transpose(built.encoder(built.embedding(nd.transpose(ids)), lengths), axes=(1, 0, 2)).asnumpy()
    table = built.ngram_table.weight.data().asnumpy()
    for row, length in enumerate(LENGTHS):
        contexts = weights[row, :, :length] @ states[row, :length]
        contexts = contexts if attention == "structured" else contexts[:length].mean(axis=0)
        weight, square = table[ngrams[row].asnumpy()].sum(axis=(0, 1))
        expected = built.output(nd.array(numpy.append(contexts, weight / square**0.5)[None])).asnumpy()[0]
        numpy.testing.assert_allclose(logits[row], expected, atol=1e-5)


def test_ngrams_change_the_weights_through_the_evidence_layer_alone():
    built = network()
    ids, lengths, ngrams = inputs()
    others = (ngrams * 3 + 1) % BUCKETS * (ngrams > 0)
    for evidence, same in ((built.evidence.weight.data(), False), (nd.zeros((8, 2)), True)):
        built.evidence.weight.set_data(evidence)
        one, other = (built(ids, lengths, given)[1].asnumpy() for given in (ngrams, others))
        assert numpy.allclose(one, other, atol=1e-6) is same


def nearby(built, ids, length):
    """The values of one review's tokens, by their definition."""
    embedded = built.embedding(ids[:length]).asnumpy()
    if not hasattr(built.values, "dense"):
        return embedded
    weight, bias = built.values.dense.weight.data().asnumpy(), built.values.dense.bias.data().asnumpy()
    reach = built.values.reach
    padded = numpy.pad(embedded, [(reach, reach), (0, 0)])
    windows = [padded[t : t + 2 * reach + 1].ravel() for t in range(length)]
    return numpy.tanh(windows @ weight.T + bias)


@one_weight
@every_value
def test_what_the_tokens_add_is_their_weight_times_what_the_last_layer_makes_of_their_value(attention, values):
    built = network(attention, **values)
    ids, lengths, ngrams = inputs()
    logits, weights, contributions, _ = (array.asnumpy() for array in built(ids, lengths, ngrams))
    weight = numpy.subtract(*built.output.weight.data().asnumpy()[::-1])
    negative, positive = built.output.bias.data().asnumpy()
    for row, length in enumerate(LENGTHS):
        own, scores = nearby(built, ids[row], length), weight[:-1].reshape(HOPS if attention == "structured" else 1, -1)
        rows = weights[row] if attention == "structured" else weights[row, :length].mean(axis=0, keepdims=True)
        ngram_odds = ngram_log_odds(nd, built.ngram_table(ngrams))[row : row + 1, :length]
        ngram_odds = shared_with_next(nd, ngram_odds, nd.ones((1, length, 1)))[0, :, 0].asnumpy()
        evidence = weight[-1] * numpy.sqrt(rows.mean(axis=0)[:length] * length) * ngram_odds
        expected = (rows[:, :length] * (scores @ own.T)).sum(axis=0) + evidence
        numpy.testing.assert_allclose(contributions[row, :length], expected, atol=1e-5)
        assert not contributions[row, length:].any()
    odds = logits[:, 1] - logits[:, 0]
    numpy.testing.assert_allclose(odds, contributions.sum(axis=1) + positive - negative, atol=1e-5)


@every_value
def test_weights_that_are_all_the_same_leave_the_log_odds_of_the_ngrams_as_they_are(values):
    built = network("uniform", **values)
    ids, lengths, ngrams = inputs()
    features, _ = built.read(nd, ids, lengths, ngrams)
    expected = ngram_log_odds(nd, built.ngram_table(ngrams)).sum(axis=1)[:, 0].asnumpy()
    numpy.testing.assert_allclose(features[:, -1].asnumpy(), expected, rtol=1e-5)


@pytest.mark.parametrize("buckets", [0, BUCKETS])
@every_value
def test_a_network_that_says_what_tokens_add_has_the_same_logits_as_one_that_does_not(values, buckets):
    built, given = network(buckets=buckets, **values), inputs(buckets=buckets)
    # sizes are inferred by the first call, which rounds otherwise
    built(*given)
    logits, weights, *_ = built(*given)
    built.explains = False
    again, same = built(*given)
    numpy.testing.assert_array_equal(logits.asnumpy(), again.asnumpy())
    numpy.testing.assert_array_equal(weights.asnumpy(), same.asnumpy())


def test_the_evidence_of_a_token_is_its_log_odds_and_those_of_the_one_before():
    table, (_, _, ngrams) = network().ngram_table, inputs()
    ngram_odds = ngram_log_odds(nd, table(ngrams))
    evidence = with_previous_token(nd, ngram_odds).asnumpy()
    numpy.testing.assert_array_equal(evidence[:, 1:, 1], evidence[:, :-1, 0])
    assert not evidence[:, 0, 1].any()


def test_the_article_network_has_its_parts_and_reads_its_padding():
    built = ArticleClassifier(VOCABULARY, 6, 7, 4)
    mxnet.random.seed(0)
    built.initialize(mxnet.init.Normal(0.5))
    logits, weights = built(*inputs(buckets=0))
    assert built.dense.weight.shape == (2, 7 * 8)
    numpy.testing.assert_allclose(weights.sum(axis=2).asnumpy(), 1, atol=1e-5)
    assert abs(built(*inputs(filler=33, buckets=0))[0] - logits).max() > 1e-3


@pytest.mark.parametrize("name", ["cuda", "GPU", "gpu:0", "", None])
def test_an_unknown_device_is_refused(name):
    assert choose_device("cpu") == mxnet.cpu()
    with pytest.raises(ConfigError, match="unknown device .*gpu"):
        choose_device(name)


def test_a_missing_library_of_cuda_is_one_line(monkeypatch, tmp_path):
    (tmp_path / "mxnet.py").write_text("raise OSError('libcudnn.so.8: cannot open shared object file')")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "mxnet")
    with pytest.raises(MissingPackage, match="did not import .libcudnn.so.8: cannot open shared object file"):
        import_mxnet()
