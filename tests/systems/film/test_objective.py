"""What a film network learns from: reviews that a seed draws, and a training that can be continued."""

import numpy
import pytest

from nsmc_attention.machine.mxnet_shim import import_mxnet
from nsmc_attention.systems.film.objective import (
    MIN_OTHERS_EVAL,
    MIN_OTHERS_TRAIN,
    VARIANCE_RATIO,
    FilmBatches,
    FilmObjective,
    FilmVectors,
    new_network,
)
from nsmc_attention.systems.film.settings import FilmConfig

mxnet = import_mxnet()

RANDOM = numpy.random.RandomState(0)
SIZES = RANDOM.randint(1, 40, 60)
FILM = numpy.repeat(numpy.arange(60), SIZES)
VECTORS = RANDOM.normal(0, 1, (len(FILM), 5)).astype("float16")
VECTORS[:, 0] += FILM % 7
STARS = (1 + FILM % 7 + RANDOM.normal(0, 0.5, len(FILM))).astype("float32")
FILMS = FilmVectors(VECTORS, STARS, [numpy.flatnonzero(film == FILM) for film in range(60)])
SMALL = {"model.units": 6, "model.output_units": 6, "training.batch_size": 16, "training.given": 16}


def test_what_is_given_and_what_is_told_are_different_reviews():
    for film, own in enumerate(FILMS.members):
        case = FILMS.draw(len(own) // 2, film, numpy.random.RandomState(film))
        others = numpy.setdiff1d(own, case.inputs)
        assert set(case.inputs) <= set(own) and len(others) == case.others == len(own) - len(own) // 2
        assert case.stars == pytest.approx(STARS[others].mean())


def test_an_epoch_has_every_film_once_and_other_reviews_than_the_last():
    batches = FilmBatches(FILMS, 16, 16)
    one, again, other = (list(batches.epoch(0, epoch)) for epoch in (1, 1, 2))
    assert len(one) == len(batches) and sum(len(each.stars) for each in one) == (SIZES > MIN_OTHERS_TRAIN).sum()
    assert all((a.inputs[0] == b.inputs[0]).all() and (a.stars == b.stars).all() for a, b in zip(one, again))
    stars, others = (sorted(float(star) for each in epoch for star in each.stars) for epoch in (one, other))
    assert stars != others
    counts = numpy.concatenate([each.inputs[1].sum(axis=1) for each in one])
    assert counts.min() == 1 and counts.max() <= 16 and numpy.median(counts) < 8, "few as often as many"


def test_films_are_judged_by_the_mean_of_enough_others():
    cases = FILMS.cases(5, numpy.random.RandomState(0), draws=2)
    assert len(cases) == 2 * (SIZES >= 5 + MIN_OTHERS_EVAL).sum()
    assert all(len(case.inputs) == 5 and case.others >= MIN_OTHERS_EVAL for case in cases)


def test_the_loss_is_the_weighted_pinball_loss():
    objective = FilmObjective(FilmBatches(FILMS, 100, 16), mxnet.cpu(), 0)
    network = new_network(FilmConfig().with_settings(SMALL), FILMS, mxnet.cpu())
    (batch,) = objective.dev_batches.in_order(0)
    gap = batch.stars[:, None] - objective.quantiles(network, batch).asnumpy()
    levels = numpy.array([0.05, 0.5, 0.95])
    loss = (numpy.where(gap > 0, levels * gap, (levels - 1) * gap) * [1, 2, 1]).sum(axis=1)
    expected = (loss * batch.weights).sum() / batch.weights.sum()
    assert objective.loss(network, batch).asscalar() == pytest.approx(expected, rel=1e-5)
    assert objective.evaluate(network)["loss"] == pytest.approx(expected, rel=1e-5)
    assert batch.weights.max() < 1 and batch.weights.min() >= MIN_OTHERS_TRAIN / (MIN_OTHERS_TRAIN + VARIANCE_RATIO)
