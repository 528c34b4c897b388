import math

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nsmc_attention.measure.share import BINS, RAW_STARS, SHARE_GRID, UNKNOWN, Evidence, Share, bins_of, shrunk

PROBABILITIES = st.lists(st.floats(0, 1), max_size=60)


def drawn(share, count, seed=0, separation=4.0):
    """Calibrated probabilities of reviews of which a share is positive: log-odds are normal, their ratio is exact."""
    random = numpy.random.RandomState(seed)
    positive = random.rand(count) < share
    odds = random.normal(numpy.where(positive, 1, -1) * separation / 2, math.sqrt(separation))
    return 1 / (1 + numpy.exp(-odds)), positive.mean()


@given(PROBABILITIES)
def test_an_interval_holds_its_share_and_stays_within_0_and_1(probabilities):
    found = Evidence.of(probabilities).share
    assert 0 <= found.low <= found.high <= 1 and found.n == len(probabilities)
    assert found.share is None or found.low <= found.share <= found.high


@given(PROBABILITIES, PROBABILITIES)
def test_evidence_of_parts_adds_up_to_that_of_the_whole(first, second):
    whole, parts = Evidence.of(first + second), Evidence.of(second) + Evidence.of(first)
    assert (whole.bins == parts.bins).all() and whole.share == parts.share


@given(PROBABILITIES)
def test_praise_and_blame_are_treated_alike(probabilities):
    mirrored = Evidence.of([1 - value for value in probabilities]).share
    found = Evidence.of(probabilities).share
    assert mirrored.high - mirrored.low == pytest.approx(found.high - found.low, abs=1.5 / SHARE_GRID)
    assert (mirrored.share is None) == (found.share is None)
    assert found.share is None or mirrored.share == pytest.approx(1 - found.share, abs=1e-6)


@pytest.mark.parametrize("truth", [0.1, 0.3, 0.5, 0.8, 0.95])
def test_the_share_is_nearer_to_the_truth_than_a_count_of_labels(truth):
    probabilities, actual = drawn(truth, 20_000)
    found, counted = Evidence.of(probabilities).share, (probabilities >= 0.5).mean()
    assert found.low <= actual <= found.high
    assert found.share == pytest.approx(actual, abs=0.06)
    if truth not in (0.5,):
        assert abs(found.share - actual) < abs(counted - actual)


def test_intervals_hold_the_truth_at_least_as_often_as_they_say():
    pairs = ((actual, Evidence.of(p).share) for p, actual in (drawn(0.8, 60, seed) for seed in range(100)))
    assert numpy.mean([found.low <= actual <= found.high for actual, found in pairs]) >= 0.93


def test_an_interval_of_a_large_table_keeps_room_for_the_model_s_own_errors():
    small, large = (Evidence.of(drawn(0.7, count)[0]).share for count in (2_000, 200_000))
    assert large.high - large.low > 0.1 and large.high - large.low == pytest.approx(small.high - small.low, abs=0.06)


@pytest.mark.parametrize("probabilities", [[], [None], [0.99] * 3, [0.5] * 200, [math.nan] * 50])
def test_where_nothing_can_be_known_there_is_no_number(probabilities):
    found = Evidence.of(numpy.array(probabilities, dtype="float64")).share
    assert found.share is None and found.high - found.low > 0.5 and str(found).startswith("unknown")


def test_reviews_of_one_side_alone_give_a_bound():
    assert Evidence.of([0.99] * 200).share.high == 1 and str(Evidence.of([0.99] * 200).share) == "98 % or more"
    assert Evidence.of([0.01] * 200).share.low == 0 and str(Evidence.of([0.01] * 200).share) == "2 % or less"
    assert str(Share(0.8, 0.7, 0.9, 100)) == "about 80 % (70 to 90)"


def test_groups_are_pulled_towards_their_table_the_more_the_smaller_they_are():
    table = [Evidence.of(drawn(0.85, 60, seed)[0]) for seed in range(20)]
    small, large = Evidence.of([0.02] * 6), Evidence.of([0.02] * 60)
    *_, few, many = shrunk(numpy.stack([each.bins for each in (*table, small, large)]))
    assert few.share > many.share + 0.05
    assert few.share > small.share.share and abs(many.share - large.share.share) < 0.1
    assert shrunk(numpy.zeros((0, BINS))) == [] and shrunk(Evidence.of().bins[None]) == [UNKNOWN]


def starred(shares, shift, count=2000, seed=0):
    """A table whose log-odds are all too low by `shift`: its evidence, with a sample of every second row, and the true share.

    The sample's stars are known but for one in five, of which the heads say what raw reviews have.
    """
    random = numpy.random.RandomState(seed)
    stars = random.choice(10, count, p=shares)
    odds = random.normal(numpy.select([stars > 6, stars > 3], [2, 0], -2), 2) - shift
    said = numpy.where(random.rand(count, 1) < 0.2, RAW_STARS, numpy.eye(10)[stars] + 1e-6)
    probabilities = 1 / (1 + numpy.exp(-odds))
    columns = numpy.full(count, 2.0), bins_of(probabilities, 0.0), said / said.sum(axis=1)[:, None]
    sample = numpy.column_stack(columns)[::2]
    return Evidence(Evidence.of(probabilities).bins, sample), (stars > 6).sum() / ((stars > 6) | (stars < 4)).sum()


@pytest.mark.parametrize("shift", [-1, 0, 1.5])
@pytest.mark.parametrize("shares", [[1] * 10, [4, 3, 2, 1, 1, 1, 1, 1, 0, 0], [0, 0, 0, 1, 2, 4, 4, 4, 2, 1]])
def test_the_stars_of_a_sample_correct_log_odds_that_are_shifted(shift, shares):
    whole, truth = starred(numpy.array(shares) / sum(shares), shift)
    without = Evidence(whole.bins).share
    assert whole.share.share == pytest.approx(truth, abs=0.09) and whole.share.low <= truth <= whole.share.high
    assert not shift or abs(whole.share.share - truth) <= abs(without.share - truth)


def test_a_sorted_table_has_the_share_of_the_same_rows_in_another_order():
    rows = starred(RAW_STARS / RAW_STARS.sum(), 0.5)[0]
    best, worst = (rows.sample[rows.sample[:, 1].argsort()[::step]] for step in (-1, 1))
    assert Evidence(rows.bins, best).share == pytest.approx(Evidence(rows.bins, worst).share)
