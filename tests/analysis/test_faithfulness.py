import numpy
import pytest

from nsmc_attention.analysis.faithfulness import agreement, aopc, faithfulness, largest

RANDOM = numpy.random.RandomState(0)
WORTH = {f"t{number}": value for number, value in enumerate(RANDOM.normal(size=200))}
REVIEWS = [[f"t{number}" for number in RANDOM.choice(200, size, replace=False)] for size in RANDOM.randint(3, 30, 120)]


def linear(token_lists):
    """Log-odds are a sum over the tokens, so the perfect order is known."""
    return numpy.array([1 / (1 + numpy.exp(-sum(WORTH[token] for token in tokens))) if tokens else numpy.nan
                        for tokens in token_lists])


@pytest.fixture(scope="module")
def perfect():
    return faithfulness(linear, REVIEWS, [[abs(WORTH[token]) for token in tokens] for tokens in REVIEWS])


def test_a_perfect_order_on_a_linear_scorer_agrees_wholly(perfect):
    assert perfect["reviews"] == 120
    assert perfect["tau"]["attention"]["erasure"]["mean"] == pytest.approx(1)
    assert perfect["orders"]["attention"]["comprehensiveness"] == pytest.approx(
        perfect["orders"]["erasure"]["comprehensiveness"])
    assert set(perfect) == {"reviews", "tau", "orders"}, "nothing is made up for what was not given"


def test_a_random_order_agrees_with_nothing(perfect):
    found = perfect["tau"]["random"]["erasure"]
    assert abs(found["mean"]) < 0.1 and found["low"] < 0 < found["high"] and found["significant"] < 0.2


def test_signs_of_gradients_do_not_count():
    signed = [[WORTH[token] for token in tokens] for tokens in REVIEWS]
    found = faithfulness(linear, REVIEWS, signed, gradients=signed)["tau"]
    assert found["attention"] == {measure: pytest.approx(perfect_order()) for measure in ("erasure", "gradient")}
    assert found["gradient"] == {"erasure": pytest.approx(perfect_order())}


def perfect_order():
    significant = numpy.mean([len(tokens) > 4 for tokens in REVIEWS])   # 5 in perfect order have p = 1/60
    return {"mean": 1, "low": 1, "high": 1, "sd": 0, "significant": significant}


def test_taking_away_what_speaks_for_the_answer_is_comprehensive():
    whole, for_the_answer = linear(REVIEWS), []
    for tokens, probability in zip(REVIEWS, whole):
        sign = 1 if probability >= 0.5 else -1
        for_the_answer.append([max(0, sign * WORTH[token]) for token in tokens])
    best = aopc(linear, REVIEWS, for_the_answer, whole)
    random = aopc(linear, REVIEWS, [RANDOM.rand(len(tokens)) for tokens in REVIEWS], whole)
    assert best["comprehensiveness"]["low"] > 2 * max(0, random["comprehensiveness"]["mean"])
    assert best["sufficiency"]["high"] < random["sufficiency"]["low"]


def test_what_other_weights_lead_to_is_compared_with_the_answer():
    whole = linear(REVIEWS)
    found = faithfulness(linear, REVIEWS, [[1] * len(tokens) for tokens in REVIEWS],
                         replaced={"same": whole, "opposite": 1 - whole})["replaced"]
    assert found["same"] == {"change": 0, "flipped": 0}
    assert found["opposite"]["flipped"] == 1
    assert found["opposite"]["change"] == pytest.approx(numpy.abs(2 * whole - 1).mean())


def test_reviews_too_short_for_an_order_are_left_out():
    reviews = [["t1"], ["t1", "t2"], *REVIEWS[:5]]
    assert faithfulness(linear, reviews, [numpy.arange(len(tokens)) for tokens in reviews])["reviews"] == 5


def test_an_order_without_an_answer_does_not_count():
    found = agreement([[1, 1, 1], [1, 2, 3], [3, 2, 1]], [[1, 2, 3], [1, 2, 3], [3, 2, 1]])
    assert found["mean"] == pytest.approx(1)


@pytest.mark.parametrize("share, expected", [(0.01, [2]), (0.5, [2, 0]), (1.0, [2, 0, 1, 3])])
def test_the_largest_come_first_and_at_least_one(share, expected):
    assert largest([0.3, 0.1, 0.5, 0.1], share) == expected
