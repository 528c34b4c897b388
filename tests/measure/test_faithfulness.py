import numpy
import pytest
import scipy.stats

from nsmc_attention.measure.faithfulness import agreement, aopc, correlation, faithfulness, gap, leave_one_out, shares
from nsmc_attention.text.encoding import Encoded

RANDOM = numpy.random.RandomState(0)
WORTH = {f"t{number}": value for number, value in enumerate(RANDOM.normal(size=200))}


def encoded(*reviews):
    return [Encoded("", tuple(tokens), tuple(range(len(tokens)))) for tokens in reviews]


SIZES = RANDOM.randint(3, 30, 120)
REVIEWS = encoded(*([f"t{number}" for number in RANDOM.choice(200, size, replace=False)] for size in SIZES))


def linear(reviews):
    """Log-odds are a sum over the tokens, so the perfect order is known."""
    odds = numpy.array([sum(WORTH[token] for token in each.tokens) if len(each) else numpy.nan for each in reviews])
    return 1 / (1 + numpy.exp(-odds))


def measure(reviews, weights, **options):
    return faithfulness(linear, reviews, {"attention": weights}, **options)


def test_of_a_linear_scorer_the_change_is_the_token_s_own_worth():
    many = REVIEWS * 3
    for review, found in zip(many, leave_one_out(linear, many)):
        numpy.testing.assert_allclose(found, [WORTH[token] for token in review.tokens], atol=1e-6)


def test_shares_sum_to_one_and_are_equal_where_nothing_matters():
    assert shares(numpy.array([1.0, -3.0])).tolist() == [0.25, 0.75]
    assert shares(numpy.zeros(4)).tolist() == [0.25] * 4


def test_a_perfect_order_on_a_linear_scorer_agrees_wholly_and_a_random_one_with_nothing():
    perfect = measure(REVIEWS, [[abs(WORTH[token]) for token in each.tokens] for each in REVIEWS])
    assert perfect["reviews"] == 120
    assert perfect["tau"]["attention"]["erasure"]["mean"] == pytest.approx(1)
    attention, erasure = (perfect["orders"][name]["comprehensiveness"] for name in ("attention", "erasure"))
    assert attention == pytest.approx(erasure)
    assert set(perfect) == {"reviews", "tau", "orders"}, "nothing is made up for what was not given"
    found = perfect["tau"]["random"]["erasure"]
    assert abs(found["mean"]) < 0.1 and found["low"] < 0 < found["high"] and found["significant"] < 0.2


def test_of_gradients_signs_do_not_count_in_orders_but_in_the_correlation_and_there_is_no_sum():
    signed = [[WORTH[token] for token in each.tokens] for each in REVIEWS]
    found = faithfulness(linear, REVIEWS, {"attention": signed, "gradient": signed})["tau"]
    assert found["attention"] == {measure: pytest.approx(perfect_order()) for measure in ("erasure", "gradient")}
    assert found["gradient"] == {"erasure": pytest.approx(perfect_order())}
    alike = [numpy.ones(len(each)) for each in REVIEWS]
    found = faithfulness(linear, REVIEWS, {"attention": alike, "gradient": signed})
    assert found["correlation"] == {"attention": None, "gradient": pytest.approx(1)} and "gap" not in found
    # over all tokens of all reviews
    expected = scipy.stats.pearsonr([1, 2, 3], [2, 1, 5])[0]
    assert correlation([[1.0, 2.0], [3.0]], [[2.0, 1.0], [5.0]]) == pytest.approx(expected)


def test_contributions_of_a_linear_scorer_are_its_changes_and_add_up():
    signed = [numpy.array([WORTH[token] for token in each.tokens]) for each in REVIEWS]
    orders = {"attention": list(map(abs, signed)), "contribution": signed}
    found = faithfulness(linear, REVIEWS, orders)
    assert found["correlation"] == {"attention": pytest.approx(1), "contribution": pytest.approx(1)}
    assert found["gap"] < 1e-6 and found["tau"]["contribution"] == found["tau"]["attention"]
    wrong = faithfulness(linear, REVIEWS, {**orders, "contribution": [-values for values in signed]})
    assert wrong["correlation"]["contribution"] == pytest.approx(-1) and wrong["gap"] > 1
    assert wrong["tau"] == found["tau"] and wrong["orders"] == found["orders"], "only the sign was wrong"


