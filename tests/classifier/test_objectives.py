"""What a stage trains for, where its loss reads the attention's weights."""

from dataclasses import replace

import numpy
import pytest

from nsmc_attention.classifier.batches import Batch
from nsmc_attention.classifier.settings import preset
from nsmc_attention.classifier.stages import (
    ADDITIVITY_WEIGHT,
    SMALLEST_WEIGHT,
    ContributionsObjective,
    ErasureObjective,
    LabelsObjective,
    redundancy,
)
from nsmc_attention.machine.mxnet_shim import import_mxnet

mxnet = import_mxnet()

from mxnet import autograd, gluon, nd  # noqa: E402

RANDOM = numpy.random.RandomState(0)
LENGTHS, HOPS = numpy.array([7, 3, 5, 6, 7, 4], "float32"), 3


def hops_of(lengths, width=7):
    """Random weights (N, R, T) of reviews of these lengths, 0 on padding."""
    weights = numpy.zeros((len(lengths), HOPS, width))
    for each, length in zip(weights, lengths.astype(int)):
        each[:, :length] = RANDOM.dirichlet(numpy.ones(length), HOPS)
    return weights


def test_redundancy_is_that_of_the_paper_averaged_over_the_batch():
    """Lin et al. 2017, equation 8: the squared Frobenius norm of A A^T - I."""
    weights = hops_of(LENGTHS)
    norms = [numpy.linalg.norm(each @ each.T - numpy.eye(HOPS), "fro") ** 2 for each in weights]
    assert redundancy(nd.array(weights)).asscalar() == pytest.approx(numpy.mean(norms), rel=1e-5)


def test_padding_is_not_redundant_and_neither_are_hops_on_different_tokens():
    weights = hops_of(LENGTHS)
    wider = numpy.pad(weights, ((0, 0), (0, 0), (0, 9)))
    assert redundancy(nd.array(wider)).asscalar() == pytest.approx(redundancy(nd.array(weights)).asscalar(), rel=1e-5)
    assert redundancy(nd.array(numpy.eye(HOPS, 7)[None])).asscalar() == 0
    equal = nd.array(numpy.tile(numpy.eye(1, 7), (1, HOPS, 1)))
    assert redundancy(equal).asscalar() == pytest.approx(HOPS * (HOPS - 1)), "all on one token"


def batch(width=7, importance=None):
    ids = numpy.random.RandomState(1).randint(2, 50, (len(LENGTHS), width))
    return Batch(ids.astype("int32"), LENGTHS, numpy.array([0, 1, 1, 0, 1, 0], "float32"), importance=importance)


def network(**settings):
    mxnet.random.seed(0)
    config = preset("default").with_fields(
        attention="structured", attention_hops=HOPS, embedding_size=8, hidden_size=6, dropout=0.0, ngram_buckets=0
    )
    built = config.with_fields(**settings).network(50)
    built.initialize(mxnet.init.Xavier())
    return built


def test_the_loss_is_the_cross_entropy_plus_the_penalty_times_the_redundancy():
    built, device = network(), mxnet.cpu()
    weights = built(nd.array(batch().token_ids, dtype="int32"), nd.array(LENGTHS))[1]
    plain, half = (LabelsObjective(None, device, penalty=each).loss(built, batch()).asscalar() for each in (0, 0.5))
    assert half == pytest.approx(plain + 0.5 * redundancy(weights).asscalar(), rel=1e-5)


def test_erasure_teaches_the_mean_of_the_hops():
    """KL(importance || mean of the hops), and queries of padding do not count."""
    importance = hops_of(LENGTHS)[:, 0]
    objective = ErasureObjective(None, mxnet.cpu())
    hops = hops_of(LENGTHS)
    gap = numpy.log(importance + SMALLEST_WEIGHT) - numpy.log(hops.mean(axis=1) + SMALLEST_WEIGHT)
    found = objective.divergence(nd.array(hops), importance).asscalar()
    assert found == pytest.approx((importance * gap).sum(axis=1).mean(), rel=1e-4)
    queries = numpy.zeros((len(LENGTHS), 7, 7))
    for each, rows, length in zip(queries, hops, LENGTHS.astype(int)):
        each[:length] = rows.mean(axis=0)
    assert objective.divergence(nd.array(queries), importance).asscalar() == pytest.approx(found, rel=1e-4)


@pytest.mark.parametrize("objective, importance", [(LabelsObjective, None), (ErasureObjective, hops_of(LENGTHS)[:, 0])])
def test_every_parameter_of_a_network_with_hops_gets_a_gradient(objective, importance):
    built = network()
    with autograd.record():
        loss = objective(None, mxnet.cpu(), penalty=1.0).loss(built, batch(importance=importance))
    loss.backward()
    assert all(abs(each.list_grad()[0].asnumpy()).sum() > 0 for each in built.collect_params().values())


def erasing_batch():
    """Each review, and beside it the one without a token."""
    whole, erased = batch(), (LENGTHS - 1 - RANDOM.randint(3, size=len(LENGTHS))).astype("int32")
    without = numpy.array([[*numpy.delete(row, place), 1] for row, place in zip(whole.token_ids, erased)])
    shorter = replace(whole, token_ids=without.astype("int32"), valid_length=LENGTHS - 1)
    return replace(whole, erased=erased, without=shorter)


def test_contributions_are_taught_to_be_what_erasing_changes():
    built, device, both = network(attention="additive", values="convolution"), mxnet.cpu(), erasing_batch()
    logits, _, contributions, _ = built(nd.array(both.token_ids, dtype="int32"), nd.array(LENGTHS))
    left, *_ = built(nd.array(both.without.token_ids, dtype="int32"), nd.array(LENGTHS - 1))
    change = (logits - left).asnumpy() @ [-1, 1]
    error = abs(change - contributions.asnumpy()[numpy.arange(len(LENGTHS)), both.erased])
    huber = numpy.where(error < 1, error**2 / 2, error - 0.5).mean()
    plain, found = (
        kind(None, device).loss(built, both).asscalar() for kind in (LabelsObjective, ContributionsObjective)
    )
    assert error.max() > 0 and found == pytest.approx(plain + ADDITIVITY_WEIGHT * huber, rel=1e-5)


def test_taught_contributions_are_nearer_to_erasure_than_untaught_ones():
    built, both = network(attention="additive", values="convolution", word_dropout=0.0), erasing_batch()
    # of log-odds as large as a trained network's
    built.initialize(mxnet.init.Uniform(1), force_reinit=True)
    objective, labels = ContributionsObjective(None, mxnet.cpu()), LabelsObjective(None, mxnet.cpu())

    def errors():
        return (objective.loss(built, both) - labels.loss(built, both)).asscalar()

    trainer, before = gluon.Trainer(built.collect_params(), "adam", {"learning_rate": 0.01}, kvstore=None), errors()
    for _ in range(40):
        with autograd.record():
            loss = objective.loss(built, both) - labels.loss(built, both)
        loss.backward()
        trainer.step(1)
    assert errors() < before / 4
