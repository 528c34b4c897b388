import ctypes

import numpy
import pytest

from nsmc_attention._runtime.mxnet_shim import import_mxnet
from nsmc_attention.classification.settings import preset
from nsmc_attention.errors import ConfigError

mxnet = import_mxnet()

from mxnet import autograd, gluon, nd  # noqa: E402

from nsmc_attention._runtime.mxnet_shim import choose_device  # noqa: E402
from nsmc_attention.classification.article import ArticleClassifier  # noqa: E402
from nsmc_attention.classification.network import ngram_log_odds, with_previous_token  # noqa: E402
from nsmc_attention.model.attention import ATTENTIONS  # noqa: E402
from nsmc_attention.text.ngrams import NGRAMS  # noqa: E402

VOCABULARY, BUCKETS = 50, 40
LENGTHS = [7, 3, 1, 5]
HOPS = 3
# Settings without which a kind of attention has sizes that other axes have too
SIZES = {"structured": {"attention_hops": HOPS}}
every_score = pytest.mark.parametrize("attention", ATTENTIONS)


def network(attention="additive", kind="classifier", seed=0):
    config = preset("post" if kind == "article" else "default").with_fields(
        embedding_size=6, hidden_size=4, max_length=9
    )
    if kind == "classifier":
        config = config.with_fields(attention=attention, ngram_buckets=BUCKETS, **SIZES.get(attention, {}))
    mxnet.random.seed(seed)
    built = config.network(VOCABULARY)
    built.initialize(mxnet.init.Normal(0.5))
    if kind == "classifier":
        # it is 0 until it is filled, and then has no effect
        table = nd.random.uniform(0.5, 2, shape=(BUCKETS, 2))
        table[0] = 0
        built.ngram_table.weight.set_data(table)
    return built


def inputs(width=7, filler=1, lengths=LENGTHS, buckets=BUCKETS):
    """Random tokens, `filler` in the padding, and, unless buckets is 0, random n-grams."""
    ids = numpy.random.RandomState(0).randint(2, VOCABULARY, (len(lengths), width))
    for row, length in enumerate(lengths):
        ids[row, length:] = filler
    given = nd.array(ids, dtype="int32"), nd.array(lengths, dtype="float32")
    if not buckets:
        return given
    ngrams = numpy.random.RandomState(1).randint(0, buckets, (len(lengths), 15, NGRAMS))[:, :width]
    for row, length in enumerate(lengths):
        ngrams[row, length:] = 0
    return (*given, nd.array(ngrams, dtype="int32"))


def answers(built, *given):
    return [array.asnumpy() for array in built(*given)]


@every_score
def test_shapes_are_those_of_the_docstring(attention):
    logits, weights = answers(network(attention), *inputs())
    assert logits.shape == (4, 2) and weights.shape == (4, HOPS if attention == "structured" else 7, 7)


@every_score
def test_weights_are_a_distribution_over_the_tokens_of_each_row(attention):
    _, weights = answers(network(attention), *inputs())
    for row, length in zip(weights, LENGTHS):
        rows = HOPS if attention == "structured" else length
        numpy.testing.assert_allclose(row[:rows].sum(axis=1), 1, atol=1e-5)
        assert (row >= 0).all() and (row[:, length:] == 0).all() and (row[rows:] == 0).all()


@every_score
def test_wider_padding_leaves_weights_unchanged(attention):
    built = network(attention)
    ids, lengths, ngrams = inputs()
    wide = numpy.ones((4, 15), dtype="int32")
    wide[:, :7] = ids.asnumpy()
    wide_ngrams = numpy.zeros((4, 15, NGRAMS), dtype="int32")
    wide_ngrams[:, :7] = ngrams.asnumpy()
    (logits, weights), (wide_logits, wide_weights) = (
        answers(built, ids, lengths, ngrams),
        answers(built, nd.array(wide, dtype="int32"), lengths, nd.array(wide_ngrams, dtype="int32")),
    )
    numpy.testing.assert_allclose(wide_logits, logits, atol=1e-5)
    numpy.testing.assert_allclose(wide_weights[:, :7, :7], weights, atol=1e-5)


@every_score
def test_the_content_of_the_padding_changes_nothing(attention):
    built = network(attention)
    for plain, filled in zip(answers(built, *inputs(filler=1)), answers(built, *inputs(filler=33))):
        numpy.testing.assert_allclose(plain, filled, atol=1e-6)


@every_score
def test_a_review_is_scored_alone_as_in_a_batch(attention):
    built = network(attention)
    ids, lengths, ngrams = inputs()
    logits, weights = answers(built, ids, lengths, ngrams)
    for row, length in enumerate(LENGTHS):
        alone = answers(built, ids[row : row + 1, :length], lengths[row : row + 1], ngrams[row : row + 1, :length])
        numpy.testing.assert_allclose(alone[0][0], logits[row], atol=1e-5)
        numpy.testing.assert_allclose(alone[1][0], weights[row, : len(alone[1][0]), :length], atol=1e-5)


