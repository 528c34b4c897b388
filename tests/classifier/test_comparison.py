"""What adapting brings: noise is refused, a gain is not, and skewed labels do not hide the rarer one."""

import numpy
import pytest
from sklearn.metrics import balanced_accuracy_score

from nsmc_attention.classifier.adapt import KEPT_ODDS, Comparison, check_counts, held_out_calibration, threshold_shift
from nsmc_attention.errors import DataError


def sides(negative, positive):
    return numpy.repeat([0, 1], [negative, positive])


def informed(labels, strength, seed=0):
    """Log-odds that know the labels, the more the stronger."""
    return strength * (2 * labels - 1) + 2 * numpy.random.RandomState(seed).standard_normal(len(labels))


@pytest.mark.parametrize("negative", [5, 8, 15, 29, 50, 80])
@pytest.mark.parametrize("seed", range(3))
def test_a_gain_is_not_refused_however_skewed_the_labels_are(negative, seed):
    labels = sides(negative, 100 - negative)
    comparison = Comparison(labels, informed(labels, 3, seed), informed(labels, 1, seed + 10))
    assert comparison.objection() is None and comparison.larger_loss > 0.5
    figures = comparison.figures
    assert figures["after"] > figures["before"] and figures["balanced_after"] > figures["balanced_before"]


@pytest.mark.parametrize("negative", [5, 15, 50, 85])
def test_labels_of_noise_are_refused_whatever_is_learnt_of_their_shares(negative):
    """In 39 of 40 cases; always answering with the commoner label is right for most, and no better than chance."""
    labels, refused = sides(negative, 100 - negative), 0
    for seed in range(40):
        random = numpy.random.RandomState(seed)
        odds = random.standard_normal(100) + numpy.log((100 - negative) / negative)
        objection = Comparison(labels, odds, random.standard_normal(100)).objection()
        refused += objection is not None and "no better than chance" in objection
    assert refused >= 36


def test_the_reason_fits():
    labels = sides(12, 88)
    objection = Comparison(labels, numpy.zeros(100), informed(labels, 3)).objection()
    assert objection == "no better than chance with 12 negative reviews: check the labels, or label more"
    labels = sides(40, 60)
    worse = Comparison(labels, informed(labels, 1), informed(labels, 4))
    assert worse.objection() == "worse than the bundle as it was: use that, or label more"


def test_a_gain_that_may_be_chance_is_said():
    labels = sides(50, 50)
    same = informed(labels, 2)
    assert Comparison(labels, same / 1.01, same).warning() == "the gain may be chance: label more to be sure of it"
    assert Comparison(labels, informed(labels, 4), informed(labels, 1)).warning() is None
    # one more is wrong, and the others are a little surer
    right = numpy.flatnonzero((same > 0) == labels)
    nearly = right[numpy.argmin(abs(same[right]))]
    lower = Comparison(labels, numpy.where(numpy.arange(100) == nearly, -same, 1.01 * same), same)
    assert lower.objection() is None and lower.figures["after"] < lower.figures["before"]
    assert lower.warning() == "the gain may be chance: label more to be sure of it"
    few = sides(6, 94)
    warning = Comparison(few, numpy.full(100, 1.0), informed(few, 3)).warning()
    assert warning is not None and warning.startswith("there are few negative reviews, 6: label more")


def test_the_threshold_leaves_so_much_of_the_odds_of_the_labels():
    for negative in range(1, 100):
        labels = sides(negative, 100 - negative)
        learnt, shift = numpy.log((100.5 - negative) / (negative + 0.5)), threshold_shift(labels)
        assert abs(learnt + shift) == pytest.approx(min(abs(learnt), numpy.log(KEPT_ODDS)))
        assert shift == pytest.approx(-threshold_shift(1 - labels)) and shift * learnt <= 0
    assert threshold_shift(sides(10, 90), mix=0.5) > threshold_shift(sides(10, 90))
    assert threshold_shift(sides(40, 60)) == 0


def test_the_shifted_threshold_finds_the_rarer_label_more_often():
    labels = sides(10, 90)
    odds = informed(labels, 1.5) + numpy.log(9)
    fitted = held_out_calibration(odds, labels)
    shifted = fitted["scale"] * odds + fitted["bias"]
    assert balanced_accuracy_score(labels, shifted > 0) > balanced_accuracy_score(labels, odds > 0)
    assert fitted["after"]["accuracy"] == numpy.mean((shifted > 0) == labels)


@pytest.mark.parametrize(("negative", "positive"), [(2, 98), (30, 0), (15, 15), (0, 0)])
def test_too_few_labels_are_refused(negative, positive):
    with pytest.raises(DataError, match=f"t: .*found {negative} negative and {positive} positive ones; label more"):
        check_counts(sides(negative, positive), "t")
    check_counts(sides(5, 35), "t")