@pytest.mark.parametrize("bias", [-2.0, 0.0, 0.5])
def test_the_gap_is_half_the_spread_whatever_the_bias(bias):
    odds = numpy.array([0.3, -1.2, 2.5])
    contributions = [[0.1, 0.2], [-1.2], [2.5, 0.02]]
    assert gap(1 / (1 + numpy.exp(-odds - bias)), contributions) == pytest.approx(0.01)


def perfect_order():
    significant = numpy.mean([len(tokens) > 4 for tokens in REVIEWS])  # 5 in perfect order have p = 1/60
    return {"mean": 1, "low": 1, "high": 1, "sd": 0, "significant": significant}


def test_an_order_without_an_answer_does_not_count_and_one_alone_has_no_interval():
    reviews = encoded(["t1"], ["t1", "t2"], ["t1", "t2", "t3"], ["t4", "t5", "t6"])
    assert measure(reviews, [numpy.arange(len(tokens)) for tokens in reviews])["reviews"] == 2, "others are too short"
    one = agreement([[1, 2, 3]], [[1, 2, 3]])
    assert one == {"mean": None, "low": None, "high": None, "sd": None, "significant": 0}
    found = agreement([[1, 1, 1], [1, 2, 3], [3, 2, 1]], [[1, 2, 3], [1, 2, 3], [3, 2, 1]])
    assert found["mean"] == pytest.approx(1)


def test_the_interval_is_the_normal_one_of_the_mean():
    taus = [-1, -1 / 3, 1 / 3, 1]
    orders = {-1: [3, 2, 1], -1 / 3: [2, 3, 1], 1 / 3: [1, 3, 2], 1: [1, 2, 3]}
    found = agreement([orders[tau] for tau in taus], [[1, 2, 3]] * 4)
    error = scipy.stats.sem(taus)
    assert found["mean"] == pytest.approx(0)
    assert (found["low"], found["high"]) == (pytest.approx(-1.96 * error), pytest.approx(1.96 * error))
    assert found["sd"] == pytest.approx(2 * error) and found["significant"] == 0


def test_aopc_averages_over_the_shares_of_eraser():
    """DeYoung et al. 2020, section 5: 1, 5, 10, 20 and 50 % of the tokens, here 2, 6, 11, 22 and 55 of 110."""
    tokens = [f"t{number}" for number in range(110)]
    opposite = [f"t{number}" for number in range(90, 200)]
    weights = [numpy.arange(110, 0, -1)] * 2
    reviews = encoded(tokens, opposite)
    whole = linear(reviews)
    sides = numpy.where(whole >= 0.5, 1, -1)
    counts = (2, 6, 11, 22, 55)
    without = [sides * (whole - linear(encoded(tokens[count:], opposite[count:]))) for count in counts]
    only = [sides * (whole - linear(encoded(tokens[:count], opposite[:count]))) for count in counts]
    found = aopc(linear, reviews, weights, whole)
    assert found["comprehensiveness"]["mean"] == pytest.approx(numpy.mean(without))
    assert found["sufficiency"]["mean"] == pytest.approx(numpy.mean(only))
    apart = numpy.mean(without, axis=0)
    assert found["comprehensiveness"]["high"] == pytest.approx(apart.mean() + 1.96 * apart.std(ddof=1) / 2**0.5)


def test_nothing_left_says_nothing():
    """Of one token all is taken away: half and half, and the answer falls to that."""
    whole = numpy.array([0.9, 0.8])

    def certain(reviews):
        return numpy.array([1.0 if len(each) else numpy.nan for each in reviews])

    found = aopc(certain, encoded(["a"], ["b"]), [[1], [1]], whole)
    assert found["comprehensiveness"]["mean"] == pytest.approx((0.4 + 0.3) / 2)


def test_the_random_order_is_that_of_its_seed():
    weights = [numpy.arange(len(tokens)) for tokens in REVIEWS]
    once, again, other = (measure(REVIEWS, weights, seed=seed)["orders"]["random"] for seed in (0, 0, 1))
    assert once == again and once != other