@every_score
def test_hybridized_is_imperative(attention):
    built = network(attention)
    plain = answers(built, *inputs())
    built.hybridize(static_alloc=True)
    for before, after in zip(plain, answers(built, *inputs())):
        numpy.testing.assert_allclose(before, after, atol=1e-6)


@pytest.mark.parametrize("attention, kind", [*((name, "classifier") for name in ATTENTIONS), ("additive", "article")])
def test_every_parameter_gets_a_gradient(attention, kind):
    built = network(attention, kind)
    width = 9 if kind == "article" else 7
    with autograd.record():
        logits, _ = built(*inputs(width, buckets=BUCKETS if kind == "classifier" else 0))
        gluon.loss.SoftmaxCELoss()(logits, nd.array([0, 1, 0, 1])).mean().backward()
    for name, parameter in built.collect_params().items():
        if parameter.grad_req == "null":
            continue
        assert abs(parameter.list_grad()[0].asnumpy()).sum() > 0, name


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


def test_the_logits_are_those_of_the_mean_context_and_of_the_ngrams():
    built = network()
    ids, lengths, ngrams = inputs()
    logits, weights = built(ids, lengths, ngrams)
    states = nd.transpose(built.encoder(built.embedding(nd.transpose(ids)), lengths), axes=(1, 0, 2)).asnumpy()
    table = built.ngram_table.weight.data().asnumpy()
    for row, length in enumerate(LENGTHS):
        contexts = weights[row].asnumpy()[:length, :length] @ states[row, :length]
        weight, square = table[ngrams[row].asnumpy()].sum(axis=(0, 1))
        features = numpy.append(contexts.mean(axis=0), weight / square**0.5)
        expected = built.output(nd.array(features[None])).asnumpy()[0]
        numpy.testing.assert_allclose(logits[row].asnumpy(), expected, atol=1e-5)


def test_the_logits_of_hops_are_those_of_all_their_contexts_and_of_the_ngrams():
    built = network("structured")
    ids, lengths, ngrams = inputs()
    logits, weights = answers(built, ids, lengths, ngrams)
    states = nd.transpose(built.encoder(built.embedding(nd.transpose(ids)), lengths), axes=(1, 0, 2)).asnumpy()
    _, by_review = (each.asnumpy() for each in ngram_log_odds(nd, built.ngram_table(ngrams)))
    for row, length in enumerate(LENGTHS):
        contexts = weights[row, :, :length] @ states[row, :length]
        expected = built.output(nd.array(numpy.append(contexts, by_review[row])[None])).asnumpy()[0]
        numpy.testing.assert_allclose(logits[row], expected, atol=1e-5)


def test_ngrams_change_the_weights_through_the_evidence_layer_alone():
    built = network()
    ids, lengths, ngrams = inputs()
    others = (ngrams * 3 + 1) % BUCKETS * (ngrams > 0)
    for evidence, same in ((built.evidence.weight.data(), False), (nd.zeros((8, 2)), True)):
        built.evidence.weight.set_data(evidence)
        one, other = (answers(built, ids, lengths, given)[1] for given in (ngrams, others))
        assert numpy.allclose(one, other, atol=1e-6) is same


def test_the_log_odds_of_the_tokens_add_up_to_those_of_the_review():
    table, (_, _, ngrams) = network().ngram_table, inputs()
    by_token, by_review = ngram_log_odds(nd, table(ngrams))
    numpy.testing.assert_allclose(by_token.sum(axis=1).asnumpy(), by_review.asnumpy()[:, 0], rtol=1e-5)
    evidence = with_previous_token(nd, by_token).asnumpy()
    numpy.testing.assert_array_equal(evidence[:, 1:, 1], evidence[:, :-1, 0])
    assert not evidence[:, 0, 1].any()


def test_the_article_network_has_its_parts_and_reads_its_padding():
    built = ArticleClassifier(VOCABULARY, 6, 9, 4)
    mxnet.random.seed(0)
    built.initialize(mxnet.init.Normal(0.5))
    ids, lengths = inputs(width=9, buckets=0)
    logits, weights = answers(built, ids, lengths)
    assert logits.shape == (4, 2) and weights.shape == (4, 9, 9)
    assert built.dense.weight.shape == (2, 9 * 8)
    numpy.testing.assert_allclose(weights.sum(axis=2), 1, atol=1e-5)
    other, _ = answers(built, inputs(width=9, filler=33, buckets=0)[0], lengths)
    assert abs(other - logits).max() > 1e-3


@pytest.mark.parametrize("name", ["cuda", "GPU", "gpu:0", "", None])
def test_an_unknown_device_is_refused(name):
    assert choose_device("cpu") == mxnet.cpu()
    with pytest.raises(ConfigError, match="unknown device .*gpu"):
        choose_device(name)
